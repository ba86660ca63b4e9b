/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of "idle" as text and as a document.
 */
#include "export/table/idle_out.h"

#include "base/demangle.h"
#include "export/table/table.h"

struct idle_shown {
	const struct idle_page *page;
	size_t top;
	unsigned columns;
	bool full_names;
};

/* ---- data that the file lacks ---- */

/* Settings that make profilers record more, by source; NULL: none. */
static const struct idle_cures {
	const char *lines, *waits, *launches;
} cures[TRACE_SOURCES] = {
	[TRACE_KINETO] = { "with_stack=True", "enable_cuda_sync_events=True in experimental_config",
	        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]" },
	[TRACE_XSPACE] = { "python_tracer_level=1", NULL, "host_tracer_level=2" },
	[TRACE_NSYS] = { "--trace=cuda,nvtx,osrt", "--cuda-event-trace=true",
	        "--trace=cuda --cuda-graph-trace=node" },
	[TRACE_RECORDING] = { "NVTX ranges", "--sync", "--level=launches" },
	[TRACE_ROCPROF] = { "--marker-trace", NULL, "--hip-trace" },
};

struct idle_missing {
	const char *what, *cure; /* cure may be NULL */
	int64_t ns;
};

enum { MISSING_N = 4 };

/* Fills out, and returns the number of causes of idle time that the file does not explain. */
static size_t find_missing(const struct idle_report *r, struct idle_missing out[MISSING_N])
{
	const struct idle_cures *cure = &cures[r->t->source];
	int64_t waits = 0, launches = 0, events = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->devices.n; i++) {
		waits = num_add(waits, r->devices.v[i].ns[REASON_UNKNOWN_WAIT]);
		launches = num_add(launches, r->devices.v[i].ns[REASON_UNKNOWN_LAUNCH]);
		events = num_add(events, r->devices.v[i].ns[REASON_EVENT_WAIT]);
	}
	if (r->outside_ns > 0)
		out[n++] = (struct idle_missing){ "what the host did outside of all slices",
			r->frames ? NULL : cure->lines, r->outside_ns };
	if (waits > 0)
		out[n++] = (struct idle_missing){ "what the work waited for", cure->waits, waits };
	if (r->t->source == TRACE_RECORDING && events > 0)
		out[n++] = (struct idle_missing){ "for which work streams waited at events", NULL,
			events };
	if (launches > 0)
		out[n++] = (struct idle_missing){ "the calls that launched the work",
			cure->launches, launches };
	return n;
}

/* ---- text ---- */

static const struct column text_columns[] = { NUMBER_COLUMN("ns", "ns"),
	REAL_COLUMN("share", "percent"), TEXT_COLUMN("where") };
static const char *const text_titles[] = { "time", "share", "cause and place" };

static void put_row(struct table *x, int64_t ns, int64_t all, struct str text)
{
	table_number(x, ns);
	table_number(x, table_share(ns, all));
	table_text(x, text);
	x->rows++;
}

/* Returns a name in the form that text shows. */
static struct str shown_name(const struct table *x, struct str name)
{
	return x->full_names ? name : demangle_reduce(x->a, name, REDUCED_ARGUMENTS);
}

/* Returns a place such as "- cudaStreamSynchronize, for gemm". Work is not said to wait for work of
 * the same name. */
static struct str place_text(const struct table *x, const struct idle_place *p)
{
	bool waits = p->waits_for.n && !str_eq(p->waits_for, p->name);

	return str_fmt(x->a, "- %.*s%s%.*s", STR(shown_name(x, p->name)), waits ? ", for " : "",
	        STR(waits ? shown_name(x, p->waits_for) : STR_NONE));
}

/* Adds the places of a cause, and the sum of the places after the first `top`. */
static void put_places(
        struct table *x, const struct idle_of_device *d, enum idle_reason why, size_t top)
{
	int64_t rest = 0;
	size_t n = 0;

	for (size_t i = 0; i < d->places.n; i++) {
		const struct idle_place *p = &d->places.v[i];
		if (p->reason != why)
			continue;
		if (top && n++ >= top)
			rest = num_add(rest, p->ns);
		else
			put_row(x, p->ns, d->idle_ns, place_text(x, p));
	}
	if (top && n > top)
		put_row(x, rest, d->idle_ns, str_fmt(x->a, "- (%zu more)", n - top));
}

static void put_device(const struct idle_shown *shown, const struct idle_of_device *d,
        struct arena *a, struct sink *s)
{
	const struct trace *t = shown->page->report->t;
	struct sb b = sb_in(a);
	struct table x = { .a = a,
		.columns = text_columns,
		.titles = text_titles,
		.n_columns = N_COLUMNS(text_columns),
		.full_names = shown->full_names };

	sb_put_name(&b, trace_device_label(t, d->device, a));
	sb_put(&b, S(" was idle for "));
	table_put_time(&b, d->idle_ns);
	sb_put(&b, S(" of "));
	table_put_time(&b, d->window_ns);
	sb_fmt(&b, " (%.1f%%)", (double)table_share(d->idle_ns, d->window_ns) / 100);
	if (shown->columns)
		sink_wrap(s, sb_str(&b), shown->columns, 0);
	else
		sink_fmt(s, "%.*s\n", STR(sb_str(&b)));
	for (enum idle_reason why = 0; why < IDLE_REASONS; why++) {
		if (!d->ns[why])
			continue;
		put_row(&x, d->ns[why], d->idle_ns, str_of(idle_reason_texts[why]));
		put_places(&x, d, why, shown->top);
	}
	if (x.rows)
		table_put_text(&x, 0, shown->full_names ? 0 : shown->columns, s);
	sink_char(s, '\n');
}

