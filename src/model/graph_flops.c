/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a graph without an op log, node by node.
 */
#include "model/graph_flops.h"
#include "flops/flops.h"
#include "model/graph_functions.h"

/* Returns the result of the table of formulas for the operation of a node. */
static enum node_flops look_up(const struct model *m, uint32_t node, struct arena *a)
{
	const struct node *n = &m->nodes.v[node];
	const struct op_row *row;
	struct scratch own;

	scratch_open(&own, a->work);
	row = flops_find_op(str_fmt(&own.a, "tensorflow::%.*s", STR(model_str(m, n->op))));
	scratch_close(&own);
	if (!row)
		return NODE_LACKS_FORMULA;
	if (row->formula == FORMULA_LOOP)
		return NODE_REPEATS;
	return row->formula == FORMULA_NONE ? NODE_WITHOUT_FLOPS : NODE_COUNTED;
}

/* Counts the float operations of a node. */
static enum node_flops count(const struct model *m, const struct graph_shapes *shapes,
        uint32_t node, struct arena *a, int64_t *flops)
{
	enum flops_formula formula;
	struct scratch own;

	scratch_open(&own, a->work);
	const struct flops f =
	        flops_of_list(model_node_call(m, shapes, node, &own.a), NULL, &formula);
	scratch_close(&own);
	*flops = f.lack ? 0 : f.flops;
	return f.lack ? NODE_LACKS_DATA : NODE_COUNTED;
}

#define NODE_COUNTS (NODE_ONNX | NODE_CALL)

/* True for an ONNX model and an execution trace: only nodes with these flags have float operations.
 */
static bool marks_nodes(const struct model *m)
{
	for (uint32_t i = 0; i < m->nodes.n; i++)
		if (m->nodes.v[i].flags & NODE_COUNTS)
			return true;
	return false;
}

struct graph_flops model_flops(const struct model *graph, int64_t batch, struct arena *a)
{
	const struct expanded all = library_expand(graph, a);
	const struct model *m = all.m;
	struct graph_flops to = { .m = m,
		.owner = all.owner,
		.v = ARENA_ARRAY(a, m->nodes.n, int64_t),
		.state = ARENA_ARRAY(a, m->nodes.n, uint8_t),
		.shapes = graph_shapes_find(m, batch, a) };
	uint8_t *of_op = ARENA_ARRAY(a, m->strings.n, uint8_t); /* 1 + result of look_up */
	bool marked = marks_nodes(m);

	for (uint32_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.v[i];
		bool counts = n->flags & NODE_COUNTS;
		if (marked && !counts)
			continue;
		if (!counts && !of_op[n->op])
			of_op[n->op] = (uint8_t)(1 + look_up(m, i, a));
		to.state[i] = counts ? NODE_COUNTED : of_op[n->op] - 1;
		if (to.state[i] == NODE_LACKS_FORMULA && all.calls && all.calls[i])
			to.state[i] = NODE_WITHOUT_FLOPS;
		to.loops += to.state[i] == NODE_REPEATS;
		if (to.state[i] != NODE_COUNTED)
			continue;
		to.state[i] = (uint8_t)count(m, to.shapes, i, a, &to.v[i]);
		*(to.state[i] == NODE_COUNTED ? &to.counted : &to.unknown) += 1;
		to.onnx += (n->flags & NODE_ONNX) != 0;
	}
	return to;
}
