/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts parents to pre-order, and nodes to members.
 */
#include "view/view.h"

/* Links the children of each entry: first child and next sibling. */
static void link_children(
        const struct tree_nodes *from, const uint32_t *siblings, uint32_t *first, uint32_t *next)
{
	for (size_t i = 0; i < from->parent.n; i++)
		first[i] = next[i] = ID_NONE;
	for (size_t k = from->parent.n; k-- > 1;) {
		uint32_t i = siblings ? siblings[k - 1] : (uint32_t)k;
		next[i] = first[from->parent.v[i]];
		first[from->parent.v[i]] = i;
	}
}

uint32_t *tree_order_links(struct tree *t, const struct tree_nodes *from, const uint32_t *first,
        const uint32_t *next, struct arena *a)
{
	size_t n = from->parent.n;
	uint32_t *order = ARENA_ARRAY(from->a, n, uint32_t),
	         *place = ARENA_ARRAY(from->a, n, uint32_t);
	uint32_t k = 0, i = 0;

	t->n = (uint32_t)n;
	t->parent = ARENA_ARRAY(a, n, uint32_t);
	t->end = ARENA_ARRAY(a, n, uint32_t);
	while (i != ID_NONE) {
		uint32_t up = from->parent.v[i];
		place[i] = k;
		order[k] = i;
		t->parent[k++] = up == ID_NONE ? ID_NONE : place[up];
		if (first[i] != ID_NONE) {
			i = first[i];
			continue;
		}
		while (i != ID_NONE && next[i] == ID_NONE) {
			t->end[place[i]] = k;
			i = from->parent.v[i];
		}
		if (i != ID_NONE) {
			t->end[place[i]] = k;
			i = next[i];
		}
	}
	return order;
}

uint32_t *tree_order(
        struct tree *t, const struct tree_nodes *from, const uint32_t *siblings, struct arena *a)
{
	uint32_t *first = ARENA_ARRAY(from->a, from->parent.n, uint32_t),
	         *next = ARENA_ARRAY(from->a, from->parent.n, uint32_t);

	link_children(from, siblings, first, next);
	return tree_order_links(t, from, first, next, a);
}

void tree_members(struct tree *t, const struct model *m, struct arena *a)
{
	uint32_t *first = ARENA_ARRAY(a, (size_t)t->n + 2, uint32_t);

	for (uint32_t i = 0; i < m->nodes.n; i++)
		if (t->entry_of[i] != ID_NONE)
			first[t->entry_of[i] + 2]++;
	for (uint32_t i = 2; i <= t->n; i++)
		first[i] += first[i - 1];
	t->members = ARENA_ARRAY(a, m->nodes.n, uint32_t);
	for (size_t k = 0; k < m->by_name.n; k++) {
		uint32_t node = m->by_name.v[k], entry = t->entry_of[node];
		if (entry != ID_NONE)
			t->members[first[entry + 1]++] = node;
	}
	t->member0 = first;
}
