/* SPDX-License-Identifier: Apache-2.0
 *
 * Launch configurations and their occupancy.
 */
#include "device/device_use.h"

#include <string.h>

#define WARP           32u
#define REGISTERS      65536u /* number of registers of a multiprocessor */
#define REGISTER_UNIT  256u   /* registers are allocated to a warp in multiples of this number */
#define WARP_UNIT      4u     /* number of warps whose registers are allocated together */
#define SHARED_UNIT    128u
#define SHARED_RESERVE 1024u /* reserved bytes of each block, since compute capability 8.0 */

/* Limits of a multiprocessor by compute capability (CUDA C++ Programming Guide, technical
 * specifications). */
static const struct limits {
	uint32_t capability, warps, blocks, shared; /* shared: shared memory in KiB */
} limits[] = {
	{ 50, 64, 32, 64 },
	{ 52, 64, 32, 96 },
	{ 53, 64, 32, 64 },
	{ 60, 64, 32, 64 },
	{ 61, 64, 32, 96 },
	{ 62, 64, 32, 64 },
	{ 70, 64, 32, 96 },
	{ 72, 64, 32, 96 },
	{ 75, 32, 16, 64 },
	{ 80, 64, 32, 164 },
	{ 86, 48, 16, 100 },
	{ 87, 48, 16, 164 },
	{ 89, 48, 24, 100 },
	{ 90, 64, 32, 228 },
	{ 100, 64, 32, 228 },
	{ 103, 64, 32, 228 },
	{ 120, 48, 24, 100 },
	{ 121, 48, 24, 100 },
};

void gpu_shapes_add(struct gpu_shapes *s, const struct spool_kernel *k, uint32_t part)
{
	struct gpu_shape x = { .registers = k->registers,
		.static_shared = k->static_shared,
		.dynamic_shared = k->dynamic_shared,
		.part = part,
		.count = 1 };

	memcpy(x.grid, k->grid, sizeof x.grid);
	memcpy(x.block, k->block, sizeof x.block);
	for (unsigned i = 0; i < s->n; i++)
		if (!memcmp(s->v[i].grid, x.grid, offsetof(struct gpu_shape, part))) {
			s->v[i].count++;
			return;
		}
	if (s->n < GPU_SHAPES)
		s->v[s->n++] = x;
	else
		s->others++;
}

const struct gpu_shape *gpu_shapes_first(const struct gpu_shapes *s)
{
	const struct gpu_shape *first = &s->v[0];

	for (unsigned i = 1; i < s->n; i++)
		if (s->v[i].count > first->count)
			first = &s->v[i];
	return first;
}

static const struct limits *limits_of(uint32_t capability)
{
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].capability == capability)
			return &limits[i];
	return NULL;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

int gpu_occupancy(const struct gpu_shape *s, uint32_t capability)
{
	const struct limits *l = limits_of(capability);
	uint64_t threads = (uint64_t)s->block[0] * s->block[1];

	if (!l || !threads || threads > 1024 || threads * s->block[2] > 1024 || !s->block[2])
		return -1;
	uint64_t warps = round_up(threads * s->block[2], WARP) / WARP;
	uint64_t blocks = l->blocks < l->warps / warps ? l->blocks : l->warps / warps;
	uint64_t registers = round_up((uint64_t)s->registers * WARP, REGISTER_UNIT);
	uint64_t shared = (uint64_t)s->static_shared + s->dynamic_shared;
	if (registers) {
		uint64_t by = REGISTERS / registers / WARP_UNIT * WARP_UNIT / warps;
		blocks = blocks < by ? blocks : by;
	}
	if (shared || capability >= 80) {
		uint64_t block =
		        round_up(shared + (capability >= 80 ? SHARED_RESERVE : 0), SHARED_UNIT);
		uint64_t by = (uint64_t)l->shared * 1024 / block;
		blocks = blocks < by ? blocks : by;
	}
	return blocks ? (int)(blocks * warps * 1000 / l->warps) : -1;
}
