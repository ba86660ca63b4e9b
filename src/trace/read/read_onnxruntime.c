/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNX Runtime profiles: Chrome JSON in which each node's event has the type of its operator and
 * its execution provider. Events are kept until the end of the file, since children come before
 * their parents; then they are nested by time:
 *
 *   model_run                                  a step, by start
 *     SequentialExecutor::Execute              an op; its self time is the executor's
 *       net/loop/Loop_kernel_time              an op: net/loop/Loop
 *         SequentialExecutor::Execute          net/loop/Loop/SequentialExecutor::Execute
 *           body/Mul_kernel_time               net/loop/Loop/body/Mul
 *       net/loop/Loop_fence_after              an op of all fences
 *
 * A provider that is not the CPU's is a device. The track of the event around such a node gets a
 * slice of the category sync, so that the node's time is taken off there. The slice launches the
 * node's work and ends with it.
 */
#include "trace/trace_build.h"

#include "base/sort.h"
#include "flops/flops.h"
#include "trace/read/chrome/chrome_json.h"

#define KERNEL_ENDING "_kernel_time"
#define FENCES        "(fences)"
#define PATH_LEVELS   64 /* nodes at a deeper level do not make paths longer */

enum onnx_kind { ONNX_LOAD, ONNX_RUN, ONNX_EXECUTE, ONNX_NODE, ONNX_FENCE };

/* Data common to the events of one node. Missing numbers are -1; missing texts are ID_NONE. */
struct onnx_info {
	uint32_t kind, name, op, provider, shapes, dtypes, calls;
	int64_t output, parameter, activation, peak;
};

struct onnx_event {
	int64_t start, length;
	uint32_t info;
	uint32_t thread; /* index in tracks of the chrome reader */
	uint32_t text;   /* number of its JSON text */
	uint32_t group;  /* number of its run, or ID_NONE */
};

/* An open event on the stack of nested events. */
struct onnx_level {
	int64_t end;
	uint32_t track, path; /* string id, ID_NONE outside of nodes */
	uint32_t group;
	uint32_t depth; /* number of open nodes */
};

struct onnx_trace {
	struct chrome *c;
	struct intern infos;
	VEC(struct onnx_event) events;
	VEC(struct onnx_level) open;
	VEC(uint32_t) providers; /* string ids; the index of a provider is its device number */
	bool kernels;            /* true: the file contains GPU work */
};

/* ---- taking events ---- */

static uint32_t take_text(struct chrome *c, const struct chrome_event *v, unsigned row)
{
	return event_has_arg(v, row) ? build_string(c->b, chrome_text(c, &v->arg[row])) : ID_NONE;
}

static int64_t take_int(struct chrome *c, const struct chrome_event *v, unsigned row)
{
	int64_t n;

	return event_has_arg(v, row) && chrome_number(c, &v->arg[row], 0, &n) && n >= 0 ? n : -1;
}

/* Splits [{"float":[1,3]},{"int64":[2]}] into the shapes [[1,3],[2]] and the types
 * ["float","int64"]. */
static void take_apart(
        struct chrome *c, struct str s, struct str *out_shapes, struct str *out_types)
{
	struct sb shapes = sb_in(c->a), types = sb_in(c->a);
	bool in_string = false;
	unsigned depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		if (ch == '"') {
			in_string = !in_string;
			sb_put(&types, !in_string ? S("\"") : types.n ? S(",\"") : S("\""));
		} else if (in_string) {
			sb_char(&types, ch);
		} else if ((uint8_t)ch > ' ' && ch != '{' && ch != '}' && ch != ':') {
			depth += ch == '[';
			depth -= depth && ch == ']';
			sb_char(&shapes, ch);
		}
	}
	*out_shapes = sb_str(&shapes);
	*out_types = str_fmt(c->a, "[%.*s]", STR(sb_str(&types)));
}

/* Stores the shapes and types of a node, and the call from which its float operations are computed.
 */
static void take_shapes(struct chrome *c, const struct chrome_event *v, struct onnx_info *info)
{
	struct str op = info->op == ID_NONE ? S("") : trace_str(build_trace(c->b), info->op);
	struct op_call_text call = { .name = str_fmt(c->a, "onnx::%.*s", STR(op)) };
	struct str outputs = S(""), types;
	struct sb list = sb_in(c->a);

	take_apart(c, v->arg[CARG_INPUT_SHAPES].text, &call.shapes, &call.types);
	if (event_has_arg(v, CARG_OUTPUT_SHAPES))
		take_apart(c, v->arg[CARG_OUTPUT_SHAPES].text, &outputs, &types);
	/* the first output: "[1,3" of "[[1,3],[2]]" */
	if (outputs.n > 1)
		call.output = str_sub(outputs, 1, str_find_char(outputs, ']'));
	flops_put_call(&list, &call);
	info->shapes = build_string(c->b, call.shapes);
	info->dtypes = build_string(c->b, call.types);
	info->calls = build_string(c->b, sb_str(&list));
}

