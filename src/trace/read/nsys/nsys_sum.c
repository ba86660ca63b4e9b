/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the sums of an Nsight Systems export without keeping its rows, in two readings. The
 * first reading finds tracks, steps, correlations and runs; a run is a part of a table with rows
 * sorted by start. The second reading merges the runs by start.
 *
 * A row of a run may start slightly before an earlier row. The first reading measures the largest
 * such step back (slack). The second reading delays rows by the slack, so that they are added in
 * order.
 */
#include "base/heap.h"
#include "base/sort.h"
#include "trace/read/nsys/nsys_internal.h"
#include "trace/pass/trace_sums.h"

#define RUNS_MAX  1024
#define SLACK_MAX 10000000 /* ns; a larger backward step starts a new run */

struct extent {
	uint32_t n;
	int64_t start, end;
};

/* A part of a table whose rows are sorted by start, except for backward steps up to the slack. */
struct nsys_run {
	const struct nsys_table *table;
	int64_t first, last; /* rowids */
	struct sqlite_rows *rows;
	int64_t next; /* start of the next row */
};

/* A slice that is delayed until it can be added in order. */
struct nsys_pending {
	int64_t start, length, correlation, bytes;
	uint64_t serial;
	uint32_t track, event;
	bool work;
};

struct nsys_sum {
	struct nsys *x;
	struct slice_sums *to;
	VEC(struct extent) extents; /* indexed by track */
	VEC(struct nsys_run) runs;  /* second reading: a heap, ordered by next */
	int64_t slack;
	VEC(struct nsys_pending) heap;
	uint64_t serial;
	uint32_t *steps; /* indexes in x->steps, sorted by start */
	size_t step;     /* index of the next step */
};

/* ---- first reading ---- */

static void extend(struct nsys_sum *y, uint32_t track, int64_t start, int64_t length)
{
	int64_t end = length > 0 ? num_add(start, length) : start;
	struct extent *e;

	while (y->extents.n <= track)
		VEC_PUSH(y->x->a, &y->extents, ((struct extent){ 0, INT64_MAX, INT64_MIN }));
	e = &y->extents.v[track];
	e->n += e->n < UINT32_MAX;
	e->start = start < e->start ? start : e->start;
	e->end = end > e->end ? end : e->end;
	y->x->last = end > y->x->last ? end : y->x->last;
}

enum { HOST_START, HOST_END, HOST_THREAD, HOST_CORRELATION };

/* Reads a row with a start. */
static void survey_row(struct nsys_sum *y, const struct nsys_table *table, struct sqlite_rows *r)
{
	bool host = table->kind == NSYS_CALLS || table->kind == NSYS_ON_THREADS;
	int64_t start = sqlite_in_int(r, HOST_START), length = 0;
	struct nsys *x = y->x;
	uint32_t track;

	if (table->kind == NSYS_RANGES) {
		if (nsys_survey_range(x, r, &track, &length))
			extend(y, track, start, length);
		return;
	}
	if (table->kind == NSYS_ON_THREADS || table->kind == NSYS_ON_STREAMS)
		nsys_times(x, r, HOST_START, HOST_END, &start, &length);
	else if ((length = sqlite_in_int(r, HOST_END)) || !sqlite_in_null(r, HOST_END))
		length = num_sub(length, start);
	track = host ? nsys_thread(x, sqlite_in_int(r, HOST_THREAD))
	             : nsys_stream(x, r, table->kind == NSYS_WORK);
	extend(y, track, start, length);
	if (table->kind == NSYS_CALLS || table->kind == NSYS_WORK)
		trace_sums_expect(y->to, track, host,
		        sqlite_in_int(r, host ? HOST_CORRELATION : WORK_CORRELATION));
}

/* Ends a run. Returns false if there are too many runs. */
static bool add_run(struct nsys_sum *y, const struct nsys_table *table, int64_t number, bool first)
{
	struct nsys_run made = {
		.table = table, .first = first ? INT64_MIN : number, .last = INT64_MAX
	};

	if (!first)
		y->runs.v[y->runs.n - 1].last = number - 1;
	VEC_PUSH(y->x->a, &y->runs, made);
	return y->runs.n <= RUNS_MAX;
}

