/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the live sets of two files owner by owner, and those of the ranks of a job.
 */
#include "base/num.h"
#include "base/sort.h"
#include "device/memory_use.h"

/* Appends a key of an owner. The same owner has equal keys in all snapshots. */
static void put_key(struct sb *b, const struct memory_owner *o)
{
	const struct str parts[] = { o->name, o->module, o->line, o->kind, o->rule, o->size };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		sb_put(b, parts[i]);
		sb_char(b, 0);
	}
}

static int by_change(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_change *x = v;
	double p = fabs((double)x[a].second - (double)x[a].first);
	double q = fabs((double)x[b].second - (double)x[b].first);

	return (p < q) - (p > q);
}

void memory_compare(struct memory_use *use, struct arena *a)
{
	struct sb key = sb_in(a);
	struct intern keys;

	intern_init(&keys, a);
	for (size_t i = 0; i < use->pools.n; i++) {
		const struct memory_pool *p = &use->pools.v[i];
		bool first = str_eq(p->worker, use->pools.v[0].worker);
		for (size_t k = 0; k < p->live.n; k++) {
			key.n = 0;
			sb_fmt(&key, "%.*s%c%.*s%c", STR(p->device), 0, STR(p->allocator), 0);
			put_key(&key, &p->live.v[k]);
			uint32_t at = intern_add(&keys, sb_str(&key));
			if (at == use->changes.n)
				VEC_PUSH(a, &use->changes,
				        ((struct memory_change){
				                p->device, p->allocator, p->live.v[k], 0, 0 }));
			struct memory_change *c = &use->changes.v[at];
			int64_t *bytes = first ? &c->first : &c->second;
			*bytes = num_add(*bytes, p->live.v[k].bytes);
		}
	}
	if (use->changes.n)
		sort_array(a, use->changes.v, use->changes.n, sizeof *use->changes.v, by_change);
}

/* ---- ranks ---- */

/* Bytes of an owner on a rank. */
struct rank_owner {
	uint32_t owner, rank;
	int64_t bytes;
	const struct memory_owner *of;
};
struct rank_owners {
	struct rank_owner *v;
	size_t n, cap;
};

static bool is_of(const struct memory_rank *r, const struct memory_pool *p)
{
	return str_eq(r->worker, p->worker) && str_eq(r->device, p->device);
}

/* Adds a rank and the owners of its pools: the pools from index i on with the same worker and
 * device. Returns the index after these pools. */
static size_t add_rank(struct memory_use *use, size_t i, struct intern *keys,
        struct rank_owners *owners, struct arena *a)
{
	const struct memory_pool *p = &use->pools.v[i];
	struct memory_rank r = { .worker = p->worker,
		.device = p->device,
		.peak = memory_pool_peak(p),
		.reserved = p->reserved,
		.capacity = p->capacity };
	struct sb key = sb_in(a);

	for (; i < use->pools.n && is_of(&r, &use->pools.v[i]); i++)
		for (size_t k = 0; k < use->pools.v[i].live.n; k++) {
			const struct memory_owner *o = &use->pools.v[i].live.v[k];
			key.n = 0;
			put_key(&key, o);
			VEC_PUSH(a, owners,
			        ((struct rank_owner){ intern_add(keys, sb_str(&key)),
			                (uint32_t)use->ranks.n, o->bytes, o }));
		}
	VEC_PUSH(a, &use->ranks, r);
	return i;
}

static int by_owner(const void *v, uint32_t a, uint32_t b)
{
	const struct rank_owner *o = v;

	if (o[a].owner != o[b].owner)
		return o[a].owner < o[b].owner ? -1 : 1;
	return (o[a].rank > o[b].rank) - (o[a].rank < o[b].rank);
}

/* Sorts the owners, and merges equal owners of several pools of a rank. */
static void merge_owners(struct rank_owners *x, struct arena *a)
{
	size_t n = 0;

	if (x->n)
		sort_array(a, x->v, x->n, sizeof *x->v, by_owner);
	for (size_t i = 0; i < x->n; i++)
		if (n && !by_owner(x->v, (uint32_t)n - 1, (uint32_t)i))
			x->v[n - 1].bytes = num_add(x->v[n - 1].bytes, x->v[i].bytes);
		else
			x->v[n++] = x->v[i];
	x->n = n;
}

/* Sorts n numbers, none of which is negative. Returns the lower median of these numbers and all - n
 * zeros. */
static int64_t median_of(struct arena *a, int64_t *v, size_t n, size_t all)
{
	size_t at = (all - 1) / 2;

	if (at < all - n)
		return 0;
	sort_array(a, v, n, sizeof *v, sort_ascending);
	return v[at - (all - n)];
}

/* Finds for each rank the owner whose bytes exceed the median over all ranks the most. */
static void find_most(struct memory_use *use, const struct rank_owners *owners, struct arena *a)
{
	int64_t *bytes = ARENA_ARRAY(a, use->ranks.n, int64_t);

	for (size_t i = 0, end; i < owners->n; i = end) {
		for (end = i; end < owners->n && owners->v[end].owner == owners->v[i].owner; end++)
			bytes[end - i] = owners->v[end].bytes;
		int64_t median = median_of(a, bytes, end - i, use->ranks.n);
		for (size_t k = i; k < end; k++) {
			struct memory_rank *r = &use->ranks.v[owners->v[k].rank];
			int64_t over = num_sub(owners->v[k].bytes, median);
			if (over > r->most_over) {
				r->most = *owners->v[k].of;
				r->most_over = over;
			}
		}
	}
}

static int by_limit(const void *v, uint32_t a, uint32_t b)
{
	const struct memory_rank *p = (const struct memory_rank *)v + a;
	const struct memory_rank *q = (const struct memory_rank *)v + b;

	if ((p->capacity < 0) != (q->capacity < 0))
		return p->capacity < 0 ? 1 : -1;
	int64_t left = p->capacity < 0 ? -p->reserved : num_sub(p->capacity, p->reserved);
	int64_t other = q->capacity < 0 ? -q->reserved : num_sub(q->capacity, q->reserved);
	if (left != other)
		return left < other ? -1 : 1;
	return (p->peak < q->peak) - (p->peak > q->peak);
}

void memory_compare_ranks(struct memory_use *use, struct arena *a)
{
	struct rank_owners owners = { 0 };
	struct intern keys;

	intern_init(&keys, a);
	for (size_t i = 0; i < use->pools.n;)
		i = add_rank(use, i, &keys, &owners, a);
	if (!use->ranks.n)
		return;
	int64_t *peaks = ARENA_ARRAY(a, use->ranks.n, int64_t);
	for (size_t i = 0; i < use->ranks.n; i++)
		peaks[i] = use->ranks.v[i].peak;
	int64_t median = median_of(a, peaks, use->ranks.n, use->ranks.n);
	for (size_t i = 0; i < use->ranks.n; i++)
		use->ranks.v[i].over = num_sub(use->ranks.v[i].peak, median);
	merge_owners(&owners, a);
	find_most(use, &owners, a);
	sort_array(a, use->ranks.v, use->ranks.n, sizeof *use->ranks.v, by_limit);
}
