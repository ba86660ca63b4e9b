/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the scopes and nodes with the largest times.
 */
#include "view/facts.h"

#include "base/sort.h"

struct ranking {
	const struct query *q;
	const struct hottest *of;
};

/* Orders by number. Entries of the tree are in the order of their names, so equal entries keep this
 * order. */
static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *o = ctx;
	const int64_t *x = view_self(o->q, a)->v, *y = view_self(o->q, b)->v;
	enum value of = o->of->of, other = o->of->other;

	if (x[of] == y[of] && other != V_NONE)
		of = other;
	return (x[of] < y[of]) - (x[of] > y[of]);
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
	if (!q->kept.total) /* op: a type has no entries below it */
		q->kept.total = q->kept.self;
	*out = (struct hottest){ .of = of,
		.other = view_other_time(q->m, of),
		.kept = ARENA_ARRAY(q->a, q->kept.n, uint32_t) };
	for (uint32_t i = 1; i < q->kept.n; i++) {
		if (i % 4096 == 0)
			work_poll(q->a->work);
		if (!is_node(q, i))
			continue;
		const int64_t *v = view_self(q, i)->v;
		int64_t other = out->other == V_NONE ? 0 : v[out->other];
		out->total = num_sum(out->total, v[of]);
		out->other_total = num_sum(out->other_total, other);
		if ((v[of] > 0 || other > 0) && view_hides(q, i, INT32_MIN) == HIDDEN_N)
			out->kept[out->n++] = i;
	}
	sort_stable(q->a, out->kept, out->n, by_number, &(struct ranking){ q, out });
	return view_patterns_ok(q, e);
}