/* Divides a table into runs. Returns false if it needs too many. A missing table is accepted. */
static bool survey_table(struct nsys_sum *y, const struct nsys_table *table)
{
	bool added = table->kind != NSYS_ON_THREADS;
	struct sqlite_rows *r =
	        sqlite_in_rows_numbered(y->x->db, table->name, table->columns, table->surveyed);
	int64_t latest = INT64_MIN, number = INT64_MIN;
	bool first = true;

	if (!r && !sqlite_in_failed(y->x->db))
		return !sqlite_in_rows(y->x->db, table->name, table->columns, table->surveyed);
	while (r && sqlite_in_next(r)) {
		int64_t start = sqlite_in_int(r, HOST_START), before = number;
		number = sqlite_in_row_number(r);
		if (!first && number <= before)
			return false;
		bool back = latest > start && num_sub(latest, start) > SLACK_MAX;
		bool timed = start || !sqlite_in_null(r, HOST_START);
		if (added && (first || (timed && back)) && !add_run(y, table, number, first))
			return false;
		if (timed && (first || back || start > latest))
			latest = start;
		else if (timed && num_sub(latest, start) > y->slack)
			y->slack = num_sub(latest, start);
		first = false;
		if (timed)
			survey_row(y, table, r);
		else
			y->x->timeless += !added;
	}
	return true;
}

/* ---- second reading: slices ---- */

static bool comes_first(const void *a, const void *b)
{
	const struct nsys_pending *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start;
	if (p->work != q->work)
		return !p->work;
	if (p->track != q->track)
		return p->track < q->track;
	return p->length != q->length ? p->length > q->length : p->serial < q->serial;
}

/* Delays a slice until it can be added in order. */
static void take_slice(struct nsys *x, uint32_t track, uint32_t event, int64_t start,
        int64_t length, int64_t correlation)
{
	struct nsys_sum *y = x->sum;
	const struct nsys_pending made = { .start = start,
		.length = build_length(x->b, start, length),
		.correlation = correlation,
		.bytes = x->bytes,
		.serial = y->serial++,
		.track = track,
		.event = event,
		.work = track_is_device(&build_trace(x->b)->tracks.v[track]) };

	build_args_clear(x->b);
	x->bytes = 0;
	VEC_PUSH(x->a, &y->heap, made);
	heap_up(y->heap.v, sizeof made, y->heap.n - 1, comes_first);
}

static void add_slice(struct nsys_sum *y, const struct nsys_pending *p)
{
	const struct trace_event *e = &build_trace(y->x->b)->events.v[p->event];
	struct slice s = { .track = p->track,
		.event = p->event,
		.form = SLICE_COMPLETE,
		.category = e->category,
		.name = e->name,
		.start = p->start,
		.length = p->length,
		.correlation = p->correlation };

	if (p->bytes)
		build_arg_int(y->x->b, ARG_BYTES, p->bytes);
	s.args = build_args_take(y->x->b);
	slice_find_keys(&s);
	trace_sums_add(y->to, &s);
}

/* Adds the delayed slices that start before a time, or all of them. */
static void add_until(struct nsys_sum *y, int64_t bound, bool all)
{
	for (; y->step < y->x->steps.n; y->step++) {
		const struct nsys_step *s = &y->x->steps.v[y->steps[y->step]];
		if (s->start >= bound && !all)
			break;
		take_slice(y->x, s->track, s->event, s->start, s->length, 0);
	}
	while (y->heap.n && (all || y->heap.v[0].start < bound)) {
		add_slice(y, &y->heap.v[0]);
		y->heap.v[0] = y->heap.v[--y->heap.n];
		heap_down(y->heap.v, y->heap.n, sizeof *y->heap.v, 0, comes_first);
	}
}

