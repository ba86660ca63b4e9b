/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops whose work is proportional to the elements of the result, of an input, or of a window.
 */
#include <inttypes.h>

#include "flops/flops_internal.h"

struct flops flops_none(const struct op_call *c)
{
	(void)c;
	return (struct flops){ .read = -1, .written = -1 };
}

/* Counts the bytes of an input that is read, and of a result with the shape of another input. */
struct flops flops_copy(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *from = call_input(c, place[0]), *to = call_input(c, place[1]);
	struct flops f = flops_none(c);

	if (from->known && from->width)
		f.read = num_mul(from->elements, from->width);
	if (to->known && to->width)
		f.written = num_mul(to->elements, to->width);
	return f;
}

/* Counts the bytes of the indices and of the result. The same rows of the table may be read several
 * times, so the number of bytes read from memory is unknown. */
struct flops flops_embedding(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *table = call_input(c, place[0]), *rows = call_input(c, place[1]);
	struct flops f = flops_none(c);

	if (rows->known && rows->width)
		f.read = num_mul(rows->elements, rows->width);
	if (rows->known && table->known && table->rank == 2)
		f.written = num_mul(rows->elements, num_mul(table->dim[1], table->width));
	return f;
}

/* Counts nothing, because the caller uses the number that the file states. */
struct flops flops_stated(const struct op_call *c)
{
	return flops_none(c);
}

struct flops flops_hidden(const struct op_call *c)
{
	return lacking(LACK_SHAPE, c->row->place[0]);
}

struct flops flops_data(const struct op_call *c)
{
	return lacking(LACK_DATA, c->row->place[0]);
}

/* Returns the number of elements of the shape to which all inputs are broadcast. For a list,
 * returns the number of elements of its tensors. */
static int64_t broadcast(const struct op_call *c)
{
	int64_t dim[TENSOR_RANK_MAX], elements = 1;

	for (unsigned k = 0; k < TENSOR_RANK_MAX; k++)
		dim[k] = 1;
	for (unsigned i = 0; i < c->n; i++) {
		const struct op_tensor *t = &c->in[i];
		if (t->known && t->list)
			return t->elements;
		for (unsigned k = 0; t->known && k < t->rank; k++) {
			int64_t v = t->dim[t->rank - 1 - k];
			dim[k] = v == 1 ? dim[k] : v;
		}
	}
	for (unsigned k = 0; k < TENSOR_RANK_MAX; k++)
		elements = num_mul(elements, dim[k]);
	return elements;
}

struct flops flops_elementwise(const struct op_call *c)
{
	int64_t elements = c->output.known ? c->output.elements : broadcast(c);

	/* without types, the shape of a number equals the shape of a missing tensor */
	if (!c->n)
		return lacking(LACK_SHAPE, 0);
	for (unsigned i = 0; i < c->n && !c->output.known; i++)
		if (!c->in[i].known && (c->in[i].rank || c->in[i].list))
			return lacking(LACK_SHAPE, (int)i);
	struct flops f = COUNTED(c, c->row->place[0], elements);
	add_bytes(&f, c, elements, 0);
	return f;
}

struct flops flops_each_input(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *t = call_input(c, place[0]), *more = call_input(c, place[2]);
	int64_t elements = t->elements;

	if (!t->known || (place[2] && !more->known))
		return lacking(LACK_SHAPE, t->known ? place[2] : place[0]);
	if (place[2])
		elements = num_add(elements, more->elements);
	struct flops f = COUNTED(c, place[1], elements);
	add_bytes(&f, c, c->row->formula == FORMULA_REDUCTION ? -1 : elements, place[0]);
	return f;
}

struct flops flops_bag(const struct op_call *c)
{
	int table = c->row->place[0];
	const struct op_tensor *t = call_input(c, table), *rows = call_input(c, table + 1);

	if (!t->known || t->rank != 2 || !rows->known)
		return lacking(LACK_SHAPE, rows->known ? table : table + 1);
	return COUNTED(c, rows->elements, t->dim[1]);
}

