/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocated memory, overheads and copies of a recording.
 */
#include "device/device_memory.h"
#include "device/device_parts.h"

#include "base/sort.h"

const char *const gpu_host_memories[HOST_MEMORY_N] = { "pageable", "pinned", "none" };
const char *const gpu_sizes[GPU_SIZES] = { "<=4 KiB", "<=64 KiB", "<=1 MiB", "<=16 MiB",
	">16 MiB" };

const char *const gpu_memory_kinds[MEMORY_KIND_N] = { "device", "pinned", "managed", "other" };

/* Converts a CUpti_ActivityMemoryKind: unknown, pageable, pinned, device, array, managed, device
 * static, managed static. */
static enum gpu_memory_kind kind_of(unsigned kind)
{
	static const enum gpu_memory_kind kinds[] = { MEMORY_OTHER, MEMORY_OTHER, MEMORY_PINNED,
		MEMORY_DEVICE, MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_DEVICE, MEMORY_MANAGED };

	return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : MEMORY_OTHER;
}

void gpu_memory_begin(struct gpu_memory_feed *f, struct device_use *u, struct arena *scratch)
{
	*f = (struct gpu_memory_feed){ .u = u, .scratch = scratch };
}

void gpu_memory_take(struct gpu_memory_feed *f, uint32_t part, const struct spool_memory *m)
{
	struct gpu_memory_event event = { .time = m->time,
		.address = m->address,
		.bytes = num_from_u64(m->bytes),
		.part = part,
		.memory = m->memory,
		.freed = m->freed };

	VEC_PUSH(f->scratch, &f->events, event);
}

static struct gpu_memory *memory_of(struct gpu_memory_feed *f, const struct gpu_memory_event *e)
{
	return &f->u->parts.v[e->part].memory[kind_of(e->memory)];
}

static void allocate(struct gpu_memory *x, int64_t bytes)
{
	x->allocations++;
	x->bytes = num_add(x->bytes, bytes);
	x->live = num_add(x->live, bytes);
	x->peak = x->live > x->peak ? x->live : x->peak;
}

static int by_time(const void *ctx, uint32_t a, uint32_t b)
{
	const struct gpu_memory_event *v = ctx;

	return v[a].time < v[b].time ? -1 : v[a].time > v[b].time;
}

void gpu_memory_end(struct gpu_memory_feed *f)
{
	struct gpu_memory_event *v = f->events.v;
	const uint32_t *order = sort_order(f->scratch, f->events.n, by_time, v);
	struct imap held; /* key: address; value: event that allocated it */
	uint32_t at;

	imap_init(&held, f->scratch);
	for (size_t i = 0; i < f->events.n; i++) {
		struct gpu_memory_event *e = &v[order[i]];
		if (!e->freed) {
			allocate(memory_of(f, e), e->bytes);
			imap_put(&held, e->address, order[i], true);
		} else if (imap_get(&held, e->address, &at) && !v[at].freed) {
			struct gpu_memory *x = memory_of(f, &v[at]);
			x->live = num_sub(x->live, v[at].bytes);
			x->frees++;
			v[at].freed = true;
		}
		work_poll(f->scratch->work);
	}
}

const char *gpu_overhead_name(uint32_t kind)
{
	static const char *const names[] = { "flush of buffers", "instrumentation", "resources",
		"loading of modules", "loading of functions", "command buffer full",
		"request of a buffer", "start of unified memory" };

	if (kind == 1)
		return "compiler";
	if (kind >> 16 && !(kind & 0xffff) && (kind >> 16) <= sizeof names / sizeof *names)
		return names[(kind >> 16) - 1];
	return "other";
}

/* ---- copies ---- */
void gpu_copies_take(struct device_use *u, enum gpu_way way, enum gpu_host_memory host,
        const struct recorded_op *op)
{
	static const uint64_t most[GPU_SIZES - 1] = { 4u << 10, 64u << 10, 1u << 20, 16u << 20 };
	unsigned size = 0;

	while (size < GPU_SIZES - 1 && op->bytes > most[size])
		size++;
	gpu_copies_add(&u->copies[way][host][size],
	        &(struct gpu_copies){ 1, num_from_u64(op->bytes), num_from_u64(op->length) });
}