static void take_args(struct chrome *c, const struct chrome_event *v, struct onnx_info *info)
{
	info->op = take_text(c, v, CARG_OP_NAME);
	info->provider = take_text(c, v, CARG_PROVIDER);
	info->output = take_int(c, v, CARG_OUTPUT_SIZE);
	info->parameter = take_int(c, v, CARG_PARAMETER_SIZE);
	info->activation = take_int(c, v, CARG_ACTIVATION_SIZE);
	info->peak = take_int(c, v, CARG_PEAK);
	if (event_has_arg(v, CARG_INPUT_SHAPES) && build_wants(c->b, ARG_SHAPES))
		take_shapes(c, v, info);
}

/* Returns the name of a node. A node without a name gets the name of its operator and its
 * number. */
static struct str node_name(struct chrome *c, const struct chrome_event *v, struct str name)
{
	int64_t index = take_int(c, v, CARG_NODE_INDEX);

	if (name.n || !event_has_arg(v, CARG_OP_NAME))
		return name;
	if (index < 0)
		index = take_int(c, v, CARG_GRAPH_INDEX);
	return str_fmt(
	        c->a, "%.*s_%lld", STR(chrome_text(c, &v->arg[CARG_OP_NAME])), (long long)index);
}

/* Finds the kind of an event from its category and name, and removes the suffix of the kind from
 * *name. Returns false if the event does not belong to the session. */
static bool kind_of(const struct chrome_event *v, struct str *name, uint32_t *kind)
{
	struct str category = event_text(v, KEY_CAT);

	if (str_eq(category, S("Session"))) {
		*kind = str_eq(*name, S("model_run"))                 ? ONNX_RUN
		        : str_contains(*name, S("Executor::Execute")) ? ONNX_EXECUTE
		                                                      : ONNX_LOAD;
		return true;
	}
	if (!str_eq(category, S("Node")))
		return false;
	if (str_ends(*name, S("_fence_before")) || str_ends(*name, S("_fence_after"))) {
		*kind = ONNX_FENCE;
		return true;
	}
	*kind = ONNX_NODE;
	if (str_ends(*name, S(KERNEL_ENDING)))
		name->n -= sizeof KERNEL_ENDING - 1;
	return true;
}

static bool take_event(struct chrome *c, const struct chrome_event *v, int64_t ts, int64_t dur)
{
	struct onnx_info info = { .op = ID_NONE,
		.provider = ID_NONE,
		.shapes = ID_NONE,
		.dtypes = ID_NONE,
		.calls = ID_NONE,
		.output = -1,
		.parameter = -1,
		.activation = -1,
		.peak = -1 };
	struct onnx_trace *x = c->dialect_state;
	struct str name = event_has(v, KEY_NAME) ? chrome_text(c, &v->key[KEY_NAME]) : S("");

	x->c = c;
	x->kernels |= str_eq(event_text(v, KEY_CAT), S("Kernel"));
	if (!kind_of(v, &name, &info.kind))
		return false;
	name = str_copy(c->a, name);
	if (info.kind == ONNX_NODE) {
		take_args(c, v, &info);
		name = node_name(c, v, name);
	}
	info.name = build_string(c->b, info.kind == ONNX_FENCE ? S(FENCES) : name);
	struct onnx_event made = { .start = ts,
		.length = dur,
		.info = intern_add(&x->infos, str_make(&info, sizeof info)),
		.thread = chrome_track(c, v, false),
		.text = c->texts,
		.group = ID_NONE };
	VEC_PUSH(c->a, &x->events, made);
	return true;
}

/* ---- order ---- */

static const struct onnx_info *info_of(const struct onnx_trace *x, const struct onnx_event *v)
{
	return (const struct onnx_info *)(const void *)intern_str(&x->infos, v->info).p;
}

/* Shifts each session to the end of the previous one, because each starts at 0. */
static void shift_texts(struct onnx_trace *x)
{
	int64_t shift = 0, end = 0;
	uint32_t text = 0;

	for (size_t i = 0; i < x->events.n; i++) {
		struct onnx_event *v = &x->events.v[i];
		if (v->text != text) {
			text = v->text;
			shift = end;
		}
		v->start = num_add(v->start, shift);
		if (num_add(v->start, v->length) > end)
			end = num_add(v->start, v->length);
	}
}

