/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds events to the trace: the category and track of an event, and the arguments to keep. GPU work
 * goes to the stream named in its arguments; everything else to its thread, whatever its arguments
 * are.
 */
#include "trace/chrome_json.h"

#define STEP_NAME   "ProfilerStep#"
#define MODULE_NAME "nn.Module: "
#define MEMORY_NAME "[memory]"

/* Categories of PyTorch in lower case, and of tfprof's timelines. */
static const struct category_row category_rows[] = {
	{ "cpu_op", CATEGORY_OP, false, true, false },
	{ "operator", CATEGORY_OP, false, true, false },
	{ "user_annotation", CATEGORY_ANNOTATION, false, true, false },
	{ "python_function", CATEGORY_FRAME, false, true, false },
	{ "cuda_runtime", CATEGORY_CALL, false, true, false },
	{ "cuda_driver", CATEGORY_CALL, false, true, false },
	{ "runtime", CATEGORY_CALL, false, true, false },
	{ "xpu_runtime", CATEGORY_CALL, false, true, false },
	{ "mtia_runtime", CATEGORY_CALL, false, true, false },
	{ "privateuse1_runtime", CATEGORY_CALL, false, true, false },
	{ "privateuse1_driver", CATEGORY_CALL, false, true, false },
	{ "kernel", CATEGORY_KERNEL, true, true, false },
	{ "gpu_memcpy", CATEGORY_COPY, true, true, false },
	{ "memcpy", CATEGORY_COPY, true, true, false },
	{ "gpu_memset", CATEGORY_SET, true, true, false },
	{ "memset", CATEGORY_SET, true, true, false },
	{ "gpu_user_annotation", CATEGORY_ANNOTATION, true, true, false },
	{ "cuda_sync", CATEGORY_SYNC, true, true, false },
	{ "overhead", CATEGORY_OVERHEAD, false, true, false },
	{ "cuda_profiler_range", CATEGORY_OTHER, false, true, false },
	{ "cpu_instant_event", CATEGORY_OTHER, false, true, false },
	{ "trace", CATEGORY_OTHER, false, true, false },
};
static const struct category_row plain_category = { "", CATEGORY_OP, false, false, false };
static const struct category_row other_category = { "", CATEGORY_OTHER, false, false, false };

static const struct category_row *find_category(struct chrome *c, const struct chrome_event *v)
{
	struct str s = v->key[KEY_CAT].text;

	if (c->own) {
		c->own_category.category = chrome_own_category(event_text(v, KEY_CAT));
		return &c->own_category;
	}
	if (event_has(v, KEY_CAT) && v->key[KEY_CAT].type == JSON_STRING)
		for (size_t i = 0; i < sizeof category_rows / sizeof *category_rows; i++)
			if (str_eq_lower(s, category_rows[i].name)) {
				c->kineto |= category_rows[i].kineto;
				return &category_rows[i];
			}
	return c->kineto ? &other_category : &plain_category;
}

bool chrome_number(struct chrome *c, const struct json_value *v, unsigned decimals, int64_t *out)
{
	enum json_number how = JSON_NUMBER_NONE;

	*out = 0;
	if (v->type == JSON_NUMBER || v->type == JSON_STRING)
		how = json_decimal(v->text, decimals, out);
	if (how == JSON_NUMBER_OVERFLOW) {
		chrome_flaw(c, FLAW_OVERFLOW, v->text.p);
		*out = 0;
	}
	return how == JSON_NUMBER_GOOD;
}

static bool arg_int(struct chrome *c, const struct chrome_event *v, unsigned row, int64_t *out)
{
	*out = 0;
	return event_has_arg(v, row) && chrome_number(c, &v->arg[row], 0, out);
}

struct str chrome_text(struct chrome *c, const struct json_value *v)
{
	return v->type == JSON_STRING ? json_in_text(&c->json, v, &c->text) : v->text;
}

/* ---- processes and tracks ---- */

/* Finds or adds the process with this name. */
static uint32_t find_process(struct chrome *c, const struct chrome_event *v)
{
	struct str text = event_text(v, KEY_PID);
	size_t before = c->processes.n;
	uint32_t i = intern_add(&c->processes, text);
	int64_t pid = 0;

	if (c->processes.n != before) {
		bool number = !event_has(v, KEY_PID) || chrome_number(c, &v->key[KEY_PID], 0, &pid);
		VEC_PUSH(c->a, &c->process,
		        number ? build_process(c->b, pid)
		               : build_process_named(c->b, chrome_text(c, &v->key[KEY_PID])));
	}
	return c->process.v[i];
}

