/* SPDX-License-Identifier: Apache-2.0
 *
 * The slices of a trace, in lanes, for the page. Overlapping slices of a track are in lanes; the
 * lane of a nested slice is its depth.
 */
#include "export/table/trace_tables.h"

#include "export/timeline/timeline.h"
#include "trace/pass/link.h"

#define SCHEMA  "tfprof/slices"
#define VERSION 1

#define FIRST_PARTS 65536 /* number of parts of the requested time in the first reduction */
#define COARSER     4     /* factor of each further reduction */

/* One row: a slice, or several adjacent ones. */
struct shown_slice {
	uint32_t track, lane, event; /* event: the event of the longest slice */
	uint32_t number, launch;     /* of a single slice; otherwise ID_NONE */
	uint32_t count;
	int64_t start, end, longest;
};

struct gathering {
	const struct trace *t;
	const struct trace_links *links;
	struct arena *a;
	int64_t from, to, resolution; /* ticks */
	size_t limit;
	VEC(struct shown_slice) rows;
	VEC(struct shown_slice) pending; /* rows of the current track, by lane; count 0: none */
	uint32_t *lanes;                 /* indexed by track: number of lanes that it needs */
};

/* ---- gathering ---- */

static void flush(struct gathering *g, struct shown_slice *x)
{
	if (x->count)
		VEC_PUSH(g->a, &g->rows, *x);
	x->count = 0;
}

static struct shown_slice *pending_of(struct gathering *g, size_t lane)
{
	while (g->pending.n <= lane)
		VEC_PUSH(g->a, &g->pending, (struct shown_slice){ 0 });
	return &g->pending.v[lane];
}

static struct shown_slice single(const struct gathering *g, const struct slice *s, size_t lane)
{
	const struct launch *l =
	        track_is_device(&g->t->tracks.v[s->track]) ? link_launch(g->links, s) : NULL;

	return (struct shown_slice){ .track = s->track,
		.lane = (uint32_t)lane,
		.event = s->event,
		.number = s->number,
		.launch = l ? l->slice : ID_NONE,
		.count = 1,
		.start = s->start,
		.end = slice_end(s),
		.longest = s->length };
}

/* Adds a short slice to the pending row of its lane, or begins a new row. */
static void add_slice(struct gathering *g, const struct slice *s, size_t lane)
{
	struct shown_slice *x = pending_of(g, lane);

	if (s->length >= g->resolution || !x->count ||
	        num_sub(s->start, x->start) >= g->resolution) {
		flush(g, x);
		*x = single(g, s, lane);
		if (s->length >= g->resolution)
			flush(g, x);
		return;
	}
	x->count++;
	x->number = x->launch = ID_NONE;
	x->end = slice_end(s) > x->end ? slice_end(s) : x->end;
	if (s->length > x->longest) {
		x->longest = s->length;
		x->event = s->event;
	}
}

static void gather_track(struct gathering *g, uint32_t track)
{
	struct slice_iter it = trace_slices(g->t, track);
	struct lanes lanes = { .a = g->a };
	struct slice s;

	while (slice_next(&it, &s) && g->rows.n <= g->limit) {
		if (s.number % 65536 == 65535)
			work_poll(g->a->work);
		if (s.form != SLICE_COMPLETE)
			continue;
		size_t lane = lanes_take(&lanes, s.start, slice_end(&s));
		if (s.start < g->to && slice_end(&s) >= g->from)
			add_slice(g, &s, lane);
	}
	g->lanes[track] = (uint32_t)lanes.n;
	for (size_t i = 0; i < g->pending.n; i++)
		flush(g, &g->pending.v[i]);
}

/* Gathers all tracks. Returns false if there are more rows than the limit. */
static bool gather(struct gathering *g)
{
	g->rows.n = 0;
	for (uint32_t i = 0; i < g->t->tracks.n && g->rows.n <= g->limit; i++)
		if (g->t->tracks.v[i].kind != TRACK_COUNTER)
			gather_track(g, i);
	return g->rows.n <= g->limit;
}

/* ---- writing ---- */

static struct str track_name(const struct trace *t, const struct trace_track *k, struct arena *a)
{
	static const char *const kinds[] = { "thread", "stream", "line", "counter" };

	if (k->name != ID_NONE && trace_str(t, k->name).n)
		return trace_str(t, k->name);
	if (k->kind == TRACK_STREAM && k->id == UINT32_MAX)
		return S("all streams"); /* Nsight Systems: synchronisation with a device */
	return str_fmt(a, "%s %lld", kinds[k->kind], (long long)k->id);
}

static struct str process_name(const struct trace *t, const struct trace_track *k, struct arena *a)
{
	if (k->process == ID_NONE)
		return STR_NONE;
	const struct trace_process *p = &t->processes.v[k->process];
	struct str name = trace_str(t, p->name);
	bool alike = false;

