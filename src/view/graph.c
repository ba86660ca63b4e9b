/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph view: along inputs, from the nodes whose outputs are not read. A node is placed
 * below the first node that reaches it, depth first, whatever is accounted, so the structure
 * depends on the model alone (quirk 29). Nodes that only a cycle leads to are left out, as in the
 * original; for inputs that the original cannot read, a node of each such cycle is at the top.
 */
#include "view/view.h"

struct descent {
	const struct model *m;
	struct tree *t;
	bool *seen;      /* indexed by node: true if it has been visited */
	uint32_t *path;  /* entries from the top to the current one */
	uint32_t *input; /* indexed by entry on the path: the next input to follow */
	uint32_t deep;
};

/* Descends to a node that has not been visited. */
static void enter(struct descent *d, uint32_t node)
{
	struct tree *t = d->t;
	uint32_t i = t->n++;

	d->seen[node] = true;
	t->parent[i] = d->deep ? d->path[d->deep - 1] : 0;
	t->node[i] = node;
	t->name[i] = node_name(d->m, node);
	d->path[d->deep] = i;
	d->input[d->deep++] = d->m->input0.v[node];
}

/* Adds everything that is reachable from a node. */
static void descend(struct descent *d, uint32_t node)
{
	const struct model *m = d->m;

	enter(d, node);
	while (d->deep) {
		uint32_t i = d->path[d->deep - 1], *input = &d->input[d->deep - 1];
		if (*input == m->input0.v[d->t->node[i] + 1]) {
			d->t->end[i] = d->t->n;
			d->deep--;
			continue;
		}
		uint32_t source = m->inputs.v[(*input)++];
		if (!(source & INPUT_UNKNOWN) && !d->seen[source])
			enter(d, source);
	}
}

/* Marks the nodes that are an input of another node. */
static bool *find_named(const struct model *m, struct arena *a)
{
	bool *named = ARENA_ARRAY(a, m->nodes.n, bool);

	for (size_t i = 0; i < m->inputs.n; i++)
		if (!(m->inputs.v[i] & INPUT_UNKNOWN))
			named[m->inputs.v[i]] = true;
	return named;
}

/* Returns the *n nodes that cannot be reached from a root. A node from which another one can be
 * reached comes first, unless both are in a cycle: this is the reversed order in which a search
 * along inputs leaves the nodes. */
static uint32_t *order_rest(const struct descent *d, struct arena *a, size_t *n)
{
	const struct model *m = d->m;
	uint32_t *order = ARENA_ARRAY(a, m->nodes.n, uint32_t), deep = 0;
	bool *seen = ARENA_ARRAY(a, m->nodes.n, bool);
	size_t first = m->nodes.n;

	for (size_t i = 0; i < m->by_name.n; i++) {
		uint32_t source = m->by_name.v[i];
		do {
			if (!(source & INPUT_UNKNOWN) && !d->seen[source] && !seen[source]) {
				seen[source] = true;
				d->path[deep] = source;
				d->input[deep++] = m->input0.v[source];
			}
			while (deep && d->input[deep - 1] == m->input0.v[d->path[deep - 1] + 1])
				order[--first] = d->path[--deep];
			if (deep)
				source = m->inputs.v[d->input[deep - 1]++];
		} while (deep);
	}
	*n = m->nodes.n - first;
	return order + first;
}

void view_graph_build(const struct model *m, struct tree *t, struct arena *a, struct notes *notes)
{
	size_t n = m->nodes.n + 1;
	struct scratch own;

	(void)notes;
	scratch_open(&own, a->work);
	struct descent d = { .m = m,
		.t = t,
		.seen = ARENA_ARRAY(&own.a, n, bool),
		.path = ARENA_ARRAY(&own.a, n, uint32_t),
		.input = ARENA_ARRAY(&own.a, n, uint32_t) };
	bool *named = find_named(m, &own.a);
	t->parent = ARENA_ARRAY(a, n, uint32_t);
	t->end = ARENA_ARRAY(a, n, uint32_t);
	t->name = ARENA_ARRAY(a, n, struct str);
	t->node = ARENA_ARRAY(a, n, uint32_t);
	t->parent[0] = t->node[0] = ID_NONE;
	t->name[0] = ROOT_NAME;
	t->n = 1;
	for (size_t i = 0; i < m->by_name.n; i++)
		if (!named[m->by_name.v[i]])
			descend(&d, m->by_name.v[i]);
	if (m->new_input && t->n < n) {
		size_t rest;
		const uint32_t *order = order_rest(&d, &own.a, &rest);
		for (size_t i = 0; i < rest; i++)
			if (!d.seen[order[i]])
				descend(&d, order[i]);
	}
	t->end[0] = t->n;
	scratch_close(&own);
}

/* Keeps only accounted nodes. Children of dropped nodes move to the nearest kept ancestor. */
void view_graph_account(struct query *q)
{
	const struct tree *t = q->tree;
	bool *accounted = ARENA_ARRAY(q->a, t->n, bool);

	for (uint32_t i = 1; i < t->n; i++)
		accounted[i] = view_matches(q, t->node[i]) > 0;
	view_keep(q, accounted, accounted);
	view_sum(q);
}

bool view_graph_show(struct query *q, struct result *r, struct err *e)
{
	view_graph_account(q);
	return view_walk(q, r, false, e);
}
