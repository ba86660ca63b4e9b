/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores and reads the attributes of nodes that shape inference needs.
 *
 *   facts            5 entry { 1 name  2 AttrValue }, repeated
 *                    6 input << 32 | output slot of its source, repeated
 *   AttrValue        1 list { 3 integers  7 shape  9 function }  2 text  3 integer  5 bool
 *                    7 shape  8 TensorProto  10 function { 1 name }
 *   TensorShapeProto 2 dimension { 1 size }, repeated  3 unknown rank
 *   TensorProto      1 type  2 shape  4 content  7 int_val  10 int64_val
 */
#include "model/node_facts.h"

#include "base/num.h"

#define CONSTANT_KEPT 512 /* bytes of a TensorProto: shape and FACTS_VALUES_MAX integers */
#define VALUE_MAX     512 /* limit for other attributes, bytes */
#define NUMBER_BYTES  10  /* maximum size of a varint */
#define TYPE_INT32    3
#define TYPE_INT64    9

/* In the order of their first bytes. */
static const char *const kept[] = { "N", "_output_shapes", "adj_x", "adj_y", "axis", "batch_dims",
	"begin_mask", "block_size", "body", "branches", "cond", "data_format", "dilations",
	"element_shape", "ellipsis_mask", "else_branch", "end_mask", "equation",
	"explicit_paddings", "f", "keep_dims", "ksize", "new_axis_mask", "num", "num_elements",
	"num_split", "padding", "rates", "shape", "shrink_axis_mask", "squeeze_dims", "strides",
	"then_branch", "transpose_a", "transpose_b" };

static void put_number(struct sb *to, uint64_t v)
{
	uint8_t bytes[NUMBER_BYTES];

	sb_put(to, str_make(bytes, (size_t)(varint_put(bytes, v) - bytes)));
}

static void put_bytes(struct sb *to, uint32_t field, struct str s)
{
	put_number(to, LEAF_TAG(field, WIRE_BYTES));
	put_number(to, s.n);
	sb_put(to, s);
}

static size_t bytes_size(struct str s)
{
	uint8_t bytes[NUMBER_BYTES];

	return 1 + (size_t)(varint_put(bytes, s.n) - bytes) + s.n;
}

/* Returns the last field with a number in a message; p is NULL if there is none. */
static struct str last_bytes(struct str message, uint32_t field)
{
	struct leaf l = leaf_of(message);
	struct str found = STR_NONE;

	while (leaf_next(&l))
		if (l.tag == LEAF_TAG(field, WIRE_BYTES))
			found = leaf_bytes(&l);
		else
			leaf_skip(&l);
	return found;
}

static int64_t last_number(struct str message, uint32_t field, int64_t none)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l))
		if (l.tag == LEAF_TAG(field, WIRE_VARINT))
			none = (int64_t)leaf_varint(&l);
		else
			leaf_skip(&l);
	return none;
}

/* True if a rule reads the attribute, and the attribute is not False, which is the default of each
 * rule. Called for each attribute of a graph. */
static bool is_kept(struct str name, struct str value)
{
	if (value.n > VALUE_MAX || str_eq(value, S("\x28\0")))
		return false;
	for (size_t i = 0; name.n && i < sizeof kept / sizeof *kept && *kept[i] <= *name.p; i++)
		if (*kept[i] == *name.p && str_eq(name, str_of(kept[i])))
			return true;
	return false;
}

void facts_put(struct sb *to, struct str name, struct str value)
{
	if (str_eq(name, S("value"))) {
		/* the end of the tensor is cut off, so the lengths of the messages around it are
		 * written anew */
		struct str tensor = str_sub(last_bytes(value, 8), 0, CONSTANT_KEPT);
		put_number(to, LEAF_TAG(5, WIRE_BYTES));
		put_number(to,
		        bytes_size(name) + bytes_size((struct str){ NULL, bytes_size(tensor) }));
		put_bytes(to, 1, name);
		put_number(to, LEAF_TAG(2, WIRE_BYTES));
		put_number(to, bytes_size(tensor));
		put_bytes(to, 8, tensor);
	} else if (is_kept(name, value)) {
		put_number(to, LEAF_TAG(5, WIRE_BYTES));
		put_number(to, bytes_size(name) + bytes_size(value));
		put_bytes(to, 1, name);
		put_bytes(to, 2, value);
	}
}

void facts_put_slot(struct sb *to, uint32_t input, uint32_t slot)
{
	put_number(to, LEAF_TAG(6, WIRE_VARINT));
	put_number(to, (uint64_t)input << 32 | slot);
}

/* Returns the AttrValue of an attribute; p is NULL if there is none. */
static struct str find(struct str facts, const char *name)
{
	struct leaf l = leaf_of(facts);
	struct str found = STR_NONE;

	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(5, WIRE_BYTES)) {
			leaf_skip(&l);
			continue;
		}
		struct str entry = leaf_bytes(&l);
		if (str_eq(last_bytes(entry, 1), str_of(name)))
			found = last_bytes(entry, 2);
	}
	return found;
}

uint32_t facts_slot(struct str facts, uint32_t input)
{
	struct leaf l = leaf_of(facts);

	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(6, WIRE_VARINT)) {
			leaf_skip(&l);
			continue;
		}
		uint64_t v = leaf_varint(&l);
		if (v >> 32 == input)
			return (uint32_t)v;
	}
	return 0;
}

int64_t facts_number(struct str facts, const char *name, int64_t none)
{
	struct str value = find(facts, name);

	return last_number(value, 5, last_number(value, 3, none));
}

