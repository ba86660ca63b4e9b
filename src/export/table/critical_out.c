/* SPDX-License-Identifier: Apache-2.0
 *
 * Text: the window, the time by kind, and the places with the most time on the path. Data: the
 * segments, in order.
 */
#include "export/table/critical_out.h"

#include "base/sort.h"
#include "export/table/table.h"

#define PAGE_SEGMENTS 100000 /* maximum number of segments in a page */

/* ---- places ---- */

/* Segments of one kind, name and line. */
struct path_place {
	enum critical_kind kind;
	uint32_t event, frame;
	int64_t ticks;
	size_t segments;
};

static int by_time(const void *v, uint32_t a, uint32_t b)
{
	const struct path_place *x = (const struct path_place *)v + a,
	                        *y = (const struct path_place *)v + b;

	return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

/* Returns the id of an event's name. Several events may have the same name and differ in other
 * members. */
static uint32_t name_id(const struct trace *t, uint32_t event)
{
	return event == ID_NONE ? ID_NONE : t->events.v[event].name;
}

/* Adds up the segments by place, longest place first. */
static struct path_place *find_places(const struct critical *x, size_t *n, struct arena *a)
{
	VEC(struct path_place) v = { .n = 0 };
	struct intern keys = { .n = 0 };

	intern_init(&keys, a);
	for (size_t i = 0; i < x->segments.n; i++) {
		const struct critical_segment *s = &x->segments.v[i];
		const uint32_t key[3] = { s->kind, name_id(x->depend->t, s->event),
			name_id(x->depend->t, s->frame) };
		uint32_t id = intern_add(&keys, str_make(key, sizeof key));
		if (id >= v.n)
			VEC_PUSH(a, &v,
			        ((struct path_place){
			                .kind = s->kind, .event = s->event, .frame = s->frame }));
		v.v[id].ticks = num_add(v.v[id].ticks, s->end - s->start);
		v.v[id].segments++;
	}
	sort_array(a, v.v, v.n, sizeof *v.v, by_time);
	*n = v.n;
	return v.v;
}

static struct str event_name(const struct trace *t, uint32_t event)
{
	return event == ID_NONE ? S("") : trace_str(t, t->events.v[event].name);
}

/* ---- tables ---- */

static const struct column kind_columns[] = { TEXT_COLUMN("kind"), TEXT_COLUMN("text"),
	NUMBER_COLUMN("ns", "ns"), REAL_COLUMN("share", "percent") };
static const char *const kind_titles[] = { "", "kind", "time", "share" };
static const struct column place_columns[] = { TEXT_COLUMN("kind"), TEXT_COLUMN("text"),
	NUMBER_COLUMN("ns", "ns"), REAL_COLUMN("share", "percent"),
	{ S("segments"), COLUMN_INTEGER, NULL, 2 }, { S("line"), COLUMN_TEXT, NULL, 1 },
	TEXT_COLUMN("name") };
static const char *const place_titles[] = { "", "kind", "time", "share", "times", "line", "name" };
static const struct column segment_columns[] = { TEXT_COLUMN("kind"), TEXT_COLUMN("name"),
	TEXT_COLUMN("line"), NUMBER_COLUMN("start_ns", "ns"), NUMBER_COLUMN("duration_ns", "ns"),
	TEXT_COLUMN("track"), TEXT_COLUMN("process"), NUMBER_COLUMN("slice", NULL) };

static void put_name(struct table *x, struct str s)
{
	if (s.n)
		table_text(x, s);
	else
		table_null(x);
}

static void fill_kinds(struct table *to, const struct critical *x)
{
	int64_t all = x->window.to - x->window.from;

	for (size_t i = 0; i < CRITICAL_KINDS; i++) {
		if (!x->kinds[i])
			continue;
		table_text(to, str_of(critical_names[i]));
		table_text(to, str_of(critical_texts[i]));
		table_number(to, trace_ns(x->depend->t, x->kinds[i]));
		table_number(to, table_share(x->kinds[i], all));
		to->rows++;
	}
}

static void fill_places(struct table *to, const struct critical *x)
{
	const struct trace *t = x->depend->t;
	size_t n;
	const struct path_place *v = find_places(x, &n, to->a);

	for (size_t i = 0; i < n; i++, to->rows++) {
		table_text(to, str_of(critical_names[v[i].kind]));
		table_text(to, str_of(critical_texts[v[i].kind]));
		table_number(to, trace_ns(t, v[i].ticks));
		table_number(to, table_share(v[i].ticks, x->window.to - x->window.from));
		table_number(to, num_from_u64(v[i].segments));
		put_name(to, v[i].frame == v[i].event ? S("") : event_name(t, v[i].frame));
		put_name(to, event_name(t, v[i].event));
	}
}

static struct str track_name(const struct trace *t, uint32_t track, struct arena *a)
{
	const struct trace_track *k = &t->tracks.v[track];

	return k->name != ID_NONE ? trace_str(t, k->name) : str_fmt(a, "%lld", (long long)k->id);
}

static struct str process_name(const struct trace *t, uint32_t track, struct arena *a)
{
	uint32_t p = t->tracks.v[track].process;

	return p == ID_NONE ? S("") : str_fmt(a, "%lld", (long long)t->processes.v[p].pid);
}

static void fill_segments(struct table *to, const struct critical *x)
{
	const struct trace *t = x->depend->t;

	for (size_t i = 0; i < x->segments.n; i++, to->rows++) {
		const struct critical_segment *s = &x->segments.v[i];
		int64_t start = trace_ns(t, s->start);
		table_text(to, str_of(critical_names[s->kind]));
		put_name(to, event_name(t, s->event));
		put_name(to, event_name(t, s->frame));
		table_number(to, start);
		table_number(to, trace_ns(t, s->end) - start);
		put_name(to, s->track == ID_NONE ? S("") : track_name(t, s->track, to->a));
		put_name(to, s->track == ID_NONE ? S("") : process_name(t, s->track, to->a));
		if (s->slice == ID_NONE)
			table_null(to);
		else
			table_number(to, s->slice);
	}
}

/* ---- the answer ---- */

static int64_t window_ns(const struct critical *x)
{
	const struct trace *t = x->depend->t;

	return trace_ns(t, x->window.to) - trace_ns(t, x->window.from);
}

struct critical_shown {
	const struct critical_page *page;
	const struct table *kinds, *places;
};

static void put_members(struct document *d, const void *user)
{
	const struct critical_shown *shown = user;
	const struct critical *x = shown->page->x;
	const struct trace *t = x->depend->t;

	if (shown->page->step.p)
		document_text(d, "step", shown->page->step);
	document_i64(d, "from_ns", trace_ns(t, x->window.from));
	document_i64(d, "window_ns", window_ns(x));
	document_i64(d, "step_ns", shown->page->step_ns);
	document_i64(d, "not_known_ns", trace_ns(t, x->kinds[CRITICAL_UNKNOWN]));
	table_put_member(d, shown->kinds, 0);
	table_put_member(d, shown->places, 0);
}

struct str critical_title(const struct critical_page *p, struct arena *a)
{
	struct sb part = sb_in(a), all = sb_in(a);

	if (p->step.p)
		return str_fmt(a, "Critical path of %.*s", STR(p->step));
	table_put_time(&part, window_ns(p->x));
	table_put_time(&all, p->step_ns);
	return str_eq(sb_str(&part), sb_str(&all)) ? S("Critical path of the whole trace")
	                                           : S("Critical path of a part of the trace");
}

/* Appends the reason why this step is shown. */
static void put_choice(struct sb *b, const struct critical_page *p)
{
	if (!p->step.p || p->chosen || p->steps + p->empty < 2)
		return;
	if (p->steps == 1)
		sb_fmt(b, ", the only one of %zu steps", p->steps + p->empty);
	else if (p->as_long)
		sb_fmt(b, ", one of %zu steps that last as long", p->steps);
	else
		sb_fmt(b, ", the %s of %zu steps",
		        p->steps == 2  ? "shorter"
		        : p->steps % 2 ? "median"
		                       : "lower median",
		        p->steps);
	sb_fmt(b, p->empty ? " with device work" : "");
}

void critical_put_extent(struct sb *b, const char *before, const struct trace *t,
        const struct critical_window *w, int64_t whole_ns)
{
	struct sb all = { .a = b->a }, part = { .a = b->a };
	int64_t start, end;

	table_put_time(&all, whole_ns);
	table_put_time(&part, trace_ns(t, num_sub(w->to, w->from)));
	if (str_eq(sb_str(&all), sb_str(&part)))
		return;
	trace_window(t, &start, &end);
	sb_fmt(b, "%s", before);
	if (w->from > start) {
		sb_fmt(b, "from ");
		table_put_time(b, trace_ns(t, num_sub(w->from, start)));
		sb_fmt(b, " ");
	}
	sb_fmt(b, "%s; the trace lasts %.*s",
	        t->devices.n ? "until the device work and the waits for it end"
	                     : "until the last event of a thread ends",
	        STR(sb_str(&all)));
}

/* Appends the length of the window and its position in the step or trace. */
static void put_window(struct sb *b, const struct critical_page *p)
{
	const struct critical_window *w = &p->x->window;
	bool both = p->step.p && w->device;

	if (both) {
		table_put_time(b, p->step_ns);
		sb_fmt(b, " by its mark\n");
	}
	table_put_time(b, window_ns(p->x));
	if (both)
		sb_fmt(b,
		        " by the device's work: the path is from %s to the end of the step's last "
		        "work",
		        w->mark ? "the start of the mark" : "the end of the previous step's work");
	if (!p->step.p)
		critical_put_extent(b, "\n", p->x->depend->t, w, p->step_ns);
}

/* Returns a heading such as "Critical path of the whole trace: 176 ms". The step time, by which the
 * step was chosen, comes first. */
static struct str lead_of(const struct critical_page *p, struct arena *a)
{
	struct sb b = { .a = a };

	sb_put(&b, critical_title(p, a));
	put_choice(&b, p);
	sb_fmt(&b, ": ");
	put_window(&b, p);
	sb_fmt(&b, "\n\n");
	return sb_str(&b);
}

bool critical_write(const struct critical_page *page, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e)
{
	bool data = out_is_data(o->output.kind);
	struct table kinds = { .a = to->a,
		.key = "kinds",
		.command = "critical",
		TABLE_COLUMNS(kind_columns, kind_titles) };
	struct table places = { .a = to->a,
		.key = "places",
		.title = "places",
		TABLE_COLUMNS(place_columns, place_titles) };
	struct table segments = { .a = to->a,
		.key = "segments",
		.schema = "tfprof/critical",
		.version = 2,
		.columns = segment_columns,
		.n_columns = N_COLUMNS(segment_columns) };
	struct critical_shown shown = { page, &kinds, &places };

	fill_kinds(&kinds, page->x);
	fill_places(&places, page->x);
	if (data) {
		fill_segments(&segments, page->x);
		segments.members = put_members;
		segments.user = &shown;
		return table_write(
		        &segments, to->arrays ? PAGE_SEGMENTS : 0, &o->output, columns, to, e);
	}
	kinds.lead = lead_of(page, to->a);
	kinds.below = &places;
	return table_write(&kinds, top, &o->output, columns, to, e);
}
