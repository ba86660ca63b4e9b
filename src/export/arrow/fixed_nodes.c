/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of nodes: the entries of the scope view, step by step, with their own numbers and the
 * totals over everything below them.
 */
#include "export/arrow/arrow.h"
#include "view/view.h"

struct nodes_state {
	struct tree tree;
	struct tally *own, *total; /* indexed by entry of the tree */
	bool *shown;               /* indexed by entry: true if it or an entry below it ran */
	bool ready;                /* true: the arrays belong to step at[0] */
};

static const enum value values[] = { V_RUNS, V_MICROS, V_ACCELERATOR_MICROS, V_CPU_MICROS, V_BYTES,
	V_PEAK_BYTES, V_RESIDUAL_BYTES, V_OUTPUT_BYTES, V_PARAMS, V_FLOAT_OPS, V_UNCOUNTED };

/* Fills own, total and shown. s: a step; NULL if the model has no steps. */
static void sum_step(struct table_reader *x, const struct step *s, struct arena *scratch)
{
	struct nodes_state *n = x->state;
	const struct tree *t = &n->tree;
	struct tally *tallies = model_tallies(x->m, s, scratch);

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t node = t->node[i];
		memset(&n->own[i], 0, sizeof n->own[i]);
		if (node != ID_NONE)
			n->own[i] = tallies[node];
		n->total[i] = n->own[i];
		n->shown[i] = !s && node != ID_NONE;
	}
	for (uint32_t c = 0; s && c < s->n_cells; c++)
		tallies[s->cell_node[c]].v[V_DEFINITIONS] = -1; /* marks nodes that ran */
	for (uint32_t i = 0; s && i < t->n; i++)
		if (t->node[i] != ID_NONE && tallies[t->node[i]].v[V_DEFINITIONS] == -1)
			n->shown[i] = true;
	for (uint32_t i = t->n; i-- > 1;) {
		uint32_t up = t->parent[i];
		tally_add(&n->total[up], &n->total[i]);
		n->shown[up] |= n->shown[i];
	}
	n->ready = true;
}

static void put_value(
        const struct model *m, struct arrow_build *to, enum value which, const struct tally *t)
{
	if (tally_is_unknown(t, which))
		arrow_null(to);
	else if (value_is_time(which))
		arrow_real(to, fraction_real(model_fraction(m, 1, which, t->v[which])));
	else
		arrow_i64(to, t->v[which]);
}

static void put_row(
        const struct table_reader *x, struct arrow_build *to, const struct step *s, uint32_t i)
{
	const struct nodes_state *n = x->state;
	const struct model *m = x->m;
	const struct node *node = n->tree.node[i] == ID_NONE ? NULL : &m->nodes.v[n->tree.node[i]];

	table_put_run(x, to, s ? s->worker : 0);
	table_put(to, s, s ? s->id : 0);
	table_put_named_key(to, n->tree.name[i]);
	arrow_text(to, node ? model_str(m, node->op) : STR_NONE);
	arrow_text(to, node ? device_name(m, node->device) : STR_NONE);
	for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
		put_value(m, to, values[v], &n->own[i]);
		put_value(m, to, values[v], &n->total[i]);
	}
}

static bool fill_nodes(struct table_reader *x, struct arrow_build *to, struct arena *scratch)
{
	struct nodes_state *n = x->state;
	size_t steps = x->m->steps.n ? x->m->steps.n : 1;

	for (; x->at[0] < steps && !arrow_full(to); x->at[0]++, x->at[1] = 0) {
		const struct step *s = x->m->steps.n ? x->m->steps.v[x->at[0]] : NULL;
		if (!n->ready)
			sum_step(x, s, scratch);
		arena_clear(scratch);
		if (!x->at[1])
			x->at[1] = 1; /* the root is omitted, because it repeats the sums */
		for (; x->at[1] < n->tree.n && !arrow_full(to); x->at[1]++)
			if (n->shown[x->at[1]])
				put_row(x, to, s, (uint32_t)x->at[1]);
		if (x->at[1] < n->tree.n)
			return true;
		n->ready = false;
	}
	return x->at[0] < steps;
}

table_fill *table_open_nodes(struct table_reader *x)
{
	struct nodes_state *n = ARENA_NEW(x->a, struct nodes_state);
	const struct view_ops *view = view_with(VIEW_PATHS);
	struct notes notes;

	notes_init(&notes, x->a);
	n->tree.kind = view->kind;
	view->build(x->m, &n->tree, x->a, &notes);
	n->own = ARENA_ARRAY(x->a, n->tree.n, struct tally);
	n->total = ARENA_ARRAY(x->a, n->tree.n, struct tally);
	n->shown = ARENA_ARRAY(x->a, n->tree.n, bool);
	x->state = n;
	return fill_nodes;
}
