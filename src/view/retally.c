/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of an answer once more, from other tallies of the nodes. Follows what view_sum, the
 * list of op and re-accounting do, without choosing or sorting anything.
 */
#include "view/view.h"

/* The own numbers of each kept entry. */
static struct tally *find_own(const struct query *q, const struct tally *tallies, struct arena *a)
{
	const struct kept *k = &q->kept;
	const struct tree *t = q->tree;
	struct tally *own = ARENA_ARRAY(a, k->self ? t->n : k->n, struct tally);

	if (k->self)
		view_sum_members(q, tallies, own, NULL);
	for (uint32_t i = 0; i < k->n;
	        i++) { /* at[i] >= i: nothing is overwritten before it is read */
		uint32_t node = k->self ? ID_NONE : t->node[k->at[i]];
		if (k->self)
			own[i] = own[k->at[i]];
		else
			own[i] = node == ID_NONE ? *view_self(q, i) : tallies[node];
	}
	return own;
}

/* Totals over what is shown only. */
static void sum_shown(const struct result *r, struct retally *x)
{
	memcpy(x->total, x->own, r->n * sizeof *x->total);
	for (uint32_t i = r->n; i-- > 1;) {
		uint32_t up = r->shown[i].parent;
		if (up != ID_NONE)
			tally_add(&x->total[up], &x->total[i]);
	}
}

/* Totals over what is kept, of each kept entry. */
static struct tally *sum_kept(const struct query *q, const struct tally *own, struct arena *a)
{
	const struct kept *k = &q->kept;
	struct tally *total = ARENA_ARRAY(a, k->n, struct tally);

	for (uint32_t i = k->list ? k->n - 1 : 0; i-- > 0;) {
		total[k->list[i]] = own[k->list[i]];
		if (i + 2 < k->n)
			tally_add(&total[k->list[i]], &total[k->list[i + 1]]);
	}
	for (uint32_t i = k->list ? 0 : k->n; i-- > 1;) {
		tally_add(&total[i], &own[i]);
		tally_add(&total[k->parent[i]], &total[i]);
	}
	return total;
}

struct retally view_retally(const struct result *r, const struct tally *tallies, struct arena *a)
{
	const struct query *q = r->q;
	struct retally x = { ARENA_ARRAY(a, r->n, struct tally),
		ARENA_ARRAY(a, r->n, struct tally) };
	struct scratch scratch;

	scratch_open(&scratch, a->work);
	struct tally *own = find_own(q, tallies, &scratch.a);
	for (uint32_t i = 0; i < r->n; i++)
		x.own[i] = own[r->shown[i].kept];
	if (q->o->displayed_only && r->kind != VK_CODE) {
		sum_shown(r, &x);
	} else {
		struct tally *total = sum_kept(q, own, &scratch.a);
		for (uint32_t i = 0; i < r->n; i++)
			x.total[i] = total[r->shown[i].kept];
	}
	scratch_close(&scratch);
	return x;
}
