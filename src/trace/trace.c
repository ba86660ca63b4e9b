/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of categories and arguments, and functions that do not decode slices.
 */
#include "trace/trace.h"

#include "base/bits.h"
#include "base/sort.h"

#define CATEGORY(id, name, flags) [CATEGORY_##id] = (name),
const char *const trace_category_names[CATEGORY_N] = {
#include "trace/category.def"
};
#undef CATEGORY
#define CATEGORY(id, name, flags) [CATEGORY_##id] = (flags),
const unsigned trace_category_flags[CATEGORY_N] = {
#include "trace/category.def"
};
#undef CATEGORY
#define ARGUMENT(id, name, meaning) [ARG_##id] = (name),
const char *const argument_names[ARG_N] = {
#include "trace/argument.def"
};
#undef ARGUMENT
#define SOURCE(id, name, table, levels, flat, gaps, leaf) [TRACE_##id] = (name),
const char *const trace_source_names[TRACE_SOURCES] = {
#include "trace/source.def"
};
#undef SOURCE
#define SOURCE(id, name, table, levels, flat, gaps, leaf) [TRACE_##id] = (table),
const char *const trace_source_tables[TRACE_SOURCES] = {
#include "trace/source.def"
};
#undef SOURCE

const char *const trace_device_kinds[] = { "cpu", "gpu", "tpu", "other" };

struct trace *trace_new(struct arena *a)
{
	struct trace *t = ARENA_NEW(a, struct trace);

	t->a = a;
	t->ticks_per_us = 1000;
	t->producer = ID_NONE;
	intern_init(&t->strings, a);
	return t;
}

static void extend(struct trace_extent *x, int64_t start, int64_t end)
{
	x->start = !x->any || start < x->start ? start : x->start;
	x->end = !x->any || end > x->end ? end : x->end;
	x->any = true;
}

bool trace_span(const struct trace *t, int64_t *start, int64_t *end)
{
	struct trace_extent all = { .any = false };

	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n)
			extend(&all, t->tracks.v[i].start, t->tracks.v[i].end);
	*start = all.start;
	*end = all.end;
	return all.any;
}

void trace_window(const struct trace *t, int64_t *start, int64_t *end)
{
	struct trace_extent all = t->extent;

	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n && !t->tracks.v[i].derived)
			extend(&all, t->tracks.v[i].start, t->tracks.v[i].end);
	*start = all.start;
	*end = all.end;
}

/* ---- arguments ---- */

static inline bool take_argument(struct str *packed, struct argument *out)
{
	const uint8_t *p = (const uint8_t *)packed->p, *end; /* p is NULL if there are no
	                                                        arguments */
	uint64_t tag, v;

	if (!packed->n)
		return false;
	end = p + packed->n;
	tag = varint_take(&p);
	out->key = (uint32_t)(tag >> 2);
	out->type = (enum argument_type)(tag & 3);
	if (out->type == ARG_REAL) {
		v = le64_get(p);
		memcpy(&out->real, &v, sizeof v);
		p += 8;
	} else {
		v = varint_take(&p);
		if (out->type == ARG_INT)
			out->i = unzigzag(v);
		else if (out->type == ARG_UINT)
			out->u = v;
		else
			out->text = (uint32_t)v;
	}
	*packed = str_make(p, (size_t)(end - p));
	return true;
}

bool argument_next(struct str *packed, struct argument *out)
{
	return take_argument(packed, out);
}

uint64_t argument_keys(struct str packed)
{
	uint64_t keys = 0;

	for (struct argument a; take_argument(&packed, &a);)
		keys |= argument_bit(a.key);
	return keys;
}

bool argument_find(struct str packed, uint32_t key, struct argument *out)
{
	bool found = false;

	for (struct argument a; take_argument(&packed, &a);)
		if (a.key == key) {
			*out = a;
			found = true;
		}
	return found;
}

bool slice_argument(
        const struct trace *t, const struct slice *s, uint32_t key, struct argument *out)
{
	const struct trace_event *e = &t->events.v[s->event];
	uint64_t bit = argument_bit(key) & t->keys;

	return (s->keys & bit && argument_find(s->args, key, out)) ||
	       (e->keys & bit && argument_find(e->args, key, out));
}

bool argument_int(const struct trace *t, const struct argument *a, int64_t *out)
{
	switch (a->type) {
	case ARG_INT: *out = a->i; return true;
	case ARG_UINT: *out = num_from_u64(a->u); return true;
	case ARG_REAL: *out = num_from_real(a->real); return true;
	case ARG_TEXT: return num_parse_i64(trace_str(t, a->text), out);
	}
	return false;
}

bool slice_read_int(const struct trace *t, const struct slice *s, uint32_t key, int64_t *out)
{
	struct argument a;

	return slice_argument(t, s, key, &a) && argument_int(t, &a, out);
}

