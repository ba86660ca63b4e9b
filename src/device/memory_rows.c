/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of pools and of the rows of a live set, segments, and the size classes.
 */
#include "base/sort.h"
#include "device/memory_use.h"

static int by_bytes(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_owner *x = (const struct memory_owner *)v + a,
	                          *y = (const struct memory_owner *)v + b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void memory_sort_live(struct memory_pool *p, struct arena *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < p->live.n; i++)
		if (p->live.v[i].bytes || p->live.v[i].allocations)
			p->live.v[n++] = p->live.v[i];
	p->live.n = n;
	if (n)
		sort_array(scratch, p->live.v, n, sizeof *p->live.v, by_bytes);
}

/* ---- pools ---- */

int64_t memory_pool_peak(const struct memory_pool *p)
{
	int64_t most = p->use.n ? p->use.v[p->most].bytes : -1;

	most = p->peak > most ? p->peak : most;
	return most < 0 ? p->moment_live : most;
}

/* The sort key of a pool. Pools of one group stay together. */
struct pool_rank {
	const struct memory_pool *p, *group; /* group: the row of the whole device, or the pool */
	size_t worker;                       /* number of the worker */
};

static int by_peak(const void *v, uint32_t a, uint32_t b)
{
	const struct pool_rank *x = (const struct pool_rank *)v + a,
	                       *y = (const struct pool_rank *)v + b;
	int64_t p = memory_pool_peak(x->group), q = memory_pool_peak(y->group);

	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	if (x->group != y->group)
		return p != q ? (p < q) - (p > q) : x->group < y->group ? -1 : 1;
	if (x->p->whole_device != y->p->whole_device)
		return x->p->whole_device ? -1 : 1;
	p = memory_pool_peak(x->p);
	q = memory_pool_peak(y->p);
	return (p < q) - (p > q);
}

void memory_sort_pools(struct memory_use *use, struct arena *a)
{
	struct pool_rank *ranks = ARENA_ARRAY(a, use->pools.n, struct pool_rank);
	struct memory_pool *sorted = ARENA_ARRAY(a, use->pools.n, struct memory_pool);

	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		bool same = i && str_eq(p[-1].worker, p->worker);
		ranks[i] = (struct pool_rank){ p, p, i ? ranks[i - 1].worker + !same : 0 };
		if (same && ranks[i - 1].group->whole_device && str_eq(p[-1].device, p->device))
			ranks[i].group = ranks[i - 1].group;
	}
	const uint32_t *order = sort_order(a, use->pools.n, by_peak, ranks);
	for (size_t i = 0; i < use->pools.n; i++)
		sorted[i] = use->pools.v[order[i]];
	if (use->pools.n)
		memcpy(use->pools.v, sorted, use->pools.n * sizeof *sorted);
}

/* ---- segments ---- */

int64_t memory_segment_part(const struct memory_segment *s, unsigned part)
{
	int64_t whole = s->bytes / MEMORY_SEGMENT_PARTS, rest = s->bytes % MEMORY_SEGMENT_PARTS;

	return whole * part + rest * part / MEMORY_SEGMENT_PARTS;
}

void memory_add_block(struct memory_segment *s, uint64_t address, int64_t bytes, bool used)
{
	s->blocks++;
	if (!used) {
		s->largest_free = bytes > s->largest_free ? bytes : s->largest_free;
		return;
	}
	s->used = num_add(s->used, bytes);
	if (address - s->address >= (uint64_t)s->bytes)
		return;
	int64_t from = (int64_t)(address - s->address);
	int64_t to = bytes < s->bytes - from ? from + bytes : s->bytes;
	for (unsigned i = 0; i < MEMORY_SEGMENT_PARTS; i++) {
		int64_t start = memory_segment_part(s, i), end = memory_segment_part(s, i + 1);
		start = start > from ? start : from;
		end = end < to ? end : to;
		s->parts[i] = num_add(s->parts[i], end > start ? end - start : 0);
	}
}

static int by_size(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_segment *x = (const struct memory_segment *)v + a,
	                            *y = (const struct memory_segment *)v + b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

void memory_sort_segments(struct memory_use *use, struct arena *a)
{
	size_t n = use->segments.n;

	if (n)
		sort_array(a, use->segments.v, n, sizeof *use->segments.v, by_size);
	use->segments_left_out = n > MEMORY_SEGMENTS ? n - MEMORY_SEGMENTS : 0;
	use->segments.n = n - use->segments_left_out;
}

/* ---- size classes ---- */

static const struct size_class {
	int64_t most;
	const char *name;
} size_classes[] = { { 512, "<=512 B" }, { 64 << 10, "<=64 KiB" }, { 1 << 20, "<=1 MiB" },
	{ 10 << 20, "<=10 MiB" }, { 100 << 20, "<=100 MiB" }, { 1 << 30, "<=1 GiB" },
	{ INT64_MAX, ">1 GiB" } };

unsigned memory_size_class_of(int64_t bytes)
{
	unsigned i = 0;

	while (bytes > size_classes[i].most)
		i++;
	return i;
}

struct str memory_size_class(unsigned i)
{
	return str_of(size_classes[i].name);
}
