/* SPDX-License-Identifier: Apache-2.0
 *
 * See facts.h.
 */
#include "view/facts.h"

#include "base/sort.h"

struct ranking {
	const struct query *q;
	enum value of;
};

/* Entries of the tree are in the order of their names, so equal ones stay as they are. */
static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *o = ctx;
	int64_t x = view_self(o->q, a)->v[o->of], y = view_self(o->q, b)->v[o->of];

	return (x < y) - (x > y);
}

/* True if the entry has its own numbers; a scope that no node defines has none. */
static bool is_node(const struct query *q, uint32_t kept)
{
	return q->kept.accounted[kept] &&
	       (!q->tree->node || q->tree->node[q->kept.at[kept]] != ID_NONE);
}

bool view_hottest(struct query *q, enum value of, struct hottest *out, struct err *e)
{
	views[q->tree->kind].account(q);
	if (!q->kept.total) /* op: a type has nothing below it */
		q->kept.total = q->kept.self;
	*out = (struct hottest){ .of = of, .kept = ARENA_ARRAY(q->a, q->kept.n, uint32_t) };
	for (uint32_t i = 1; i < q->kept.n; i++) {
		if (i % 4096 == 0)
			work_poll(q->a->work);
		if (!is_node(q, i))
			continue;
		int64_t v = view_self(q, i)->v[of];
		out->total = num_sum(out->total, v);
		if (v > 0 && view_hides(q, i, INT32_MIN) == HIDDEN_N)
			out->kept[out->n++] = i;
	}
	sort_stable(q->a, out->kept, out->n, by_number, &(struct ranking){ q, of });
	return view_patterns_ok(q, e);
}