/* Returns the digits at the end of "stream 7". */
static bool trailing_number(struct str s, int64_t *out)
{
	size_t i = str_stem(s);

	return i < s.n && json_decimal(str_sub(s, i, s.n), 0, out) == JSON_NUMBER_GOOD;
}

static uint32_t add_stream(struct chrome *c, const struct chrome_event *v)
{
	int64_t device, stream;
	uint32_t d;

	if (!arg_int(c, v, CARG_DEVICE, &device) && event_has(v, KEY_PID))
		chrome_number(c, &v->key[KEY_PID], 0, &device);
	if (!arg_int(c, v, CARG_STREAM, &stream) && event_has(v, KEY_TID) &&
	        !chrome_number(c, &v->key[KEY_TID], 0, &stream))
		trailing_number(v->key[KEY_TID].text, &stream);
	d = build_device(c->b, ID_NONE, DEVICE_KIND_GPU, device,
	        str_fmt(c->a, "gpu:%lld", (long long)device));
	return build_track(c->b, ID_NONE, d, TRACK_STREAM, stream);
}

static uint32_t add_thread(struct chrome *c, const struct chrome_event *v, uint32_t process)
{
	int64_t tid = 0;

	if (!event_has(v, KEY_TID) || chrome_number(c, &v->key[KEY_TID], 0, &tid))
		return build_track(c->b, process, ID_NONE, TRACK_THREAD, tid);
	return build_track_named(
	        c->b, process, ID_NONE, TRACK_THREAD, chrome_text(c, &v->key[KEY_TID]));
}

/* Returns an unambiguous key of two texts. */
struct str chrome_place_key(
        char buffer[static PLACE_KEY_MAX], char kind, struct str a, struct str b)
{
	size_t n = 0;

	buffer[n++] = kind;
	if (a.n > 100)
		a.n = 100;
	if (b.n > 100)
		b.n = 100;
	if (a.n)
		memcpy(buffer + n, a.p, a.n);
	n += a.n;
	buffer[n++] = '\n';
	if (b.n)
		memcpy(buffer + n, b.p, b.n);
	return str_make(buffer, n + b.n);
}

uint32_t chrome_track(struct chrome *c, const struct chrome_event *v, bool device)
{
	char buffer[PLACE_KEY_MAX];
	struct str key;
	size_t before = c->tracks.n;
	uint32_t i;

	if (c->own) {
		i = intern_find(&c->tracks, chrome_place_key(buffer, 'o', event_text(v, KEY_PID),
		                                    event_text(v, KEY_TID)));
		if (i != ID_NONE)
			return i;
	}
	if (device)
		key = chrome_place_key(buffer, 'd',
		        event_has_arg(v, CARG_DEVICE) ? v->arg[CARG_DEVICE].text
		                                      : event_text(v, KEY_PID),
		        event_has_arg(v, CARG_STREAM) ? v->arg[CARG_STREAM].text
		                                      : event_text(v, KEY_TID));
	else
		key = chrome_place_key(buffer, 't', event_text(v, KEY_PID), event_text(v, KEY_TID));
	i = intern_add(&c->tracks, key);
	if (c->tracks.n != before) {
		struct chrome_track made = { .process = device ? ID_NONE : find_process(c, v) };
		made.track = device ? add_stream(c, v) : add_thread(c, v, made.process);
		VEC_PUSH(c->a, &c->track, made);
	}
	return i;
}

/* ---- arguments ---- */

/* Returns the JSON of a list without the blanks outside of its strings, or only its numbers. */
static struct str compact(struct chrome *c, struct str s, bool numbers)
{
	char *begin = sb_room(&c->text, s.n), *to = begin;
	bool in_string = false;

	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		bool bracket = ch == '[' || ch == ']';
		in_string ^= ch == '"' && (i == 0 || s.p[i - 1] != '\\');
		*to = ch;
		to += in_string || ((uint8_t)ch > ' ' && !(numbers && bracket));
	}
	c->text.n += (size_t)(to - begin);
	return str_make(begin, (size_t)(to - begin));
}

/* Writes a call stack with the outermost frame first, one frame per line. */
static struct str outermost_first(struct chrome *c, struct str s)
{
	size_t begin = c->text.n;

	while (s.n) {
		size_t cut = str_rfind_char(s, ';');
		struct str frame = cut == SIZE_MAX ? s : str_sub(s, cut + 1, s.n);
		if (c->text.n > begin)
			sb_char(&c->text, '\n');
		sb_put(&c->text, frame);
		s.n = cut == SIZE_MAX ? 0 : cut;
	}
	return str_make(c->text.p + begin, c->text.n - begin);
}

