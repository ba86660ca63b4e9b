/* SPDX-License-Identifier: Apache-2.0
 *
 * OpLogProto, streamed: each OpLogEntry is a leaf that is decoded by hand. Texts of call
 * stacks may follow the entries, so stacks are added at the end.
 */
#include "model/read/read_leaf.h"
#include "model/read/read_stack.h"

#define ENTRY_DEPTH 1 /* number of levels of an OpLogEntry below the top */

struct node_stack {
	uint32_t node, stack;
};

struct oplog {
	struct stacks stacks;
	VEC(struct node_stack) told; /* in file order */
	VEC(struct str) types;       /* types of the current entry */
	struct str name, code_def;
	int64_t float_ops;
	bool has_code_def;
};

static bool walk_entry(struct pb_reading *r, struct oplog *o)
{
	struct leaf l = leaf_below(r->leaf, ENTRY_DEPTH);
	struct str s;

	o->name = o->code_def = S("");
	o->types.n = 0;
	o->float_ops = 0;
	o->has_code_def = false;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_BYTES): o->name = read_text(r, &l); break;
		case LEAF_TAG(2, WIRE_VARINT): o->float_ops = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_BYTES):
			s = read_text(r, &l);
			VEC_PUSH(r->a, &o->types, s);
			break;
		case LEAF_TAG(4, WIRE_BYTES):
			read_join(r, &o->code_def, leaf_bytes(&l));
			o->has_code_def = true;
			break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Adds the entry to the model. Only validates an entry for an unknown node. */
static bool say_entry(struct pb_reading *r, struct oplog *o)
{
	uint32_t node = model_find(ingest_model(r->to), o->name);
	uint32_t stack = 0;

	if (o->has_code_def && !stacks_read(&o->stacks, r, o->code_def, ENTRY_DEPTH + 1, &stack))
		return false;
	if (node == ID_NONE) {
		src_count_unused(r->w.s, S("entries for nodes that the graph lacks"), 1);
		return true;
	}
	for (size_t i = 0; i < o->types.n; i++)
		ingest_add_type(r->to, node, ingest_string(r->to, o->types.v[i]));
	if (o->float_ops)
		ingest_set_float_ops(r->to, node, o->float_ops);
	if (o->has_code_def) {
		struct node_stack told = { node, stack };
		VEC_PUSH(r->a, &o->told, told);
	}
	return true;
}

/* Reads a binary OpLogProto. */
bool read_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e)
{
	struct oplog o = { 0 };
	uint64_t taken = 0;
	struct pb_reading r;

	reading_init(&r, s, "OpLogProto", to, a, e);
	stacks_init(&o.stacks, a);
	while (wire_next(&r.w)) {
		switch (LEAF_TAG(r.w.field, r.w.type)) {
		case LEAF_TAG(1, WIRE_BYTES):
			if (reading_leaf(&r) && walk_entry(&r, &o))
				taken += say_entry(&r, &o);
			break;
		case LEAF_TAG(2, WIRE_BYTES):
			if (reading_leaf(&r))
				stacks_read_text(&o.stacks, &r, r.leaf);
			break;
		default: src_count_unused(s, S("unknown fields"), 1); wire_skip(&r.w);
		}
	}
	if (!wire_done(&r.w, taken))
		return false;
	for (size_t i = 0; i < o.told.n; i++)
		ingest_set_stack(
		        to, o.told.v[i].node, stacks_frame(&o.stacks, to, o.told.v[i].stack));
	if (o.told.n)
		ingest_has_traces(to);
	return true;
}
