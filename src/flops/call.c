/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads calls: shapes, types and values of the inputs, as PyTorch writes them.
 */
#include "flops/flops_internal.h"

#define NUMBER_MAX 24 /* maximum number of bytes of a number */

/* ---- types ---- */

/* Element types by their names in C++, PyTorch and ONNX, with the bytes of an element. */
static const struct width_row {
	const char *name;
	unsigned width;
	enum number_type type;
} width_rows[] = {
	{ "float", 4, NUMBERS_F32 },
	{ "double", 8, NUMBERS_F64 },
	{ "c10::Half", 2, NUMBERS_F16 },
	{ "c10::BFloat16", 2, NUMBERS_BF16 },
	{ "int", 4, NUMBERS_OTHER },
	{ "long int", 8, NUMBERS_OTHER },
	{ "long", 8, NUMBERS_OTHER },
	{ "short", 2, NUMBERS_OTHER },
	{ "short int", 2, NUMBERS_OTHER },
	{ "signed char", 1, NUMBERS_I8 },
	{ "unsigned char", 1, NUMBERS_I8 },
	{ "char", 1, NUMBERS_I8 },
	{ "bool", 1, NUMBERS_OTHER },
	{ "c10::complex<float>", 8, NUMBERS_OTHER },
	{ "c10::complex<double>", 16, NUMBERS_OTHER },
	{ "c10::complex<c10::Half>", 4, NUMBERS_OTHER },
	{ "unsigned short", 2, NUMBERS_OTHER },
	{ "unsigned int", 4, NUMBERS_OTHER },
	{ "unsigned long", 8, NUMBERS_OTHER },
	{ "half", 2, NUMBERS_F16 },
	{ "bfloat16", 2, NUMBERS_BF16 },
	{ "float16", 2, NUMBERS_F16 },
	{ "int64", 8, NUMBERS_OTHER },
	{ "int32", 4, NUMBERS_OTHER },
	{ "int16", 2, NUMBERS_OTHER },
	{ "int8", 1, NUMBERS_I8 },
	{ "uint64", 8, NUMBERS_OTHER },
	{ "uint32", 4, NUMBERS_OTHER },
	{ "uint16", 2, NUMBERS_OTHER },
	{ "uint8", 1, NUMBERS_I8 },
};

static const struct width_row float8 = { "c10::Float8_", 1, NUMBERS_F8 };
static const struct width_row float4 = { "c10::Float4_e2m1fn_x2", 1, NUMBERS_F4 };

static struct width_row type_of(struct str name)
{
	if (str_starts(name, S("Tensor(")))
		name = str_sub(name, 7, name.n - 8);
	for (size_t i = 0; i < sizeof width_rows / sizeof *width_rows; i++)
		if (str_eq(name, str_of(width_rows[i].name)))
			return width_rows[i];
	if (str_eq(name, str_of(float4.name)))
		return float4;
	return str_starts(name, str_of(float8.name)) ? float8 : (struct width_row){ .width = 0 };
}

/* ---- shapes ---- */

static void skip_to(struct str *s, const char *stops)
{
	while (s->n && !strchr(stops, *s->p))
		*s = str_sub(*s, 1, s->n);
}

static struct str after(struct str s)
{
	return str_sub(s, 1, s.n);
}

/* Takes the number at the beginning of a text. Returns false if there is none. */
static bool take_number(struct str *s, int64_t *v)
{
	size_t n = 0;

	while (n < s->n && n < NUMBER_MAX && (char_is_digit(s->p[n]) || (!n && s->p[n] == '-')))
		n++;
	if (!n || !num_parse_i64(str_sub(*s, 0, n), v))
		return false;
	*s = str_sub(*s, n, s->n);
	return true;
}

/* Adds a dimension. A tensor with too many dimensions, or with a negative one, becomes unknown. */
static void put_dimension(struct op_tensor *t, int64_t v)
{
	if (t->rank == TENSOR_RANK_MAX || v < 0) {
		t->known = false;
		return;
	}
	t->dim[t->rank++] = v;
	t->elements = num_mul(t->elements, v);
}

/* Takes a dimension or a separator. Anything else, such as the rest of "4.5", makes the tensor
 * unknown. */
static void take_dimension(struct str *s, struct op_tensor *t)
{
	int64_t v;

	if (take_number(s, &v)) {
		put_dimension(t, v);
		return;
	}
	t->known &= *s->p == ',' || *s->p == ' ';
	*s = after(*s);
}

static void put_in_list(struct op_tensor *list, const struct op_tensor *t)
{
	list->list = true;
	list->known = t->known && (list->known || !list->elements);
	list->elements = num_add(list->elements, t->elements);
	if (t->rank == 2)
		list->weights = num_add(list->weights, t->elements);
}

