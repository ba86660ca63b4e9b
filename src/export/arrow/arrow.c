/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds Arrow batches. A finished batch is laid out twice by the same code: once without memory,
 * to measure it, and once in the block. Each ArrowArray in the block counts as a user of it,
 * because consumers may move children and dictionaries out of their parent.
 */
#include "export/arrow/arrow.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALIGN 64

/* ---- cells ---- */

void arrow_begin(
        struct arrow_build *b, struct arena *a, const struct column *columns, size_t n, size_t rows)
{
	*b = (struct arrow_build){ .a = a, .n = n, .rows_max = rows ? rows : ARROW_ROWS };
	b->columns = ARENA_ARRAY(a, n, struct arrow_column);
	for (size_t i = 0; i < n; i++) {
		b->columns[i].type = columns[i].type;
		b->columns[i].last_index = -1;
		intern_init(&b->columns[i].texts, a);
	}
}

/* Puts the number of the next cell. */
static void put(struct arrow_build *b, int64_t v, bool null)
{
	struct arrow_column *c = &b->columns[b->at];

	if (null && !c->n_nulls++) {
		VEC_ROOM(b->a, &c->nulls, b->rows + 1);
		c->nulls.n = b->rows;
		memset(c->nulls.v, 0, b->rows);
	}
	if (c->n_nulls)
		VEC_PUSH(b->a, &c->nulls, null);
	VEC_PUSH(b->a, &c->numbers, v);
	if (++b->at == b->n) {
		b->at = 0;
		b->rows++;
	}
}

/* Returns the index of a text in the dictionary of the column. */
static int32_t index_of(struct arrow_build *b, struct arrow_column *c, struct str s)
{
	struct str given = s;
	size_t before = c->texts.n;

	if (c->last_index >= 0 && s.p == c->last.p && s.n == c->last.n)
		return c->last_index;
	if (s.n > ARROW_TEXT_MAX / 2) {
		b->too_long = true;
		s = S("");
	} else if (!str_is_utf8(s)) {
		struct sb text = sb_in(b->a);
		sb_put_utf8(&text, s);
		s = sb_str(&text);
	}
	uint32_t i = intern_add(&c->texts, s);
	if (c->texts.n > before)
		c->bytes += s.n;
	b->full |= c->bytes >= ARROW_TEXT_MAX / 4;
	b->too_long |= c->bytes > ARROW_TEXT_MAX;
	c->last = given;
	return c->last_index = (int32_t)i;
}

void arrow_text(struct arrow_build *b, struct str s)
{
	struct arrow_column *c = &b->columns[b->at];

	assert(c->type == COLUMN_TEXT);
	put(b, s.p ? index_of(b, c, s) : 0, !s.p);
}

void arrow_list(struct arrow_build *b, const struct strs *v)
{
	struct arrow_column *c = &b->columns[b->at];

	assert(c->type == COLUMN_LIST);
	for (size_t i = 0; i < v->n; i++)
		VEC_PUSH(b->a, &c->items, index_of(b, c, v->v[i]));
	b->full |= c->items.n >= ARROW_ROWS_MAX;
	b->too_long |= c->items.n > INT32_MAX;
	put(b, (int64_t)c->items.n, false);
}

void arrow_i64(struct arrow_build *b, int64_t v)
{
	assert(b->columns[b->at].type == COLUMN_INTEGER);
	put(b, v, false);
}

void arrow_real(struct arrow_build *b, double v)
{
	int64_t bits;

	assert(b->columns[b->at].type == COLUMN_REAL);
	memcpy(&bits, &v, sizeof bits);
	put(b, bits, !isfinite(v));
}

void arrow_bool(struct arrow_build *b, bool v)
{
	assert(b->columns[b->at].type == COLUMN_BOOL);
	put(b, v, false);
}

void arrow_null(struct arrow_build *b)
{
	const struct arrow_column *c = &b->columns[b->at];

	put(b, c->type == COLUMN_LIST ? (int64_t)c->items.n : 0, true);
}

/* ---- a finished batch ---- */

void *arrow_take(struct arrow_layout *l, size_t size)
{
	void *p = l->base ? l->base + l->at : NULL;

	l->at += (size + ALIGN - 1) / ALIGN * ALIGN;
	return p;
}

void arrow_block_begin(struct arrow_layout *l, uint8_t *base)
{
	*l = (struct arrow_layout){ .base = base };
	arrow_take(l, sizeof(atomic_size_t));
}

void arrow_block_end(const struct arrow_layout *l)
{
	if (l->base)
		atomic_init((atomic_size_t *)(void *)l->base, l->users);
}

void arrow_block_release(void *block)
{
	if (atomic_fetch_sub((atomic_size_t *)block, 1) == 1)
		free(block);
}

static void release_array(struct ArrowArray *x)
{
	ARROW_RELEASE(x);
}

/* Fills *to, an array of the block, unless the block is only measured. */
static void make_array(struct arrow_layout *l, struct ArrowArray *to, size_t length, size_t nulls,
        int64_t n_buffers, const void *const *buffers)
{
	const void **own = arrow_take(l, (size_t)n_buffers * sizeof *own);

	l->users++;
	if (!own || !to)
		return;
	for (int64_t i = 0; i < n_buffers; i++)
		own[i] = buffers[i];
	*to = (struct ArrowArray){ .length = (int64_t)length,
		.null_count = (int64_t)nulls,
		.n_buffers = n_buffers,
		.buffers = own,
		.release = release_array,
		.private_data = l->base };
}

