/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of TensorBoard's trace viewer (*.trace.json.gz of JAX and TensorFlow 2), which are XSpaces
 * in JSON: processes are planes, threads are lines, and the arguments of events are stats. The
 * names of processes and threads come before the events. Device work lacks PyTorch's launch
 * arguments, so it is recognised by the names of its plane and line.
 */
#include "trace/read/chrome/chrome_json.h"
#include "trace/read/xspace/xspace_internal.h"

/* The track for a thread of the file. */
struct viewer_line {
	uint32_t track;
	enum xplane_kind plane;
	enum xline_role role;
};

struct viewer {
	struct xspace stats; /* used by functions that add arguments; only its builder is set */
	struct intern places;
	VEC(struct viewer_line) lines; /* indexed by number in places */
	size_t labels;                 /* number of names that were searched for lines of steps */
	bool has_steps;                /* true: some plane has a line of steps */
};

/* Facts about an event, from its arguments. */
struct viewer_event {
	enum trace_category program; /* category of a compiled op */
	bool compiled, copy, set, grouped, has_flops;
	int64_t model_flops; /* operations without those that the compiler added; used if the file
	                        has no others */
	int64_t correlation, step, offset, duration; /* -1: none */
	struct str op;                               /* framework op */
	struct str name, full;                       /* full: the long name, otherwise the name */
};

/* ---- lines ---- */

static uint32_t label_of(struct chrome *c, const struct chrome_event *v, bool thread)
{
	for (size_t i = c->labels.n; i-- > 0;) {
		const struct chrome_label *l = &c->labels.v[i];
		if (l->thread == thread && str_eq(l->pid, event_text(v, KEY_PID)) &&
		        (!thread || str_eq(l->tid, event_text(v, KEY_TID))))
			return l->name;
	}
	return ID_NONE;
}

static struct viewer_line add_line(struct chrome *c, const struct chrome_event *v)
{
	const struct trace *t = build_trace(c->b);
	struct str plane = trace_str(t, label_of(c, v, false));
	uint32_t name = label_of(c, v, true), process = build_process(c->b, 0), device = ID_NONE;
	struct viewer_line made = { .plane = xspace_plane_kind(plane) };
	enum trace_track_kind kind = TRACK_THREAD;
	int64_t index = 0, tid = 0;

	if (made.plane == XPLANE_TPU || made.plane == XPLANE_GPU) {
		num_parse_i64(str_sub(plane, str_stem(plane), SIZE_MAX), &index);
		device = build_device(c->b, process,
		        made.plane == XPLANE_TPU ? DEVICE_KIND_TPU : DEVICE_KIND_GPU, index, plane);
	}
	if (event_has(v, KEY_TID))
		chrome_number(c, &v->key[KEY_TID], 0, &tid);
	made.role = xspace_line_role(made.plane, trace_str(t, name), tid);
	if (device != ID_NONE)
		kind = made.role == XLINE_WORK && made.plane == XPLANE_GPU ? TRACK_STREAM
		                                                           : TRACK_LINE;
	if (made.plane == XPLANE_OTHER || made.plane == XPLANE_METADATA)
		made.track = build_track_named(c->b, process, ID_NONE, TRACK_LINE,
		        str_fmt(c->a, "%.*s %lld", STR(plane), (long long)tid));
	else
		made.track = build_track(c->b, process, device, kind, tid);
	struct trace_track *k = build_track_at(c->b, made.track);
	if (made.plane != XPLANE_OTHER && made.plane != XPLANE_METADATA)
		k->name = name;
	k->derived = made.role == XLINE_DERIVED || made.role == XLINE_STEPS;
	return made;
}

/* Returns the line of an event. */
static struct viewer_line line_of(struct viewer *x, struct chrome *c, const struct chrome_event *v)
{
	char buffer[PLACE_KEY_MAX];
	size_t before = x->places.n;
	uint32_t i = intern_add(&x->places,
	        chrome_place_key(buffer, 'v', event_text(v, KEY_PID), event_text(v, KEY_TID)));

	for (; x->labels < c->labels.n; x->labels++)
		x->has_steps |= str_eq(
		        trace_str(build_trace(c->b), c->labels.v[x->labels].name), S("Steps"));
	if (x->places.n != before)
		VEC_PUSH(c->a, &x->lines, add_line(c, v));
	return x->lines.v[i];
}

/* ---- arguments ---- */

