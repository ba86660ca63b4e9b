/* SPDX-License-Identifier: Apache-2.0
 *
 * Trace files, and the timelines of scope and code: a flame chart in which the children of
 * an entry follow each other from its start on.
 */
#include "base/fmt.h"
#include "io/json_out.h"
#include "export/timeline/timeline.h"

#define TOO_LARGE ((uint64_t)200 << 20)
#define STARS     "******************************************************"

enum { NOTE_WIDENED = 0x700 }; /* kind of note */

/* ---- trace files ---- */

static void put(struct trace_writer *t, struct str bytes)
{
	sink_put(t->file, bytes);
}

static void put_text(struct trace_writer *t, struct str text)
{
	json_put_text(t->file, text);
}

static void put_number(struct trace_writer *t, int64_t v)
{
	sink_i64(t->file, v);
}

/* Writes a time in microseconds, with all its decimals. */
static void put_time(struct trace_writer *t, int64_t v)
{
	int64_t rest = v % t->parts, unit = t->parts;

	put_number(t, v / t->parts);
	if (rest > 0)
		put(t, S("."));
	for (; rest > 0; rest %= unit) {
		unit /= 10;
		put_number(t, rest / unit);
	}
}

/* Returns the number or the list of steps that the file shows. */
static struct str step_words(const struct query *q)
{
	struct sb b = sb_in(q->a);

	if (q->o->steps.n)
		sb_put(&b, q->o->steps.text);
	else
		fmt_i64(&b, q->o->step);
	return sb_str(&b);
}

/* Returns the name of the file. Like the original, returns FILE_STEP. If FILE ends in .json,
 * returns FILE itself or, for several files, FILE with the step before the extension. */
static struct str file_name(const struct query *q)
{
	struct str name = q->o->output.outfile, end = S(".json"), worker = STR_NONE;
	bool json = q->o->exact_names && str_ends(name, end);

	if (q->step && q->m->workers.n > 1)
		worker = str_fmt(q->a, "_%.*s",
		        STR(str_replace_char(q->a, q->m->workers.v[q->step->worker], '/', '_')));
	if (json && !q->one_of_many)
		return name;
	if (json)
		name = str_sub(name, 0, name.n - end.n);
	return str_fmt(q->a, "%.*s%.*s_%.*s%.*s", STR(name), STR(worker), STR(step_words(q)),
	        STR(json ? end : STR_NONE));
}

bool trace_open(struct trace_writer *t, const struct query *q, struct err *e)
{
	if (!trace_open_at(t, q->a, file_name(q), e))
		return false;
	t->quiet = q->o->quiet;
	return true;
}

bool trace_open_at(struct trace_writer *t, struct arena *a, struct str path, struct err *e)
{
	t->path = path;
	t->quiet = false;
	t->parts = 1;
	t->text = sb_in(a);
	if (!sink_file(&t->file, a, path, e))
		return false;
	t->first = true;
	put(t, S("{\"traceEvents\":["));
	return true;
}

bool trace_close(struct trace_writer *t, struct emit *to, struct err *e)
{
	put(t, S("]}\n"));
	bool large = sink_size(t->file) > TOO_LARGE;
	if (!sink_close(t->file, e))
		return false;
	if (large) /* Quirk 4: -op_type does not exist. */
		note_line(to->notes,
		        "Trace file is over 200MB. Chrome might not be able to display it. "
		        "Consider to use filters (e.g. -min_micros > 1000 or -op_type .*gpu:0.* to "
		        "reduce the size.\n");
	if (t->quiet)
		return true;
	sink_put(to->out, S("\n" STARS "\nTimeline file is written to "));
	sink_put(to->out, t->path);
	sink_put(to->out, S(".\nOpen a Chrome browser, enter URL chrome://tracing and load the "
	                    "timeline file.\n" STARS "\n"));
	return true;
}

/* Begins an event. Keys are in byte order, so most of the text is common to all events. */
static void put_event(struct trace_writer *t, struct str begin)
{
	if (!t->first)
		put(t, S(","));
	t->first = false;
	put(t, begin);
}