struct str facts_text(struct str facts, const char *name)
{
	return last_bytes(find(facts, name), 2);
}

bool facts_text_is(struct str facts, const char *name, const char *text)
{
	return str_eq(facts_text(facts, name), str_of(text));
}

static void add_value(struct fact_list *to, int64_t v)
{
	if (to->n < FACTS_VALUES_MAX)
		to->v[to->n] = v;
	to->n++;
}

/* Reads the integers of a field, packed or not. A list that is too long becomes empty. */
static struct fact_list read_integers(struct str message, uint32_t field)
{
	struct leaf l = leaf_of(message);
	struct fact_list to = { .n = 0 };

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(field, WIRE_BYTES)) {
			struct leaf packed = leaf_of(leaf_bytes(&l));
			while (packed.p < packed.end && !packed.bad)
				add_value(&to, (int64_t)leaf_varint(&packed));
		} else if (l.tag == LEAF_TAG(field, WIRE_VARINT)) {
			add_value(&to, (int64_t)leaf_varint(&l));
		} else {
			leaf_skip(&l);
		}
	}
	to.n = to.n > FACTS_VALUES_MAX || l.bad ? 0 : to.n;
	return to;
}

struct fact_list facts_list(struct str facts, const char *name)
{
	return read_integers(last_bytes(find(facts, name), 1), 3);
}

static struct fact_shape read_shape(struct str message)
{
	struct fact_shape to = { .known = true };
	struct leaf l = leaf_of(message);

	while (leaf_next(&l)) {
		if (l.tag == LEAF_TAG(3, WIRE_VARINT)) {
			to.known &= !leaf_varint(&l);
		} else if (l.tag == LEAF_TAG(2, WIRE_BYTES)) {
			int64_t v = last_number(leaf_bytes(&l), 1, 0);
			if (to.rank < FACTS_RANK_MAX)
				to.dim[to.rank++] = v < 0 ? -1 : v;
			else
				to.known = false;
		} else {
			leaf_skip(&l);
		}
	}
	to.known &= !l.bad;
	return to;
}

struct fact_shape facts_shape(struct str facts, const char *name)
{
	struct str value = find(facts, name), shape = last_bytes(value, 7);

	return shape.p ? read_shape(shape) : (struct fact_shape){ .known = false };
}

/* Returns occurrence i of a field in a message; p is NULL if there are not as many. */
static struct str nth_bytes(struct str message, uint32_t field, unsigned i)
{
	struct leaf l = leaf_of(message);

	while (leaf_next(&l))
		if (l.tag != LEAF_TAG(field, WIRE_BYTES))
			leaf_skip(&l);
		else if (i-- == 0)
			return leaf_bytes(&l);
		else
			leaf_bytes(&l);
	return STR_NONE;
}

struct fact_shape facts_output(struct str facts)
{
	struct str shape = nth_bytes(last_bytes(find(facts, "_output_shapes"), 1), 7, 0);

	return shape.p ? read_shape(shape) : (struct fact_shape){ .known = false };
}

struct str facts_function(struct str facts, const char *name, unsigned i)
{
	struct str value = find(facts, name), one = last_bytes(value, 10);

	if (one.p)
		return i ? STR_NONE : last_bytes(one, 1);
	return last_bytes(nth_bytes(last_bytes(value, 1), 9, i), 1);
}

/* Reads integers of 4 or 8 bytes, the lowest byte first. */
static void read_content(struct str content, unsigned width, struct fact_list *to)
{
	to->n = 0;
	for (size_t i = 0; i + width <= content.n; i += width) {
		uint64_t v = 0;
		for (unsigned k = 0; k < width; k++)
			v |= (uint64_t)(uint8_t)content.p[i + k] << 8 * k;
		add_value(to, width == 4 ? (int32_t)v : (int64_t)v);
	}
	to->n = to->n > FACTS_VALUES_MAX ? 0 : to->n;
}

/* Returns the number of elements, or -1 if a list has no room for them. */
static int64_t elements_of(const struct fact_shape *s)
{
	int64_t n = 1;

	for (unsigned i = 0; i < s->rank; i++)
		n = s->dim[i] < 0 ? -1 : num_mul(n, s->dim[i]);
	return n < 0 || n > FACTS_VALUES_MAX ? -1 : n;
}

/* Reads the listed elements. All further elements equal the last one; without listed elements, all
 * are 0. */
static void read_values(struct str tensor, uint32_t field, unsigned n, struct fact_list *to)
{
	*to = read_integers(tensor, field);
	for (int64_t last = to->n ? to->v[to->n - 1] : 0; to->n < n;)
		to->v[to->n++] = last;
}

struct fact_shape facts_constant(struct str facts, struct fact_list *values)
{
	struct str tensor = last_bytes(find(facts, "value"), 8), content = last_bytes(tensor, 4);
	int64_t type = last_number(tensor, 1, 0), n;
	struct fact_shape s = read_shape(last_bytes(tensor, 2));

	values->n = 0;
	s.known &= tensor.p != NULL;
	n = elements_of(&s);
	if (!s.known || n < 1 || tensor.n >= CONSTANT_KEPT ||
	        (type != TYPE_INT32 && type != TYPE_INT64))
		return s;
	if (content.n)
		read_content(content, type == TYPE_INT32 ? 4 : 8, values);
	else
		read_values(tensor, type == TYPE_INT32 ? 7 : 10, (unsigned)n, values);
	if (values->n != n)
		values->n = 0;
	return s;
}
