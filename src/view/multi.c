/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by op and code: entries that represent several graph nodes, and which of these nodes they
 * account. Independent of both views.
 */
#include "view/view.h"

/* Computes for each entry of the tree the sums over its accounted members, and their number (nodes
 * may be NULL), in one pass over the nodes in memory order. */
static void sum_entries(const struct query *q, struct tally *self, uint32_t *nodes)
{
	const struct tree *t = q->tree;

	for (uint32_t node = 0; node < q->m->nodes.n; node++) {
		uint32_t i = t->entry_of[node];
		if (node % 4096 == 4095)
			work_poll(q->a->work);
		if (i == ID_NONE)
			continue;
		uint32_t matches = view_matches(q, node);
		if (nodes)
			nodes[i] += matches > 0;
		for (; matches > 0; matches--)
			tally_add(&self[i], &q->tallies[node]);
	}
}

struct tally *view_sum_members(const struct query *q)
{
	struct tally *self = ARENA_ARRAY(q->a, q->tree->n, struct tally);

	sum_entries(q, self, NULL);
	for (uint32_t i = 0; i < q->kept.n; i++) /* at[i] >= i, so no element is overwritten before
	                                            it is read */
		self[i] = self[q->kept.at[i]];
	return self;
}

void view_keep_members(struct query *q)
{
	const struct tree *t = q->tree;
	struct kept *k = &q->kept;
	bool *keep = ARENA_ARRAY(q->a, t->n, bool), *accounted = ARENA_ARRAY(q->a, t->n, bool);
	struct tally *self = ARENA_ARRAY(q->a, t->n, struct tally);
	uint32_t *nodes = ARENA_ARRAY(q->a, t->n, uint32_t);
	bool all = pattern_is_all(q->account);

	sum_entries(q, self, nodes);
	for (uint32_t i = t->n; i-- > 1;) {
		accounted[i] = all || nodes[i] > 0;
		keep[i] |= accounted[i];
		keep[t->parent[i]] |= keep[i];
	}
	view_keep(q, keep, accounted);
	for (uint32_t i = 0; i < k->n; i++) { /* for the same reason as above */
		self[i] = self[k->at[i]];
		nodes[i] = nodes[k->at[i]];
	}
	k->self = self;
	k->nodes = nodes;
}
