/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a graph without an op log, node by node.
 */
#include "model/graph_flops.h"
#include "flops/flops.h"
#include "model/graph_functions.h"

/* Returns the result of the table of formulas for the operation of a node. */
static enum node_flops look_up(const struct model *m, uint32_t node, struct arena *scratch)
{
	const struct str op = model_str(m, m->nodes.v[node].op);
	const struct op_row *row = flops_find_op(str_fmt(scratch, "tensorflow::%.*s", STR(op)));

	if (!row)
		return NODE_LACKS_FORMULA;
	if (row->formula == FORMULA_LOOP)
		return NODE_REPEATS;
	return row->formula == FORMULA_NONE ? NODE_WITHOUT_FLOPS : NODE_COUNTED;
}

struct node_count graph_flops_count(const struct graph_flops *x, uint32_t node, struct arena *a)
{
	struct node_count c = { .list = model_node_call(x->m, x->shapes, node, a) };

	c.one = flops_of_list(c.list, NULL, &c.formula);
	return c;
}

#define SCRATCH_NODES 256 /* nodes whose texts share scratch memory */
#define NODE_COUNTS   (NODE_ONNX | NODE_CALL)

/* True for an ONNX model and an execution trace: only nodes with these flags have float operations.
 */
static bool marks_nodes(const struct model *m)
{
	for (uint32_t i = 0; i < m->nodes.n; i++)
		if (m->nodes.v[i].flags & NODE_COUNTS)
			return true;
	return false;
}

struct graph_flops model_flops(const struct model *graph, int64_t batch, bool keep, struct arena *a)
{
	const struct expanded all = library_expand(graph, a);
	const struct model *m = all.m;
	struct graph_flops to = { .m = m,
		.owner = all.owner,
		.v = ARENA_ARRAY(a, m->nodes.n, int64_t),
		.state = ARENA_ARRAY(a, m->nodes.n, uint8_t),
		.counts = keep ? ARENA_ARRAY(a, m->nodes.n, struct node_count) : NULL,
		.shapes = graph_shapes_find(m, batch, a) };
	uint8_t *of_op = ARENA_ARRAY(a, m->strings.n, uint8_t); /* 1 + result of look_up */
	bool marked = marks_nodes(m);
	struct scratch own;

	scratch_open(&own, a->work);
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.v[i];
		bool counts = n->flags & NODE_COUNTS;
		if (i && i % SCRATCH_NODES == 0) {
			scratch_close(&own);
			scratch_open(&own, a->work);
		}
		if (marked && !counts)
			continue;
		if (!counts && !of_op[n->op])
			of_op[n->op] = (uint8_t)(1 + look_up(m, i, &own.a));
		to.state[i] = counts ? NODE_COUNTED : of_op[n->op] - 1;
		if (to.state[i] == NODE_LACKS_FORMULA && all.calls && all.calls[i])
			to.state[i] = NODE_WITHOUT_FLOPS;
		to.loops += to.state[i] == NODE_REPEATS;
		if (to.state[i] != NODE_COUNTED)
			continue;
		const struct node_count c = graph_flops_count(&to, i, keep ? a : &own.a);
		if (keep)
			to.counts[i] = c;
		to.v[i] = c.one.lack ? 0 : c.one.flops;
		to.state[i] = c.one.lack ? NODE_LACKS_DATA : NODE_COUNTED;
		*(to.state[i] == NODE_COUNTED ? &to.counted : &to.unknown) += 1;
		to.onnx += (n->flags & NODE_ONNX) != 0;
	}
	scratch_close(&own);
	return to;
}
