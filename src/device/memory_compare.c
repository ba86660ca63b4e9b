/* SPDX-License-Identifier: Apache-2.0
 *
 * The live sets of two memory snapshots, owner by owner.
 */
#include "base/num.h"
#include "base/sort.h"
#include "device/memory_use.h"

/* Writes a text that equal owners of equal pools have in both snapshots. */
static void put_key(struct sb *b, const struct memory_pool *p, const struct memory_owner *o)
{
	const struct str parts[] = { p->device, p->allocator, o->name, o->line, o->kind, o->rule,
		o->size };

	b->n = 0;
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
			put_key(&key, p, &p->live.v[k]);
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