/* Returns the number of positions of a window along a dimension. */
static int64_t windows(int64_t in, int64_t size, int64_t step, int64_t padding, bool up)
{
	int64_t room = num_sub(num_add(in, num_mul(2, padding)), size), out;

	if (room < 0)
		return 0;
	out = num_add(num_add(room, up ? step - 1 : 0) / step, 1);
	/* the last window begins inside the image or the padding before it */
	return up && num_mul(out - 1, step) >= num_add(in, padding) ? out - 1 : out;
}

struct flops flops_pooling(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *t = call_input(c, 0);
	const struct op_setting size = call_setting(c, place[0]),
	                        stride = call_setting(c, place[1]),
	                        padding = call_setting(c, place[2]),
	                        apart = call_setting(c, place[3]);
	int64_t out = 1, window = 1;
	unsigned spatial;

	if (!t->known || t->rank < 3)
		return lacking(LACK_SHAPE, 0);
	if (!size.n)
		return lacking(LACK_SETTING, place[0]);
	spatial = size.n > 1 && size.n < t->rank ? size.n : t->rank - 2;
	for (unsigned i = 0; i < t->rank; i++) {
		int64_t in = t->dim[i], k, step, wide;
		if (i + spatial < t->rank) {
			out = num_mul(out, in);
			continue;
		}
		unsigned d = i + spatial - t->rank;
		k = setting_at(&size, d);
		step = stride.n ? setting_at(&stride, d) : k;
		wide = num_add(num_mul(apart.n ? setting_at(&apart, d) : 1, k - 1), 1);
		if (k < 1 || step < 1 || wide < k || setting_at(&padding, d) < 0)
			return lacking(LACK_SENSE, place[0]);
		out = num_mul(out,
		        windows(in, wide, step, setting_at(&padding, d), call_flag(c, place[4])));
		window = num_mul(window, k);
	}
	struct flops f = COUNTED(c, out, window);
	add_bytes(&f, c, out, 0);
	return f;
}

struct flops flops_window(const struct op_call *c)
{
	const struct op_setting size = call_setting(c, c->row->place[0]);
	int64_t window = 1;

	if (!c->output.known)
		return lacking(LACK_SHAPE, 0);
	if (!size.n)
		return lacking(LACK_SETTING, c->row->place[0]);
	for (unsigned i = 0; i < size.n; i++)
		window = size.v[i] < 0 ? -1 : num_mul(window, size.v[i]);
	if (window < 0)
		return lacking(LACK_SENSE, 0);
	struct flops f = COUNTED(c, c->output.elements, window);
	add_bytes(&f, c, c->output.elements, 0);
	return f;
}

/* Counts transforms of n elements: 5 * n * log2(n) operations for complex data. */
struct flops flops_fft(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *t = call_input(c, 0);
	const struct op_setting over = call_setting(c, place[0]), last = call_setting(c, place[2]);
	double length = 1, elements = (double)t->elements;

	if (!t->known || !t->rank)
		return lacking(LACK_SHAPE, 0);
	if (!over.n || (place[2] >= 0 && !last.n))
		return lacking(LACK_SETTING, over.n ? place[2] : place[0]);
	for (unsigned i = 0; i < over.n; i++) {
		int64_t at = over.v[i] < 0 ? over.v[i] + t->rank : over.v[i];
		if (at < 0 || at >= (int64_t)t->rank || t->dim[at] < 1)
			return lacking(LACK_SENSE, place[0]);
		int64_t size = place[2] >= 0 && i + 1 == over.n ? last.v[0] : t->dim[at];
		if (size < 1)
			return lacking(LACK_SENSE, place[2]);
		elements = elements / (double)t->dim[at] * (double)size;
		length *= (double)size;
	}
	int64_t flops = num_from_real((place[1] ? 2.5 : 5) * elements * log2(length) + 0.5);
	struct flops f = COUNTED(c, flops);
	add_bytes(&f, c, num_from_real(elements), 0);
	return f;
}

/* Counts transforms of dimensions whose sizes are a setting. For real data, the complex side has
 * only half of the elements. */
