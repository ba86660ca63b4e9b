/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the numbers of an answer again from other tallies of the nodes: the kept entries are
 * added up anew, without selection and sorting.
 */
#include "view/view.h"

/* Computes totals over the shown entries only. */
static void sum_shown(const struct result *r, struct recompute_values *x)
{
	memcpy(x->total, x->own, r->n * sizeof *x->total);
	for (uint32_t i = r->n; i-- > 1;) {
		uint32_t up = r->shown[i].parent;
		if (up != ID_NONE)
			tally_add(&x->total[up], &x->total[i]);
	}
}

/* Computes totals over all kept entries. */
static void sum_kept(const struct result *r, struct query *q, struct recompute_values *x)
{
	if (q->kept.list)
		view_sum_list(q);
	else
		view_sum(q);
	for (uint32_t i = 0; i < r->n; i++)
		x->total[i] = q->kept.total[r->shown[i].kept];
}

struct recompute_values view_recompute(
        const struct result *r, struct tally *tallies, struct arena *a)
{
	struct recompute_values x = { ARENA_ARRAY(a, r->n, struct tally),
		ARENA_ARRAY(a, r->n, struct tally) };
	struct query q = *r->q;
	struct scratch scratch;

	scratch_open(&scratch, a->work);
	q.a = &scratch.a;
	q.tallies = tallies;
	if (q.kept.self)
		q.kept.self = view_sum_members(&q);
	for (uint32_t i = 0; i < r->n; i++)
		x.own[i] = *view_self(&q, r->shown[i].kept);
	if (q.o->displayed_only && !view_is(r->kind, VIEW_TRACES))
		sum_shown(r, &x);
	else
		sum_kept(r, &q, &x);
	scratch_close(&scratch);
	return x;
}
