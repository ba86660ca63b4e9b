/* SPDX-License-Identifier: Apache-2.0
 *
 * AttrValue: shapes and texts are decoded, everything else is validated. The last member of its
 * oneof is used, and repeated messages of one member are merged. Independent of attribute names.
 */
#include "model/read/read_attr.h"
#include "model/read/read_leaf.h"
#include "tf_graph.pb-c.h"

#define REFERENCE_TYPES 100 /* types of references to variables have larger numbers */

void attr_clear(struct attr_value *v)
{
	v->set = 0;
	v->s = S("");
	v->shapes.n = v->dims.n = 0;
	v->number = 0;
}

/* Selects this member of the oneof, and keeps its earlier content. */
static void attr_set(struct attr_value *v, uint32_t member)
{
	if (v->set != member)
		attr_clear(v);
	v->set = member;
}

/* Reads TensorShapeProto.Dim: the size. */
static bool read_dim(struct pb_reading *r, struct str bytes, unsigned depth, int64_t *size)
{
	struct leaf l = leaf_below(bytes, depth);

	*size = 0;
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): *size = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_BYTES): read_text(r, &l); break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Reads a TensorShapeProto and appends it to the last shape. */
static bool read_shape(
        struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *to)
{
	struct attr_shape *shape = &to->shapes.v[to->shapes.n - 1];
	struct leaf l = leaf_below(bytes, depth);
	int64_t size;

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(2, WIRE_BYTES):
			if (!read_dim(r, leaf_bytes(&l), depth + 1, &size))
				return false;
			VEC_PUSH(r->a, &to->dims, size);
			shape->n++;
			break;
		case LEAF_TAG(3, WIRE_VARINT): shape->unknown_rank = leaf_varint(&l) != 0; break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

static void add_shape(struct pb_reading *r, struct attr_value *to)
{
	struct attr_shape shape = { to->dims.n, 0, false };

	VEC_PUSH(r->a, &to->shapes, shape);
}

/* Reads an AttrValue.ListValue: appends its shapes, and validates the rest. */
static bool read_list(struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *to)
{
	const ProtobufCMessageDescriptor *tensor = &tensorflow__tensor_proto__descriptor;
	const ProtobufCMessageDescriptor *func = &tensorflow__name_attr_list__descriptor;
	struct leaf l = leaf_below(bytes, depth);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(7, WIRE_BYTES):
			add_shape(r, to);
			if (!read_shape(r, leaf_bytes(&l), depth + 1, to))
				return false;
			break;
		case LEAF_TAG(3, WIRE_BYTES): read_packed(r, &l, &to->dims); break;
		case LEAF_TAG(3, WIRE_VARINT):
			VEC_PUSH(r->a, &to->dims, (int64_t)leaf_varint(&l));
			break;
		case LEAF_TAG(5, WIRE_BYTES):
		case LEAF_TAG(6, WIRE_BYTES): read_packed(r, &l, NULL); break;
		case LEAF_TAG(4, WIRE_BYTES): l.bad |= leaf_bytes(&l).n % 4 != 0; break;
		case LEAF_TAG(8, WIRE_BYTES):
			if (!read_judge(r, tensor, leaf_bytes(&l), depth + 1))
				return false;
			break;
		case LEAF_TAG(9, WIRE_BYTES):
			if (!read_judge(r, func, leaf_bytes(&l), depth + 1))
				return false;
			break;
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Reads a member that is a message. */
static bool read_member(
        struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *out)
{
	switch (out->set) {
	case ATTR_LIST: return read_list(r, bytes, depth, out);
	case ATTR_SHAPE:
		if (!out->shapes.n)
			add_shape(r, out);
		return read_shape(r, bytes, depth, out);
	case 8: return read_judge(r, &tensorflow__tensor_proto__descriptor, bytes, depth);
	default: return read_judge(r, &tensorflow__name_attr_list__descriptor, bytes, depth);
	}
}

/* Reads an AttrValue into out, which is cleared first. */
bool read_attr(struct pb_reading *r, struct str bytes, unsigned depth, struct attr_value *out)
{
	struct leaf l = leaf_below(bytes, depth);

	attr_clear(out);
	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(ATTR_LIST, WIRE_BYTES):
		case LEAF_TAG(ATTR_SHAPE, WIRE_BYTES):
		case LEAF_TAG(8, WIRE_BYTES):
		case LEAF_TAG(10, WIRE_BYTES):
			attr_set(out, l.tag >> 3);
			if (!read_member(r, leaf_bytes(&l), depth + 1, out))
				return false;
			break;
		case LEAF_TAG(ATTR_TEXT, WIRE_BYTES):
			attr_set(out, ATTR_TEXT);
			out->s = leaf_bytes(&l);
			break;
		case LEAF_TAG(9, WIRE_BYTES):
			attr_set(out, 9);
			read_text(r, &l);
			break;
		case LEAF_TAG(ATTR_INT, WIRE_VARINT):
		case LEAF_TAG(ATTR_BOOL, WIRE_VARINT):
		case LEAF_TAG(ATTR_TYPE, WIRE_VARINT):
			attr_set(out, l.tag >> 3);
			out->number = (int64_t)leaf_varint(&l);
			break;
		case LEAF_TAG(4, WIRE_FIXED32): attr_set(out, 4); /* fall through */
		default: leaf_skip(&l);
		}
	}
	return reading_end(r, &l);
}

