/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline of a trace: its own tracks with all slices, and flows from launches to the work that
 * they launched. Metadata events of tfprof's own contain the data that Chrome JSON cannot express,
 * so that the trace can be read again from the file:
 *
 *   tfprof_trace    source and ticks of a microsecond
 *   tfprof_process  rank and number of ranks
 *   tfprof_track    kind, process and device of what stands under this pid and tid
 *
 * The timeline of a critical path has the slices of its window and the path: a track of its own,
 * arrows where it goes from one track to another, and its time in each slice as an argument.
 */
#include "base/map.h"
#include "export/timeline/timeline.h"
#include "io/json_out.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"

#define PID_FREE INT64_C(1000000000) /* first pid for processes without a pid */
#define TID_FREE INT64_C(1000000000)

struct track_place {
	int64_t pid, tid;
};

struct drawing {
	struct trace_writer *w;
	const struct trace *t;
	struct arena *a;
	struct imap *pids, *tids;    /* pids: used process ids; tids: used thread ids, by hash of
	                                both */
	const struct critical *path; /* may be NULL */
	struct imap on_path;         /* key: number of a slice; value: index in path_ns */
	VEC(int64_t) path_ns;        /* time of the path in the slice */
	int64_t *process, *device;   /* pids of the processes and of the devices */
	struct track_place *track;
	int64_t *flows;   /* number of flows so far, in all traces */
	int64_t from, to; /* draw only slices that overlap this interval */
	const struct trace_links *links;
};

/* ---- numbers ---- */

/* Returns the wanted number if it is free, otherwise another one. */
static int64_t take_pid(struct drawing *x, int64_t wanted)
{
	int64_t pid = wanted;

	for (int64_t next = PID_FREE; !imap_put(x->pids, (uint64_t)pid, 0, false); next++)
		pid = next;
	return pid;
}

static int64_t take_tid(struct drawing *x, int64_t pid, int64_t wanted)
{
	int64_t key[2] = { pid, wanted };

	for (int64_t next = TID_FREE; !imap_put(x->tids, hash_bytes(key, sizeof key), 0, false);)
		key[1] = next++;
	return key[1];
}

static void number_all(struct drawing *x)
{
	const struct trace *t = x->t;

	x->process = ARENA_ARRAY(x->a, t->processes.n + 1, int64_t);
	x->device = ARENA_ARRAY(x->a, t->devices.n, int64_t);
	x->track = ARENA_ARRAY(x->a, t->tracks.n, struct track_place);
	for (size_t i = 0; i < t->processes.n; i++)
		x->process[i] = take_pid(x, t->processes.v[i].pid);
	x->process[t->processes.n] = take_pid(x, PID_FREE); /* pid for tracks without a process */
	for (size_t i = 0; i < t->devices.n; i++)
		x->device[i] = take_pid(x, t->devices.v[i].index);
	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		uint32_t process = k->process == ID_NONE ? (uint32_t)t->processes.n : k->process;
		int64_t pid = k->device == ID_NONE ? x->process[process] : x->device[k->device];
		x->track[i] = (struct track_place){ pid, take_tid(x, pid, k->id) };
	}
}

/* ---- events ---- */

