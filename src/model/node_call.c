/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of graphs, operators of ONNX models and layers of TensorRT engines as calls that the
 * formulas of float operations count.
 */
#include <inttypes.h>

#include "flops/flops.h"
#include "flops/registered.h"
#include "model/graph_flops.h"

#define UNKNOWN_SHAPE "[-1,1]"
#define INPUTS_MAX    4 /* number of inputs that formulas read */

/* Appends a shape such as "[2,3]". The shape of a scalar is "[1]". */
static void put_shape(struct sb *to, const struct fact_shape *s)
{
	if (!s->known)
		sb_put(to, S(UNKNOWN_SHAPE));
	else if (!s->rank)
		sb_put(to, S("[1]"));
	for (unsigned i = 0; s->known && i < s->rank; i++)
		sb_fmt(to, "%s%" PRId64, i ? "," : "[", s->dim[i]);
	if (s->known && s->rank)
		sb_char(to, ']');
}

static struct str input_shapes(
        const struct model *m, const struct graph_shapes *shapes, uint32_t node, struct arena *a)
{
	struct sb to = sb_in(a);
	int32_t next = 0;

	sb_char(&to, '[');
	for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1] && next < INPUTS_MAX; i++) {
		int32_t index = model_input_index(m, node, i);
		/* missing inputs have no entry */
		for (; next < index && next < INPUTS_MAX; next++)
			sb_fmt(&to, "%s" UNKNOWN_SHAPE, next ? "," : "");
		if (index != next)
			continue;
		if (next++)
			sb_char(&to, ',');
		const struct fact_shape s = graph_shapes_input(shapes, node, i);
		put_shape(&to, &s);
	}
	sb_char(&to, ']');
	return sb_str(&to);
}

/* Returns the types of the inputs of a node, which are equal; empty: unknown. */
static struct str input_types(uint32_t flags, struct arena *a)
{
	static const char *const names[] = { [1] = "float",
		[2] = "double",
		[3] = "int32",
		[4] = "uint8",
		[5] = "int16",
		[6] = "int8",
		[9] = "int64",
		[14] = "bfloat16",
		[19] = "half",
		[24] = "c10::Float8_e5m2",
		[25] = "c10::Float8_e4m3fn" };
	uint32_t type = (flags & NODE_TYPE) >> NODE_TYPE_SHIFT;
	struct sb to = sb_in(a);

	if (type >= sizeof names / sizeof *names || !names[type])
		return S("");
	for (unsigned i = 0; i < INPUTS_MAX; i++)
		sb_fmt(&to, "%s\"%s\"", i ? "," : "[", names[type]);
	sb_char(&to, ']');
	return sb_str(&to);
}

/* Returns the settings of a TensorFlow operation, in the order of enum registered_setting. */
static struct str settings(const struct model *m, uint32_t node, struct arena *a)
{
	const struct node *n = &m->nodes.v[node];
	/* the attribute N is the number of inputs without control inputs */
	uint32_t inputs = n->window && str_eq(model_str(m, n->op), S("AddN"))
	                          ? n->window
	                          : m->input0.v[node + 1] - m->input0.v[node];

	return str_fmt(a, "[\"%d\",\"%d\",\"%u\",\"%u\",\"%u\"]", (n->flags & NODE_NHWC) != 0,
	        (n->flags & NODE_TRANSPOSED) != 0, n->window, n->stride, inputs);
}

struct str model_node_call(
        const struct model *m, const struct graph_shapes *shapes, uint32_t node, struct arena *a)
{
	struct sb output = sb_in(a), list = sb_in(a);
	const struct fact_shape out = graph_shapes_output(shapes, node, 0);
	const struct node *n = &m->nodes.v[node];
	bool onnx = n->flags & NODE_ONNX;
	struct str values = S("");

	if (n->flags & NODE_CALL)
		return model_str(m, n->facts);
	if (out.known)
		put_shape(&output, &out);
	if (!onnx)
		values = settings(m, node, a);
	else if (n->window)
		values = str_fmt(a, "[\"%u\"]", n->window);
	flops_put_call(&list, &(struct op_call_text){ .name = str_fmt(a, "%s::%.*s",
	                                                      n->flags & NODE_LAYER ? "tensorrt"
	                                                      : onnx                ? "onnx"
	                                                                            : "tensorflow",
	                                                      STR(model_str(m, n->op))),
	                              .shapes = input_shapes(m, shapes, node, a),
	                              .types = input_types(n->flags, a),
	                              .values = values,
	                              .output = sb_str(&output) });
	return sb_str(&list);
}
