/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators of ONNX models and layers of TensorRT engines as calls that the formulas of float
 * operations count.
 */
#include <inttypes.h>

#include "flops/flops.h"
#include "model/model.h"

#define UNKNOWN_SHAPE "[-1,1]"
#define INPUTS_MAX    4 /* number of inputs that formulas read */

/* Appends a shape, "[2,3]". A shape without dimensions is treated as unknown, because models also
 * state it for tensors of unknown shape. */
static void put_shape(struct sb *to, const struct model *m, uint32_t shape, int64_t batch)
{
	size_t rank = shape == ID_NONE ? 0 : model_rank(m, shape);

	if (rank > TENSOR_RANK_MAX)
		rank = 0;
	if (!rank)
		sb_put(to, S(UNKNOWN_SHAPE));
	for (size_t i = 0; i < rank; i++) {
		int64_t v = model_dim(m, shape, i);
		sb_fmt(to, "%s%" PRId64, i ? "," : "[", v < 0 && !i && batch > 0 ? batch : v);
	}
	if (rank)
		sb_char(to, ']');
}

struct str model_onnx_call(const struct model *m, uint32_t node, int64_t batch, struct arena *a)
{
	struct sb shapes = sb_in(a), output = sb_in(a), list = sb_in(a);
	uint32_t out = model_output_shape(m, node, 0);
	const struct node *n = &m->nodes.v[node];
	int32_t next = 0;

	sb_char(&shapes, '[');
	for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1] && next < INPUTS_MAX; i++) {
		int32_t index = model_input_index(m, node, i);
		/* inputs that are left out have no entry */
		for (; next < index && next < INPUTS_MAX; next++)
			sb_fmt(&shapes, "%s" UNKNOWN_SHAPE, next ? "," : "");
		if (index != next)
			continue;
		if (next++)
			sb_char(&shapes, ',');
		put_shape(&shapes, m, model_input_shape(m, i), batch);
	}
	sb_char(&shapes, ']');
	if (out != ID_NONE && model_rank(m, out))
		put_shape(&output, m, out, batch);
	flops_put_call(&list,
	        &(struct op_call_text){
	                .name = str_fmt(a, "%s::%.*s", n->flags & NODE_LAYER ? "tensorrt" : "onnx",
	                        STR(model_str(m, n->op))),
	                .shapes = sb_str(&shapes),
	                .values = n->window ? str_fmt(a, "[\"%u\"]", n->window) : S(""),
	                .output = sb_str(&output) });
	return sb_str(&list);
}
