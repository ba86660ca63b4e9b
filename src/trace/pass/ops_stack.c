/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of ops: from texts (a frame a line, outermost first) and from frames that contain a
 * slice on its thread.
 */
#include "trace/pass/ops_internal.h"

static uint32_t add_frame(struct trace_ops *o, uint32_t parent, struct str text)
{
	struct op_frame f = { parent, intern_add(&o->strings, text) };

	return intern_add(&o->frames, str_make(&f, sizeof f));
}

/* Returns the innermost frame of a call stack given as text; ID_NONE if the text has no line. */
static uint32_t frame_of_text(struct finding *x, struct str stack)
{
	uint32_t id = intern_add(&x->to->strings, stack), frame = ID_NONE;

	if (imap_get(&x->stack_of, id, &frame))
		return frame;
	for (struct str rest = stack; rest.n;) {
		size_t n = str_find_char(rest, '\n');
		struct str line = str_sub(rest, 0, n);
		if (line.n)
			frame = add_frame(x->to, frame, line);
		rest = n == SIZE_MAX ? STR_NONE : str_sub(rest, n + 1, SIZE_MAX);
	}
	if (frame != ID_NONE)
		imap_put(&x->stack_of, id, frame, false);
	return frame;
}

void frame_walk_init(struct frame_walk *w, const struct trace *t, uint32_t track, struct arena *a)
{
	*w = (struct frame_walk){ .it = trace_slices_if(t, track, CATEGORY_BIT(CATEGORY_FRAME)),
		.a = a };
}

static bool next_frame(struct frame_walk *w)
{
	while (!w->have && slice_next(&w->it, &w->next))
		w->have = w->next.form == SLICE_COMPLETE && w->next.category == CATEGORY_FRAME;
	return w->have;
}

/* Drops the open frames that do not contain a slice. */
static void drop_frames(struct frame_walk *w, const struct slice *s)
{
	while (w->open.n && slice_end(&w->open.v[w->open.n - 1]) < slice_end(s))
		w->open.n--;
}

/* Returns the innermost frame around a slice, at the current position of the walk. */
static uint32_t frame_around(struct finding *x, struct frame_walk *w, const struct slice *s)
{
	uint32_t frame = ID_NONE;
	bool inside;

	while (next_frame(w) && w->next.number < s->number) {
		drop_frames(w, &w->next);
		VEC_PUSH(w->a, &w->open, w->next);
		w->have = w->known = false;
	}
	while (w->open.n && slice_end(&w->open.v[w->open.n - 1]) <= s->start) {
		w->open.n--;
		w->known = false;
	}
	inside = !w->open.n || slice_end(&w->open.v[w->open.n - 1]) >= slice_end(s);
	if (inside && w->known)
		return w->frame;
	for (size_t i = 0; i < w->open.n; i++)
		if (slice_end(&w->open.v[i]) >= slice_end(s))
			frame = add_frame(x->to, frame, trace_str(x->to->t, w->open.v[i].name));
	w->known = inside;
	w->frame = frame;
	return frame;
}

uint32_t ops_frame_of_site(struct finding *x, uint32_t site)
{
	const struct trace *t = x->to->t;
	VEC(uint32_t) way = { .v = NULL };
	uint32_t frame = ID_NONE;

	for (; site != ID_NONE; site = t->sites.v[site].parent)
		if (t->events.v[t->sites.v[site].event].category == CATEGORY_FRAME)
			VEC_PUSH(x->a, &way, site);
	while (way.n)
		frame = add_frame(
		        x->to, frame, trace_str(t, ops_site_slice(t, way.v[--way.n]).name));
	return frame;
}

uint32_t ops_frame_of(struct finding *x, struct frame_walk *frames, const struct slice *s)
{
	const struct trace *t = x->to->t;

	if (slice_text(t, s, ARG_STACK).n)
		return frame_of_text(x, slice_text(t, s, ARG_STACK));
	if (slice_text(t, s, ARG_SOURCE).n)
		return add_frame(x->to, ID_NONE, slice_text(t, s, ARG_SOURCE));
	if (slice_site(t, s) != ID_NONE)
		return ops_frame_of_site(x, slice_site(t, s));
	return frames ? frame_around(x, frames, s) : ID_NONE;
}

void ops_set_frame(struct finding *x, uint32_t op, struct frame_walk *frames, const struct slice *s)
{
	if (x->to->ops.v[op].frame == ID_NONE)
		x->to->ops.v[op].frame = ops_frame_of(x, frames, s);
}