static bool is_allocation(const struct viewer_event *e)
{
	return str_eq(e->name, S("MemoryAllocation")) || str_eq(e->name, S("MemoryDeallocation"));
}

/* Adds the framework op of device work and of allocations, unless the op is a whole program. */
static void put_op(struct trace_build *b, const struct viewer_line *l, const struct viewer_event *e)
{
	struct xop op = xspace_op(e->op);

	if (!e->op.n || (l->role != XLINE_WORK && !is_allocation(e)) ||
	        (e->compiled && str_starts(e->op, S("XlaModule:"))))
		return;
	build_arg_text(b, ARG_SCOPE, op.name);
	if (op.type.n)
		build_arg_text(b, ARG_OP_TYPE, op.type);
}

/* Reads an argument that all executions of an op share. */
static void take_shared(struct viewer *x, struct str key, const struct xstat_name *stat,
        struct str text, struct viewer_event *out)
{
	struct trace_build *b = x->stats.b;
	int64_t i;

	switch (stat->use) {
	case XSTAT_TF_OP:
	case XSTAT_LEVEL0:
	case XSTAT_ANNOTATION:
		if (out->op.n && stat->use == XSTAT_ANNOTATION)
			return;
		if (stat->use == XSTAT_ANNOTATION)
			text = str_sub(text, 0, str_find_char(text, '#'));
		out->op = trace_str(build_trace(b), build_string(b, text));
		return;
	case XSTAT_KERNEL_DETAILS: xspace_put_kernel(&x->stats, text); return;
	case XSTAT_COPY_DETAILS:
	case XSTAT_SET_DETAILS:
		*(stat->use == XSTAT_COPY_DETAILS ? &out->copy : &out->set) = true;
		xspace_put_bytes(&x->stats, text);
		return;
	case XSTAT_ARG: break;
	default:
		if (str_eq(key, S("long_name")) && text.n) {
			out->full = trace_str(build_trace(b), build_string(b, text));
			build_arg_text(b, ARG_LONG_NAME, out->full);
		} else if (str_eq(key, S("model_flops"))) {
			num_parse_i64(text, &out->model_flops);
		}
		return;
	}
	if (stat->key == ARG_OP_CATEGORY)
		out->program = xspace_program_category(text);
	out->has_flops |= stat->key == ARG_FLOPS;
	out->compiled |= stat->key == ARG_OP && text.n;
	if (num_parse_i64(text, &i))
		build_arg_int(b, stat->key, i);
	else if (text.n)
		build_arg_text(b, stat->key, text);
}

/* Reads an argument of one execution. */
static void take_own(
        struct viewer *x, const struct xstat_name *stat, struct str text, struct viewer_event *out)
{
	int64_t i;

	if (!num_parse_i64(text, &i))
		return;
	switch (stat->use) {
	case XSTAT_STEP: out->step = i; break;
	case XSTAT_CORRELATION: out->correlation = i; break;
	case XSTAT_DEVICE_OFFSET: out->offset = i; break;
	case XSTAT_DEVICE_DURATION: out->duration = i; break;
	case XSTAT_ARG:
		out->grouped |= stat->key == ARG_GROUP;
		build_arg_int(x->stats.b, stat->key, i);
		break;
	default: break;
	}
}

/* Reads the arguments of an event: the arguments of one execution, or the arguments that all
 * executions share. */
static void read_args(struct viewer *x, struct chrome *c, const struct chrome_event *v, bool own,
        struct viewer_event *out)
{
	struct json_in *j = &c->json;
	const char *end = j->p;
	struct json_value value;
	struct str key;

	if (!v->args_at)
		return;
	for (j->p = v->args_at, json_in_enter(j); json_in_member(j, &key);) {
		struct xstat_name stat = xspace_stat_use(key);
		if (!json_in_value(j, &value))
			break;
		if (value.type != JSON_STRING && value.type != JSON_NUMBER)
			continue;
		if (own && !stat.shared)
			take_own(x, &stat, value.text, out);
		else if (!own && (stat.shared || stat.use == XSTAT_NONE))
			take_shared(x, key, &stat, chrome_text(c, &value), out);
	}
	j->p = end;
	j->stop = JSON_STOP_NONE;
}

/* ---- events ---- */