static void put_int(struct json *j, struct str key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

static void put_text(struct json *j, struct str key, struct str text)
{
	json_key(j, key);
	json_string(j, text);
}

static void begin(struct drawing *x, struct json *j, struct str ph, struct str name)
{
	sink_put(x->w->file, x->w->first ? S("\n") : S(",\n"));
	x->w->first = false;
	json_init(j, x->w->file);
	json_object(j);
	put_text(j, S("ph"), ph);
	put_text(j, S("name"), name);
}

static void put_place(struct json *j, struct track_place p)
{
	put_int(j, S("pid"), p.pid);
	put_int(j, S("tid"), p.tid);
}

/* Writes ticks as microseconds. The number of ticks in a microsecond is a power of ten. */
static void put_time(struct drawing *x, struct json *j, struct str key, int64_t ticks)
{
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
	uint64_t unit = (uint64_t)x->t->ticks_per_us;
	struct sb *text = &x->w->text;
	int digits = 0;

	for (uint64_t left = unit; left > 1; left /= 10)
		digits++;
	text->n = 0;
	sb_fmt(text, "%s%llu", ticks < 0 ? "-" : "", (unsigned long long)(size / unit));
	if (digits)
		sb_fmt(text, ".%0*llu", digits, (unsigned long long)(size % unit));
	json_key(j, key);
	json_literal(j, sb_str(text));
}

static void put_args(struct drawing *x, struct json *j, struct str args)
{
	for (struct argument v; argument_next(&args, &v);) {
		json_key(j, v.key < ARG_N ? str_of(argument_names[v.key])
		                          : trace_str(x->t, v.key - ARG_N));
		if (v.type == ARG_TEXT)
			json_string(j, trace_str(x->t, v.text));
		else if (v.type == ARG_REAL)
			json_literal(j, str_fmt(x->a, "%.17g", v.real));
		else if (v.type == ARG_UINT)
			json_literal(j, str_fmt(x->a, "%llu", (unsigned long long)v.u));
		else
			json_i64(j, v.i);
	}
}

static void put_slice(struct drawing *x, const struct slice *s)
{
	static const struct str forms[] = { { "X", 1 }, { "i", 1 }, { "C", 1 } };
	const struct trace *t = x->t;
	uint32_t on_path;
	struct json j;

	begin(x, &j, forms[s->form], trace_str(t, s->name));
	put_text(&j, S("cat"), str_of(trace_category_names[s->category]));
	put_place(&j, x->track[s->track]);
	put_time(x, &j, S("ts"), s->start);
	if (s->form == SLICE_COMPLETE)
		put_time(x, &j, S("dur"), s->length);
	if (s->form == SLICE_INSTANT)
		put_text(&j, S("s"), S("t"));
	json_key(&j, S("args"));
	json_object(&j);
	if (s->correlation)
		put_int(&j, S("correlation"), s->correlation);
	if (x->path && imap_get(&x->on_path, s->number, &on_path))
		put_int(&j, S("critical_ns"), x->path_ns.v[on_path]);
	put_args(x, &j, t->events.v[s->event].args);
	put_args(x, &j, s->args);
	json_object_end(&j);
	json_object_end(&j);
}

static void put_flow_end(struct drawing *x, struct str name, uint32_t track, int64_t at, bool start)
{
	struct json j;

	begin(x, &j, start ? S("s") : S("f"), name);
	put_text(&j, S("cat"), name);
	put_int(&j, S("id"), *x->flows);
	put_place(&j, x->track[track]);
	put_time(x, &j, S("ts"), at);
	if (!start)
		put_text(&j, S("bp"), S("e"));
	json_object_end(&j);
}

/* Writes an arrow from the call that launched device work. */
static void put_flow(struct drawing *x, const struct slice *s)
{
	const struct launch *launch = slice_is_work(x->t, s) ? link_launch(x->links, s) : NULL;

	if (!launch)
		return;
	++*x->flows;
	put_flow_end(x, S("launch"), trace_track_of(x->t, launch->slice), launch->start, true);
	put_flow_end(x, S("launch"), s->track, s->start, false);
}

/* ---- metadata ---- */

static void put_name(struct drawing *x, struct str what, struct track_place p, struct str name)
{
	struct json j;

	begin(x, &j, S("M"), what);
	put_place(&j, p);
	json_key(&j, S("args"));
	json_object(&j);
	put_text(&j, S("name"), name);
	json_object_end(&j);
	json_object_end(&j);
}

static void put_source(struct drawing *x)
{
	struct json j;

	begin(x, &j, S("M"), S("tfprof_trace"));
	json_key(&j, S("args"));
	json_object(&j);
	put_int(&j, S("source"), x->t->source);
	put_int(&j, S("ticks_per_us"), x->t->ticks_per_us);
	put_int(&j, S("origin_ns"), x->t->origin_ns);
	json_object_end(&j);
	json_object_end(&j);
}

static void put_process(struct drawing *x, uint32_t i)
{
	const struct trace_process *p = &x->t->processes.v[i];
	struct track_place place = { x->process[i], 0 };
	struct json j;

	if (p->name != ID_NONE)
		put_name(x, S("process_name"), place, trace_str(x->t, p->name));
	begin(x, &j, S("M"), S("tfprof_process"));
	put_place(&j, place);
	json_key(&j, S("args"));
	json_object(&j);
	put_int(&j, S("rank"), p->rank);
	put_int(&j, S("world"), p->world);
	json_object_end(&j);
	json_object_end(&j);
}

static void put_track(struct drawing *x, uint32_t i)
{
	const struct trace_track *k = &x->t->tracks.v[i];
	const struct trace_device *d = k->device == ID_NONE ? NULL : &x->t->devices.v[k->device];
	struct json j;

	if (k->name != ID_NONE)
		put_name(x, S("thread_name"), x->track[i], trace_str(x->t, k->name));
	begin(x, &j, S("M"), S("tfprof_track"));
	put_place(&j, x->track[i]);
	json_key(&j, S("args"));
	json_object(&j);
	put_int(&j, S("kind"), k->kind);
	put_int(&j, S("clock"), k->clock);
	put_int(&j, S("derived"), k->derived);
	put_int(&j, S("id"), k->id);
	if (k->process != ID_NONE)
		put_int(&j, S("process"), x->process[k->process]);
	if (d) {
		put_text(&j, S("device"), trace_str(x->t, d->name));
		put_int(&j, S("device_kind"), d->kind);
		put_int(&j, S("index"), d->index);
		if (d->process != ID_NONE)
			put_int(&j, S("owner"), x->process[d->process]);
	}
	json_object_end(&j);
	json_object_end(&j);
}

/* With -step N, draws only step N, if the trace has that step. */
static void choose_step(struct drawing *x, int64_t step)
{
	struct trace_steps steps;

	x->from = INT64_MIN;
	x->to = INT64_MAX;
	if (step < 0)
		return;
	trace_find_steps(x->t, &steps, x->a);
	for (size_t i = 0; i < steps.steps.n; i++)
		if (steps.steps.v[i].id == step) {
			x->from = steps.steps.v[i].start;
			x->to = steps.steps.v[i].end;
		}
}

static void draw(struct drawing *x)
{
	const struct trace *t = x->t;

	number_all(x);
	put_source(x);
	for (uint32_t i = 0; i < t->processes.n; i++)
		put_process(x, i);
	for (uint32_t i = 0; i < t->devices.n; i++)
		put_name(x, S("process_name"), (struct track_place){ x->device[i], 0 },
		        trace_device_label(t, i, x->a));
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		put_track(x, i);
		for (struct slice s; slice_next(&it, &s);) {
			if (s.start > x->to || slice_end(&s) < x->from)
				continue;
			put_slice(x, &s);
			put_flow(x, &s);
		}
	}
}

