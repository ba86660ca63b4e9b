/* SPDX-License-Identifier: Apache-2.0
 *
 * Occupancy against values computed by hand from the limits of each generation; the tables of
 * devices.
 */
#include "unit.h"

#include <string.h>

#include "export/table/device_tables.h"
#include "lib/options.h"
#include "device/device_use.h"

static void occupancy(void **state)
{
	static const struct {
		uint32_t capability, block, registers, shared;
		int permille;
	} cases[] = {
		{ 90, 256, 32, 0, 1000 },        /* 8 blocks of 8 warps */
		{ 90, 256, 64, 0, 500 },         /* 65536 / (64 * 32) = 32 warps, 4 blocks */
		{ 90, 1024, 64, 0, 500 },        /* one block of 32 warps */
		{ 90, 32, 16, 0, 500 },          /* 32 blocks of one warp */
		{ 90, 128, 16, 100 << 10, 125 }, /* 228 KiB / 101 KiB: 2 blocks of 4 warps */
		{ 90, 33, 16, 0, 1000 },         /* 32 blocks of 2 warps */
		{ 90, 96, 168, 0, 187 },        /* 5376 registers a warp: 12 warps, 4 blocks of 3 */
		{ 75, 256, 64, 0, 1000 },       /* 32 warps are all there are */
		{ 75, 128, 16, 32 << 10, 250 }, /* 64 KiB / 32 KiB, nothing is reserved: 2 blocks */
		{ 86, 256, 32, 0, 1000 },       /* 6 blocks of 8 warps */
		{ 90, 128, 16, 228 << 10, -1 }, /* no block fits */
		{ 90, 2048, 16, 0, -1 },        /* no such block */
		{ 91, 256, 32, 0, -1 },         /* not known */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gpu_shape s = { .block = { cases[i].block, 1, 1 },
			.registers = cases[i].registers,
			.dynamic_shared = cases[i].shared };
		assert_int_equal(gpu_occupancy(&s, cases[i].capability), cases[i].permille);
	}
}

static void shapes(void **state)
{
	struct gpu_shapes s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		gpu_shapes_add(&s,
		        &(struct spool_kernel){
		                .grid = { i % 3 ? 7 : i, 1, 1 }, .block = { 32, 1, 1 } },
		        3);
	assert_int_equal(s.n, GPU_SHAPES);
	assert_int_equal(gpu_shapes_first(&s)->grid[0], 7);
	assert_int_equal(gpu_shapes_first(&s)->count, 66);
	assert_int_equal(gpu_shapes_first(&s)->part, 3);
	assert_int_equal(s.others, 100 - 66 - (GPU_SHAPES - 1));
}

/* The values of --table are the tables, in their order. */
static void table_names(void **state)
{
	const struct option *o = options_of("devices");
	struct arena *a = *state;
	const struct trace *t = trace_new(a);
	struct trace_links links;
	struct trace_steps steps;
	struct device_use u;
	struct sb b = sb_in(a);
	size_t n;

	while (o && strcmp(o->name, "table") != 0)
		o = option_next(o);
	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	device_use_trace(&u, &links, &steps, a);
	const struct table *v = device_sections(
	        &(struct device_workers){ &(struct device_worker){ .u = &u }, 1 }, &n, a);
	sb_put(&b, S("all|devices|step_time"));
	for (size_t i = 0; i < n; i++)
		sb_fmt(&b, "|%s", v[i].key);
	assert_non_null(o);
	assert_str(sb_str(&b), o->choices);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(occupancy), unit_case(shapes),
		unit_case(table_names) };

	return unit_main(tests, argc, argv);
}