static enum trace_category thread_category(const struct viewer *x, const struct viewer_event *e)
{
	if (is_allocation(e))
		return CATEGORY_ALLOCATION;
	if (str_starts(e->name, S("$")))
		return CATEGORY_FRAME;
	if (e->correlation)
		return CATEGORY_CALL;
	if (e->step >= 0 && !x->has_steps && !e->grouped)
		return CATEGORY_STEP;
	return e->compiled || xspace_op(e->full).kind != XOP_NONE ? CATEGORY_OP
	                                                          : CATEGORY_ANNOTATION;
}

static enum trace_category category_of(
        const struct viewer *x, const struct viewer_line *l, const struct viewer_event *e)
{
	switch (l->role) {
	case XLINE_WORK:
		if (l->plane == XPLANE_TPU)
			return e->program;
		return e->set || str_starts(e->name, S("Memset"))    ? CATEGORY_SET
		       : e->copy || str_starts(e->name, S("Memcpy")) ? CATEGORY_COPY
		                                                     : CATEGORY_KERNEL;
	case XLINE_MODULES: return CATEGORY_MODULE;
	case XLINE_STEPS: return CATEGORY_STEP;
	case XLINE_THREAD: return thread_category(x, e);
	case XLINE_DERIVED: break;
	}
	return CATEGORY_OTHER;
}

/* Returns the type in the name of a compiled op: "dot" for "dot.3". */
static struct str compiled_type(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n > 1 && n < name.n && name.p[n - 1] == '.' ? str_sub(name, 0, n - 1) : name;
}

static bool take_event(struct chrome *c, const struct chrome_event *v, int64_t ts, int64_t dur)
{
	struct viewer *x = c->dialect_state;
	struct viewer_event e = {
		.program = CATEGORY_OP, .step = -1, .offset = -1, .duration = -1
	};
	struct str name = event_has(v, KEY_NAME) ? chrome_text(c, &v->key[KEY_NAME]) : S("");
	struct viewer_line l;

	x->stats.b = c->b;
	x->stats.a = c->a;
	uint32_t id = build_string(c->b, name);
	l = line_of(x, c, v);
	e.name = e.full = trace_str(build_trace(c->b), id);
	read_args(x, c, v, true, &e);
	build_args_clear(c->b);
	read_args(x, c, v, false, &e);
	put_op(c->b, &l, &e);
	if (e.model_flops > 0 && !e.has_flops)
		build_arg_int(c->b, ARG_FLOPS, e.model_flops);
	enum trace_category category = category_of(x, &l, &e);
	if (category == CATEGORY_OP && l.role == XLINE_THREAD && !e.compiled) {
		struct xop op = xspace_op(e.full);
		id = build_string(c->b, op.name);
		if (op.type.n)
			build_arg_text(c->b, ARG_OP_TYPE, op.type);
	}
	if (category == CATEGORY_OP && l.role == XLINE_THREAD && e.compiled && !e.op.n)
		build_arg_text(c->b, ARG_OP_TYPE, compiled_type(e.name));
	uint32_t event = build_event(c->b, category, id);
	read_args(x, c, v, true, &e);
	if (e.step >= 0)
		build_arg_int(c->b, ARG_STEP, e.step);
	if (l.plane == XPLANE_TPU && e.offset >= 0 && e.duration >= 0) { /* time on the device's
		                                                            clock */
		ts = e.offset;
		dur = e.duration;
	}
	if (category == CATEGORY_ALLOCATION)
		build_instant(c->b, l.track, event, ts, e.correlation);
	else
		build_slice(c->b, l.track, event, ts, dur, e.correlation);
	return true;
}

static void end_events(struct chrome *c)
{
	(void)c;
}

/* ---- the file ---- */

int sniff_trace_viewer(struct str head, struct str path)
{
	static const char *const planes[] = { "\"/host:CPU\"", "\"/device:TPU:", "\"/device:GPU:" };

	(void)path;
	if (str_is_binary(head) || !str_contains(head, S("\"process_name\"")) ||
	        !str_contains(head, S("\"ph\"")) || str_contains(head, S("\"schemaVersion\"")) ||
	        str_contains(head, S("\"tfprof_")))
		return 0;
	for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
		if (str_contains(head, str_of(planes[i])))
			return 100;
	return 0;
}

bool read_trace_viewer(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	static const struct chrome_dialect dialect = { TRACE_XSPACE, true, take_event, end_events };
	struct viewer *x = ARENA_NEW(a, struct viewer);

	intern_init(&x->places, a);
	src_set_content(s, S("trace viewer JSON"));
	return chrome_read_file(s, b, &dialect, x, a, e);
}