bool timeline_tracks(const struct result *r, struct emit *to, struct err *e)
{
	const struct model *m = r->q->m;
	struct arena *a = r->q->a;
	struct trace_writer w;
	struct imap pids, tids;
	int64_t flows = 0;

	if (!trace_open(&w, r->q, e))
		return false;
	imap_init(&pids, a);
	imap_init(&tids, a);
	for (size_t i = 0; i < m->traces.n + (r->q->recording != NULL); i++) {
		struct trace_links links;
		struct drawing x = { .w = &w,
			.t = i < m->traces.n ? m->traces.v[i].t : r->q->recording,
			.a = a,
			.pids = &pids,
			.tids = &tids,
			.flows = &flows,
			.links = &links };
		trace_link(x.t, &links, a);
		choose_step(&x, r->q->o->step);
		draw(&x);
	}
	return trace_close(&w, to, e);
}

/* ---- a critical path ---- */

/* Adds up the time of the path in each slice. */
static void find_on_path(struct drawing *x)
{
	for (size_t i = 0; i < x->path->segments.n; i++) {
		const struct critical_segment *s = &x->path->segments.v[i];
		uint32_t at = (uint32_t)x->path_ns.n;
		if (s->slice == ID_NONE)
			continue;
		if (!imap_get(&x->on_path, s->slice, &at)) {
			imap_put(&x->on_path, s->slice, at, false);
			VEC_PUSH(x->a, &x->path_ns, 0);
		}
		x->path_ns.v[at] += trace_ns(x->t, s->end) - trace_ns(x->t, s->start);
	}
}

