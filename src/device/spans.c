/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores intervals packed, and merges them by start.
 */
#include "device/device_use.h"

#include <stdlib.h>

#include "base/bits.h"
#include "base/heap.h"

struct span_cursor {
	const uint8_t *p, *end;
	struct span now;
	unsigned owner;
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool is_sorted(const struct span *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].start < v[i - 1].start)
			return false;
	return true;
}

/* Packs the batch and empties it. */
static void pack(struct spans *s, struct arena *a)
{
	uint64_t last = 0;
	size_t size = 0;

	if (!is_sorted(s->batch.v, s->batch.n))
		qsort(s->batch.v, s->batch.n, sizeof *s->batch.v, by_start);
	for (size_t i = 0; i < s->batch.n; last = s->batch.v[i++].start)
		size += varint_size(s->batch.v[i].start - last) +
		        varint_size(s->batch.v[i].length) + varint_size(s->batch.v[i].tag);
	uint8_t *p = arena_alloc(a, size, 1), *q = p;
	last = 0;
	for (size_t i = 0; i < s->batch.n; last = s->batch.v[i++].start) {
		q = varint_put(q, s->batch.v[i].start - last);
		q = varint_put(q, s->batch.v[i].length);
		q = varint_put(q, s->batch.v[i].tag);
	}
	VEC_PUSH(a, &s->runs, str_make(p, size));
	s->batch.n = 0;
}

void spans_add(struct spans *s, struct arena *a, struct arena *scratch, struct span x)
{
	VEC_PUSH(scratch, &s->batch, x);
	s->n++;
	if (s->batch.n == SPAN_BATCH)
		pack(s, a);
}

void spans_end(struct spans *s, struct arena *a)
{
	if (s->batch.n)
		pack(s, a);
	s->batch.v = NULL;
	s->batch.cap = 0;
}

/* ---- iteration ---- */

/* Moves to the next interval of a run. Returns false at the end of the run. */
static bool advance(struct span_cursor *c)
{
	uint64_t distance;

	if (c->p == c->end || !varint_get(&c->p, c->end, &distance) ||
	        !varint_get(&c->p, c->end, &c->now.length) ||
	        !varint_get(&c->p, c->end, &c->now.tag))
		return false;
	c->now.start += distance;
	return true;
}

/* Intervals with equal starts are ordered by their owners, so that the order is deterministic. */
static bool comes_first(const void *a, const void *b)
{
	const struct span_cursor *x = a, *y = b;

	return x->now.start != y->now.start ? x->now.start < y->now.start : x->owner < y->owner;
}

void span_walk_begin(struct span_walk *w, struct arena *a)
{
	*w = (struct span_walk){ .a = a };
}

void span_walk_add(struct span_walk *w, const struct spans *s, unsigned owner)
{
	for (size_t i = 0; i < s->runs.n; i++) {
		const uint8_t *p = (const uint8_t *)s->runs.v[i].p;
		struct span_cursor c = { .p = p, .end = p + s->runs.v[i].n, .owner = owner };
		if (!advance(&c))
			continue;
		VEC_PUSH(w->a, &w->heap, c);
		heap_up(w->heap.v, sizeof *w->heap.v, w->heap.n - 1, comes_first);
	}
}

bool span_walk_next(struct span_walk *w, struct span *x, unsigned *owner)
{
	if (!w->heap.n)
		return false;
	*x = w->heap.v[0].now;
	*owner = w->heap.v[0].owner;
	if (!advance(&w->heap.v[0]))
		w->heap.v[0] = w->heap.v[--w->heap.n];
	heap_down(w->heap.v, w->heap.n, sizeof *w->heap.v, 0, comes_first);
	return true;
}
