/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of pools and of the rows of a live set, and the size classes.
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

/* The place of a pool among the others: pools of one group stay together. */
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