static int by_start(const void *steps, uint32_t a, uint32_t b)
{
	const struct nsys_step *x = (const struct nsys_step *)steps + a,
	                       *y = (const struct nsys_step *)steps + b;

	return (x->start > y->start) - (x->start < y->start);
}

/* ---- second reading: runs ---- */

/* Advances to the next row with a start. Returns false at the end of the run. */
static bool advance(struct nsys_sum *y, struct nsys_run *r)
{
	while (sqlite_in_next(r->rows)) {
		r->next = sqlite_in_int(r->rows, HOST_START);
		if (r->next || !sqlite_in_null(r->rows, HOST_START))
			return true;
		r->table->take(y->x, r->rows, r->table->which);
	}
	return false;
}

static bool is_next(const void *a, const void *b)
{
	return ((const struct nsys_run *)a)->next < ((const struct nsys_run *)b)->next;
}

static void open_runs(struct nsys_sum *y)
{
	size_t open = 0;

	for (size_t i = 0; i < y->runs.n; i++) {
		struct nsys_run *r = &y->runs.v[i];
		r->rows = sqlite_in_rows_between(y->x->db, r->table->name, r->table->columns,
		        r->table->summed, r->first, r->last);
		if (r->rows && advance(y, r))
			y->runs.v[open++] = *r;
	}
	y->runs.n = open;
	heap_make(y->runs.v, open, sizeof *y->runs.v, is_next);
}

static void merge(struct nsys_sum *y)
{
	open_runs(y);
	while (y->runs.n) {
		struct nsys_run *top = &y->runs.v[0];
		top->table->take(y->x, top->rows, top->table->which);
		if (!advance(y, top))
			*top = y->runs.v[--y->runs.n];
		if (!y->runs.n)
			break;
		heap_down(y->runs.v, y->runs.n, sizeof *y->runs.v, 0, is_next);
		add_until(y, num_sub(y->runs.v[0].next, y->slack), false);
	}
	add_until(y, 0, true);
}

/* ---- both ---- */

/* Resets the counters of the first reading. */
static bool give_up(struct nsys *x)
{
	x->summing = false;
	x->served_ranges = 0;
	x->steps.n = 0;
	x->rows = x->timeless = x->endless = 0;
	sqlite_in_set_passes(x->db, 1);
	if (!sqlite_in_failed(x->db))
		note_line(build_notes(x->b), "note: the rows are not sorted by time, so all slices "
		                             "are kept in memory\n");
	return false;
}

bool nsys_sum_read(struct nsys *x)
{
	struct nsys_sum *y = ARENA_NEW(x->a, struct nsys_sum);
	const struct trace *t = build_trace(x->b);

	x->summing = true;
	y->x = x;
	y->to = trace_sums_new(t, x->a);
	sqlite_in_set_passes(x->db, 2);
	for (size_t i = 0; i < nsys_n_tables; i++)
		if (!survey_table(y, &nsys_tables[i]))
			return give_up(x);
	nsys_put_steps(x);
	for (size_t i = 0; i < x->steps.n; i++)
		extend(y, x->steps.v[i].track, x->steps.v[i].start, x->steps.v[i].length);
	build_seal(x->b);
	for (uint32_t i = 0; i < y->extents.n; i++)
		if (y->extents.v[i].n)
			build_extent(x->b, i, y->extents.v[i].n, y->extents.v[i].start,
			        y->extents.v[i].end);
	y->steps = sort_order(x->a, x->steps.n, by_start, x->steps.v);
	trace_sums_begin(y->to);
	x->sum = y;
	x->put = take_slice;
	merge(y);
	nsys_close_ranges(x);
	build_sums(x->b, trace_sums_end(y->to, x->s->name));
	note_count(build_notes(x->b), x->served_ranges,
	        "note: %llu {range|ranges} of an LLM server: not used as {a step|steps}, because "
	        "only sums of this large file are kept\n",
	        (unsigned long long)x->served_ranges);
	return true;
}
