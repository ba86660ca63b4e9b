/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges the work of several tracks by start.
 */
#include "trace/pass/usage.h"
#include "trace/pass/work_merge.h"

#include "base/heap.h"

void cover_add(struct cover *c, int64_t start, int64_t end)
{
	int64_t from = c->any && c->until > start ? c->until : start;

	if (!c->any || end > c->until) {
		c->total = num_add(c->total, num_sub(end, from));
		c->until = end;
	}
	c->any = true;
}

static bool read_work(struct work_cursor *c, struct slice *out)
{
	while (slice_next(&c->it, out))
		if (slice_is_work(c->it.t, out) || (c->waits && slice_is_event_wait(c->it.t, out)))
			return true;
	return false;
}

static void advance(struct work_cursor *c)
{
	c->now = c->after;
	c->have = c->have_after;
	c->have_after = c->have && read_work(c, &c->after);
}

static bool comes_first(const void *a, const void *b)
{
	const struct slice *x = &((const struct work_cursor *)a)->now,
	                   *y = &((const struct work_cursor *)b)->now;

	return x->start != y->start ? x->start < y->start : x->track < y->track;
}

static bool is_merged(const struct trace_track *k, uint32_t device)
{
	return track_is_device(k) && !k->derived && (device == ID_NONE || k->device == device);
}

void work_merge_init(
        struct work_merge *m, const struct trace *t, uint32_t device, bool waits, struct arena *a)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->tracks.n; i++)
		n += is_merged(&t->tracks.v[i], device);
	*m = (struct work_merge){ .t = t, .v = ARENA_ARRAY(a, n + 1, struct work_cursor) };
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct work_cursor *c = &m->v[m->n];
		if (!is_merged(&t->tracks.v[i], device))
			continue;
		*c = (struct work_cursor){ .it = trace_slices(t, i), .waits = waits };
		c->have_after = read_work(c, &c->after);
		advance(c);
		m->n += c->have;
	}
	heap_make(m->v, m->n, sizeof *m->v, comes_first);
}

const struct slice *work_merge_next(struct work_merge *m, bool *contains)
{
	struct work_cursor *top = m->v;

	if (m->begun && m->n) {
		advance(top);
		if (!top->have)
			*top = m->v[--m->n];
		heap_down(m->v, m->n, sizeof *m->v, 0, comes_first);
	}
	m->begun = true;
	if (!m->n)
		return NULL;
	*contains = m->t->tracks.v[top->now.track].kind == TRACK_LINE && top->have_after &&
	            top->after.start < slice_end(&top->now) &&
	            slice_end(&top->after) <= slice_end(&top->now);
	return &top->now;
}
