/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of tensors as text. The text nests one pair of brackets per dimension. It is written
 * without recursion: a bracket opens or closes where the index of its dimension is at its first or
 * last value.
 */
#include "export/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/sort.h"
#include "io/wire.h"

#define TEXT_MAX    10000 /* a block that closes beyond this length is truncated there */
#define HUGE_TENSOR 100000

struct tensor_writer {
	const struct ckpt_tensor *t;
	struct arena *a;
	struct sb b;
	uint32_t depth;  /* number of open blocks */
	uint32_t levels; /* number of dimensions that are walked: up to the first that is 0 */
	int64_t index[CKPT_RANK_MAX + 1];
	bool message;
	VEC(double) doubles;
	VEC(int64_t) ints;
	VEC(struct str) strings;
};

/* Quirk 30: the value is rounded to six digits. */
static double six_digits(double x)
{
	char text[64];

	if (!isfinite(x))
		return x;
	snprintf(text, sizeof text, "%.6g", x);
	return strtod(text, NULL);
}

/* ---- text ---- */

static void open_block(struct tensor_writer *w)
{
	w->depth++;
	if (w->b.n <= TEXT_MAX)
		sb_char(&w->b, '[');
}

/* Quirk 30: the text is truncated whenever a block closes. */
static void close_block(struct tensor_writer *w)
{
	w->depth--;
	if (w->b.n > TEXT_MAX)
		w->b.n = TEXT_MAX;
	sb_put(&w->b, S("],\n"));
}

/* Opens the blocks before a value. */
static void before_value(struct tensor_writer *w)
{
	while (w->depth < w->levels || w->depth == 0)
		open_block(w);
}

/* Closes the blocks that end with a value. */
static void after_value(struct tensor_writer *w)
{
	for (uint32_t d = w->levels; d-- > 0;) {
		if (++w->index[d] < w->t->dims[d])
			return;
		w->index[d] = 0;
		close_block(w);
	}
	if (w->levels == 0)
		close_block(w);
}

static void put_double(struct tensor_writer *w, double x)
{
	fmt_fixed2(&w->b, six_digits(x));
}

static void put_number(struct tensor_writer *w, const uint8_t *p)
{
	const struct dtype *d = w->t->type;

	switch (d->kind) {
	case DTYPE_INT: fmt_i64(&w->b, dtype_int(d, p)); break;
	case DTYPE_UINT: fmt_u64(&w->b, (uint64_t)dtype_int(d, p)); break;
	case DTYPE_FLOAT: put_double(w, dtype_double(d, p)); break;
	case DTYPE_COMPLEX:
		sb_char(&w->b, '(');
		put_double(w, dtype_double(d, p));
		sb_char(&w->b, ',');
		put_double(w, dtype_double(d, p + d->part));
		sb_char(&w->b, ')');
		break;
	case DTYPE_STRING: break;
	}
}

/* Text beyond the limit is never printed: it is truncated when its block closes. */
static void put_value(struct tensor_writer *w, const struct ckpt_values *v, size_t i)
{
	if (w->b.n > TEXT_MAX)
		return;
	if (w->t->type->kind == DTYPE_STRING) {
		sb_char(&w->b, '\'');
		sb_put(&w->b, str_sub(v->strings[i], 0, TEXT_MAX + 1));
		sb_char(&w->b, '\'');
	} else {
		put_number(w, v->bytes + i * w->t->type->size);
	}
	sb_char(&w->b, ' ');
}

/* True if no further value can change the text, except its end. */
static bool is_full(const struct tensor_writer *w)
{
	return w->b.n > TEXT_MAX && w->depth > 0;
}

/* Writes a tensor without values: empty blocks where a dimension is 0. */
static void put_empty(struct tensor_writer *w)
{
	int64_t blocks = 1;

	while (w->levels < w->t->rank && w->t->dims[w->levels])
		blocks = num_mul(blocks, w->t->dims[w->levels++]);
	for (int64_t i = 0; i < blocks && !is_full(w); i++) {
		while (w->depth < w->levels)
			open_block(w);
		open_block(w);
		close_block(w);
		if (w->levels)
			after_value(w);
	}
}

/* Closes blocks left open because the text was truncated. */
static void finish(struct tensor_writer *w)
{
	while (w->depth)
		close_block(w);
}

/* ---- message ---- */

static void keep(struct tensor_writer *w, const struct ckpt_values *v)
{
	const struct dtype *d = w->t->type;

	for (size_t i = 0; i < v->n; i++) {
		const uint8_t *p = v->bytes + i * d->size;
		if (d->kind == DTYPE_STRING)
			VEC_PUSH(w->a, &w->strings, str_copy(w->a, v->strings[i]));
		else if (d->kind == DTYPE_INT || d->kind == DTYPE_UINT)
			VEC_PUSH(w->a, &w->ints, dtype_int(d, p));
		else
			VEC_PUSH(w->a, &w->doubles, six_digits(dtype_double(d, p)));
		if (d->kind == DTYPE_COMPLEX)
			VEC_PUSH(w->a, &w->doubles, six_digits(dtype_double(d, p + d->part)));
	}
}

static void put_varint(struct sb *b, uint64_t v)
{
	b->n += (size_t)(varint_put((uint8_t *)sb_room(b, VARINT_MAX), v) - (uint8_t *)b->p) - b->n;
}

