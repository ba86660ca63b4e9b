/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the shown entries in a step. Sums saturate, as in the result.
 */
#include "view/step_columns.h"

static void new_places(struct step_numbers *x, uint32_t n, struct arena *a)
{
	x->n = n;
	x->kept = ARENA_ARRAY(a, n, uint32_t);
	x->parent = ARENA_ARRAY(a, n, uint32_t);
	x->depth = ARENA_ARRAY(a, n, uint32_t);
	x->shown = ARENA_ARRAY(a, n, uint32_t);
	x->own = ARENA_ARRAY(a, n, int64_t);
	x->total = ARENA_ARRAY(a, n, int64_t);
	x->marked = ARENA_ARRAY(a, n, bool);
	x->touched = ARENA_ARRAY(a, n, uint32_t);
}

static void add_place(struct step_numbers *x, uint32_t p, uint32_t kept, uint32_t parent)
{
	x->kept[p] = kept;
	x->parent[p] = parent;
	x->depth[p] = parent == ID_NONE ? 0 : x->depth[parent] + 1;
	x->shown[p] = ID_NONE;
}

/* Adds the places. In op, an entry's total includes all entries after it, so each entry is the
 * parent of the next entry. */
static void add_places(struct step_numbers *x, const struct result *r)
{
	const struct kept *k = &x->q->kept;

	if (!x->root_apart)
		for (uint32_t i = 0; i < r->n; i++)
			add_place(x, i, r->shown[i].kept, r->shown[i].parent);
	else
		for (uint32_t i = 0; i < k->n; i++)
			add_place(x, i, i && k->list ? k->list[i - 1] : i,
			        !i        ? ID_NONE
			        : k->list ? i - 1
			                  : k->parent[i]);
}

/* Returns the node of a tree entry. For entries with several nodes, see find_nodes. */
static void find_nodes(struct step_numbers *x, const uint32_t *place_of_kept, struct arena *a)
{
	const struct query *q = x->q;
	const struct tree *t = q->tree;
	uint32_t *kept_of = ARENA_ARRAY(a, t->n, uint32_t);

	memset(kept_of, 0xff, t->n * sizeof *kept_of);
	memset(x->place_of, 0xff, q->m->nodes.n * sizeof *x->place_of);
	for (uint32_t i = 0; i < q->kept.n; i++)
		kept_of[q->kept.at[i]] = i;
	for (uint32_t i = 0; t->node && i < t->n; i++)
		if (t->node[i] != ID_NONE && kept_of[i] != ID_NONE)
			x->place_of[t->node[i]] = place_of_kept[kept_of[i]];
	for (uint32_t node = 0; !t->node && node < q->m->nodes.n; node++)
		if (t->entry_of[node] != ID_NONE && kept_of[t->entry_of[node]] != ID_NONE)
			x->place_of[node] = place_of_kept[kept_of[t->entry_of[node]]];
}

void step_numbers_open(struct step_numbers *x, const struct result *r, struct arena *a)
{
	const struct query *q = r->q;
	struct scratch own;

	*x = (struct step_numbers){ .q = q,
		.root_apart = !q->o->displayed_only || view_is(r->kind, VIEW_TRACES) };
	new_places(x, x->root_apart ? q->kept.n : r->n, a);
	x->place_of = ARENA_ARRAY(a, q->m->nodes.n, uint32_t);
	add_places(x, r);
	scratch_open(&own, a->work);
	uint32_t *place_of_kept = ARENA_ARRAY(&own.a, q->kept.n, uint32_t);
	memset(place_of_kept, 0xff, q->kept.n * sizeof *place_of_kept);
	for (uint32_t p = 0; p < x->n; p++)
		place_of_kept[x->kept[p]] = p;
	for (uint32_t i = 0; i < r->n; i++)
		x->shown[place_of_kept[r->shown[i].kept]] = i;
	find_nodes(x, place_of_kept, &own.a);
	scratch_close(&own);
}

static void touch(struct step_numbers *x, uint32_t p)
{
	if (!x->marked[p])
		x->touched[x->n_touched++] = p;
	x->marked[p] = true;
}

/* Adds the number of a node to its place; Quirk 13: in op and code once for each pattern. */
static void add_node(struct step_numbers *x, uint32_t node, int64_t v)
{
	uint32_t p = x->place_of[node], times = x->q->kept.self ? view_matches(x->q, node) : 1;

	if (!v || p == ID_NONE)
		return;
	for (; times > 0; times--)
		x->own[p] = num_sum(x->own[p], v);
	touch(x, p);
}

/* Adds all nodes, because values of nodes that did not run may count too. */
static void add_all_nodes(struct step_numbers *x, const struct step *s)
{
	uint32_t c = 0;

	for (uint32_t node = 0; node < x->q->m->nodes.n; node++) {
		bool ran = c < s->n_cells && s->cell_node[c] == node;
		add_node(x, node, model_value(x->q->m, s, ran ? c : ID_NONE, node, x->value));
		c += ran;
	}
	for (uint32_t p = 0; !x->q->kept.self && p < x->n;
	        p++) { /* entries without a node are definitions */
		if (x->value != V_DEFINITIONS ||
		        x->q->tree->node[x->q->kept.at[x->kept[p]]] != ID_NONE)
			continue;
		x->own[p] = 1;
		touch(x, p);
	}
}

/* Adds up from each touched place to the root, touching its ancestors. */
static void sum_up_touched(struct step_numbers *x)
{
	uint32_t n = x->n_touched;

	for (uint32_t i = 0; i < n; i++) {
		int64_t v = x->own[x->touched[i]];
		if (!x->touched[i] && x->root_apart)
			continue;
		for (uint32_t p = x->touched[i]; p != ID_NONE; p = x->parent[p]) {
			x->total[p] = num_sum(x->total[p], v);
			touch(x, p);
		}
	}
}

static void sum_up_all(struct step_numbers *x)
{
	for (uint32_t p = x->n; p-- > 0;) {
		if (p || !x->root_apart)
			x->total[p] = num_sum(x->total[p], x->own[p]);
		if (p && x->parent[p] != ID_NONE)
			x->total[x->parent[p]] = num_sum(x->total[x->parent[p]], x->total[p]);
	}
}

/* True if adding up from each touched place costs less than a pass over all places. */
static bool few_touched(const struct step_numbers *x)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < x->n_touched && steps < x->n; i++)
		steps += x->depth[x->touched[i]] + 1;
	return steps < x->n;
}

void step_numbers_each(struct step_numbers *x, const struct step *s,
        void (*f)(void *user, uint32_t shown, int64_t own, int64_t total), void *user)
{
	work_poll(x->q->a->work);
	if (x->value >= V_RECORDED)
		add_all_nodes(x, s);
	for (uint32_t c = 0; x->value < V_RECORDED && c < s->n_cells; c++)
		add_node(x, s->cell_node[c], step_value(s, c, model_ticks(x->q->m), x->value));
	bool few = few_touched(x);
	if (few)
		sum_up_touched(x);
	else
		sum_up_all(x);
	for (uint32_t i = 0; i < (few ? x->n_touched : x->n); i++) {
		uint32_t p = few ? x->touched[i] : i;
		if (x->shown[p] != ID_NONE && (x->own[p] || x->total[p]))
			f(user, x->shown[p], x->own[p], x->total[p]);
		x->own[p] = x->total[p] = 0;
		x->marked[p] = false;
	}
	x->n_touched = 0;
}