/* Takes a shape such as "[4,5]", or a list of shapes; the '[' has already been taken. */
static struct op_tensor take_shape(struct str *s)
{
	struct op_tensor t = { .known = true, .elements = 1 }, list = { .known = false };

	while (s->n && *s->p != ']') {
		if (*s->p == '[') {
			struct op_tensor inner = { .known = true, .elements = 1 };
			for (*s = after(*s); s->n && *s->p != ']';)
				take_dimension(s, &inner);
			put_in_list(&list, &inner);
			*s = after(*s);
		} else {
			take_dimension(s, &t);
		}
	}
	*s = after(*s);
	return list.list ? list : t;
}

struct op_tensor flops_read_shape(struct str shape)
{
	struct op_tensor none = { .known = false };

	if (!shape.n || *shape.p != '[')
		return none;
	shape = after(shape);
	return take_shape(&shape);
}

static void read_shapes(struct op_call *c, struct str s)
{
	if (!s.n || *s.p != '[')
		return;
	s = after(s);
	for (skip_to(&s, "[]"); s.n && *s.p == '[' && c->n < CALL_INPUTS_MAX; skip_to(&s, "[]")) {
		s = after(s);
		c->in[c->n++] = take_shape(&s);
	}
}

/* ---- texts ---- */

/* Returns text n of a list; p is NULL if there is none. */
static struct str text_at(struct str list, unsigned n)
{
	for (unsigned i = 0; list.n; i++) {
		skip_to(&list, "\"");
		size_t end = str_find_char(after(list), '"');
		if (!list.n || end == SIZE_MAX)
			break;
		if (i == n)
			return str_sub(list, 1, end);
		list = str_sub(list, end + 2, list.n);
	}
	return STR_NONE;
}

/* Reads the types. A shape without dimensions is a number or nothing, unless its type is a tensor
 * type. */
static void read_types(struct op_call *c, struct str list)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct width_row row = type_of(text_at(list, i));
		c->in[i].width = row.width;
		c->in[i].type = row.type;
		c->in[i].paired = row.name == float4.name;
		if (!c->in[i].rank && !c->in[i].list && !c->in[i].width)
			c->in[i].known = false;
	}
}

struct op_call flops_read_call(const struct op_row *row, struct str name, struct str shapes,
        struct str types, struct str values)
{
	struct op_call c = { .row = row, .name = name, .shapes = shapes, .values = values };

	read_shapes(&c, shapes);
	read_types(&c, types);
	return c;
}

const struct op_tensor *call_input(const struct op_call *c, int place)
{
	static const struct op_tensor none;

	return place >= 0 && (unsigned)place < c->n ? &c->in[place] : &none;
}

struct str call_text(const struct op_call *c, int place)
{
	return place < 0 ? STR_NONE : text_at(c->values, (unsigned)place);
}

/* Returns the text of input n in a list of shapes "[[2,3],[3]]". */
static struct str shape_at(struct str list, unsigned n)
{
	unsigned depth = 0;
	size_t start = 0;

	for (size_t i = 0; i < list.n; i++) {
		if (list.p[i] == '[' && ++depth == 2)
			start = i;
		else if (list.p[i] == ']' && depth && --depth == 1 && !n--)
			return str_sub(list, start, i + 1 - start);
	}
	return STR_NONE;
}

struct op_call flops_read_list(const struct op_call *c, unsigned place)
{
	struct op_call list = { .row = c->row, .name = c->name };

	if (place < c->n && c->in[place].list)
		read_shapes(&list, shape_at(c->shapes, place));
	return list;
}

/* Takes True or False from the beginning of a text. */
static bool take_flag(struct str *s, int64_t *v)
{
	*v = str_starts(*s, S("True"));
	if (!*v && !str_starts(*s, S("False")))
		return false;
	*s = str_sub(*s, *v ? 4 : 5, s->n);
	return true;
}

struct op_setting call_setting(const struct op_call *c, int place)
{
	struct str text = place < 0 ? STR_NONE : text_at(c->values, (unsigned)place);
	struct op_setting to = { .n = 0 };
	int64_t v;

	while (text.n && to.n < TENSOR_RANK_MAX)
		if (take_number(&text, &v) || (to.flag = take_flag(&text, &v)))
			to.v[to.n++] = v;
		else
			text = after(text);
	return to;
}

int64_t setting_at(const struct op_setting *s, unsigned i)
{
	return s->n == 0 ? 0 : s->v[i < s->n ? i : s->n - 1];
}

bool call_flag(const struct op_call *c, int place)
{
	const struct op_setting s = call_setting(c, place);

	return s.n > 0 && s.v[0] != 0;
}
