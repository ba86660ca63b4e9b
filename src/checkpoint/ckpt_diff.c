/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two checkpoints. Both lists are ordered by name, so they are merged; values are
 * streamed.
 */
#include "checkpoint/ckpt.h"

#include <math.h>

/* A stream of values, piece by piece. */
struct ckpt_side {
	struct ckpt_read *r;
	struct ckpt_values v;
	size_t i;
};

static bool side_next(struct ckpt_side *s)
{
	while (s->i == s->v.n) {
		s->i = 0;
		if (!ckpt_read_next(s->r, &s->v))
			return false;
	}
	return true;
}

static void differ(struct ckpt_diff *d, double absolute, double size)
{
	double relative = size > 0 ? absolute / size : (double)INFINITY;

	d->differing++;
	if (isnan(absolute))
		absolute = relative = (double)INFINITY;
	if (isnan(relative))
		relative = (double)INFINITY;
	d->absolute = absolute > d->absolute ? absolute : d->absolute;
	d->relative = relative > d->relative ? relative : d->relative;
}

/* Returns the absolute difference. Integers are subtracted as integers, because a double cannot
 * represent every difference. */
static double distance(const struct dtype *t, const uint8_t *p, const uint8_t *q)
{
	if (t->kind != DTYPE_INT && t->kind != DTYPE_UINT)
		return fabs(dtype_double(t, p) - dtype_double(t, q));
	uint64_t x = (uint64_t)dtype_int(t, p), y = (uint64_t)dtype_int(t, q);
	bool less = t->kind == DTYPE_INT ? (int64_t)x < (int64_t)y : x < y;
	return (double)(less ? y - x : x - y);
}

static void compare_one(struct ckpt_diff *d, const struct ckpt_side *x, const struct ckpt_side *y)
{
	const struct dtype *t = d->a->type;

	if (t->kind == DTYPE_STRING) {
		if (!str_eq(x->v.strings[x->i], y->v.strings[y->i]))
			differ(d, (double)INFINITY, 1);
		return;
	}
	const uint8_t *p = x->v.bytes + x->i * t->size, *q = y->v.bytes + y->i * t->size;
	if (memcmp(p, q, t->size) == 0)
		return;
	for (unsigned at = 0; at < t->size; at += t->part) {
		if (t->kind == DTYPE_COMPLEX && memcmp(p + at, q + at, t->part) == 0)
			continue;
		double u = dtype_double(t, p + at), v = dtype_double(t, q + at);
		if (u == v && t->kind != DTYPE_INT && t->kind != DTYPE_UINT)
			continue; /* equal values such as +0 and -0 */
		if (isnan(u) && isnan(v))
			continue;
		differ(d, distance(t, p + at, q + at), fmax(fabs(u), fabs(v)));
	}
}

static bool compare_values(
        struct ckpt *a, struct ckpt *b, struct ckpt_diff *d, struct arena *s, struct err *e)
{
	struct ckpt_side x = { .r = ckpt_read(a, d->a, s, e) },
	                 y = { .r = ckpt_read(b, d->b, s, e) };

	while (side_next(&x) && side_next(&y)) {
		const struct dtype *t = d->a->type;
		size_t n = x.v.n - x.i < y.v.n - y.i ? x.v.n - x.i : y.v.n - y.i;
		if (t->size && memcmp(x.v.bytes + x.i * t->size, y.v.bytes + y.i * t->size,
		                       n * t->size) == 0) {
			x.i += n;
			y.i += n;
			continue;
		}
		for (; n; n--, x.i++, y.i++)
			compare_one(d, &x, &y);
	}
	side_next(&y); /* the checksum is verified at the end of the stream */
	d->what = d->differing ? DIFF_VALUES : DIFF_NONE;
	return !e->code;
}

static bool same_shape(const struct ckpt_tensor *x, const struct ckpt_tensor *y)
{
	return x->rank == y->rank &&
	       (!x->rank || memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) == 0);
}

static bool compare(
        struct ckpt *a, struct ckpt *b, struct ckpt_diff *d, struct arena *s, struct err *e)
{
	if (!d->a || !d->b)
		d->what = d->a ? DIFF_ONLY_A : DIFF_ONLY_B;
	else if (d->a->type != d->b->type)
		d->what = DIFF_DTYPE;
	else if (!same_shape(d->a, d->b))
		d->what = DIFF_SHAPE;
	else
		return compare_values(a, b, d, s, e);
	return true;
}

/* Guard: drops an arena of this comparison. */
static void drop_arena(void *what)
{
	arena_free(what);
}

bool ckpt_compare(struct ckpt *a, struct ckpt *b, struct arena *scratch,
        void (*put)(void *user, const struct ckpt_diff *d), void *user, struct err *e)
{
	struct arena ta, tb; /* hold the current tensor of each list */
	struct guard ga, gb;
	struct ckpt_tensor x, y;

	arena_init(&ta, scratch->work);
	arena_init(&tb, scratch->work);
	work_guard(scratch->work, &ga, drop_arena, &ta);
	work_guard(scratch->work, &gb, drop_arena, &tb);
	struct ckpt_list *l = ckpt_list(a, scratch, e), *m = ckpt_list(b, scratch, e);
	bool has_x = ckpt_next(l, &ta, &x), has_y = ckpt_next(m, &tb, &y);
	while ((has_x || has_y) && !e->code) {
		int c = !has_y ? -1 : !has_x ? 1 : str_cmp(x.name, y.name);
		struct ckpt_diff d = { .a = c <= 0 ? &x : NULL, .b = c >= 0 ? &y : NULL };
		struct arena_mark mark = arena_mark(scratch);
		if (!compare(a, b, &d, scratch, e))
			break;
		put(user, &d);
		arena_reset(scratch, mark);
		if (c <= 0) {
			arena_clear(&ta);
			has_x = ckpt_next(l, &ta, &x);
		}
		if (c >= 0) {
			arena_clear(&tb);
			has_y = ckpt_next(m, &tb, &y);
		}
	}
	work_unguard(scratch->work, &ga);
	work_unguard(scratch->work, &gb);
	arena_free(&ta);
	arena_free(&tb);
	return !e->code;
}
