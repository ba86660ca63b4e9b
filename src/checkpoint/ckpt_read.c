/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a tensor in row-major order. Parts that follow each other along the first dimension are
 * streamed; other parts are assembled in memory.
 */
#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"
#include "checkpoint/ckpt_internal.h"

#define PARTS_MAX (1u << 24)

struct ckpt_read {
	struct ckpt *c;
	const struct ckpt_tensor *t;
	struct arena *a;
	struct err *e;
	struct part_read *part;
	uint32_t *order; /* order of the slices */
	uint32_t i, n;   /* number of started parts, and of all parts */
	bool open, ready, gathered;
	uint8_t *bytes; /* the assembled tensor */
	struct str *strings;
	uint8_t *filled; /* one bit per element */
};

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_slice *s = ctx;

	return s[a].start[0] < s[b].start[0] ? -1 : s[a].start[0] > s[b].start[0];
}

struct ckpt_read *ckpt_read(
        struct ckpt *c, const struct ckpt_tensor *t, struct arena *a, struct err *e)
{
	struct ckpt_read *r = ARENA_NEW(a, struct ckpt_read);

	r->c = c;
	r->t = t;
	r->a = a;
	r->e = e;
	r->part = part_read_new(c, t, a, e);
	r->n = c->bundle && !t->n_slices ? 1 : t->n_slices;
	r->order = ARENA_ARRAY(a, r->n, uint32_t);
	for (uint32_t i = 0; i < r->n; i++)
		r->order[i] = i;
	if (t->n_slices && t->rank)
		sort_stable(a, r->order, r->n, by_start, t->slices);
	return r;
}

/* True if the slices, in order, follow one another along the first dimension and are whole in all
 * other dimensions. */
static bool is_chain(const struct ckpt_read *r)
{
	const struct ckpt_tensor *t = r->t;
	int64_t at = 0;

	if (!t->n_slices)
		return true;
	if (!t->rank)
		return t->n_slices == 1;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct ckpt_slice *s = &t->slices[r->order[i]];
		for (uint32_t d = 1; d < t->rank; d++)
			if (s->start[d] || s->length[d] != t->dims[d])
				return false;
		if (s->start[0] != at)
			return false;
		at += s->length[0];
	}
	return at == t->dims[0];
}

static bool begin_part(struct ckpt_read *r, uint32_t slice)
{
	struct ckpt_part p;
	bool ok = r->c->bundle ? v2_part(r->c, r->t, slice, r->a, &p, r->e)
	                       : v1_part(r->c, r->t, slice, r->a, &p, r->e);

	if (ok)
		part_begin(r->part, &p);
	return ok;
}

/* Returns the index in the tensor of element n of a slice. */
static size_t place(const struct ckpt_tensor *t, const struct ckpt_slice *s, int64_t n)
{
	int64_t at = 0, stride = 1;

	for (uint32_t d = t->rank; d-- > 0;) {
		at += (s->start[d] + n % s->length[d]) * stride;
		n /= s->length[d];
		stride *= t->dims[d];
	}
	return (size_t)at;
}

/* Stores one value of a slice. Returns false if its place is already filled. */
static bool put(struct ckpt_read *r, size_t at, const struct ckpt_values *v, size_t i)
{
	size_t size = r->t->type->size;

	if (r->filled[at / 8] >> at % 8 & 1)
		return false;
	r->filled[at / 8] |= (uint8_t)(1u << at % 8);
	if (size)
		memcpy(r->bytes + at * size, v->bytes + i * size, size);
	else
		r->strings[at] = str_copy(r->a, v->strings[i]);
	return true;
}

static bool bad_slices(struct ckpt_read *r, const char *what)
{
	return err_set(r->e, ERR_DATA_LOSS, "%.*s: tensor '%.*s': slice: %s", STR(r->c->path),
	        STR(r->t->name), what);
}

static bool gather_part(struct ckpt_read *r, uint32_t slice)
{
	const struct ckpt_slice *s = &r->t->slices[slice];
	struct ckpt_values v;
	int64_t n = 0;

	if (!begin_part(r, slice))
		return false;
	while (part_next(r->part, &v))
		for (size_t i = 0; i < v.n; i++)
			if (!put(r, place(r->t, s, n++), &v, i))
				return bad_slices(r, "two slices overlap");
	return !r->e->code;
}

/* Checks, before the tensor is allocated, that each slice has all its bytes and shares none with
 * another slice.
 */
static bool parts_are_there(struct ckpt_read *r)
{
	uint64_t need = 0, room = 0, now;
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < r->n; i++) {
		struct arena_mark m = arena_mark(r->a);
		if (!begin_part(r, i) || !part_check(r->part, &now))
			return false;
		arena_reset(r->a, m);
		need += now ? part_size(r->part) : 0;
		room += now && r->c->shard_now != last ? now : 0;
		last = now ? r->c->shard_now : last;
	}
	return need <= room || bad_slices(r, "slices overlap in the file");
}

/* Assembles all slices. */
static bool gather(struct ckpt_read *r)
{
	const struct ckpt_tensor *t = r->t;
	int64_t sum = 0;

	for (uint32_t i = 0; i < r->n; i++)
		sum = num_add(sum, slice_elements(&t->slices[i], t->rank));
	if (sum != t->elements)
		return bad_slices(r, "the slices do not cover the tensor");
	if (!parts_are_there(r))
		return false;
	r->filled = ARENA_ARRAY(r->a, (size_t)t->elements / 8 + 1, uint8_t);
	if (t->type->size)
		r->bytes = arena_array(r->a, (size_t)t->elements, t->type->size, 16);
	else
		r->strings = ARENA_ARRAY(r->a, (size_t)t->elements, struct str);
	for (uint32_t i = 0; i < r->n; i++)
		if (!gather_part(r, i))
			return false;
	return true;
}

bool ckpt_read_next(struct ckpt_read *r, struct ckpt_values *v)
{
	*v = (struct ckpt_values){ 0 };
	if (r->e->code || r->gathered)
		return false;
	if (!r->ready && !is_chain(r)) {
		r->gathered = true;
		if (!gather(r))
			return false;
		*v = (struct ckpt_values){ (size_t)r->t->elements, r->bytes, r->strings };
		return v->n > 0;
	}
	r->ready = true;
	for (;;) {
		if (!r->open) {
			if (r->i == r->n || !begin_part(r, r->order[r->i++]))
				return false;
			r->open = true;
		}
		if (part_next(r->part, v))
			return true;
		r->open = false;
		if (r->e->code)
			return false;
	}
}

bool ckpt_verify(struct ckpt *c, const struct ckpt_watch *watch, struct arena *a, struct err *e)
{
	return c->bundle ? v2_verify(c, watch, a, e) : v1_verify(c, watch, a, e);
}
