/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes and tracks of events. GPU work goes to the stream named in its arguments; everything
 * else to its thread, whatever its arguments are. In a timeline that tfprof wrote, metadata events
 * say which track a pid and a tid are, and categories have our names.
 */
#include "trace/read/chrome/chrome_json.h"

/* ---- processes and tracks ---- */

uint32_t chrome_process(struct chrome *c, const struct chrome_event *v)
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

static uint32_t add_stream(struct chrome *c, const struct chrome_event *v)
{
	int64_t device, stream;
	uint32_t d;

	if (!chrome_arg_int(c, v, CARG_DEVICE, &device) && event_has(v, KEY_PID))
		chrome_number(c, &v->key[KEY_PID], 0, &device);
	if (!chrome_arg_int(c, v, CARG_STREAM, &stream) && event_has(v, KEY_TID) &&
	        !chrome_number(c, &v->key[KEY_TID], 0, &stream))
		chrome_trailing_number(v->key[KEY_TID].text, &stream);
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
	i = c->last_track[device];
	if (i < before && str_eq(intern_str(&c->tracks, i), key))
		return i;
	i = c->last_track[device] = intern_add(&c->tracks, key);
	if (c->tracks.n != before) {
		struct chrome_track made = { .process = device ? ID_NONE : chrome_process(c, v) };
		made.track = device ? add_stream(c, v) : add_thread(c, v, made.process);
		VEC_PUSH(c->a, &c->track, made);
	}
	return i;
}

/* ---- our own timelines ---- */

enum own_field {
	OWN_SOURCE,
	OWN_TICKS,
	OWN_ORIGIN,
	OWN_RANK,
	OWN_WORLD,
	OWN_KIND,
	OWN_CLOCK,
	OWN_DERIVED,
	OWN_ID,
	OWN_PROCESS,
	OWN_DEVICE_KIND,
	OWN_INDEX,
	OWN_OWNER,
	OWN_DEVICE, /* text arguments start here */
	OWN_NAME,
	OWN_N
};
static const char *const own_names[OWN_N] = { "source", "ticks_per_us", "origin_ns", "rank",
	"world", "kind", "clock", "derived", "id", "process", "device_kind", "index", "owner",
	"device", "name" };

struct own {
	unsigned have;
	int64_t number[OWN_N];
	struct str text[OWN_N];
};

/* Reads the arguments of the event, and then returns the cursor to its position. */
static void read_fields(struct chrome *c, const struct chrome_event *v, struct own *o)
{
	struct json_in *j = &c->json;
	const char *end = j->p;
	struct json_value value;
	struct str key;

	*o = (struct own){ .have = 0 };
	if (!v->args_at)
		return;
	for (j->p = v->args_at, json_in_enter(j);
	        json_in_member(j, &key) && json_in_value(j, &value) && value.type > JSON_ARRAY;)
		for (unsigned f = 0; f < OWN_N; f++) {
			if (!str_eq(key, str_of(own_names[f])))
				continue;
			if (f < OWN_DEVICE && json_decimal(value.text, 0, &o->number[f]))
				continue;
			o->text[f] = f < OWN_DEVICE
			                     ? STR_NONE
			                     : str_copy(c->a, json_in_text(j, &value, &c->text));
			o->have |= 1u << f;
		}
	j->p = end;
	j->stop = JSON_STOP_NONE;
}

static bool has(const struct own *o, enum own_field f)
{
	return o->have >> f & 1;
}

/* Returns a number if it is one of n values, otherwise 0. */
static unsigned choice(const struct own *o, enum own_field f, unsigned n)
{
	return has(o, f) && o->number[f] >= 0 && o->number[f] < (int64_t)n ? (unsigned)o->number[f]
	                                                                   : 0;
}

static uint32_t owner(struct chrome *c, const struct own *o, enum own_field f)
{
	return has(o, f) ? build_process(c->b, o->number[f]) : ID_NONE;
}

static void own_track(struct chrome *c, const struct chrome_event *v, const struct own *o)
{
	enum trace_track_kind kind = choice(o, OWN_KIND, TRACK_COUNTER + 1);
	uint32_t process = owner(c, o, OWN_PROCESS), device = ID_NONE, track, i;
	char buffer[PLACE_KEY_MAX];
	size_t before = c->tracks.n;

	if (has(o, OWN_DEVICE))
		device = build_device(c->b, owner(c, o, OWN_OWNER),
		        choice(o, OWN_DEVICE_KIND, DEVICE_KIND_OTHER + 1), o->number[OWN_INDEX],
		        o->text[OWN_DEVICE]);
	track = has(o, OWN_NAME) && !o->number[OWN_ID]
	                ? build_track_named(c->b, process, device, kind, o->text[OWN_NAME])
	                : build_track(c->b, process, device, kind, o->number[OWN_ID]);
	build_track_at(c->b, track)->derived = o->number[OWN_DERIVED] != 0;
	build_track_at(c->b, track)->clock = choice(o, OWN_CLOCK, CLOCK_DEVICE + 1);
	if (has(o, OWN_NAME))
		build_track_at(c->b, track)->name = build_string(c->b, o->text[OWN_NAME]);
	i = intern_add(&c->tracks,
	        chrome_place_key(buffer, 'o', event_text(v, KEY_PID), event_text(v, KEY_TID)));
	if (c->tracks.n != before)
		VEC_PUSH(c->a, &c->track, ((struct chrome_track){ track, process }));
	else
		c->track.v[i] = (struct chrome_track){ track, process };
}

static void own_trace(struct chrome *c, const struct own *o)
{
	c->own = true;
	c->own_source = choice(o, OWN_SOURCE, TRACE_SOURCES);
	if (o->number[OWN_TICKS] == 1000000) {
		c->ticks = 1000000;
		c->decimals = 6;
	}
	build_origin(c->b, o->number[OWN_ORIGIN], true);
}

void chrome_own_event(struct chrome *c, const struct chrome_event *v)
{
	struct str what = event_text(v, KEY_NAME);
	struct own o;
	int64_t pid;

	read_fields(c, v, &o);
	if (str_eq(what, S("tfprof_trace"))) {
		own_trace(c, &o);
	} else if (str_eq(what, S("tfprof_track"))) {
		own_track(c, v, &o);
	} else if (str_eq(what, S("tfprof_process")) && event_has(v, KEY_PID) &&
	           json_decimal(v->key[KEY_PID].text, 0, &pid) == JSON_NUMBER_GOOD) {
		struct trace_process *p = build_process_at(c->b, build_process(c->b, pid));
		p->rank = o.number[OWN_RANK];
		p->world = o.number[OWN_WORLD];
	}
	c->events++;
}
