/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the rows of a document as parallel arrays.
 */
#include "export/data/sheet.h"

#include <math.h>

#include "base/fmt.h"

#define STEP_MAX 9
#define FEW_ROWS 64 /* columns with fewer rows are not compressed */

void arrays_init(struct arrays *x, struct arena *a, const bool *real, size_t n_columns)
{
	*x = (struct arrays){
		.a = a, .n_columns = n_columns, .real = real, .text = sb_in(a), .last = sb_in(a)
	};
	intern_init(&x->strings, a);
	intern_init(&x->lists, a);
}

void arrays_i64(struct arrays *x, int64_t v)
{
	VEC_PUSH(x->a, &x->cells, v);
}

void arrays_real(struct arrays *x, double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof bits);
	VEC_PUSH(x->a, &x->cells, isfinite(v) ? bits : ARRAYS_NULL);
}

/* Returns the length in bytes of the common start, which ends between two characters. Sets *units
 * to its length in UTF-16 units. */
static size_t common(struct str a, struct str b, int64_t *units)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	while (n && n < b.n && ((uint8_t)b.p[n] & 0xc0) == 0x80)
		n--;
	*units = 0;
	for (size_t i = 0; i < n; i++)
		*units += (((uint8_t)b.p[i] & 0xc0) != 0x80) + ((uint8_t)b.p[i] >= 0xf0);
	return n;
}

/* Adds a string to the table. Returns its index. Strings may be long paths, so the table stores
 * only the part that differs from the previous string. */
static uint32_t add_string(struct arrays *x, struct str s)
{
	struct array_string made;
	size_t n = common(sb_str(&x->last), s, &made.shared);

	made.rest = str_copy(x->a, str_sub(s, n, SIZE_MAX));
	VEC_PUSH(x->a, &x->table, made);
	x->last.n = n;
	sb_put(&x->last, made.rest);
	return (uint32_t)x->table.n - 1;
}

static struct str as_utf8(struct arrays *x, struct str s)
{
	if (str_is_utf8(s))
		return s;
	x->text.n = 0;
	sb_put_utf8(&x->text, s);
	return sb_str(&x->text);
}

static uint32_t string_id(struct arrays *x, struct str s)
{
	s = as_utf8(x, s);
	uint32_t id = intern_add(&x->strings, s);
	if (id == x->at.n)
		VEC_PUSH(x->a, &x->at, add_string(x, s));
	return x->at.v[id];
}

void arrays_text(struct arrays *x, struct str s)
{
	arrays_i64(x, string_id(x, s));
}

void arrays_path(struct arrays *x, uint32_t *id, struct str s)
{
	if (!*id)
		*id = 1 + add_string(x, as_utf8(x, s));
	arrays_i64(x, *id - 1);
}

void arrays_list(struct arrays *x, const struct strs *v)
{
	x->ids.n = 0;
	for (size_t i = 0; i < v->n; i++)
		VEC_PUSH(x->a, &x->ids, string_id(x, v->v[i]));
	arrays_i64(x, intern_add(&x->lists, str_make(x->ids.v, x->ids.n * sizeof *x->ids.v)));
}

/* ---- writing ---- */

static void put_strings(const struct arrays *x, struct json *j)
{
	json_line(j);
	json_key(j, S("shared"));
	json_array(j);
	for (size_t i = 0; i < x->table.n; i++)
		json_i64(j, x->table.v[i].shared);
	json_array_end(j);
	json_line(j);
	json_key(j, S("rest"));
	json_array(j);
	for (size_t i = 0; i < x->table.n; i++)
		json_string(j, x->table.v[i].rest);
	json_array_end(j);
}

static void put_lists(const struct arrays *x, struct json *j)
{
	json_line(j);
	json_key(j, S("lists"));
	json_array(j);
	for (size_t i = 0; i < x->lists.n; i++) {
		struct str bytes = x->lists.strings[i];
		json_array(j);
		for (size_t k = 0; k < bytes.n; k += sizeof(uint32_t)) {
			uint32_t id;
			memcpy(&id, bytes.p + k, sizeof id);
			json_i64(j, id);
		}
		json_array_end(j);
	}
	json_array_end(j);
}

