/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline of a difference: a flame chart of total times with a process for each side, in which
 * equal entries are aligned.
 */
#include <assert.h>

#include "export/out.h"
#include "export/timeline/timeline.h"

/* Returns the column of the value that is a time. A timeline always has one. */
static uint32_t time_column(const struct difference_request *request)
{
	uint32_t k = 0;

	while (metrics[request->metrics[k]].value != V_MICROS) {
		k++;
		assert(k < request->n);
	}
	return k;
}

/* Computes the width of each row: the largest width among the sides, or the total width of its
 * children if larger. */
static int64_t *find_widths(const struct diff *d, uint32_t k, struct arena *a)
{
	int64_t *width = ARENA_ARRAY(a, d->n, int64_t); /* first the sum of the children */

	for (uint32_t row = d->n; row-- > 0;) {
		for (uint32_t s = 0; s < d->request->c->sides; s++) {
			int64_t v = diff_total(d, row, s, k);
			width[row] = v > width[row] ? v : width[row];
		}
		if (row)
			width[d->row[row].parent] = num_add(width[d->row[row].parent], width[row]);
	}
	return width;
}

static void put_side(const struct diff_answer *x, uint32_t side, uint32_t k, const int64_t *start,
        struct trace_writer *t)
{
	const struct diff *d = x->d;

	trace_process(t, x->names->v[side], side);
	for (uint32_t row = 0; row < d->n; row++) {
		struct region b = { .pid = side,
			.tid = d->row[row].depth,
			.start = start[row],
			.length = diff_total(d, row, side, k),
			.name = d->request->c->name[d->row[row].entry] };
		if (b.length > 0)
			trace_region(t, &b);
	}
}

bool timeline_diff(const struct diff_answer *x, struct emit *to, struct err *e)
{
	const struct diff *d = x->d;
	uint32_t k = time_column(d->request);
	struct trace_writer t;

	int64_t *width = find_widths(d, k, to->a), *start = ARENA_ARRAY(to->a, d->n, int64_t),
	        *next = ARENA_ARRAY(to->a, d->n, int64_t);
	for (uint32_t row = 1; row < d->n; row++) {
		uint32_t up = d->row[row].parent;
		start[row] = next[row] = next[up];
		next[up] = num_add(next[up], width[row]);
	}
	if (!trace_open_at(&t, to->a, d->request->o->output.outfile, e))
		return false;
	t.parts = diff_parts(d->request, k);
	for (uint32_t s = 0; s < d->request->c->sides; s++)
		put_side(x, s, k, start, &t);
	return trace_close(&t, to, e);
}