static void put_arg(struct chrome *c, const struct chrome_event *v, unsigned row)
{
	const struct argument_row *r = &argument_rows[row];
	const struct json_value *a = &v->arg[row];
	int64_t i;

	switch (r->form) {
	case FORM_NONE: break;
	case FORM_INT:
		if (chrome_number(c, a, 0, &i))
			build_arg_int(c->b, r->key, i);
		break;
	case FORM_TEXT:
	case FORM_NUMBERS:
		build_arg_text(c->b, r->key,
		        a->type == JSON_STRING ? chrome_text(c, a)
		                               : compact(c, a->text, r->form == FORM_NUMBERS));
		break;
	case FORM_STACK: {
		struct str copy = str_copy(c->a, chrome_text(c, a));
		build_arg_text(c->b, r->key, outermost_first(c, copy));
		break;
	}
	}
}

/* Adds the arguments that the slices of an event share, or the arguments of one slice. */
static void put_args(struct chrome *c, const struct chrome_event *v, bool own)
{
	uint64_t rest = v->args & c->wanted & ~(((uint64_t)1 << CARG_OTHERS) - 1);

	for (; rest; rest &= rest - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rest);
		if (argument_rows[row].own == own &&
		        (c->own || row + CHROME_OWN_ROWS < n_argument_rows))
			put_arg(c, v, row);
	}
}

/* ---- events ---- */

static bool is_named(struct str name, const char *begins)
{
	return str_starts(name, str_of(begins));
}

/* Refines a category by the name of the event. */
static enum trace_category category_of(const struct category_row *r, struct str name)
{
	if (r->device || r->exact)
		return r->category;
	if (r->category == CATEGORY_FRAME && is_named(name, MODULE_NAME))
		return CATEGORY_MODULE;
	if ((r->category == CATEGORY_ANNOTATION || r->category == CATEGORY_OP) &&
	        is_named(name, STEP_NAME))
		return CATEGORY_STEP;
	return r->category;
}

/* Adds the trace's event with the arguments common to all its slices. */
static uint32_t make_event(
        struct chrome *c, const struct chrome_event *v, const struct category_row *r, bool instant)
{
	struct str name = event_has(v, KEY_NAME) ? chrome_text(c, &v->key[KEY_NAME]) : S("");
	enum trace_category category = category_of(r, name);
	uint32_t id = build_string(c->b, name);
	int64_t step;

	if (instant && !r->exact && str_eq(name, S(MEMORY_NAME)))
		category = CATEGORY_ALLOCATION;
	if (category == CATEGORY_STEP && build_wants(c->b, ARG_STEP) &&
	        trailing_number(name, &step))
		build_arg_int(c->b, ARG_STEP, step);
	put_args(c, v, false);
	if (c->calls)
		chrome_join(c, v, false);
	return build_event(c->b, category, id);
}

/* Reads the time of an event; false, and counted, if it has none. */
static bool time_of(struct chrome *c, const struct chrome_event *v, int64_t *ts)
{
	if (event_has(v, KEY_TS) && chrome_number(c, &v->key[KEY_TS], c->decimals, ts))
		return true;
	chrome_flaw(c, FLAW_TIMELESS, c->json.p - 1);
	return false;
}

static void emit_slice(struct chrome *c, const struct chrome_event *v)
{
	const struct category_row *r = find_category(c, v);
	int64_t ts, dur = 0, correlation = 0;
	uint32_t event, i;

	if (!time_of(c, v, &ts))
		return;
	if (event_has(v, KEY_DUR))
		chrome_number(c, &v->key[KEY_DUR], c->decimals, &dur);
	if (dur < 0) {
		chrome_flaw(c, FLAW_NEGATIVE, v->key[KEY_DUR].text.p);
		dur = 0;
	}
	if (c->dialect && c->dialect->take(c, v, ts, dur)) {
		c->events++;
		return;
	}
	i = chrome_track(c, v, r->device);
	event = make_event(c, v, r, false);
	if (r->device || r->exact || r->category == CATEGORY_CALL)
		arg_int(c, v, CARG_CORRELATION, &correlation);
	if (r->category == CATEGORY_CALL && !r->exact && c->launches == ID_NONE)
		c->launches = c->track.v[i].process;
	put_args(c, v, true);
	if (c->calls)
		chrome_join(c, v, true);
	build_slice(c->b, c->track.v[i].track, event, ts, dur, correlation);
	c->events++;
}

static void emit_instant(struct chrome *c, const struct chrome_event *v)
{
	const struct category_row *r = find_category(c, v);
	uint32_t i, event;
	int64_t ts;

	if (!time_of(c, v, &ts))
		return;
	i = chrome_track(c, v, r->device);
	event = make_event(
	        c, v, r->category == CATEGORY_OP && !r->exact ? &other_category : r, true);
	put_args(c, v, true);
	build_instant(c->b, c->track.v[i].track, event, ts, 0);
	c->events++;
}

