/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a graph without an op log: by TensorFlow's registered statistics, of ONNX by
 * formulas.
 */
#include "flops/flops.h"
#include "flops/registered.h"
#include "model/model.h"

/* Reads a shape. batch: in place of an unknown first dimension; 0: none. */
static struct registered_shape read_shape(const struct model *m, uint32_t shape, int64_t batch)
{
	struct registered_shape to = { .known = shape != ID_NONE };
	size_t rank = to.known ? model_rank(m, shape) : 0;

	to.known = rank > 0 && rank <= REGISTERED_RANK_MAX;
	for (size_t i = 0; to.known && i < rank; i++) {
		int64_t v = model_dim(m, shape, i);
		if (v < 0 && !i && batch > 0)
			v = batch;
		to.known = v >= 0;
		to.dim[to.rank++] = v;
	}
	return to;
}

static struct registered_op read_op(const struct model *m, uint32_t node, int64_t batch)
{
	const struct node *n = &m->nodes.v[node];
	struct registered_op o = { .nhwc = n->flags & NODE_NHWC,
		.transposed = n->flags & NODE_TRANSPOSED,
		.window = n->window,
		.stride = n->stride };

	for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1]; i++) {
		int32_t index = model_input_index(m, node, i);
		if (index >= 0 && index < 2)
			o.in[index] = read_shape(m, model_input_shape(m, i), batch);
		o.inputs++;
	}
	if (n->window && str_eq(model_str(m, n->op), S("AddN")))
		o.inputs = n->window; /* without control inputs */
	o.out = read_shape(m, model_output_shape(m, node, 0), batch);
	return o;
}

/* Counts the float operations of an ONNX operator; *out: their number, if it is known. */
static enum registered_answer count_onnx(
        const struct model *m, uint32_t node, int64_t batch, struct arena *a, int64_t *out)
{
	enum flops_formula formula;
	struct scratch own;

	scratch_open(&own, a->work);
	const struct flops f =
	        flops_of_list(model_onnx_call(m, node, batch, &own.a), NULL, &formula);
	scratch_close(&own);
	*out = f.flops;
	return f.lack ? REGISTERED_UNKNOWN : REGISTERED_COUNTED;
}

static enum registered_answer count_node(
        const struct model *m, uint32_t node, int64_t batch, struct arena *a, int64_t *out)
{
	if (m->nodes.v[node].flags & NODE_ONNX)
		return count_onnx(m, node, batch, a, out);
	const struct registered_op o = read_op(m, node, batch);
	return registered_count(model_str(m, m->nodes.v[node].op), &o, out);
}

struct graph_flops model_flops(const struct model *m, int64_t batch, struct arena *a)
{
	struct graph_flops to = { .v = ARENA_ARRAY(a, m->nodes.n, int64_t),
		.lacks = ARENA_ARRAY(a, m->nodes.n, bool) };

	for (uint32_t i = 0; i < m->nodes.n; i++) {
		to.onnx += (m->nodes.v[i].flags & NODE_ONNX) != 0;
		switch (count_node(m, i, batch, a, &to.v[i])) {
		case REGISTERED_COUNTED: to.counted++; break;
		case REGISTERED_UNKNOWN:
			to.v[i] = 0;
			to.lacks[i] = true;
			to.unknown++;
			break;
		case REGISTERED_NONE: break;
		}
	}
	return to;
}