struct flops flops_fft_lengths(const struct op_call *c)
{
	const struct op_tensor *t = call_input(c, 0), *out = &c->output;
	const struct op_setting over = call_setting(c, c->row->place[0]);
	double length = 1;

	if (!t->known || !out->known)
		return lacking(LACK_SHAPE, 0);
	if (!over.n)
		return lacking(LACK_SETTING, c->row->place[0]);
	for (unsigned i = 0; i < over.n; i++) {
		if (over.v[i] < 1)
			return lacking(LACK_SENSE, 0);
		length *= (double)over.v[i];
	}
	int64_t elements = t->elements > out->elements ? t->elements : out->elements;
	bool real = t->elements != out->elements;
	int64_t flops = num_from_real((real ? 2.5 : 5) * (double)elements * log2(length) + 0.5);
	struct flops f = COUNTED(c, flops);
	add_bytes(&f, c, out->elements, 0);
	return f;
}

/* ---- kernels that Inductor fused ---- */

/* Returns the ops in the name of a kernel: "add__to_copy" of "triton_poi_fused_add__to_copy_7". */
static struct str fused_names(struct str name)
{
	size_t at = str_find(name, S("_fused_"));

	name = str_sub(name, at == SIZE_MAX ? name.n : at + 7, name.n);
	name = str_sub(name, 0, str_stem(name));
	return str_sub(name, 0, name.n && name.p[name.n - 1] == '_' ? name.n - 1 : name.n);
}

/* Takes the op with the longest name from the beginning of the names. Returns NULL if there is
 * none. */
static const struct op_row *take_op(struct str *names)
{
	for (size_t n = names->n; n; n--) {
		const struct op_row *row;
		if (n < names->n && names->p[n] != '_')
			continue;
		if ((row = flops_find_aten(str_sub(*names, 0, n)))) {
			*names = str_sub(*names, n + 1, names->n);
			return row;
		}
	}
	return NULL;
}

/* Returns the operations of an op for each element, or -1 if it has another formula. */
static int64_t each(const struct op_row *row)
{
	switch (row->formula) {
	case FORMULA_ELEMENTWISE:
	case FORMULA_TRANSCENDENTAL: return row->place[0];
	case FORMULA_NORMALISATION:
	case FORMULA_SOFTMAX:
	case FORMULA_REDUCTION: return row->place[1];
	case FORMULA_COPY:
	case FORMULA_EMBEDDING:
	case FORMULA_NONE: return 0;
	default: return -1;
	}
}

static bool has_tensor_of(const struct op_call *c, int64_t elements)
{
	unsigned i = 0;

	while (i < c->n && !(c->in[i].known && c->in[i].elements == elements))
		i++;
	return i < c->n;
}

/* Returns the number of elements that a kernel computes; -1 if no tensor is known. The last one or
 * two inputs are the lengths of its loops; the file does not distinguish them from earlier inputs.
 * Their product is used if a tensor has as many elements, otherwise the elements of the largest
 * tensor. */
static int64_t fused_elements(const struct op_call *c)
{
	const struct op_setting last = call_setting(c, (int)c->n - 1),
	                        before = call_setting(c, (int)c->n - 2);
	int64_t largest = -1;

	if (last.n == 1 && before.n == 1 && has_tensor_of(c, num_mul(before.v[0], last.v[0])))
		return num_mul(before.v[0], last.v[0]);
	if (last.n == 1 && has_tensor_of(c, last.v[0]))
		return last.v[0];
	for (unsigned i = 0; i < c->n; i++)
		if (c->in[i].known && c->in[i].elements > largest)
			largest = c->in[i].elements;
	return largest;
}

struct flops flops_fused(const struct op_call *c)
{
	struct str names = fused_names(c->name);
	struct op_call read = *c;
	int64_t elements = fused_elements(c), all = 0;
	bool some_rows = false;

