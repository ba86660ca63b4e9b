/* SPDX-License-Identifier: Apache-2.0
 *
 * ProfileNode, one node of a ProfileProto: a leaf that is decoded by hand. Stores only the position
 * of the executions (read_exec.c).
 */
#include "model/read/read_attr.h"
#include "model/read/read_leaf.h"
#include "model/read/read_profile_node.h"
#include "model/read/read_stack.h"

static bool node_attr(struct pb_reading *r, struct profile_node *n, struct str bytes)
{
	struct attr_value *to;
	struct map_entry e;

	if (!read_entry(r, bytes, PROFILE_NODE_DEPTH + 1, ENTRY_NAMED, &e))
		return false;
	if (ingest_keeps_attrs(r->to))
		attrs_add(r->a, &n->kept, &e);
	to = attr_setting(&n->settings, e.name);
	return read_attr(r, e.value, PROFILE_NODE_DEPTH + 2, to ? to : &n->other);
}

/* Validates an entry of input_shapes or outputs, which are not used. */
static bool node_unused(
        struct pb_reading *r, struct profile_node *n, uint32_t field, struct str bytes)
{
	struct map_entry e;

	if (field == 3)
		return read_entry(r, bytes, PROFILE_NODE_DEPTH + 1, ENTRY_NUMBER, &e);
	n->dims.n = 0;
	return read_entry(r, bytes, PROFILE_NODE_DEPTH + 1, ENTRY_MESSAGE, &e) &&
	       read_tuple(r, e.value, PROFILE_NODE_DEPTH + 2, &n->dims);
}

/* Reads a map of the node. */
static bool node_map(struct pb_reading *r, struct profile_node *n, uint32_t field, struct str bytes)
{
	const enum entry_form number32 = ENTRY_NUMBER | ENTRY_KEY32, message32 = ENTRY_KEY32;
	const unsigned depth = PROFILE_NODE_DEPTH + 1;

	switch (field) {
	case 2: return read_entry_to(r, bytes, depth, number32, &n->inputs);
	case 11: return node_attr(r, n, bytes);
	case 12: return read_entry_to(r, bytes, depth, ENTRY_MESSAGE, &n->execs);
	case 14: return read_entry_to(r, bytes, depth, ENTRY_NUMBER, &n->slots);
	case 15: return read_entry_to(r, bytes, depth, message32, &n->outputs);
	default: return node_unused(r, n, field, bytes);
	}
}

/* Reads a field that is not a map. */
static void node_field(struct pb_reading *r, struct profile_node *n, struct leaf *l)
{
	struct str s;
	int64_t v;

	switch (l->tag) {
	case LEAF_TAG(4, WIRE_BYTES): read_packed(r, l, &n->shape); break;
	case LEAF_TAG(4, WIRE_VARINT):
		v = (int64_t)leaf_varint(l);
		VEC_PUSH(r->a, &n->shape, v);
		break;
	case LEAF_TAG(5, WIRE_BYTES):
		s = read_text(r, l);
		VEC_PUSH(r->a, &n->types, s);
		break;
	case LEAF_TAG(6, WIRE_BYTES): n->device = read_text(r, l); break;
	case LEAF_TAG(7, WIRE_BYTES): n->host = read_text(r, l); break;
	case LEAF_TAG(8, WIRE_VARINT): n->float_ops = (int64_t)leaf_varint(l); break;
	case LEAF_TAG(9, WIRE_BYTES): n->op = read_text(r, l); break;
	case LEAF_TAG(10, WIRE_BYTES): read_join(r, &n->trace, leaf_bytes(l)); break;
	default: leaf_skip(l);
	}
}

static void node_clear(struct profile_node *n)
{
	n->op = n->device = n->host = n->trace = S("");
	n->float_ops = 0;
	n->shape.n = n->inputs.n = n->slots.n = n->outputs.n = n->execs.n = 0;
	n->types.n = n->kept.list.n = 0;
	attr_settings_clear(&n->settings);
}

/* Decodes the fields without adding anything yet. */
static bool walk_node(struct pb_reading *r, struct profile_node *n, struct str bytes)
{
	struct leaf l = leaf_below(bytes, PROFILE_NODE_DEPTH);

	node_clear(n);
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_BYTES):
		case LEAF_TAG(3, WIRE_BYTES):
		case LEAF_TAG(11, WIRE_BYTES):
		case LEAF_TAG(12, WIRE_BYTES):
		case LEAF_TAG(14, WIRE_BYTES):
		case LEAF_TAG(15, WIRE_BYTES):
		case LEAF_TAG(16, WIRE_BYTES): {
			uint32_t field = l.tag >> 3;
			if (!node_map(r, n, field, leaf_bytes(&l)))
				return false;
			break;
		}
		default: node_field(r, n, &l);
		}
	}
	entries_tidy(r->a, &n->inputs);
	entries_tidy(r->a, &n->slots);
	return reading_end(r, &l);
}

/* Reads the output shapes, and validates all of them. Among entries for one output, the last
 * counts. */
static bool walk_outputs(struct pb_reading *r, struct profile_node *n)
{
	static const int64_t none = 0;

	for (size_t i = 0; i < n->outputs.n; i++) {
		n->dims.n = 0;
		if (!read_tuple(r, n->outputs.v[i].value, PROFILE_NODE_DEPTH + 2, &n->dims))
			return false;
		n->outputs.v[i].number =
		        ingest_shape(r->to, n->dims.n ? n->dims.v : &none, n->dims.n);
	}
	entries_tidy(r->a, &n->outputs);
	return true;
}

bool read_profile_node(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct stacks *stacks)
{
	if (!walk_node(r, n, bytes) ||
	        !stacks_read(stacks, r, n->trace, PROFILE_NODE_DEPTH + 1, &n->stack) ||
	        !walk_outputs(r, n))
		return false;
	entries_sort(r->a, &n->execs);
	return true;
}

bool read_profile_node_known(
        struct pb_reading *r, struct profile_node *n, struct str bytes, struct str *name)
{
	struct leaf l = leaf_below(bytes, PROFILE_NODE_DEPTH);

	node_clear(n);
	*name = S("");
	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES))
			*name = read_text(r, &l);
		else if (l.tag != LEAF_TAG(12, WIRE_BYTES))
			leaf_skip(&l);
		else if (!node_map(r, n, 12, leaf_bytes(&l)))
			return false;
	}
	return reading_end(r, &l);
}
