/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the captures in a trace: the launch calls between cudaStreamBeginCapture and
 * cudaStreamEndCapture on a thread, with the ops, modules and frames around each of them.
 */
#include "trace/read/graph/graph_internal.h"
#include "io/json_in.h"
#include "trace/pass/nest.h"
#include "trace/read/recording/recordings.h"

/* Arguments of levels that remain with the work. */
#define SITE_ARGS                                                                                  \
	(ARG_BIT(ARG_SHAPES) | ARG_BIT(ARG_DTYPES) | ARG_BIT(ARG_VALUES) | ARG_BIT(ARG_STACK) |    \
	        ARG_BIT(ARG_COLLECTIVE) | ARG_BIT(ARG_PROCESS_GROUP))

enum call_kind { CALL_UNKNOWN, CALL_OTHER, CALL_BEGIN, CALL_END, CALL_LAUNCH };

struct capture_level {
	int64_t end;
	uint32_t event, site; /* site: index in the sites of the file; ID_NONE: not created yet */
	bool replayed;        /* true: it began inside a capture */
};

struct capture_reading {
	struct captures *to;
	uint32_t file;
	const struct trace *t;
	struct trace_build *b; /* builder of the trace with the replays */
	struct arena *a;
	uint8_t *kinds; /* indexed by event: enum call_kind */
	VEC(struct capture_level) open;
	bool inside; /* true: inside a capture, which is the last one of the list */
	int64_t call_end;
};

static enum trace_category category_of(const struct capture_reading *x, uint32_t event)
{
	return x->t->events.v[event].category;
}

static enum call_kind kind_of_name(struct str name)
{
	if (str_contains(name, S("StreamBeginCapture")))
		return CALL_BEGIN;
	if (str_contains(name, S("StreamEndCapture")) || str_contains(name, S("GraphInstantiate")))
		return CALL_END; /* recordings lack the end of captures */
	if (str_contains(name, S("Graph")))
		return CALL_OTHER;
	return (str_contains(name, S("Launch")) && str_contains(name, S("Kernel"))) ||
	                       str_contains(name, S("Memcpy")) || str_contains(name, S("Memset"))
	               ? CALL_LAUNCH
	               : CALL_OTHER;
}

/* ---- levels ---- */

/* Returns the number in a server annotation such as "capture_8192_PIECEWISE"; otherwise 0. */
static int64_t captured_batch(struct str name)
{
	int64_t batch;

	if (!str_starts(name, S("capture_")))
		return 0;
	name = str_sub(name, sizeof "capture_" - 1, SIZE_MAX);
	return num_parse_i64(str_sub(name, 0, str_find_char(name, '_')), &batch) && batch > 0
	               ? batch
	               : 0;
}

/* A search for the annotations with batches in a file. */
struct batch_search {
	struct json_in j;
	struct sb text;
	int64_t batch; /* 0: none found */
	bool several;
};

static bool read_name(struct batch_search *x)
{
	struct json_value v;

	if (!json_in_scalar(&x->j, &v))
		return false;
	int64_t batch =
	        v.type == JSON_STRING ? captured_batch(json_in_text(&x->j, &v, &x->text)) : 0;
	x->several |= batch && x->batch && batch != x->batch;
	x->batch = batch ? batch : x->batch;
	return true;
}

static bool read_event(void *search)
{
	struct batch_search *x = search;
	struct json_in *j = &x->j;
	struct str key;

	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);)
		if (!(str_eq(key, S("name")) ? read_name(x) : json_in_skip(j)))
			return false;
	return j->stop == JSON_STOP_NONE;
}

static void take_event(void *search)
{
	(void)search;
}

int64_t graph_find_batch(struct str path, struct work *work)
{
	struct batch_search x = { .batch = 0 };
	struct scratch own;
	struct src *s;
	bool ok = false;

	scratch_open(&own, work);
	struct err e = { .a = &own.a };
	x.text = sb_in(&own.a);
	if (src_open_file(&s, &own.a, path, &e)) {
		s->e = &e;
		ok = json_in_open(&x.j, s) &&
		     (json_in_ahead(&x.j) == '[' || json_in_find(&x.j, S("traceEvents"))) &&
		     json_in_each(&x.j, read_event, take_event, &x);
		src_close(s);
	}
	scratch_close(&own);
	return ok && !x.several ? x.batch : 0;
}