static void put_cell(const struct arrays *x, size_t column, int64_t v, struct json *j)
{
	struct sb b = x->text;
	double real;

	b.n = 0;
	if (v == ARRAYS_NULL) {
		json_literal(j, S("null"));
	} else if (!x->real[column]) {
		json_i64(j, v);
	} else {
		memcpy(&real, &v, sizeof real);
		fmt_real(&b, real);
		json_literal(j, sb_str(&b));
	}
}

/* Returns the number of rows in which two columns differ. */
static size_t differences(const struct arrays *x, size_t a, size_t b, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < x->cells.n && n < most; i += x->n_columns)
		n += x->cells.v[i + a] != x->cells.v[i + b];
	return n;
}

/* Writes the differences from an earlier column of the same type. */
static void put_difference(const struct arrays *x, size_t column, size_t base, struct json *j)
{
	const int64_t *v = x->cells.v;
	size_t n = x->n_columns;

	json_object(j);
	json_key(j, S("base"));
	json_i64(j, (int64_t)base);
	json_key(j, S("rows"));
	json_array(j);
	for (size_t i = 0, before = 0; i < x->cells.n / n; i++) {
		if (v[i * n + column] == v[i * n + base])
			continue;
		json_i64(j, (int64_t)(i - before));
		before = i;
	}
	json_array_end(j);
	json_key(j, S("values"));
	json_array(j);
	for (size_t i = 0; i < x->cells.n; i += n)
		if (v[i + column] != v[i + base])
			put_cell(x, column, v[i + column], j);
	json_array_end(j);
	json_object_end(j);
}

/* Returns the difference from the nearest earlier row with a value. */
static int64_t step(const struct arrays *x, size_t column, size_t row, int64_t before)
{
	return num_sub(x->cells.v[row * x->n_columns + column], before);
}

/* True if most rows differ little from the previous row: then the differences are shorter. */
static bool small_steps(const struct arrays *x, size_t column)
{
	size_t rows = x->cells.n / x->n_columns, small = 0;
	int64_t before = 0;

	for (size_t i = 0; i < rows && !x->real[column]; i++) {
		int64_t v = x->cells.v[i * x->n_columns + column], d = step(x, column, i, before);
		if (v == ARRAYS_NULL)
			continue;
		small += d <= STEP_MAX && d >= -STEP_MAX;
		before = v;
	}
	return small > rows / 2;
}

static void put_steps(const struct arrays *x, size_t column, struct json *j)
{
	int64_t before = 0;

	json_object(j);
	json_key(j, S("steps"));
	json_array(j);
	for (size_t i = 0; i < x->cells.n / x->n_columns; i++) {
		int64_t v = x->cells.v[i * x->n_columns + column];
		put_cell(x, column, v == ARRAYS_NULL ? v : step(x, column, i, before), j);
		before = v == ARRAYS_NULL ? before : v;
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_column(const struct arrays *x, size_t column, struct json *j)
{
	size_t n = x->n_columns, rows = x->cells.n / n, same = 1, base = column, least = rows / 2;
	const int64_t *v = x->cells.v + column;

	while (same < rows && v[same * n] == v[0])
		same++;
	json_line(j);
	if (rows && same == rows) {
		put_cell(x, column, v[0], j);
		return;
	}
	for (size_t c = 0; c < column && rows >= FEW_ROWS; c++) {
		size_t d = x->real[c] == x->real[column] ? differences(x, c, column, least) : least;
		if (d < least) {
			least = d;
			base = c;
		}
	}
	if (base != column) {
		put_difference(x, column, base, j);
		return;
	}
	if (rows >= FEW_ROWS && small_steps(x, column)) {
		put_steps(x, column, j);
		return;
	}
	json_array(j);
	for (size_t i = 0; i < rows; i++)
		put_cell(x, column, v[i * n], j);
	json_array_end(j);
}

void arrays_write(const struct arrays *x, struct json *j)
{
	json_line(j);
	json_key(j, S("count"));
	json_i64(j, (int64_t)(x->cells.n / x->n_columns));
	put_strings(x, j);
	put_lists(x, j);
	json_line(j);
	json_key(j, S("arrays"));
	json_array(j);
	for (size_t i = 0; i < x->n_columns; i++)
		put_column(x, i, j);
	json_line(j);
	json_array_end(j);
}
