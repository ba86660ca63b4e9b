/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds events to the trace: the category and track of an event, and the arguments to keep.
 */
#include "trace/read/chrome/chrome_json.h"

#define MEMORY_DEVICES_MAX 1024 /* maximum number of devices with memory allocations */

/* ---- events ---- */

/* Reads the time of an event. Returns false for an event without a time, and counts the event. */
static bool time_of(struct chrome *c, const struct chrome_event *v, int64_t *ts)
{
	if (event_has(v, KEY_TS) && chrome_number(c, &v->key[KEY_TS], c->decimals, ts))
		return true;
	chrome_flaw(c, FLAW_TIMELESS, c->json.p - 1);
	return false;
}

/* Counts an event of a category that PyTorch writes but tfprof does not interpret, such as work of
 * an accelerator without a reader of its own. */
static void count_other(struct chrome *c, const struct chrome_event *v)
{
	size_t before = c->other_names.n;
	uint32_t i = intern_add(&c->other_names, event_text(v, KEY_CAT));

	if (c->other_names.n != before)
		VEC_PUSH(c->a, &c->other_counts, 0);
	c->other_counts.v[i]++;
}

/* Adds the region of a kernel of a graph. PyTorch writes the annotation that the program gave to
 * the node (torch.cuda.graph_annotations) into the arguments. */
static void put_region(struct chrome *c, const struct chrome_event *v, const struct category_row *r)
{
	int64_t node;

	if (r->device && event_has_arg(v, CARG_NAME) && chrome_arg_of(c, v, ARG_GRAPH_NODE, &node))
		build_arg_text(c->b, ARG_REGION, chrome_text(c, &v->arg[CARG_NAME]));
}

static void emit_slice(struct chrome *c, const struct chrome_event *v)
{
	int64_t ts, dur = 0, correlation = 0;
	const struct category_row *r;
	struct chrome_kind *kind;
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
	kind = chrome_kind(c, v, false);
	r = &kind->row;
	if (r->category == CATEGORY_OTHER && !r->kineto && !r->exact && event_has(v, KEY_CAT))
		count_other(c, v);
	i = chrome_track(c, v, r->device);
	event = chrome_kind_event(c, v, kind);
	if (r->device || r->exact || r->category == CATEGORY_CALL)
		chrome_arg_int(c, v, CARG_CORRELATION, &correlation);
	if (r->category == CATEGORY_CALL && !r->exact && c->launches == ID_NONE)
		c->launches = c->track.v[i].process;
	chrome_put_args(c, v, true);
	put_region(c, v, r);
	if (c->calls)
		chrome_join(c, v, true);
	build_slice(c->b, c->track.v[i].track, event, ts, dur, correlation);
	c->events++;
}

/* Stores the number of the device whose memory an event allocates. */
static void add_memory_device(struct chrome *c, const struct chrome_event *v)
{
	int64_t kind, device;

	if (!chrome_arg_of(c, v, ARG_MEMORY_KIND, &kind) || kind == 0 ||
	        !chrome_arg_of(c, v, ARG_DEVICE, &device) || device < 0)
		return;
	for (size_t i = 0; i < c->memory_devices.n; i++)
		if (c->memory_devices.v[i] == device)
			return;
	if (c->memory_devices.n < MEMORY_DEVICES_MAX)
		VEC_PUSH(c->a, &c->memory_devices, device);
}

static void emit_instant(struct chrome *c, const struct chrome_event *v)
{
	struct chrome_kind *kind;
	uint32_t i, event;
	int64_t ts;

	if (!time_of(c, v, &ts))
		return;
	kind = chrome_kind(c, v, true);
	i = chrome_track(c, v, kind->row.device);
	event = chrome_kind_event(c, v, kind);
	if (build_trace(c->b)->events.v[event].category == CATEGORY_ALLOCATION)
		add_memory_device(c, v);
	chrome_put_args(c, v, true);
	build_instant(c->b, c->track.v[i].track, event, ts, 0);
	c->events++;
}

/* Returns the track of a begin/end pair: its thread or, for an asynchronous pair, the track of its
 * id. */
static uint32_t pair_track(struct chrome *c, const struct chrome_event *v, bool async, bool device)
{
	struct str id;
	uint32_t i;

	if (!async || !event_has(v, KEY_ID)) {
		i = chrome_track(c, v, device);
		return c->track.v[i].track;
	}
	id = str_fmt(c->a, "%.*s %.*s", STR(event_text(v, KEY_CAT)), STR(event_text(v, KEY_ID)));
	return build_track_named(c->b, chrome_process(c, v), ID_NONE, TRACK_THREAD, id);
}

static void emit_begin(struct chrome *c, const struct chrome_event *v, bool async)
{
	struct chrome_kind *kind;
	uint32_t track, event;
	int64_t ts;

	if (!time_of(c, v, &ts))
		return;
	kind = chrome_kind(c, v, false);
	track = pair_track(c, v, async, kind->row.device);
	event = chrome_kind_event(c, v, kind);
	chrome_put_args(c, v, true);
	build_begin(c->b, track, event, ts, 0);
	c->events++;
}

static void emit_end(struct chrome *c, const struct chrome_event *v, bool async)
{
	int64_t ts;

	if (time_of(c, v, &ts))
		build_end(c->b, pair_track(c, v, async, chrome_kind(c, v, false)->row.device), ts);
}

/* Adds a counter. Each member of the arguments is a separate series. */
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
	process = chrome_process(c, v);
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

/* Counts an event with an unused phase. Flows are not needed, because they repeat the
 * correlations. */
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
