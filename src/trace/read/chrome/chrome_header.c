/* SPDX-License-Identifier: Apache-2.0
 *
 * Data of the file outside of its events: rank, origin of time, device models, names of processes
 * and threads.
 */
#include "trace/read/chrome/chrome_json.h"

static bool read_int(struct json_in *j, int64_t *out)
{
	struct json_value v;

	if (!json_in_scalar(j, &v))
		return false;
	if (v.type > JSON_ARRAY)
		json_decimal(v.text, 0, out);
	return true;
}

/* Reads the member distributedInfo. */
static bool read_rank(struct chrome *c)
{
	struct json_in *j = &c->json;
	struct str key;

	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);) {
		if (!(str_eq(key, S("rank"))               ? read_int(j, &c->rank)
		            : str_eq(key, S("world_size")) ? read_int(j, &c->world)
		                                           : json_in_skip(j)))
			return false;
	}
	return j->stop == JSON_STOP_NONE;
}

static bool read_device(struct chrome *c)
{
	struct chrome_device made = { .id = -1, .model = ID_NONE };
	struct json_in *j = &c->json;
	struct json_value v;
	struct str key;

	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);) {
		if (str_eq(key, S("id"))) {
			if (!read_int(j, &made.id))
				return false;
		} else if (str_eq(key, S("totalGlobalMem"))) {
			if (!read_int(j, &made.memory))
				return false;
		} else if (str_eq(key, S("numSms"))) {
			if (!read_int(j, &made.multiprocessors))
				return false;
		} else if (str_eq(key, S("name")) && json_in_peek(j) == '"') {
			if (!json_in_value(j, &v))
				return false;
			made.model = build_string(c->b, json_in_text(j, &v, &c->text));
		} else if (!json_in_skip(j)) {
			return false;
		}
	}
	if (j->stop == JSON_STOP_NONE)
		VEC_PUSH(c->a, &c->devices, made);
	return j->stop == JSON_STOP_NONE;
}

/* Reads the member deviceProperties. */
static bool read_devices(struct chrome *c)
{
	struct json_in *j = &c->json;

	if (json_in_peek(j) != '[')
		return json_in_skip(j);
	c->devices.n = 0;
	for (json_in_enter(j); json_in_element(j);)
		if (!read_device(c))
			return false;
	if (c->devices.n)
		build_lists_devices(c->b);
	return j->stop == JSON_STOP_NONE;
}

bool chrome_header(struct chrome *c, struct str key)
{
	int64_t base = 0;

	c->text.n = 0;
	if (str_eq(key, S("schemaVersion"))) {
		c->kineto = true;
		if (!read_int(&c->json, &base))
			return false;
		build_producer(c->b, str_fmt(c->a, "Kineto, schema %lld", (long long)base));
		return true;
	} else if (str_eq(key, S("distributedInfo"))) {
		return read_rank(c);
	} else if (str_eq(key, S("deviceProperties"))) {
		return read_devices(c);
	} else if (str_eq(key, S("baseTimeNanoseconds"))) {
		if (!read_int(&c->json, &base))
			return false;
		build_origin(c->b, base, true);
		return true;
	}
	return json_in_skip(&c->json);
}

static void name_threads(struct chrome *c, const struct chrome_label *l)
{
	char buffer[PLACE_KEY_MAX];

	for (const char *kind = "tdo"; *kind; kind++) {
		uint32_t i =
		        intern_find(&c->tracks, chrome_place_key(buffer, *kind, l->pid, l->tid));
		if (i != ID_NONE && build_track_at(c->b, c->track.v[i].track)->name == ID_NONE)
			build_track_at(c->b, c->track.v[i].track)->name = l->name;
	}
}

/* Assigns the devices to the process that launches their work, because this process defines the
 * device numbers. */
static void adopt_devices(struct chrome *c)
{
	const struct trace *t = build_trace(c->b);

	if (c->launches == ID_NONE)
		return;
	for (uint32_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].device != ID_NONE)
			build_track_at(c->b, i)->process = c->launches;
	for (uint32_t i = 0; i < t->devices.n; i++)
		build_device_at(c->b, i)->process = c->launches;
}

/* Adds the devices that have memory, but no work in the file. */
static void add_memory_devices(struct chrome *c)
{
	for (size_t i = 0; i < c->memory_devices.n; i++)
		build_device(c->b, ID_NONE, DEVICE_KIND_GPU, c->memory_devices.v[i],
		        str_fmt(c->a, "gpu:%lld", (long long)c->memory_devices.v[i]));
}

/* True if all devices that the file describes are of one model. Then a device of the program that
 * has another number is of this model, too: a program sees its devices under numbers of its own. */
static bool has_one_model(const struct chrome *c)
{
	for (size_t d = 1; d < c->devices.n; d++)
		if (c->devices.v[d].model != c->devices.v[0].model ||
		        c->devices.v[d].multiprocessors != c->devices.v[0].multiprocessors)
			return false;
	return c->devices.n > 0;
}

static void describe_devices(struct chrome *c)
{
	bool one = has_one_model(c);

	for (uint32_t i = 0; i < build_trace(c->b)->devices.n; i++)
		for (size_t d = 0; d < c->devices.n; d++) {
			struct trace_device *device = build_device_at(c->b, i);
			const struct chrome_device *known = &c->devices.v[d];
			bool same = device->index == known->id;
			if (!same && !(one && device->kind == DEVICE_KIND_GPU))
				continue;
			device->model = known->model;
			device->multiprocessors = known->multiprocessors;
			device->memory = same ? known->memory : device->memory;
		}
}

void chrome_emit_end(struct chrome *c)
{
	if (c->dialect)
		c->dialect->end(c);
	for (size_t i = 0; i < c->labels.n; i++) {
		const struct chrome_label *l = &c->labels.v[i];
		uint32_t p = intern_find(&c->processes, l->pid);
		if (l->thread)
			name_threads(c, l);
		else if (p != ID_NONE)
			build_process_at(c->b, c->process.v[p])->name = l->name;
	}
	for (size_t i = 0; i < c->process.n && !c->own; i++) {
		build_process_at(c->b, c->process.v[i])->rank = c->rank;
		build_process_at(c->b, c->process.v[i])->world = c->world;
	}
	if (!c->own)
		add_memory_devices(c);
	adopt_devices(c);
	describe_devices(c);
	build_start(c->b,
	        c->dialect  ? c->dialect->source
	        : c->own    ? c->own_source
	        : c->kineto ? TRACE_KINETO
	                    : TRACE_PLAIN,
	        c->ticks);
}