/* Returns the id of shape i. A scalar of known rank counts as [1]; a shape of unknown rank has no
 * dimensions. */
uint32_t attr_shape_id(struct ingest *to, const struct attr_value *v, size_t i)
{
	static const int64_t scalar = 1;
	const struct attr_shape *shape = &v->shapes.v[i];

	if (shape->n == 0 && !shape->unknown_rank)
		return ingest_shape(to, &scalar, 1);
	return ingest_shape(to, shape->n ? v->dims.v + shape->dim0 : &scalar, shape->n);
}

/* Returns the number if it is positive and fits 32 bits, otherwise 0. */
static uint32_t small(int64_t v)
{
	return v > 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* Returns the product of the numbers of a list, or 0 if it is not positive or is too large. */
static uint32_t product_of(const struct attr_value *list, size_t from, size_t to)
{
	int64_t all = 1;

	for (size_t i = from; i < to; i++)
		all = num_mul(all, small(list->dims.v[i]));
	return from < to ? small(all) : 0;
}

void attr_settings_clear(struct attr_settings *v)
{
	attr_clear(&v->format);
	attr_clear(&v->size);
	attr_clear(&v->stride);
	attr_clear(&v->transposed);
	attr_clear(&v->type);
}

struct attr_value *attr_setting(struct attr_settings *v, struct str name)
{
	if (str_eq(name, S("data_format")))
		return &v->format;
	if (str_eq(name, S("ksize")) || str_eq(name, S("N")))
		return &v->size;
	if (str_eq(name, S("strides")))
		return &v->stride;
	if (str_eq(name, S("T")))
		return &v->type;
	return str_eq(name, S("transpose_a")) ? &v->transposed : NULL;
}

void attr_settings_read(const struct attr_settings *v, struct node *n)
{
	int32_t type = (int32_t)v->type.number; /* an enum has 32 bits */

	n->flags = 0;
	if (v->format.set == ATTR_TEXT && str_eq(v->format.s, S("NHWC")))
		n->flags |= NODE_NHWC;
	if (v->transposed.number)
		n->flags |= NODE_TRANSPOSED;
	if (v->type.set == ATTR_TYPE && type > 0 && type < REFERENCE_TYPES)
		n->flags |= (uint32_t)type << NODE_TYPE_SHIFT;
	n->window = v->size.set == ATTR_LIST ? product_of(&v->size, 0, v->size.dims.n)
	                                     : small(v->size.number);
	n->stride = v->stride.dims.n > 2 ? product_of(&v->stride, 1, 3) : 0;
}

void attr_settings_say(struct ingest *to, const struct attr_settings *v)
{
	struct node n;

	attr_settings_read(v, &n);
	ingest_flags(to, n.flags);
	ingest_window(to, n.window, n.stride);
}

void attrs_init(struct attrs *v, struct arena *a)
{
	memset(v, 0, sizeof *v);
	intern_init(&v->names, a);
}

void attrs_add(struct arena *a, struct attrs *v, const struct map_entry *e)
{
	uint32_t id = intern_add(&v->names, e->name);

	while (v->last.n <= id)
		VEC_PUSH(a, &v->last, 0);
	v->last.v[id] = v->list.n;
	v->id.n = v->list.n;
	VEC_PUSH(a, &v->id, id);
	VEC_PUSH(a, &v->list, *e);
}

/* Adds the attributes of the current node to the model. */
void attrs_say(struct ingest *to, const struct attrs *v)
{
	for (size_t i = 0; i < v->list.n; i++)
		if (v->last.v[v->id.v[i]] == i)
			ingest_attr(to, v->list.v[i].name, v->list.v[i].value);
}
