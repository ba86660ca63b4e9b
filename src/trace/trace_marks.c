/* SPDX-License-Identifier: Apache-2.0
 *
 * Begins and ends of slices. They are kept as records of their track until the seal, which sorts
 * them by time and pairs them: an end closes the innermost open slice.
 */
#include "trace/trace_internal.h"

/* A begin without an end so far. */
struct open_slice {
	int64_t start, correlation;
	uint32_t event;
	struct str args;
};

/* A slice whose end is known, and the number of slices that were open around it. */
struct closed_slice {
	struct open_slice begin;
	int64_t end;
	struct str more; /* arguments of the end event */
	size_t depth;
};

struct pairing {
	struct trace_build *b;
	uint32_t track;
	int64_t last; /* end of the last slice */
	VEC(struct open_slice) open;
	/* Slices with equal start and end, each inside the next. They are appended from the
	 * outermost to the innermost, because the order of slices with equal times is their
	 * nesting. */
	VEC(struct closed_slice) equal;
};

static void append_closed(struct pairing *p, const struct closed_slice *c)
{
	struct arena *scratch = p->b->scratch;
	struct strs both = { (struct str[]){ c->begin.args, c->more }, 2, 2 };
	struct arena_mark mark = arena_mark(scratch);

	store_append(p->b,
	        &(struct slice){ .track = p->track,
	                .event = c->begin.event,
	                .form = SLICE_COMPLETE,
	                .start = c->begin.start,
	                .length = num_sub(c->end, c->begin.start),
	                .correlation = c->begin.correlation,
	                .args = c->more.n ? strs_join(scratch, &both, S("")) : c->begin.args });
	arena_reset(scratch, mark);
}

static void append_equal(struct pairing *p)
{
	while (p->equal.n)
		append_closed(p, &p->equal.v[--p->equal.n]);
}

/* Closes the innermost open slice at a time. */
static void close_slice(struct pairing *p, int64_t at, struct str more)
{
	struct open_slice begin = p->open.v[--p->open.n];
	struct closed_slice c = { begin, at, more, p->open.n };
	const struct closed_slice *inner = p->equal.n ? &p->equal.v[p->equal.n - 1] : NULL;

	if (inner && (inner->begin.start != c.begin.start || inner->end != at ||
	                     inner->depth != c.depth + 1))
		append_equal(p);
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the macro makes room first */
	VEC_PUSH(p->b->scratch, &p->equal, c);
}

static void pair(struct pairing *p, const struct slice *s)
{
	int64_t end = slice_end(s);

	if ((unsigned)s->form == FORM_END) {
		p->b->t->unopened += !p->open.n;
		if (!p->open.n)
			return;
		close_slice(p, s->start, s->args);
	} else if ((unsigned)s->form == FORM_BEGIN) {
		VEC_PUSH(p->b->scratch, &p->open,
		        ((struct open_slice){ s->start, s->correlation, s->event, s->args }));
	} else {
		append_equal(p);
		store_append(p->b, s);
	}
	p->last = end > p->last ? end : p->last;
}

/* Slices without an end get the last end of their track. */
void marks_pair(struct trace_build *b, uint32_t track)
{
	struct pairing p = { .b = b, .track = track, .last = INT64_MIN };
	struct slice s = { .track = track };
	struct trace_track old;

	if (!b->tracks.v[track].marks)
		return;
	store_order(b, track);
	old = store_take(b, track);
	for (uint32_t i = 0; i < old.blocks.n; i++) {
		const struct slice_block *block = &old.blocks.v[i];
		const uint8_t *at = block->bytes, *end = at + block->size;

		for (int64_t start = block->base; at < end;) {
			at = store_decode(block, at, &start, &s);
			pair(&p, &s);
		}
	}
	b->t->unclosed += p.open.n;
	while (p.open.n)
		close_slice(&p, p.last, STR_NONE);
	append_equal(&p);
	store_release(b, &old);
}
