/* SPDX-License-Identifier: Apache-2.0
 *
 * Begins and ends of slices. They are kept as records of their track until the seal, which sorts
 * them by time and pairs them: an end closes the innermost open slice.
 */
#include "trace/trace_internal.h"

/* A begin whose end is missing so far. */
struct open_slice {
	int64_t start, correlation;
	uint32_t event;
	struct str args;
};

struct pairing {
	struct trace_build *b;
	uint32_t track;
	int64_t last; /* end of the last slice */
	VEC(struct open_slice) open;
};

/* Appends the innermost open slice, which ends at a time. */
static void close_slice(struct pairing *p, int64_t at, struct str more)
{
	struct arena *scratch = p->b->scratch;
	struct open_slice open = p->open.v[--p->open.n];
	struct strs both = { (struct str[]){ open.args, more }, 2, 2 };
	struct arena_mark mark = arena_mark(scratch);

	store_append(p->b, &(struct slice){ .track = p->track,
	                           .event = open.event,
	                           .form = SLICE_COMPLETE,
	                           .start = open.start,
	                           .length = num_sub(at, open.start),
	                           .correlation = open.correlation,
	                           .args = more.n ? strs_join(scratch, &both, S("")) : open.args });
	arena_reset(scratch, mark);
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
		store_append(p->b, s);
	}
	p->last = end > p->last ? end : p->last;
}

/* Slices without an end take the last end of their track. */
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
	store_release(b, &old);
}
