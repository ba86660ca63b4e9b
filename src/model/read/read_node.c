/* SPDX-License-Identifier: Apache-2.0
 *
 * NodeDef: name, operation, inputs and attributes.
 */
#include "model/read/read_node.h"

#include "model/node_facts.h"
#include "tf_graph.pb-c.h"

/* Returns the number of levels of a NodeDef below the top of its file. */
static unsigned node_depth(const struct pb_reading *r)
{
	return r->w.depth + 1;
}

/* True if an attribute with this name is a function that the node calls. */
static bool names_function(struct str name)
{
	return str_eq(name, S("f")) || str_eq(name, S("body")) || str_eq(name, S("branches")) ||
	       str_eq(name, S("then_branch"));
}

static bool node_attr(struct pb_reading *r, struct graph_node *n, struct str bytes)
{
	struct attr_value *to;
	struct map_entry e;

	if (!read_entry(r, bytes, node_depth(r) + 1, ENTRY_NAMED, &e))
		return false;
	to = attr_setting(&n->settings, e.name);
	if (str_eq(e.name, S("shape")))
		to = &n->shape;
	else if (str_eq(e.name, S("_output_shapes")))
		to = &n->outputs;
	else if (!to)
		to = &n->other;
	if (ingest_keeps_attrs(r->to))
		attrs_add(r->a, &n->kept, &e);
	facts_put(&n->facts, e.name, e.value);
	n->calls |= names_function(e.name);
	return read_attr(r, e.value, node_depth(r) + 2, to);
}

static void node_clear(struct graph_node *n)
{
	n->name = n->op = S("");
	n->inputs.n = n->kept.list.n = 0;
	attr_clear(&n->shape);
	attr_clear(&n->outputs);
	attr_settings_clear(&n->settings);
	n->facts.n = 0;
	n->calls = false;
}

/* Does not add the node yet, because its name may be the last field. */
bool read_graph_node(struct pb_reading *r, struct graph_node *n)
{
	const ProtobufCMessageDescriptor *debug =
	        &tensorflow__node_def__experimental_debug_info__descriptor;
	struct leaf l = leaf_below(r->leaf, node_depth(r));
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
			if (!read_judge(r, debug, leaf_bytes(&l), node_depth(r) + 1))
				return false;
			break;
		case LEAF_TAG(7, WIRE_BYTES):
			if (!read_judge(r, &tensorflow__full_type_def__descriptor, leaf_bytes(&l),
			            node_depth(r) + 1))
				return false;
			break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

void graph_node_default_format(struct graph_node *n)
{
	if (n->settings.format.set)
		return;
	n->settings.format.set = ATTR_TEXT;
	n->settings.format.s = S("NHWC");
}