	for (size_t i = 0; i < t->processes.n && !alike; i++)
		alike = i != k->process && t->processes.v[i].name == p->name;
	if (!name.n)
		return str_fmt(a, "process %lld", (long long)p->pid);
	return alike ? str_fmt(a, "%.*s (%lld)", STR(name), (long long)p->pid) : name;
}

static void put_tracks(const struct gathering *g, const uint32_t *order, struct document *d)
{
	const struct trace *t = g->t;

	document_key(d, "tracks");
	json_array(&d->j);
	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[order[i]];
		if (!g->lanes[order[i]])
			continue;
		json_line(&d->j);
		json_object(&d->j);
		document_i64(d, "track", order[i]);
		document_text(d, "name", track_name(t, k, g->a));
		document_text(d, "process", process_name(t, k, g->a));
		document_text(d, "device",
		        track_is_device(k) ? trace_device_label(t, k->device, g->a) : STR_NONE);
		document_i64(d, "lanes", g->lanes[order[i]]);
		document_i64(d, "slices", k->n);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static const struct column columns[] = { NUMBER_COLUMN("track", NULL), NUMBER_COLUMN("lane", NULL),
	NUMBER_COLUMN("start_ns", "ns"), NUMBER_COLUMN("duration_ns", "ns"), TEXT_COLUMN("name"),
	TEXT_COLUMN("category"), NUMBER_COLUMN("count", NULL), NUMBER_COLUMN("slice", NULL),
	NUMBER_COLUMN("launch", NULL) };

static void put_number(struct sheet *to, uint32_t id)
{
	if (id == ID_NONE)
		sheet_null(to);
	else
		sheet_i64(to, id);
}

static void put_rows(const struct gathering *g, struct sheet *to)
{
	const struct trace *t = g->t;

	for (size_t i = 0; i < g->rows.n; i++) {
		const struct shown_slice *x = &g->rows.v[i];
		const struct trace_event *e = &t->events.v[x->event];
		int64_t start = trace_ns(t, x->start);
		sheet_i64(to, x->track);
		sheet_i64(to, x->lane);
		sheet_i64(to, start);
		sheet_i64(to, x->count == 1 ? trace_ns(t, x->longest)
		                            : num_sub(trace_ns(t, x->end), start));
		sheet_text(to, trace_str(t, e->name));
		sheet_text(to, str_of(trace_category_names[e->category]));
		sheet_i64(to, x->count);
		put_number(to, x->number);
		put_number(to, x->launch);
	}
}

static void put_document(
        const struct gathering *g, int64_t start, int64_t end, struct emit *to, struct sink *s)
{
	struct document d;
	struct sheet rows;

	document_begin(&d, s, to->a, SCHEMA, VERSION);
	d.arrays = true;
	document_sources(&d, &to->from);
	document_warnings(&d, &to->from, to->notes);
	document_i64(&d, "start_ns", trace_ns(g->t, start));
	document_i64(&d, "end_ns", trace_ns(g->t, end));
	document_i64(&d, "from_ns", trace_ns(g->t, g->from));
	document_i64(&d, "to_ns", trace_ns(g->t, g->to));
	document_i64(&d, "resolution_ns", trace_ns(g->t, g->resolution));
	document_i64(&d, "slices", g->t->n_slices);
	put_tracks(g, trace_track_order(g->t, to->a), &d);
	document_rows(&d, &rows, columns, sizeof columns / sizeof *columns);
	put_rows(g, &rows);
	document_rows_end(&d, &rows);
	document_end(&d);
}

static int64_t ticks_of_ns(const struct trace *t, int64_t ns)
{
	return t->ticks_per_us >= 1000 ? num_mul(ns, t->ticks_per_us / 1000)
	                               : ns / (1000 / t->ticks_per_us);
}

void slices_write(const struct trace *t, const struct slices_request *request, struct emit *to,
        struct sink *s)
{
	struct gathering g = { .t = t, .a = to->a, .limit = request->rows };
	struct trace_links links;
	int64_t start, end;

	trace_span(t, &start, &end);
	g.from = start;
	g.to = num_add(end, 1);
	if (request->to_ns > request->from_ns) {
		g.from = ticks_of_ns(t, request->from_ns);
		g.to = ticks_of_ns(t, request->to_ns);
	}
	trace_link(t, &links, to->a);
	g.links = &links;
	g.lanes = ARENA_ARRAY(to->a, t->tracks.n, uint32_t);
	int64_t span = num_sub(g.to, g.from), coarser = span / FIRST_PARTS + 1;
	while (!gather(&g) && g.resolution <= span) {
		g.resolution = coarser;
		coarser = num_mul(coarser, COARSER);
	}
	put_document(&g, start, end, to, s);
}
