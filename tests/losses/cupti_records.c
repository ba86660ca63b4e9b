/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of this CUPTI, laid out as in the headers of CUDA 11.8 to 13.4.
 */
#define _GNU_SOURCE
#include "cupti.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct kernel_record {
	uint32_t kind;
	uint8_t cache, shared;
	uint16_t registers;
	uint32_t global_requested, global_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3], static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout[3];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t limit, graph;
	uint8_t later[56];
};

struct copy_record {
	uint32_t kind;
	uint8_t copy, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint8_t later[20];
};

struct call_record {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct graph_record {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	uint8_t later[16];
};

struct device_record {
	uint32_t kind, flags;
	uint64_t bandwidth, memory;
	uint32_t constant, cache, threads_per_warp, clock, memory_clock, processors;
	uint8_t before[56];
	uint32_t major, minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t visible, mig, pad[6];
	uint32_t instance[2];
	uint8_t mig_uuid[16], later[8];
};

_Static_assert(offsetof(struct kernel_record, correlation) == 92, "as in CUPTI");
_Static_assert(offsetof(struct kernel_record, name) == 104, "as in CUPTI");
_Static_assert(offsetof(struct kernel_record, graph) == 156, "as in CUPTI");
_Static_assert(sizeof(struct kernel_record) == 216, "as in CUPTI");
_Static_assert(offsetof(struct copy_record, graph) == 72, "as in CUPTI");
_Static_assert(sizeof(struct copy_record) == 96, "as in CUPTI");
_Static_assert(sizeof(struct call_record) == 40, "as in CUPTI");
_Static_assert(sizeof(struct graph_record) == 56, "as in CUPTI");
_Static_assert(offsetof(struct device_record, processors) == 44, "as in CUPTI");
_Static_assert(offsetof(struct device_record, id) == 112, "as in CUPTI");
_Static_assert(offsetof(struct device_record, name) == 136, "as in CUPTI");
_Static_assert(offsetof(struct device_record, mig_uuid) == 160, "as in CUPTI");

/* The oldest of these versions has shorter records of kernels. */
#define KERNEL_SIZE (VERSION >= 130000 ? 216 : VERSION >= 22 ? 208 : 200)

size_t size_of(uint32_t kind)
{
	switch (kind) {
	case KERNEL: return KERNEL_SIZE;
	case MEMCPY: return sizeof(struct copy_record);
	case DRIVER_CALLS:
	case RUNTIME_CALLS: return sizeof(struct call_record);
	case DEVICE: return sizeof(struct device_record);
	case GRAPH: return sizeof(struct graph_record);
	default: return 0;
	}
}

uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void put_call(struct activity *a, const struct call *c, uint64_t began)
{
	uint32_t kind = c->domain == DRIVER_API ? DRIVER_CALLS : RUNTIME_CALLS;
	struct call_record r = { .kind = kind,
		.cbid = (uint32_t)c->cbid,
		.start = began,
		.end = clock_now(),
		.process = (uint32_t)getpid(),
		.thread = thread_id(),
		.correlation = c->correlation,
		.result = c->result };

	if (a->kinds[kind] || a->single[c->domain][c->cbid])
		put(a, &r, sizeof r, (struct open_record){ 0 });
}

/* The record of one kernel, unless it is one that this CUPTI loses. */
static void put_kernel(struct activity *a, const struct call *c, uint32_t node)
{
	static _Atomic uint64_t made;
	uint64_t now = clock_now(), work = losses_work(c->stream), n = ++made;
	struct kernel_record r = { .kind = KERNEL,
		.registers = 32,
		.start = now,
		.end = now + 100,
		.completed = now + 100,
		.context = 1,
		.stream = (uint32_t)(uintptr_t)c->stream,
		.grid = { 1, 1, 1 },
		.block = { 32, 1, 1 },
		.correlation = c->correlation,
		.grid_id = (int64_t)n,
		.name = c->kernel,
		.graph_node = c->graph ? ((uint64_t)c->graph << 32) + node : 0,
		.graph = c->graph };

	if (habit("mute") && n % habit("mute") == 0) {
		TRUE_COUNT(MUTED, 1);
		return;
	}
	if (habit("drop") && n % habit("drop") == 0) {
		__atomic_add_fetch(&a->dropped, 1, __ATOMIC_SEQ_CST);
		TRUE_COUNT(DROPPED, a == &shared || a->client->first);
		TRUE_COUNT(DROPPED_KERNELS, a == &shared || a->client->first);
		return;
	}
	put(a, &r, KERNEL_SIZE,
	        (struct open_record){ .stream = c->stream, .work = work, .kernel = 1 });
}

void put_work(struct activity *a, const struct call *c)
{
	uint64_t now = clock_now();
	struct copy_record copy = { .kind = MEMCPY,
		.copy = 1,
		.from = 1,
		.to = 3,
		.bytes = 4096,
		.start = now,
		.end = now + 100,
		.context = 1,
		.correlation = c->correlation };
	struct graph_record graph = { .kind = GRAPH,
		.correlation = c->correlation,
		.start = now,
		.end = now + 100,
		.graph = c->graph,
		.context = 1 };

	if (c->copies && a->kinds[MEMCPY])
		put(a, &copy, sizeof copy, (struct open_record){ 0 });
	if (c->graph && a->kinds[GRAPH]) {
		put(a, &graph, sizeof graph, (struct open_record){ 0 });
		return;
	}
	for (uint32_t i = 0; a->kinds[KERNEL] && i < c->kernels; i++)
		put_kernel(a, c, i);
}

void put_device(struct activity *a)
{
	struct device_record r = { .kind = DEVICE,
		.memory = 1 << 30,
		.processors = 8,
		.major = 9,
		.uuid = "losses of a GPU",
		.name = "Clockwork GPU",
		.visible = 1 };

	put(a, &r, sizeof r, (struct open_record){ 0 });
}