static void put_segment(struct drawing *x, const struct critical_segment *s, struct track_place at)
{
	struct str text = str_of(critical_texts[s->kind]);
	struct json j;

	begin(x, &j, S("X"),
	        s->event == ID_NONE ? text : trace_str(x->t, x->t->events.v[s->event].name));
	put_text(&j, S("cat"), str_of(critical_names[s->kind]));
	put_place(&j, at);
	put_time(x, &j, S("ts"), s->start);
	put_time(x, &j, S("dur"), s->end - s->start);
	json_key(&j, S("args"));
	json_object(&j);
	put_text(&j, S("kind"), text);
	if (s->frame != ID_NONE)
		put_text(&j, S("line"), trace_str(x->t, x->t->events.v[s->frame].name));
	json_object_end(&j);
	json_object_end(&j);
}

/* Draws the path on a track of its own, above all other tracks. It repeats their time. */
static void put_path_track(struct drawing *x, struct str title)
{
	struct track_place at = { take_pid(x, PID_FREE), 0 };
	struct json j;

	put_name(x, S("process_name"), at, title);
	put_name(x, S("thread_name"), at, S("path"));
	begin(x, &j, S("M"), S("process_sort_index"));
	put_place(&j, at);
	json_key(&j, S("args"));
	json_object(&j);
	put_int(&j, S("sort_index"), -1);
	json_object_end(&j);
	json_object_end(&j);
	begin(x, &j, S("M"), S("tfprof_track"));
	put_place(&j, at);
	json_key(&j, S("args"));
	json_object(&j);
	put_int(&j, S("kind"), TRACK_THREAD);
	put_int(&j, S("derived"), true);
	json_object_end(&j);
	json_object_end(&j);
	for (size_t i = 0; i < x->path->segments.n; i++)
		put_segment(x, &x->path->segments.v[i], at);
}

/* Draws arrows between the slices of the path where it changes its track. */
static void put_path_arrows(struct drawing *x)
{
	const struct critical_segment *last = NULL;

	for (size_t i = 0; i < x->path->segments.n; i++) {
		const struct critical_segment *s = &x->path->segments.v[i];
		if (s->slice == ID_NONE)
			continue;
		if (last && last->track != s->track) {
			++*x->flows;
			put_flow_end(x, S("critical path"), last->track, last->start, true);
			put_flow_end(x, S("critical path"), s->track, s->start, false);
		}
		last = s;
	}
}

bool timeline_path(const struct critical *path, struct str title, const struct opts *o,
        struct emit *to, struct err *e)
{
	struct trace_writer w;
	struct imap pids, tids;
	int64_t flows = 0;
	struct drawing x = { .w = &w,
		.t = path->depend->t,
		.a = to->a,
		.pids = &pids,
		.tids = &tids,
		.flows = &flows,
		.from = path->window.from,
		.to = path->window.to,
		.path = path,
		.links = path->depend->links };

	if (!trace_open_at(&w, to->a, o->output.outfile, e))
		return false;
	w.quiet = o->quiet;
	imap_init(&pids, to->a);
	imap_init(&tids, to->a);
	imap_init(&x.on_path, to->a);
	find_on_path(&x);
	draw(&x);
	put_path_track(&x, title);
	put_path_arrows(&x);
	return trace_close(&w, to, e);
}
