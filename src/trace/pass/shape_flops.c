/* SPDX-License-Identifier: Apache-2.0
 *
 * See ops.h: shape_flops.
 */
#include "trace/pass/ops.h"

#define RANK_MAX   8
#define INPUTS_MAX 9

/* A list of numbers: a shape, strides. */
struct dimensions {
	int64_t v[RANK_MAX];
	unsigned n;
};

static void skip_to(struct str *s, const char *stops)
{
	while (s->n && !strchr(stops, *s->p))
		*s = str_sub(*s, 1, s->n);
}

/* Reads the numbers of a list up to its ']'. Lists in lists are not numbers: then n is 0. */
static struct dimensions read_numbers(struct str *s)
{
	struct dimensions to = { .n = 0 };

	while (s->n && *s->p != ']') {
		size_t n = 0;
		int64_t v;
		while (n < s->n && (*s->p == '-' || n > 0 || (*s->p >= '0' && *s->p <= '9')) &&
		        !strchr(",]", s->p[n]))
			n++;
		if (n && to.n < RANK_MAX && num_parse_i64(str_sub(*s, 0, n), &v))
			to.v[to.n++] = v;
		*s = str_sub(*s, n ? n : 1, s->n);
	}
	return to;
}

/* Reads the shapes of the inputs; returns how many there are. */
static unsigned read_shapes(struct str s, struct dimensions *to)
{
	unsigned n = 0;

	if (!s.n || *s.p != '[')
		return 0;
	s = str_sub(s, 1, s.n);
	for (skip_to(&s, "[]"); s.n && *s.p == '[' && n < INPUTS_MAX; skip_to(&s, "[]")) {
		s = str_sub(s, 1, s.n);
		to[n++] = read_numbers(&s);
		s = str_sub(s, 1, s.n);
	}
	return n;
}

/* Returns value n of a list of texts; empty if missing. */
static struct str value_at(struct str values, unsigned n)
{
	for (unsigned i = 0; values.n; i++) {
		skip_to(&values, "\"");
		size_t end = str_find_char(str_sub(values, 1, values.n), '"');
		if (end == SIZE_MAX)
			return STR_NONE;
		if (i == n)
			return str_sub(values, 1, end);
		values = str_sub(values, end + 2, values.n);
	}
	return STR_NONE;
}

/* [batch, rows, sums] * [batch, sums, columns] */
static int64_t product_flops(const struct dimensions *a, const struct dimensions *b, unsigned rank)
{
	int64_t flops = 2;

	if (a->n != rank || b->n != rank || a->v[rank - 1] != b->v[rank - 2] ||
	        (rank == 3 && a->v[0] != b->v[0]))
		return 0;
	for (unsigned i = 0; i < rank; i++)
		flops = num_mul(flops, a->v[i]);
	return num_mul(flops, b->v[rank - 1]);
}

/* Returns number i of a value; a single number applies to all i. */
static int64_t setting(struct str values, unsigned n, unsigned i)
{
	struct str text = value_at(values, n);
	struct dimensions v;

	skip_to(&text, "[");
	text = str_sub(text, 1, text.n);
	v = read_numbers(&text);
	return v.n == 0 ? INT64_MIN : v.v[i < v.n ? i : v.n - 1];
}

/* Image, kernel, bias, stride, padding, dilation, transposed, output padding, groups. */
static int64_t convolution_flops(const struct dimensions *in, struct str values)
{
	const struct dimensions *image = &in[0], *kernel = &in[1];
	int64_t flops;

	if (image->n < 3 || image->n != kernel->n || str_eq(value_at(values, 6), S("True")))
		return 0;
	/* the kernel's second dimension is of one group */
	flops = num_mul(num_mul(2, image->v[0]), num_mul(kernel->v[0], kernel->v[1]));
	for (unsigned i = 2; i < image->n; i++) {
		int64_t stride = setting(values, 3, i - 2), padding = setting(values, 4, i - 2),
		        dilation = setting(values, 5, i - 2), wide, out;
		if (stride < 1 || padding < 0 || dilation < 1 || kernel->v[i] < 1)
			return 0;
		wide = num_sub(num_add(image->v[i], num_mul(2, padding)),
		        num_add(num_mul(dilation, kernel->v[i] - 1), 1));
		out = wide < 0 ? 0 : wide / stride + 1;
		flops = num_mul(flops, num_mul(kernel->v[i], out));
	}
	return flops;
}

int64_t shape_flops(struct str op, struct str shapes, struct str values)
{
	struct dimensions in[INPUTS_MAX];
	unsigned n = read_shapes(shapes, in);
	int64_t flops = 0;

	if (n >= 2 && str_eq(op, S("aten::mm")))
		flops = product_flops(&in[0], &in[1], 2);
	else if (n >= 3 && str_eq(op, S("aten::addmm")))
		flops = product_flops(&in[1], &in[2], 2);
	else if (n >= 2 && str_eq(op, S("aten::bmm")))
		flops = product_flops(&in[0], &in[1], 3);
	else if (n >= 3 && str_eq(op, S("aten::baddbmm")))
		flops = product_flops(&in[1], &in[2], 3);
	else if (n >= 2 && str_eq(op, S("aten::convolution")))
		flops = convolution_flops(in, values);
	return flops > 0 ? flops : 0;
}
