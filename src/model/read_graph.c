/* SPDX-License-Identifier: Apache-2.0
 *
 * GraphDef (B§5.1), streamed: each NodeDef is a leaf that is walked by hand. The attributes shape,
 * _output_shapes and data_format are decoded; the function library and the versions are skipped
 * unread. Must not know what the model makes of it.
 */
#include "model/read_internal.h"
#include "tf_graph.pb-c.h"

#define NODE_DEPTH 1 /* of a NodeDef below the top */

/* One NodeDef while it is walked. Its scratch is reused from node to node. */
struct graph_node {
	struct str name, op;
	VEC(struct str) inputs;
	struct attr_value shape, outputs, format, other;
	struct attrs kept;
};

static bool node_attr(struct reading *r, struct graph_node *n, struct str bytes)
{
	struct attr_value *to = &n->other;
	struct entry e;

	if (!read_entry(r, bytes, NODE_DEPTH + 1, ENTRY_NAMED, &e))
		return false;
	if (str_eq(e.name, S("shape")))
		to = &n->shape;
	else if (str_eq(e.name, S("_output_shapes")))
		to = &n->outputs;
	else if (str_eq(e.name, S("data_format")))
		to = &n->format;
	if (ingest_keeps_attrs(r->to))
		attrs_add(r->a, &n->kept, &e);
	return read_attr(r, e.value, NODE_DEPTH + 2, to);
}

static void node_clear(struct graph_node *n)
{
	n->name = n->op = S("");
	n->inputs.n = n->kept.list.n = 0;
	attr_clear(&n->shape);
	attr_clear(&n->outputs);
	attr_clear(&n->format);
}

/* Walks a NodeDef; says nothing yet, as its name may come last. */
static bool walk_node(struct reading *r, struct graph_node *n)
{
	const ProtobufCMessageDescriptor *debug =
	        &tensorflow__node_def__experimental_debug_info__descriptor;
	struct leaf l = leaf_below(r->leaf, NODE_DEPTH);
	struct str s;

	node_clear(n);
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): n->name = read_text(r, &l); break;
		case LEAF_TAG(2, WIRE_BYTES): n->op = read_text(r, &l); break;
		case LEAF_TAG(3, WIRE_BYTES):
			s = read_text(r, &l);
			VEC_PUSH(r->a, &n->inputs, s);
			break;
		case LEAF_TAG(4, WIRE_BYTES): read_text(r, &l); break;
		case LEAF_TAG(5, WIRE_BYTES):
			if (!node_attr(r, n, leaf_bytes(&l)))
				return false;
			break;
		case LEAF_TAG(6, WIRE_BYTES):
			if (!read_judge(r, debug, leaf_bytes(&l), NODE_DEPTH + 1))
				return false;
			break;
		case LEAF_TAG(7, WIRE_BYTES):
			if (!read_judge(r, &tensorflow__full_type_def__descriptor, leaf_bytes(&l),
			            NODE_DEPTH + 1))
				return false;
			break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* "^name:1" -> name: what is before the first ':', without one leading '^'. Quirk 15: so control
 * inputs are inputs like others. */
static struct str source_name(struct str input)
{
	size_t colon = str_find_char(input, ':');

	if (colon != SIZE_MAX)
		input.n = colon;
	if (input.n && input.p[0] == '^') {
		input.p++;
		input.n--;
	}
	return input;
}

/* Hands the node to the model. Quirk 14: the output index behind ':' is never looked at. */
static void say_node(struct ingest *to, const struct graph_node *n)
{
	if (!ingest_node(to, ingest_string(to, n->name), ingest_string(to, n->op)))
		return;
	for (size_t i = 0; i < n->inputs.n; i++)
		ingest_input(to, (int32_t)i, ingest_string(to, source_name(n->inputs.v[i])), 0);
	if (n->shape.set == ATTR_SHAPE)
		ingest_node_shape(to, attr_shape_id(to, &n->shape, 0));
	if (n->outputs.set == ATTR_LIST)
		for (size_t i = 0; i < n->outputs.shapes.n; i++)
			ingest_output(to, (int32_t)i, attr_shape_id(to, &n->outputs, i));
	if (attr_is_nhwc(&n->format))
		ingest_nhwc(to);
	attrs_say(to, &n->kept);
	ingest_end_node(to);
}

/* Reads a binary GraphDef. */
bool read_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct graph_node n = { 0 };
	uint64_t taken = 0;
	struct reading r;

	reading_init(&r, s, "GraphDef", to, a, e);
	attrs_init(&n.kept, a);
	while (wire_next(&r.w)) {
		if (LEAF_TAG(r.w.field, r.w.type) != LEAF_TAG(1, WIRE_BYTES))
			wire_skip(&r.w);
		else if (reading_leaf(&r) && walk_node(&r, &n)) {
			say_node(to, &n);
			taken++;
		}
	}
	return wire_done(&r.w, taken);
}