/* Creates sites for the open levels. Returns the innermost site. */
static uint32_t site_of_open(struct capture_reading *x)
{
	struct capture_file *f = &x->to->files.v[x->file];
	uint32_t parent = ID_NONE;

	for (size_t i = 0; i < x->open.n; i++) {
		struct capture_level *l = &x->open.v[i];
		const struct trace_event *e = &x->t->events.v[l->event];
		if (e->category == CATEGORY_STEP ||
		        (e->category == CATEGORY_ANNOTATION &&
		                captured_batch(trace_str(x->t, e->name))))
			continue;
		if (l->site == ID_NONE) {
			l->site = (uint32_t)f->sites.n;
			VEC_PUSH(x->a, &f->sites,
			        ((struct capture_site){ parent, l->event, 0, l->replayed }));
		}
		parent = l->site;
	}
	return parent;
}

/* Opens a level, and closes the levels that ended. A Python frame ends at the latest with the level
 * around it. An op or annotation that outlives the frame in which it starts closes that frame. */
static void open_level(struct capture_reading *x, const struct slice *s)
{
	bool frame = s->category == CATEGORY_FRAME || s->category == CATEGORY_MODULE;
	int64_t end = slice_end(s);

	while (x->open.n && x->open.v[x->open.n - 1].end <= s->start)
		x->open.n--;
	while (!frame && x->open.n && x->open.v[x->open.n - 1].end < end &&
	        category_of(x, x->open.v[x->open.n - 1].event) == CATEGORY_FRAME)
		x->open.n--;
	if (x->open.n && x->open.v[x->open.n - 1].end < end)
		end = x->open.v[x->open.n - 1].end;
	VEC_PUSH(x->a, &x->open, ((struct capture_level){ end, s->event, ID_NONE, x->inside }));
}

/* ---- calls ---- */

static void begin_capture(struct capture_reading *x)
{
	struct capture made = { .file = x->file,
		.first = (uint32_t)x->to->calls.n,
		.batch = x->to->files.v[x->file].batch,
		.requests = x->to->files.v[x->file].requests,
		.cut = true,
		.named = true };

	for (size_t i = 0; i < x->open.n && !made.batch; i++)
		made.batch =
		        captured_batch(trace_str(x->t, x->t->events.v[x->open.v[i].event].name));
	VEC_PUSH(x->a, &x->to->list, made);
	x->inside = true;
}

static uint32_t token_of_call(struct capture_reading *x, const struct slice *s)
{
	struct str kernel = slice_text(x->t, s, ARG_LAUNCHED), name = trace_str(x->t, s->name);

	if (kernel.n)
		return graph_token(kernel, build_string(x->b, kernel));
	return str_contains(name, S("Memcpy"))   ? TOKEN_COPY
	       : str_contains(name, S("Memset")) ? TOKEN_SET
	                                         : TOKEN_KERNEL;
}

static void take_call(struct capture_reading *x, const struct slice *s)
{
	uint8_t *kind = &x->kinds[s->event];

	if (*kind == CALL_UNKNOWN)
		*kind = (uint8_t)kind_of_name(trace_str(x->t, s->name));
	if (*kind == CALL_BEGIN) {
		begin_capture(x);
	} else if (*kind == CALL_END && x->inside) {
		x->to->list.v[x->to->list.n - 1].cut = false;
		x->inside = false;
	} else if (*kind == CALL_LAUNCH && x->inside && s->start >= x->call_end) {
		struct capture *c = &x->to->list.v[x->to->list.n - 1];
		struct capture_call made = { token_of_call(x, s), ID_NONE };
		while (x->open.n && x->open.v[x->open.n - 1].end <= s->start)
			x->open.n--;
		made.site = site_of_open(x);
		c->named &= made.token != TOKEN_KERNEL;
		c->n++;
		VEC_PUSH(x->a, &x->to->calls, made);
		x->call_end = slice_end(s); /* later calls inside this call belong to it */
	}
}