/* Lays out the distinct texts of a column as an array of strings. */
static void put_dictionary(
        struct arrow_layout *l, const struct arrow_column *c, struct ArrowArray *to)
{
	int32_t *offsets = arrow_take(l, (c->texts.n + 1) * sizeof *offsets);
	char *bytes = arrow_take(l, c->bytes ? c->bytes : 1);
	const void *buffers[] = { NULL, offsets, bytes };
	size_t at = 0;

	for (size_t i = 0; offsets && i < c->texts.n; i++) {
		struct str s = intern_str(&c->texts, (uint32_t)i);
		offsets[i] = (int32_t)at;
		if (s.n)
			memcpy(bytes + at, s.p, s.n);
		at += s.n;
	}
	if (offsets)
		offsets[c->texts.n] = (int32_t)at;
	make_array(l, to, c->texts.n, 0, 3, buffers);
}

static void set_bit(uint8_t *bits, size_t i)
{
	bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

/* Lays out the bits of the rows that have a value. Returns NULL if all rows have a value. */
static void *put_validity(struct arrow_layout *l, const struct arrow_column *c, size_t rows)
{
	uint8_t *bits = c->n_nulls ? arrow_take(l, (rows + 7) / 8) : NULL;

	for (size_t i = 0; bits && i < rows; i++)
		if (!c->nulls.v[i])
			set_bit(bits, i);
	return bits;
}

static void *put_numbers(struct arrow_layout *l, const struct arrow_column *c, size_t rows)
{
	size_t width = c->type == COLUMN_TEXT ? 4 : 8;

	if (c->type == COLUMN_BOOL) {
		uint8_t *bits = arrow_take(l, (rows + 7) / 8 + 1);
		for (size_t i = 0; bits && i < rows; i++)
			if (c->numbers.v[i])
				set_bit(bits, i);
		return bits;
	}
	void *p = arrow_take(l, rows * width + 1);
	for (size_t i = 0; p && width == 4 && i < rows; i++)
		((int32_t *)p)[i] = (int32_t)c->numbers.v[i];
	if (p && width == 8 && rows)
		memcpy(p, c->numbers.v, rows * width);
	return p;
}

/* Lays out indices into the dictionary that follows them: the child of a list, or a column of
 * texts. */
static void put_indices(struct arrow_layout *l, const struct arrow_column *c, struct ArrowArray *to,
        const void *validity, const void *indices, size_t rows)
{
	const void *buffers[] = { validity, indices };
	struct ArrowArray *texts = arrow_take(l, sizeof *texts);

	put_dictionary(l, c, texts);
	make_array(l, to, rows, validity ? c->n_nulls : 0, 2, buffers);
	if (to)
		to->dictionary = texts;
}

static void put_list(
        struct arrow_layout *l, const struct arrow_column *c, struct ArrowArray *to, size_t rows)
{
	const void *buffers[] = { put_validity(l, c, rows), NULL };
	int32_t *offsets = arrow_take(l, (rows + 1) * sizeof *offsets);
	int32_t *indices = arrow_take(l, (c->items.n + 1) * sizeof *indices);
	struct ArrowArray **children = arrow_take(l, sizeof *children),
	                  *child = arrow_take(l, sizeof *child);

	for (size_t i = 0; offsets && i < rows; i++)
		offsets[i + 1] = (int32_t)c->numbers.v[i];
	if (indices && c->items.n)
		memcpy(indices, c->items.v, c->items.n * sizeof *indices);
	buffers[1] = offsets;
	put_indices(l, c, child, NULL, indices, c->items.n);
	make_array(l, to, rows, c->n_nulls, 2, buffers);
	if (children && to) {
		children[0] = child;
		to->children = children;
		to->n_children = 1;
	}
}

static void put_column(
        struct arrow_layout *l, const struct arrow_column *c, struct ArrowArray *to, size_t rows)
{
	const void *buffers[2];

	if (c->type == COLUMN_LIST) {
		put_list(l, c, to, rows);
		return;
	}
	buffers[0] = put_validity(l, c, rows);
	buffers[1] = put_numbers(l, c, rows);
	if (c->type == COLUMN_TEXT)
		put_indices(l, c, to, buffers[0], buffers[1], rows);
	else
		make_array(l, to, rows, c->n_nulls, 2, buffers);
}

/* Lays out the block and returns its size. With base NULL, only the size is computed. */
static size_t lay_out(const struct arrow_build *b, uint8_t *base, struct ArrowArray *out)
{
	struct arrow_layout l;
	arrow_block_begin(&l, base);
	struct ArrowArray **children = arrow_take(&l, b->n * sizeof *children);
	struct ArrowArray *columns = arrow_take(&l, b->n * sizeof *columns);
	const void *buffers[] = { NULL };

	for (size_t i = 0; i < b->n; i++) {
		put_column(&l, &b->columns[i], columns ? &columns[i] : NULL, b->rows);
		if (children)
			children[i] = &columns[i];
	}
	make_array(&l, out, b->rows, 0, 1, buffers);
	arrow_block_end(&l);
	if (children) {
		out->children = children;
		out->n_children = (int64_t)b->n;
	}
	return l.at;
}

bool arrow_finish(struct arrow_build *b, struct ArrowArray *out, struct err *e)
{
	assert(b->at == 0);
	if (b->too_long)
		return err_set(e, ERR_RESOURCE,
		        "a name is longer than %zu bytes: too long for an Arrow column",
		        ARROW_TEXT_MAX / 2);
	uint8_t *base = calloc(1, lay_out(b, NULL, out));
	if (!base)
		return err_set(e, ERR_RESOURCE, "out of memory");
	lay_out(b, base, out);
	return true;
}