void trace_process(struct trace_writer *t, struct str name, int64_t pid)
{
	put_event(t, S("{\"args\":{\"name\":"));
	put_text(t, name);
	put(t, S("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":"));
	put_number(t, pid);
	put(t, S("}"));
}

/* Writes pid, tid and ts, and the end of the event. */
static void put_place(struct trace_writer *t, int64_t pid, int64_t tid, int64_t at)
{
	put(t, S(",\"pid\":"));
	put_number(t, pid);
	put(t, S(",\"tid\":"));
	put_number(t, tid);
	put(t, S(",\"ts\":"));
	put_time(t, at);
	put(t, S("}"));
}

/* Writes a text. Returns its JSON if the buffer of the file still contains it, otherwise an empty
 * text. */
static struct str put_name(struct trace_writer *t, struct str name)
{
	const uint8_t *from = t->file->p;
	bool fits = name.n < (size_t)(t->file->end - from) / 8; /* 6 bytes for each byte, and
	                                                           quotes */

	put_text(t, name);
	return fits ? str_make(from, (size_t)(t->file->p - from)) : STR_NONE;
}

/* Writes a text again. Copies its JSON if the buffer still contains it and has room for it. */
static void put_name_again(struct trace_writer *t, struct str name, struct str json)
{
	const struct sink *to = t->file;

	if (json.n && (const uint8_t *)json.p + json.n <= to->p &&
	        json.n <= (size_t)(to->end - to->p))
		put(t, json);
	else
		put_text(t, name);
}

void trace_region(struct trace_writer *t, const struct region *r)
{
	put_event(t, S("{\"args\":{\"name\":"));
	struct str json = put_name(t, r->name);
	if (r->op) {
		put(t, S(",\"op\":"));
		put_name_again(t, r->name, json);
	}
	put(t, S("},\"cat\":\"Op\",\"dur\":"));
	put_time(t, r->length);
	put(t, S(",\"name\":"));
	put_name_again(t, r->name, json);
	put(t, S(",\"ph\":\"X\""));
	put_place(t, r->pid, r->tid, r->start);
}

void trace_flow(struct trace_writer *t, const struct flow_end *f)
{
	t->text.n = 0; /* as one string: a truncated character would swallow part of "_flow" */
	sb_put(&t->text, f->source);
	sb_put(&t->text, S("_flow"));
	put_event(t, S("{\"cat\":\"DataFlow\",\"id\":"));
	put_number(t, f->id);
	put(t, S(",\"name\":"));
	put_text(t, sb_str(&t->text));
	put(t, f->start ? S(",\"ph\":\"s\"") : S(",\"ph\":\"t\""));
	put_place(t, f->pid, f->tid, f->at);
}

void trace_counter(struct trace_writer *t)
{
	put_event(t, S("{\"args\":{"));
	t->first = true;
}

static void put_key(struct trace_writer *t, struct str key)
{
	if (!t->first)
		put(t, S(","));
	t->first = false;
	put_text(t, key);
	put(t, S(":"));
}

void trace_counter_text(struct trace_writer *t, struct str key, struct str value)
{
	put_key(t, key);
	put_text(t, value);
}

void trace_counter_number(struct trace_writer *t, struct str key, int64_t value)
{
	put_key(t, key);
	put_number(t, value);
}

void trace_counter_end(struct trace_writer *t, struct str name, int64_t pid, int64_t at)
{
	t->first = false;
	put(t, S("},\"cat\":\"Memory\",\"name\":"));
	put_text(t, name);
	put(t, S(",\"ph\":\"C\""));
	put_place(t, pid, 0, at);
}

/* ---- scope and code ---- */

#define AHEAD 12 /* number of entries whose numbers and names are prefetched */

/* Prefetches the numbers of a later entry and the name of a nearer one. */
static void fetch_entries(const struct result *r, uint32_t i)
{
	if (i + AHEAD < r->n)
		__builtin_prefetch(&r->shown[i + AHEAD].total->v[V_MICROS]);
	if (i + AHEAD / 2 < r->n)
		__builtin_prefetch(view_name(r->q, r->shown[i + AHEAD / 2].kept).p);
}

/* Converts a time of the answer to ticks. */
static int64_t to_ticks(const struct query *q, int64_t time)
{
	return fraction_in(model_fraction(q->m, q->over, V_MICROS, time), model_ticks(q->m));
}

/* Computes the width of each entry: its total time, or the sum of its children if that is larger
 * (which occurs if a clock was set back; the original crashes then). */
static int64_t *find_widths(const struct result *r, struct notes *notes)
{
	int64_t *width = ARENA_ARRAY(r->q->a, r->n, int64_t); /* first the sum of the children */

	for (uint32_t i = r->n; i-- > 0;) {
		int64_t total = r->shown[i].total->v[V_MICROS];
		__builtin_prefetch(&r->shown[i > AHEAD ? i - AHEAD : 0].total->v[V_MICROS]);
		if (total < width[i] && (total > 0 || i == 0))
			note_kind(notes, NOTE_WIDENED,
			        "a box of the timeline is wider than its time, %lld us, to hold "
			        "its "
			        "children",
			        (long long)to_ticks(r->q, total) / model_ticks(r->q->m));
		width[i] = total > width[i] ? total : width[i];
		if (i && total > 0)
			width[r->shown[i].parent] = num_add(width[r->shown[i].parent], width[i]);
	}
	return width;
}

/* Writes one row per depth, which gets its name when first used. Omits entries without time, with
 * all their descendants. */
static void put_entries(struct trace_writer *t, const struct result *r, const int64_t *width)
{
	const struct query *q = r->q;
	struct arena *a = q->a;
	VEC(int64_t) next = { 0 }; /* indexed by depth: start of the next child */
	uint32_t named = 0;

	for (uint32_t i = 0; i < r->n;) {
		const struct entry *x = &r->shown[i];
		fetch_entries(r, i);
		if (i && x->total->v[V_MICROS] <= 0) {
			i = x->end;
			continue;
		}
		/* NOLINTNEXTLINE: its parent came before */
		int64_t start = x->depth ? next.v[x->depth] : 0, end = num_add(start, width[i]);
		struct region b = { .pid = x->depth,
			.start = to_ticks(q, start),
			.length = num_sub(to_ticks(q, end), to_ticks(q, start)),
			.name = view_name(q, x->kept),
			.op = true };
		while (next.n < (size_t)x->depth + 2)
			VEC_PUSH(a, &next, 0);
		next.v[x->depth] = end;
		next.v[x->depth + 1] = start;
		if (x->depth == named) {
			t->text.n = 0;
			sb_fmt(&t->text, "Scope:%u", named++);
			trace_process(t, sb_str(&t->text), x->depth);
		}
		trace_region(t, &b);
		i++;
	}
}

bool timeline_tree(const struct result *r, struct emit *to, struct err *e)
{
	int64_t *width = find_widths(r, to->notes);
	struct trace_writer t;

	if (!trace_open(&t, r->q, e))
		return false;
	t.parts = model_ticks(r->q->m);
	put_entries(&t, r, width);
	return trace_close(&t, to, e);
}