static void take_thread(struct capture_reading *x, uint32_t track)
{
	const uint32_t levels = nest_bits(CATEGORY_HOST_NEST);
	struct slice_iter it = trace_slices(x->t, track);

	x->open.n = 0;
	x->inside = false;
	x->call_end = INT64_MIN;
	for (struct slice s; slice_next(&it, &s);) {
		if (s.form != SLICE_COMPLETE)
			continue;
		if (s.category == CATEGORY_CALL)
			take_call(x, &s);
		else if (levels & CATEGORY_BIT(s.category))
			open_level(x, &s);
	}
}

/* Reads a GPU recording. Its calls have no kernel names, and the ranges around the calls are
 * levels. */
static bool read_recording(
        const struct capture_file *f, struct trace *t, struct arena *a, struct err *e)
{
	const struct recording_request request = { .wants = ARG_BITS_ALL };
	const struct recording_options how = { .step_implied = true };
	struct recording_set files;
	struct notes unused;

	notes_init(&unused, a);
	return recording_find(&files, a, f->path, e) &&
	       recording_trace(t, &files, &how, &request, &unused, e);
}

/* Reads the trace of a file. The result lives in a. */
static bool read_trace(struct capture_file *f, struct notes *notes, struct arena *a, struct err *e)
{
	struct trace *t = trace_new(a);
	struct scratch own;
	struct src *s;

	f->t = t;
	if (f->recording)
		return read_recording(f, t, a, e);
	scratch_open(&own, a->work);
	struct trace_build *b = build_open(t, SITE_ARGS | ARG_BIT(ARG_LAUNCHED), notes, &own.a);
	bool ok = src_open_file(&s, &own.a, f->path, e);
	if (ok) {
		s->e = e;
		ok = read_chrome_json(s, b, &own.a, e) && src_finish(s);
		src_close(s);
	}
	if (ok)
		build_seal(b);
	scratch_close(&own);
	return ok;
}

bool graph_read_captures(
        struct captures *to, uint32_t file, struct trace_build *b, struct arena *a, struct err *e)
{
	struct capture_reading x = { .to = to, .file = file, .b = b, .a = a };

	if (!read_trace(&to->files.v[file], build_notes(b), a, e))
		return false;
	x.t = to->files.v[file].t;
	x.kinds = ARENA_ARRAY(a, x.t->events.n, uint8_t);
	for (uint32_t i = 0; i < x.t->tracks.n; i++)
		if (!track_is_device(&x.t->tracks.v[i]))
			take_thread(&x, i);
	return true;
}

/* ---- import ---- */

static uint32_t import_event(struct trace_build *b, const struct trace *t, uint32_t event)
{
	const struct trace_event *e = &t->events.v[event];
	struct str rest = e->args;

	for (struct argument arg; argument_next(&rest, &arg);)
		if (arg.type == ARG_TEXT && argument_bit(arg.key) & SITE_ARGS)
			build_arg_text(b, arg.key, trace_str(t, arg.text));
	return build_event(b, e->category, build_string(b, trace_str(t, e->name)));
}

uint32_t graph_import_site(
        struct captures *c, uint32_t file, uint32_t site, struct trace_build *b, struct arena *a)
{
	struct capture_file *f = &c->files.v[file];
	VEC(uint32_t) way = { .v = NULL };
	uint32_t parent = ID_NONE;

	for (; site != ID_NONE && !f->sites.v[site].made; site = f->sites.v[site].parent)
		VEC_PUSH(a, &way, site);
	if (site != ID_NONE)
		parent = f->sites.v[site].made - 1;
	while (way.n) {
		struct capture_site *s = &f->sites.v[way.v[--way.n]];
		parent = build_site(b, parent, import_event(b, f->t, s->event), s->replayed);
		s->made = parent + 1;
	}
	return parent;
}