static void put_ints(struct sb *b, const struct tensor_writer *w)
{
	uint64_t size = 0;

	for (size_t i = 0; i < w->ints.n; i++)
		size += varint_size((uint64_t)w->ints.v[i]);
	put_varint(b, LEAF_TAG(3, WIRE_BYTES));
	put_varint(b, size);
	for (size_t i = 0; i < w->ints.n; i++)
		put_varint(b, (uint64_t)w->ints.v[i]);
}

static void put_doubles(struct sb *b, const struct tensor_writer *w)
{
	put_varint(b, LEAF_TAG(2, WIRE_BYTES));
	put_varint(b, 8 * (uint64_t)w->doubles.n);
	for (size_t i = 0; i < w->doubles.n; i++) {
		char bytes[8];
		uint64_t v;
		memcpy(&v, &w->doubles.v[i], sizeof v);
		for (unsigned k = 0; k < 8; k++)
			bytes[k] = (char)(v >> (8 * k));
		sb_put(b, str_make(bytes, sizeof bytes));
	}
}

/* Returns an encoded TFProfTensorProto: dtype 1, value_double 2, value_int64 3, value_str 4. */
static struct str message(const struct tensor_writer *w)
{
	struct sb b = sb_in(w->a);

	put_varint(&b, LEAF_TAG(1, WIRE_VARINT));
	put_varint(&b, w->t->type->number);
	if (w->doubles.n)
		put_doubles(&b, w);
	if (w->ints.n)
		put_ints(&b, w);
	for (size_t i = 0; i < w->strings.n; i++) {
		put_varint(&b, LEAF_TAG(4, WIRE_BYTES));
		put_varint(&b, w->strings.v[i].n);
		sb_put(&b, w->strings.v[i]);
	}
	return sb_str(&b);
}

/* ---- reading ---- */

/* Writes at most `limit` of n values. */
static void put_values(struct tensor_writer *w, const struct ckpt_values *v, int64_t room)
{
	for (size_t i = 0; i < v->n && (int64_t)i < room && !is_full(w); i++) {
		before_value(w);
		put_value(w, v, i);
		after_value(w);
	}
}

bool tensor_read(struct ckpt *c, const struct ckpt_tensor *t, const struct tensor_want *want,
        struct arena *a, struct shown_tensor *out, struct err *e)
{
	struct tensor_writer w = { .t = t, .a = a, .b = sb_in(a), .message = want->message };
	bool cut = want->limit >= 0 && t->elements > want->limit;
	int64_t limit = cut ? want->limit : INT64_MAX, done = 0;
	struct tensor_stats stats = { 0 };
	struct ckpt_read *r = ckpt_read(c, t, a, e);
	struct ckpt_values v;

	if (t->elements)
		w.levels = t->rank;
	while (ckpt_read_next(r, &v)) {
		put_values(&w, &v, limit - done);
		if (cut)
			tensor_stats_add(&stats, t->type, &v);
		if (want->message)
			keep(&w, &v);
		done += (int64_t)v.n;
	}
	if (e->code)
		return false;
	if (t->elements == 0)
		put_empty(&w);
	finish(&w);
	if (cut)
		tensor_stats_put(&w.b, t->type, &stats);
	if (w.b.n >= TEXT_MAX)
		sb_put(&w.b, S("...omitted from display\n\n"));
	out->text = sb_str(&w.b);
	out->message = want->message ? message(&w) : STR_NONE;
	return true;
}

/* ---- results ---- */

struct lookup {
	struct result *r;
	struct ckpt *c;
	struct tensor_want want;
};

static void look_up(struct lookup *l, uint32_t i)
{
	const struct query *q = l->r->q;
	struct scratch own;
	struct ckpt_tensor t;
	struct shown_tensor got = { 0 };
	struct str name = view_name(q, l->r->shown[i].kept);

	if (str_eq(name, ROOT_NAME))
		return;
	scratch_open(&own, q->a->work);
	struct err e = { .a = &own.a };
	bool ok = ckpt_find(l->c, name, &own.a, &t, &e);
	if (ok && t.elements > HUGE_TENSOR)
		note_line(q->notes, "Showing huge tensor, the tool might halt...\n");
	if (ok && tensor_read(l->c, &t, &l->want, &own.a, &got, &e)) {
		l->r->tensors[i].text = str_copy(q->a, got.text);
		l->r->tensors[i].message = str_copy(q->a, got.message);
	}
	if (e.code)
		note_line(q->notes, "%.*s\n", STR(e.text));
	scratch_close(&own);
}

static int by_visit(const void *ctx, uint32_t a, uint32_t b)
{
	const struct entry *x = ctx;

	return x[a].kept < x[b].kept ? -1 : x[a].kept > x[b].kept;
}

void tensors_read(struct result *r, struct ckpt *c, bool messages)
{
	const struct query *q = r->q;
	struct lookup l = { r, c, { q->o->max_values, messages } };
	uint32_t *open = ARENA_ARRAY(q->a, r->n, uint32_t), n = 0;

	if (!view_is(r->kind, VIEW_NODES))
		return;
	r->tensors = ARENA_ARRAY(q->a, r->n, struct shown_tensor);
	const uint32_t *order = sort_order(q->a, r->n, by_visit, r->shown);
	/* Looks up nodes in the original's order: a node after its descendants. */
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t kept = r->shown[order[i]].kept;
		while (n && q->kept.end[r->shown[open[n - 1]].kept] <= kept)
			look_up(&l, open[--n]);
		open[n++] = order[i];
	}
	while (n)
		look_up(&l, open[--n]);
}