uint32_t slice_site(const struct trace *t, const struct slice *s)
{
	int64_t site;

	if (!slice_has_int(t, s, ARG_SITE, &site) || site < 1 || site > (int64_t)t->sites.n)
		return ID_NONE;
	return (uint32_t)(site - 1);
}

int slice_is_pageable(const struct trace *t, const struct slice *s)
{
	struct str name = trace_str(t, s->name);
	int64_t v;

	if (slice_has_int(t, s, ARG_PAGEABLE, &v))
		return v != 0;
	if (str_contains(name, S("Pageable")))
		return 1;
	return str_contains(name, S("Pinned")) ? 0 : -1;
}

enum copy_way slice_copy_way(const struct trace *t, const struct slice *s)
{
	/* as CUPTI, TensorFlow, HIP and rocprofv3 write them */
	static const char *const words[COPY_WAYS][4] = {
		[COPY_HTOD] = { "HtoD", "H2D", "HostToDevice", "HOST_TO_DEVICE" },
		[COPY_DTOH] = { "DtoH", "D2H", "DeviceToHost", "DEVICE_TO_HOST" },
		[COPY_DTOD] = { "DtoD", "D2D", "DeviceToDevice", "DEVICE_TO_DEVICE" },
		[COPY_PTOP] = { "PtoP", "P2P", "PeerToPeer", "PEER_TO_PEER" },
		[COPY_HTOH] = { "HtoH", "H2H", "HostToHost", "HOST_TO_HOST" },
	};
	struct str text = slice_text(t, s, ARG_COPY_WAY);

	if (!text.p)
		text = trace_str(t, s->name);
	for (enum copy_way way = 0; way < COPY_WAYS; way++)
		for (size_t i = 0; i < sizeof *words / sizeof **words; i++)
			if (str_contains(text, str_of(words[way][i])))
				return way;
	return COPY_WAYS;
}

bool slice_is_work(const struct trace *t, const struct slice *s)
{
	const struct trace_track *k = &t->tracks.v[s->track];

	return s->form == SLICE_COMPLETE && track_is_device(k) && !k->derived &&
	       trace_category_flags[s->category] & CATEGORY_WORK;
}

/* ---- order and names ---- */

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int64_t device_place(const struct trace *t, uint32_t device)
{
	return device == ID_NONE ? -1 : t->devices.v[device].index;
}

static int64_t process_place(const struct trace *t, uint32_t process)
{
	return process == ID_NONE ? INT64_MIN : t->processes.v[process].pid;
}

static int compare_tracks(const void *trace, uint32_t a, uint32_t b)
{
	const struct trace *t = trace;
	const struct trace_track *x = &t->tracks.v[a], *y = &t->tracks.v[b];
	int c = compare_i64(process_place(t, x->process), process_place(t, y->process));

	c = c ? c : compare_i64(device_place(t, x->device), device_place(t, y->device));
	c = c ? c : compare_i64(x->kind, y->kind);
	return c ? c : compare_i64(x->id, y->id);
}

uint32_t trace_key(const struct trace *t, const char *name)
{
	uint32_t id = intern_find(&t->strings, str_of(name));

	return id == ID_NONE ? ID_NONE : ARG_N + id;
}

uint32_t *trace_track_order(const struct trace *t, struct arena *a)
{
	return sort_order(a, t->tracks.n, compare_tracks, t);
}

struct str trace_device_label(const struct trace *t, uint32_t device, struct arena *a)
{
	const struct trace_device *d = &t->devices.v[device];
	struct str name = trace_str(t, d->name);
	const struct trace_process *p;
	bool shared = false;

	for (size_t i = 0; i < t->devices.n; i++)
		shared |= i != device && t->devices.v[i].name == d->name;
	if (!shared || d->process == ID_NONE)
		return name;
	p = &t->processes.v[d->process];
	if (p->rank >= 0)
		return str_fmt(a, "rank %lld %.*s", (long long)p->rank, STR(name));
	return str_fmt(a, "process %lld %.*s", (long long)p->pid, STR(name));
}

/* ---- times ---- */

static int64_t convert(int64_t ticks, int64_t to, int64_t from)
{
	int64_t small;

	if (to == from)
		return ticks;
	if (!__builtin_mul_overflow(ticks, to, &small)) /* avoids a slow division of 128 bits */
		return small / from - (small % from < 0);
	__int128 product = (__int128)ticks * to, q = product / from;
	q -= product % from < 0;
	return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

int64_t trace_ns(const struct trace *t, int64_t ticks)
{
	return convert(ticks, 1000, t->ticks_per_us);
}

int64_t trace_us(const struct trace *t, int64_t ticks)
{
	return convert(ticks, 1, t->ticks_per_us);
}