	if (!names.n) /* the name lists no ops */
		return lacking(LACK_FORMULA, 0);
	while (names.n) {
		const struct op_row *row = take_op(&names);
		int64_t n = row ? each(row) : -1;
		if (n < 0)
			return lacking(LACK_FORMULA, 0);
		all += n;
		some_rows |= (row->formula == FORMULA_NONE && row->place[0]) ||
		             row->formula == FORMULA_EMBEDDING;
	}
	if (elements < 0)
		return lacking(LACK_SHAPE, 0);
	struct flops f = COUNTED(c, all, elements);
	for (unsigned i = 0; i < c->n && some_rows; i++)
		if (read.in[i].elements > elements)
			read.in[i].elements = elements;
	add_bytes(&f, &read, -1, 0);
	return f;
}

/* Returns the product of the rows, the columns and the length of the sums for two inputs, times the
 * batch; 0: the shapes do not fit. */
static int64_t product_size(const struct op_tensor *x, const struct op_tensor *y, int64_t *result)
{
	int64_t batch = 1;

	if (!x->known || !y->known || x->rank < 2 || x->rank != y->rank ||
	        x->dim[x->rank - 1] != y->dim[x->rank - 2])
		return 0;
	for (unsigned i = 0; i + 2 < x->rank; i++) {
		if (x->dim[i] != y->dim[i])
			return 0;
		batch = num_mul(batch, x->dim[i]);
	}
	*result = num_mul(batch, num_mul(x->dim[x->rank - 2], y->dim[y->rank - 1]));
	return num_mul(*result, x->dim[x->rank - 1]);
}

/* Returns the number of multiplications of a convolution of two inputs whose result is a third; 0:
 * the shapes do not fit. */
static int64_t convolution_size(const struct op_tensor *x, const struct op_tensor *kernel,
        const struct op_tensor *out, int64_t *result)
{
	if (!x->known || !kernel->known || !out->known || x->rank < 3 || kernel->rank != x->rank ||
	        out->rank != x->rank || out->dim[0] != x->dim[0] || !kernel->dim[0] ||
	        out->dim[1] != kernel->dim[0])
		return 0;
	*result = out->elements;
	return num_mul(out->elements, kernel->elements / kernel->dim[0]);
}

/* Finds the factors, which are two consecutive inputs, and the result, which is the last tensor.
 * Returns the size of the product, or 0. */
static int64_t template_size(const struct op_call *c, bool convolves, int64_t *result)
{
	unsigned last = c->n;
	int64_t size = 0;

	while (last && !(c->in[last - 1].known && c->in[last - 1].rank))
		last--;
	if (last < 3)
		return 0;
	const struct op_tensor *out = &c->in[last - 1];
	for (unsigned i = 0; i + 2 < last && !size; i++) {
		const struct op_tensor *x = &c->in[i], *y = &c->in[i + 1];
		size = convolves ? convolution_size(x, y, out, result) : product_size(x, y, result);
		if (*result != out->elements)
			size = 0;
	}
	return size;
}

/* Counts a kernel that Inductor made from a template: a product or a convolution, followed by ops
 * on each element of its result. */
struct flops flops_template(const struct op_call *c)
{
	struct str names = fused_names(c->name);
	bool convolves = false, multiplies = false;
	int64_t others = 0, result = 0, size;

	if (str_contains(names, S("flex_attention"))) /* a tensor contains the mask */
		return lacking(LACK_DATA, 3);
	while (names.n) {
		const struct op_row *row = take_op(&names);
		int64_t n = row ? each(row) : -1;
		if (!row || (n < 0 && flops_class_of(row->formula) != CLASS_MATRIX))
			return lacking(LACK_FORMULA, 0);
		convolves |= row->formula == FORMULA_CONVOLUTION;
		multiplies |= row->formula == FORMULA_PRODUCT;
		others += n > 0 ? n : 0;
	}
	if (convolves == multiplies)
		return lacking(LACK_FORMULA, 0);
	if (!c->n)
		return lacking(LACK_SHAPE, 0);
	if (!(size = template_size(c, convolves, &result)))
		return lacking(LACK_SENSE, 0);
	struct flops f = COUNTED(c, 2, size);
	f.flops = num_add(f.flops, num_mul(others, result));
	if (c->explain && others)
		sb_fmt(c->explain, " + %" PRId64 " * %" PRId64, others, result);
	add_bytes(&f, c, -1, 0);
	return f;
}