/* Orders events by thread, then by start, then longest first, then nodes after events of the
 * session. Among equal events, the event that ended later contains the other. */
static int compare_events(const void *ctx, uint32_t i, uint32_t k)
{
	const struct onnx_trace *x = ctx;
	const struct onnx_event *a = &x->events.v[i], *b = &x->events.v[k];

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	bool node = info_of(x, a)->kind >= ONNX_NODE, other = info_of(x, b)->kind >= ONNX_NODE;
	if (node != other)
		return node ? 1 : -1;
	return i > k ? -1 : i < k;
}

static int compare_starts(const void *ctx, uint32_t i, uint32_t k)
{
	const struct onnx_event *v = ctx;

	return (v[i].start > v[k].start) - (v[i].start < v[k].start);
}

/* Numbers the runs by their starts. */
static void number_runs(struct onnx_trace *x)
{
	const uint32_t *order = sort_order(x->c->a, x->events.n, compare_starts, x->events.v);
	uint32_t n = 0;

	for (size_t i = 0; i < x->events.n; i++)
		if (info_of(x, &x->events.v[order[i]])->kind == ONNX_RUN)
			x->events.v[order[i]].group = n++;
}

/* ---- emitting ---- */

static bool is_gpu(struct str provider)
{
	static const char *const begins[] = { "CUDA", "Tensorrt", "NvTensorRT", "ROCM", "MIGraphX",
		"Dml", "WebGpu" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (str_starts(provider, str_of(begins[i])))
			return true;
	return false;
}

/* Returns the track of a node: its thread, or a line of its provider. */
static uint32_t track_of(
        struct onnx_trace *x, const struct onnx_event *v, const struct onnx_info *info)
{
	const struct chrome_track *thread = &x->c->track.v[v->thread];
	struct trace_build *b = x->c->b;
	struct str provider = trace_str(build_trace(b), info->provider);
	uint32_t d, i;
	bool gpu = is_gpu(provider);

	if (!provider.n || str_starts(provider, S("CPU")) || (gpu && x->kernels))
		return thread->track;
	for (i = 0; i < x->providers.n && x->providers.v[i] != info->provider; i++)
		;
	if (i == x->providers.n)
		VEC_PUSH(x->c->a, &x->providers, info->provider);
	d = build_device(b, thread->process, gpu ? DEVICE_KIND_GPU : DEVICE_KIND_OTHER, gpu ? 0 : i,
	        provider);
	return build_track(
	        b, thread->process, d, TRACK_LINE, build_trace(b)->tracks.v[thread->track].id);
}

/* Returns the path of an op below the node that contains it. */
static uint32_t path_of(struct onnx_trace *x, const struct onnx_level *around, uint32_t name)
{
	const struct trace *t = build_trace(x->c->b);
	struct sb path = sb_in(x->c->a);

	if (!around || around->path == ID_NONE || around->depth >= PATH_LEVELS)
		return name;
	sb_put(&path, trace_str(t, around->path));
	sb_char(&path, '/');
	sb_put(&path, trace_str(t, name));
	return build_string(x->c->b, sb_str(&path));
}

static void put_size(struct onnx_trace *x, uint32_t key, int64_t v)
{
	if (v >= 0)
		build_arg_int(x->c->b, key, v);
}

/* Adds the arguments that all slices of a node share. */
static void put_args(struct onnx_trace *x, const struct onnx_info *info, uint32_t path)
{
	struct trace_build *b = x->c->b;
	const struct trace *t = build_trace(b);

	build_arg_text(b, ARG_SCOPE, trace_str(t, path));
	if (info->op != ID_NONE)
		build_arg_text(b, ARG_OP_TYPE, trace_str(t, info->op));
	if (info->provider != ID_NONE)
		build_arg_text(b, ARG_PROVIDER, trace_str(t, info->provider));
	put_size(x, ARG_OUTPUT_BYTES, info->output);
	put_size(x, ARG_PARAMETER_BYTES, info->parameter);
	put_size(x, ARG_PEAK_TOTAL, info->peak);
	if (info->activation >= 0)
		build_arg_int(b, ARG_BYTES_ACCESSED,
		        num_add(info->activation, info->output > 0 ? info->output : 0));
	if (info->shapes != ID_NONE) {
		build_arg_text(b, ARG_SHAPES, trace_str(t, info->shapes));
		build_arg_text(b, ARG_DTYPES, trace_str(t, info->dtypes));
		build_arg_text(b, ARG_CALLS, trace_str(t, info->calls));
	}
}

static uint32_t event_of(struct onnx_trace *x, const struct onnx_info *info, uint32_t path,
        const struct onnx_event *v)
{
	struct trace_build *b = x->c->b;

	switch (info->kind) {
	case ONNX_RUN:
		build_arg_int(b, ARG_STEP, v->group);
		return build_event(b, CATEGORY_STEP, path);
	case ONNX_LOAD: return build_event(b, CATEGORY_COMPILE, path);
	case ONNX_FENCE:
		build_arg_text(b, ARG_OP_TYPE, S("fence"));
		return build_event(b, CATEGORY_OP, path);
	case ONNX_EXECUTE:
		build_arg_text(b, ARG_OP_TYPE, trace_str(build_trace(b), info->name));
		return build_event(b, CATEGORY_OP, path);
	default: put_args(x, info, path); return build_event(b, CATEGORY_OP, path);
	}
}

/* Adds an event inside the open events, and opens it. */
static void put_event(struct onnx_trace *x, const struct onnx_event *v)
{
	const struct onnx_level *around = x->open.n ? &x->open.v[x->open.n - 1] : NULL;
	const struct onnx_info *info = info_of(x, v);
	struct trace_build *b = x->c->b;
	uint32_t name = info->kind == ONNX_NODE || info->kind == ONNX_EXECUTE
	                        ? path_of(x, around, info->name)
	                        : info->name;
	struct onnx_level level = { .end = num_add(v->start, v->length),
		.track = info->kind == ONNX_NODE ? track_of(x, v, info)
		                                 : x->c->track.v[v->thread].track,
		.path = info->kind == ONNX_NODE ? name
		        : around                ? around->path
		                                : ID_NONE,
		.group = v->group != ID_NONE ? v->group
		         : around            ? around->group
		                             : ID_NONE,
		.depth = (around ? around->depth : 0) + (info->kind == ONNX_NODE) };
	uint32_t event = event_of(x, info, name, v);

	if (level.group != ID_NONE && info->kind != ONNX_LOAD)
		build_arg_int(b, ARG_GROUP, level.group);
	uint32_t caller = around ? around->track : x->c->track.v[v->thread].track;
	bool apart = level.track != caller;
	int64_t call = apart ? (int64_t)(v - x->events.v) + 1 : 0;
	build_slice(b, level.track, event, v->start, v->length, call);
	if (apart) {
		event = build_event(b, CATEGORY_SYNC, info->provider);
		build_slice(b, caller, event, v->start, v->length, call);
	}
	VEC_PUSH(x->c->a, &x->open, level);
}

static void end_events(struct chrome *c)
{
	struct onnx_trace *x = c->dialect_state;
	uint32_t thread = ID_NONE;

	if (!x->events.n)
		return;
	shift_texts(x);
	number_runs(x);
	const uint32_t *order = sort_order(c->a, x->events.n, compare_events, x);
	for (size_t i = 0; i < x->events.n; i++) {
		const struct onnx_event *v = &x->events.v[order[i]];
		int64_t end = num_add(v->start, v->length);
		if (v->thread != thread)
			x->open.n = 0;
		thread = v->thread;
		while (x->open.n && (x->open.v[x->open.n - 1].end <= v->start ||
		                            end > x->open.v[x->open.n - 1].end))
			x->open.n--;
		put_event(x, v);
	}
}

int sniff_onnxruntime(struct str head, struct str path)
{
	(void)path;
	if (str_is_binary(head) || !str_contains(head, S("\"ph\"")))
		return 0;
	if (str_contains(head, S("\"Session\"")) &&
	        (str_contains(head, S("\"model_loading_")) ||
	                str_contains(head, S("\"session_initialization\"")) ||
	                str_contains(head, S("Executor::Execute\""))))
		return 100;
	return str_contains(head, S(KERNEL_ENDING "\"")) && str_contains(head, S("\"op_name\"")) &&
	                       str_contains(head, S("\"Node\""))
	               ? 100
	               : 0;
}

bool read_onnxruntime(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	static const struct chrome_dialect dialect = { TRACE_ONNXRUNTIME, false, take_event,
		end_events };
	struct onnx_trace *x = ARENA_NEW(a, struct onnx_trace);

	intern_init(&x->infos, a);
	return chrome_read_file(s, b, &dialect, x, a, e);
}