/* Returns the track of a begin/end pair: the thread, or for an asynchronous pair its id. */
static uint32_t pair_track(struct chrome *c, const struct chrome_event *v, bool async, bool device)
{
	struct str id;
	uint32_t i;

	if (!async || !event_has(v, KEY_ID)) {
		i = chrome_track(c, v, device);
		return c->track.v[i].track;
	}
	id = str_fmt(c->a, "%.*s %.*s", STR(event_text(v, KEY_CAT)), STR(event_text(v, KEY_ID)));
	return build_track_named(c->b, find_process(c, v), ID_NONE, TRACK_THREAD, id);
}

static void emit_begin(struct chrome *c, const struct chrome_event *v, bool async)
{
	const struct category_row *r = find_category(c, v);
	uint32_t track, event;
	int64_t ts;

	if (!time_of(c, v, &ts))
		return;
	track = pair_track(c, v, async, r->device);
	event = make_event(c, v, r, false);
	put_args(c, v, true);
	build_begin(c->b, track, event, ts, 0);
	c->events++;
}

static void emit_end(struct chrome *c, const struct chrome_event *v, bool async)
{
	const struct category_row *r = find_category(c, v);
	int64_t ts;

	if (!time_of(c, v, &ts))
		return;
	build_end(c->b, pair_track(c, v, async, r->device), ts);
}

/* Each member of the arguments is a separate series. */
static void emit_counter(struct chrome *c, const struct chrome_event *v)
{
	struct json_in *j = &c->json;
	const char *end = j->p;
	struct json_value value;
	struct str key, name;
	uint32_t process, event;
	int64_t ts, n;

	if (!v->args_at || !time_of(c, v, &ts))
		return;
	process = find_process(c, v);
	name = event_has(v, KEY_NAME) ? str_copy(c->a, chrome_text(c, &v->key[KEY_NAME])) : S("");
	event = build_event(c->b, CATEGORY_OTHER, build_string(c->b, name));
	for (j->p = v->args_at, json_in_enter(j);
	        json_in_member(j, &key) && json_in_value(j, &value) && value.type > JSON_ARRAY;) {
		if (value.type != JSON_NUMBER || !chrome_number(c, &value, 0, &n))
			continue;
		build_sample(c->b,
		        build_track_named(c->b, process, ID_NONE, TRACK_COUNTER,
		                str_fmt(c->a, "%.*s %.*s", STR(name), STR(key))),
		        event, ts, n);
	}
	j->p = end;
	j->stop = JSON_STOP_NONE;
	c->events++;
}

/* Stores the name of a process or a thread. */
static void emit_label(struct chrome *c, const struct chrome_event *v)
{
	struct str what = event_text(v, KEY_NAME);
	bool thread = str_eq(what, S("thread_name"));
	struct chrome_label made = { .thread = thread };

	if (str_starts(what, S("tfprof_"))) {
		chrome_own_event(c, v);
		return;
	}
	if ((!thread && !str_eq(what, S("process_name"))) || !event_has_arg(v, CARG_NAME))
		return;
	made.pid = str_copy(c->a, event_text(v, KEY_PID));
	made.tid = str_copy(c->a, event_text(v, KEY_TID));
	made.name = build_string(c->b, chrome_text(c, &v->arg[CARG_NAME]));
	VEC_PUSH(c->a, &c->labels, made);
	c->events++;
}

/* Counts an event of a phase that is not used. Flows repeat the correlations. */
static void skip_event(struct chrome *c, struct str ph)
{
	c->events += ph.n > 0;
	c->skipped[ph.n == 1 && (uint8_t)*ph.p < 128 ? (uint8_t)*ph.p : 0]++;
}

void chrome_emit(struct chrome *c, const struct chrome_event *v)
{
	struct str ph = event_text(v, KEY_PH);

	c->text.n = 0;
	switch (ph.n == 1 ? *ph.p : 0) {
	case 'X': emit_slice(c, v); break;
	case 'B': emit_begin(c, v, false); break;
	case 'E': emit_end(c, v, false); break;
	case 'b': emit_begin(c, v, true); break;
	case 'e': emit_end(c, v, true); break;
	case 'i':
	case 'I':
	case 'R':
	case 'n': emit_instant(c, v); break;
	case 'C': emit_counter(c, v); break;
	case 'M': emit_label(c, v); break;
	default: skip_event(c, ph);
	}
}