static void put_missing(const struct idle_shown *shown, struct arena *a, struct sink *s)
{
	const struct idle_report *r = shown->page->report;
	struct idle_missing v[MISSING_N];
	size_t n = find_missing(r, v);

	for (size_t i = 0; i < n; i++) {
		struct sb b = sb_in(a);
		sb_fmt(&b, "not in the file: %s (%.1f%% of the idle time)", v[i].what,
		        (double)table_share(v[i].ns, r->idle_ns) / 100);
		sink_wrap(s, sb_str(&b), shown->columns, 2);
		if (v[i].cure)
			sink_wrap(s, str_fmt(a, "  when profiling: %s", v[i].cure), shown->columns,
			        4);
	}
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct idle_shown shown = *(const struct idle_shown *)x->of;
	const struct idle_page *page = shown.page;

	(void)e;
	if (s != to->out)
		shown.columns = 0;
	sink_fmt(s, "Idle time of devices in %.*s\n\n",
	        STR(page->step.p ? page->step : S("the whole trace")));
	for (size_t i = 0; i < page->report->devices.n; i++)
		put_device(&shown, &page->report->devices.v[i], to->a, s);
	if (!page->report->devices.n)
		sink_put(s, S("no device work is in the file\n"));
	put_missing(&shown, to->a, s);
	return true;
}

/* ---- rows ---- */

static const struct column row_columns[] = { TEXT_COLUMN("device"), TEXT_COLUMN("cause"),
	TEXT_COLUMN("kind"), TEXT_COLUMN("name"), TEXT_COLUMN("waits_for"),
	NUMBER_COLUMN("ns", "ns"), REAL_COLUMN("share", "percent") };

/* Makes a row for each place of each device. */
static void fill_rows(struct table *rows, const struct idle_report *r, struct arena *a)
{
	*rows = (struct table){ .a = a, TABLE_COLUMNS(row_columns, NULL) };
	for (size_t i = 0; i < r->devices.n; i++) {
		const struct idle_of_device *d = &r->devices.v[i];
		for (size_t k = 0; k < d->places.n; k++, rows->rows++) {
			const struct idle_place *p = &d->places.v[k];
			table_text(rows, trace_device_label(r->t, d->device, a));
			table_text(rows, str_of(idle_reason_names[p->reason]));
			table_text(rows, str_of(idle_place_kinds[p->kind]));
			table_text(rows, p->name);
			table_text_if(rows, p->waits_for.n > 0, p->waits_for);
			table_number(rows, p->ns);
			table_number(rows, table_share(p->ns, d->idle_ns));
		}
	}
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct table rows;

	(void)e;
	fill_rows(&rows, ((const struct idle_shown *)x->of)->page->report, to->a);
	table_put_sheet(&rows, 0, form, s);
	return true;
}

/* ---- document ---- */

static void put_cause(struct document *d, const struct idle_of_device *of, enum idle_reason why)
{
	json_object(&d->j);
	document_text(d, "cause", str_of(idle_reason_names[why]));
	document_text(d, "text", str_of(idle_reason_texts[why]));
	document_i64(d, "ns", of->ns[why]);
	document_key(d, "places");
	json_array(&d->j);
	for (size_t i = 0; i < of->places.n; i++) {
		const struct idle_place *p = &of->places.v[i];
		if (p->reason != why)
			continue;
		json_object(&d->j);
		document_text(d, "kind", str_of(idle_place_kinds[p->kind]));
		document_text(d, "name", p->name);
		document_i64(d, "ns", p->ns);
		if (p->waits_for.n)
			document_text(d, "waits_for", p->waits_for);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
	json_object_end(&d->j);
}

static void put_devices_member(struct document *d, const struct idle_report *r)
{
	document_key(d, "devices");
	json_array(&d->j);
	for (size_t i = 0; i < r->devices.n; i++) {
		const struct idle_of_device *x = &r->devices.v[i];
		json_object(&d->j);
		document_text(d, "device", trace_device_label(r->t, x->device, d->a));
		document_i64(d, "window_ns", x->window_ns);
		document_i64(d, "idle_ns", x->idle_ns);
		document_key(d, "causes");
		json_array(&d->j);
		for (enum idle_reason why = 0; why < IDLE_REASONS; why++)
			if (x->ns[why])
				put_cause(d, x, why);
		json_array_end(&d->j);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void put_missing_member(struct document *d, const struct idle_report *r)
{
	struct idle_missing v[MISSING_N];
	size_t n = find_missing(r, v);

	document_key(d, "missing");
	json_array(&d->j);
	for (size_t i = 0; i < n; i++) {
		json_object(&d->j);
		document_text(d, "what", str_of(v[i].what));
		document_i64(d, "ns", v[i].ns);
		if (v[i].cure)
			document_text(d, "cure", str_of(v[i].cure));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct idle_page *page = ((const struct idle_shown *)x->of)->page;
	struct document d;

	(void)e;
	document_open(&d, s, to, "tfprof/idle", 1);
	if (page->step.p)
		document_text(&d, "step", page->step);
	put_devices_member(&d, page->report);
	put_missing_member(&d, page->report);
	if (!to->arrays) {
		struct table rows;
		fill_rows(&rows, page->report, to->a);
		table_put_document_rows(&d, &rows, 0);
	}
	document_end(&d);
	return true;
}

bool idle_write(const struct idle_page *page, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e)
{
	struct idle_shown shown = { page, top, o->wide ? 0 : columns, o->output.full_names };
	struct exported x = { .kind = RESULT_GPU,
		.name = "idle",
		.of = &shown,
		.output = &o->output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	return out_export(&x, to, e);
}
