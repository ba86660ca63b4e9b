/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_memory.h. Records are taken in the order of the file, which is that of time within a
 * thread. A release that comes before its allocation, from another thread's buffer, cancels it.
 */
#include "view/gpu_memory.h"

#include "base/num.h"

const char *const gpu_host_memories[HOST_MEMORY_N] = { "pageable", "pinned", "none" };
const char *const gpu_sizes[GPU_SIZES] = { "<=4 KiB", "<=64 KiB", "<=1 MiB", "<=16 MiB",
	">16 MiB" };

const char *const gpu_memory_kinds[MEMORY_KIND_N] = { "device", "pinned", "managed", "other" };

/* By CUpti_ActivityMemoryKind: unknown, pageable, pinned, device, array, managed, device static,
 * managed static. */
static enum gpu_memory_kind kind_of(unsigned kind)
{
	static const enum gpu_memory_kind kinds[] = { MEMORY_OTHER, MEMORY_OTHER, MEMORY_PINNED,
		MEMORY_DEVICE, MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_DEVICE, MEMORY_MANAGED };

	return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : MEMORY_OTHER;
}

void gpu_memory_begin(struct gpu_memory_feed *f, struct gpu_use *u, struct arena *scratch)
{
	*f = (struct gpu_memory_feed){ .u = u, .scratch = scratch };
	imap_init(&f->by_address, scratch);
}

static struct gpu_held *held_at(struct gpu_memory_feed *f, uint64_t address)
{
	uint32_t i;

	if (!imap_get(&f->by_address, address, &i)) {
		i = (uint32_t)f->held.n;
		imap_put(&f->by_address, address, i, false);
		VEC_PUSH(f->scratch, &f->held, ((struct gpu_held){ 0 }));
	}
	return &f->held.v[i];
}

static void allocate(
        struct gpu_memory_feed *f, struct gpu_held *h, uint32_t part, const struct spool_memory *m)
{
	enum gpu_memory_kind kind = kind_of(m->memory);
	struct gpu_memory *x = &f->u->parts.v[part].memory[kind];
	int64_t bytes = num_from_u64(m->bytes);
	bool freed = h->freed_at && h->freed_at >= m->time;

	x->allocations++;
	x->bytes = num_add(x->bytes, bytes);
	x->live = num_add(x->live, bytes);
	x->peak = x->live > x->peak ? x->live : x->peak;
	if (freed) {
		x->live = num_sub(x->live, bytes);
		x->frees++;
	}
	*h = (struct gpu_held){ .bytes = freed ? 0 : bytes, .part = part, .kind = kind };
}

void gpu_memory_take(struct gpu_memory_feed *f, uint32_t part, const struct spool_memory *m)
{
	struct gpu_held *h = held_at(f, m->address);

	if (!m->freed) {
		allocate(f, h, part, m);
		return;
	}
	if (!h->bytes) {
		h->freed_at = m->time;
		return;
	}
	struct gpu_memory *x = &f->u->parts.v[h->part].memory[h->kind];
	x->live = num_sub(x->live, h->bytes);
	x->frees++;
	*h = (struct gpu_held){ 0 };
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
void gpu_copies_take(struct gpu_use *u, enum gpu_way way, const struct op *op)
{
	static const uint64_t most[GPU_SIZES - 1] = { 4u << 10, 64u << 10, 1u << 20, 16u << 20 };
	enum { PAGEABLE = 1, PINNED = 2 }; /* CUpti_ActivityMemoryKind */
	unsigned from = op->label & 0xff, to = op->label >> 8, size = 0;
	enum gpu_host_memory host = from == PAGEABLE || to == PAGEABLE ? HOST_PAGEABLE
	                            : from == PINNED || to == PINNED   ? HOST_PINNED
	                                                               : HOST_NONE;

	while (size < GPU_SIZES - 1 && op->bytes > most[size])
		size++;
	struct gpu_copies *c = &u->copies[way][host][size];
	c->count++;
	c->bytes = num_add(c->bytes, num_from_u64(op->bytes));
	c->ns = num_add(c->ns, num_from_u64(op->length));
}
