/* SPDX-License-Identifier: Apache-2.0
 *
 * rocprofv3 results in JSON. Calls and markers become slices of threads, kernels and copies
 * slices of streams of devices. Items are read one by one from the window.
 * rocprofv3 writes names before the records that use them, so one pass is enough. If another
 * program has reordered the members, a second pass reads the records.
 *
 *   {"rocprofiler-sdk-tool": [{
 *       "metadata": {"pid": ...},                 nothing else of it is read
 *       "agents": [{"id": {"handle": ...}, "type": 2, "logical_node_type_id": ...}],
 *       "strings": {"buffer_records": [{"kind": ..., "operations": [...]}],
 *                   "marker_api": [{"key": ..., "value": ...}]},
 *       "kernel_symbols": [{"kernel_id": ..., "demangled_kernel_name": ...}],
 *       "buffer_records": {"kernel_dispatch": [...], "hip_api": [...], ...}}]}
 */
#include "io/json_in.h"
#include "trace/trace_build.h"

enum { NAMES_AGENTS = 1, NAMES_STRINGS = 2, NAMES_KERNELS = 4, NAMES_ALL = 7 };

/* A member of an object: a number, a text, or an object whose members are read. */
enum roc_form { ROC_INT, ROC_TEXT, ROC_OBJECT };
struct roc_field {
	struct str name;
	enum roc_form form;
	size_t at;                  /* offset of an int64_t or a struct str in the target */
	const struct roc_field *in; /* for an object: its fields */
};
#define ROC_FIELD(z, form, type, member)                                                           \
	{                                                                                          \
		{ "" z, sizeof(z) - 1 }, form, offsetof(type, member), NULL                        \
	}
#define ROC_IN(z, fields)                                                                          \
	{                                                                                          \
		{ "" z, sizeof(z) - 1 }, ROC_OBJECT, 0, fields                                     \
	}
#define ROC_END                                                                                    \
	{                                                                                          \
		{ NULL, 0 }, ROC_INT, 0, NULL                                                      \
	}

struct roc_kind {
	uint32_t name; /* string ids */
	struct {
		uint32_t *v;
		size_t n, cap;
	} operations;
};

struct roc_agent {
	int64_t handle, type, index; /* index: number among the agents of the same type; -1:
	                                unknown */
	uint32_t model;              /* string id, or ID_NONE */
};

struct roc_kernel {
	uint32_t name, short_name; /* string ids; short_name may be ID_NONE */
};

/* One element of the outermost array. */
struct roc_process {
	int64_t pid;
	uint32_t process;
	unsigned names; /* bits of the parts with names that have been read */
	bool late;      /* true: its records precede its names */
	VEC(struct roc_kind) kinds;
	VEC(struct roc_agent) agents;
	VEC(struct roc_kernel) kernels;
	struct imap agent_of, kernel_of; /* key: handle, and kernel; value: index */
	struct imap marker_of;           /* key: correlation; value: string id */
};

struct rocprof {
	struct json_in j;
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct err *e;
	struct sb text;
	VEC(struct roc_process) processes;
	size_t at;      /* index of the current process */
	bool late;      /* true: records of a process precede its names, so a second pass reads
	                   them */
	bool again;     /* true: in the second pass */
	unsigned noted; /* bits of the kinds of flaws that have a note */
	bool (*element)(struct rocprof *x, const void *of); /* of the array that is read */
	const void *of;
	uint64_t events, timeless;
	struct intern unused; /* names of lists that are not used */
	VEC(uint64_t) unused_n;
};

/* ---- JSON ---- */

/* Reads a member's value if it is one of the fields. Skips other members. */
static bool read_member(struct rocprof *x, const struct roc_field *fields, struct str key,
        void *target, const struct roc_field **in)
{
	const struct roc_field *f = fields;
	struct json_in *j = &x->j;
	struct json_value v;
	int64_t number;

	while (f->name.p && !str_eq(f->name, key))
		f++;
	*in = NULL;
	if (!f->name.p)
		return json_in_skip(j);
	if (f->form == ROC_OBJECT && json_in_peek(j) == '{') {
		*in = f->in;
		return true;
	}
	if (!json_in_scalar(j, &v))
		return false;
	if (f->form == ROC_INT && (v.type == JSON_NUMBER || v.type == JSON_STRING) &&
	        json_decimal(v.text, 0, &number) != JSON_NUMBER_NONE)
		*(int64_t *)(void *)((char *)target + f->at) = number;
	if (f->form == ROC_TEXT && v.type == JSON_STRING)
		*(struct str *)(void *)((char *)target + f->at) =
		        str_copy(x->a, json_in_text(j, &v, &x->text));
	return true;
}

/* Only known fields contain nested objects, so the depth is bounded by the tables. */
#define LEVELS 4

/* Fills the target from the members of an object, and copies texts. The next character is the
 * object's bracket. */
static bool roc_object(struct rocprof *x, const struct roc_field *fields, void *target)
{
	const struct roc_field *open[LEVELS] = { fields }, *in;
	struct json_in *j = &x->j;
	unsigned depth = 1;
	struct str key;

	x->text.n = 0;
	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	if (!json_in_enter(j))
		return false;
	while (depth) {
		if (!json_in_member(j, &key)) {
			if (j->stop != JSON_STOP_NONE)
				return false;
			depth--;
			continue;
		}
		if (!read_member(x, open[depth - 1], key, target, &in))
			return false;
		if (in && depth < LEVELS && !json_in_enter(j))
			return false;
		if (in && depth < LEVELS)
			open[depth++] = in;
	}
	return true;
}

static bool read_element(void *user)
{
	struct rocprof *x = user;

	return x->element(x, x->of);
}

/* Does nothing: elements are stored as they are read. */
static void take_element(void *user)
{
	(void)user;
}

/* Reads an array whose elements are separate items. Returns false if the value is not an array, or
 * is truncated. */
static bool roc_array(
        struct rocprof *x, bool (*element)(struct rocprof *x, const void *of), const void *of)
{
	if (json_in_ahead(&x->j) != '[')
		return json_in_skip_item(&x->j);
	x->element = element;
	x->of = of;
	return json_in_each(&x->j, read_element, take_element, x);
}

/* Reads the members of an object as separate items. */
static bool each_member(struct rocprof *x, bool (*member)(struct rocprof *x, struct str key))
{
	struct json_in *j = &x->j;
	struct json_value v;

	if (json_in_ahead(j) != '{')
		return json_in_skip_item(j);
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		bool good;
		if (ch == ',' || ch == '}') {
			json_in_pass(j);
			if (ch == '}')
				return true;
			continue;
		}
		if (ch < 0)
			return false;
		do
			good = json_in_value(j, &v) && v.type == JSON_STRING &&
			       json_in_peek(j) == ':';
		while (!good && json_in_more(j));
		if (!good)
			return false;
		struct str key = str_copy(x->a, v.text);
		json_in_pass(j);
		if (json_in_ahead(j) < 0 || !member(x, key))
			return false;
	}
}

/* ---- names ---- */

static struct roc_process *present(struct rocprof *x)
{
	return &x->processes.v[x->at];
}

struct agent_text {
	int64_t handle, type, index;
	struct str name, product;
};

static bool take_agent(struct rocprof *x, const void *of)
{
	static const struct roc_field handle[] = {
		ROC_FIELD("handle", ROC_INT, struct agent_text, handle), ROC_END
	};
	static const struct roc_field fields[] = { ROC_IN("id", handle),
		ROC_FIELD("type", ROC_INT, struct agent_text, type),
		ROC_FIELD("logical_node_type_id", ROC_INT, struct agent_text, index),
		ROC_FIELD("name", ROC_TEXT, struct agent_text, name),
		ROC_FIELD("product_name", ROC_TEXT, struct agent_text, product), ROC_END };
	struct agent_text v = { .index = -1 };
	struct roc_agent made;

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	made = (struct roc_agent){ v.handle, v.type, v.index, ID_NONE };
	if (v.product.n || v.name.n)
		made.model = build_string(x->b, v.product.n ? v.product : v.name);
	imap_put(&present(x)->agent_of, (uint64_t)v.handle, (uint32_t)present(x)->agents.n, true);
	VEC_PUSH(x->a, &present(x)->agents, made);
	return true;
}

struct kernel_text {
	int64_t id;
	struct str name, formatted, demangled, truncated;
};

static bool take_kernel(struct rocprof *x, const void *of)
{
	static const struct roc_field fields[] = {
		ROC_FIELD("kernel_id", ROC_INT, struct kernel_text, id),
		ROC_FIELD("kernel_name", ROC_TEXT, struct kernel_text, name),
		ROC_FIELD("formatted_kernel_name", ROC_TEXT, struct kernel_text, formatted),
		ROC_FIELD("demangled_kernel_name", ROC_TEXT, struct kernel_text, demangled),
		ROC_FIELD("truncated_kernel_name", ROC_TEXT, struct kernel_text, truncated), ROC_END
	};
	struct kernel_text v = { .id = -1 };
	struct roc_process *p = present(x);
	struct roc_kernel made = { .short_name = ID_NONE };
	struct str name;

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	name = v.demangled.n ? v.demangled : v.formatted.n ? v.formatted : v.name;
	made.name = build_string(x->b, name);
	if (v.truncated.n)
		made.short_name = build_string(x->b, v.truncated);
	imap_put(&p->kernel_of, (uint64_t)v.id, (uint32_t)p->kernels.n, true);
	VEC_PUSH(x->a, &p->kernels, made);
	return true;
}

struct marker_text {
	int64_t key;
	struct str value;
};

static bool take_marker(struct rocprof *x, const void *of)
{
	static const struct roc_field fields[] = { ROC_FIELD(
		                                           "key", ROC_INT, struct marker_text, key),
		ROC_FIELD("value", ROC_TEXT, struct marker_text, value), ROC_END };
	struct marker_text v = { .key = -1, .value = S("") };

	(void)of;
	if (!roc_object(x, fields, &v))
		return false;
	imap_put(&present(x)->marker_of, (uint64_t)v.key, build_string(x->b, v.value), true);
	return true;
}

/* Reads {"kind": ..., "operations": [...]}: the names of a kind, whose number is the position in
 * the list. */
static bool take_kind(struct rocprof *x, const void *of)
{
	uint32_t unnamed = build_string(x->b, S("(unnamed)"));
	struct roc_kind made = { .name = unnamed };
	struct json_in *j = &x->j;
	struct json_value v;
	struct str key;

	(void)of;
	x->text.n = 0;
	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);) {
		if (str_eq(key, S("kind")) && json_in_peek(j) == '"') {
			if (!json_in_value(j, &v))
				return false;
			made.name = build_string(x->b, json_in_text(j, &v, &x->text));
		} else if (str_eq(key, S("operations")) && json_in_peek(j) == '[') {
			for (json_in_enter(j); json_in_element(j);) {
				if (!json_in_scalar(j, &v))
					return false;
				VEC_PUSH(x->a, &made.operations,
				        v.type == JSON_STRING
				                ? build_string(x->b, json_in_text(j, &v, &x->text))
				                : unnamed);
			}
			if (j->stop != JSON_STOP_NONE)
				return false;
		} else if (!json_in_skip(j)) {
			return false;
		}
	}
	if (j->stop != JSON_STOP_NONE)
		return false;
	VEC_PUSH(x->a, &present(x)->kinds, made);
	return true;
}

/* ---- records ---- */

#define AGENT_GPU  2
#define UNUSED_MAX 64       /* maximum number of unused lists whose names are counted separately */
#define COPIES     "copies" /* the stream of copies whose records have no stream */

struct roc_record {
	int64_t kind, operation, thread, correlation, start, end, stream, queue, agent, from, to;
	int64_t kernel, bytes, shared, group[3], grid[3];
};
/* NOLINTBEGIN(bugprone-macro-parentheses): names and members */
#define FIELD(z, member) ROC_FIELD(z, ROC_INT, struct roc_record, member)
#define HANDLE(name, member)                                                                       \
	static const struct roc_field name[] = { FIELD("handle", member), ROC_END }
#define TRIPLE(name, member)                                                                       \
	static const struct roc_field name[] = { FIELD("x", member[0]), FIELD("y", member[1]),     \
		FIELD("z", member[2]), ROC_END }
/* NOLINTEND(bugprone-macro-parentheses) */

HANDLE(stream_fields, stream);
HANDLE(queue_fields, queue);
HANDLE(agent_fields, agent);
HANDLE(from_fields, from);
HANDLE(to_fields, to);
TRIPLE(group_fields, group);
TRIPLE(grid_fields, grid);
static const struct roc_field correlation_fields[] = { FIELD("internal", correlation), ROC_END };
static const struct roc_field dispatch_fields[] = { ROC_IN("agent_id", agent_fields),
	ROC_IN("queue_id", queue_fields), FIELD("kernel_id", kernel),
	FIELD("group_segment_size", shared), ROC_IN("workgroup_size", group_fields),
	ROC_IN("grid_size", grid_fields), ROC_END };
static const struct roc_field record_fields[] = { FIELD("kind", kind),
	FIELD("operation", operation), FIELD("thread_id", thread),
	ROC_IN("correlation_id", correlation_fields), FIELD("start_timestamp", start),
	FIELD("end_timestamp", end), ROC_IN("dispatch_info", dispatch_fields),
	ROC_IN("stream_id", stream_fields), ROC_IN("src_agent_id", from_fields),
	ROC_IN("dst_agent_id", to_fields), FIELD("bytes", bytes), ROC_END };

/* Lists of buffer_records whose records become slices. */
struct list {
	const char *name;
	enum trace_category category;
};
static const struct list lists[] = {
	{ "kernel_dispatch", CATEGORY_KERNEL },
	{ "memory_copy", CATEGORY_COPY },
	{ "hip_api", CATEGORY_CALL },
	{ "hsa_api", CATEGORY_CALL },
	{ "marker_api", CATEGORY_ANNOTATION },
	{ "rccl_api", CATEGORY_OP },
};

/* ---- names of records ---- */

static uint32_t operation_name(
        struct rocprof *x, const struct roc_process *p, const struct roc_record *r)
{
	const struct roc_kind *k;

	if (r->kind < 0 || (uint64_t)r->kind >= p->kinds.n)
		return build_string(x->b, str_fmt(x->a, "operation %lld", (long long)r->operation));
	k = &p->kinds.v[r->kind];
	if (r->operation >= 0 && (uint64_t)r->operation < k->operations.n)
		return k->operations.v[r->operation];
	return k->name;
}

static uint32_t marker_name(
        struct rocprof *x, const struct roc_process *p, const struct roc_record *r)
{
	uint32_t name;

	return imap_get(&p->marker_of, (uint64_t)r->correlation, &name) ? name
	                                                                : operation_name(x, p, r);
}

/* ---- devices ---- */

static const struct roc_agent *find_agent(const struct roc_process *p, int64_t handle)
{
	uint32_t i;

	return imap_get(&p->agent_of, (uint64_t)handle, &i) ? &p->agents.v[i] : NULL;
}

/* Returns the number of a GPU as the runtime counts it, otherwise the handle of its agent. */
static int64_t gpu_number(const struct roc_process *p, int64_t handle)
{
	const struct roc_agent *a = find_agent(p, handle);

	return a && a->index >= 0 ? a->index : handle;
}

static uint32_t device_of(struct rocprof *x, const struct roc_process *p, int64_t handle)
{
	int64_t n = gpu_number(p, handle);

	return build_device(
	        x->b, ID_NONE, DEVICE_KIND_GPU, n, str_fmt(x->a, "gpu:%lld", (long long)n));
}

/* Describes the devices of all processes. */
static void roc_devices_end(struct rocprof *x)
{
	struct imap device_of_number;
	uint32_t d;

	imap_init(&device_of_number, x->a);
	for (d = 0; d < build_trace(x->b)->devices.n; d++)
		imap_put(&device_of_number, (uint64_t)build_device_at(x->b, d)->index, d, false);
	for (size_t i = 0; i < x->processes.n; i++) {
		const struct roc_process *p = &x->processes.v[i];
		for (size_t k = 0; k < p->agents.n; k++) {
			int64_t number = gpu_number(p, p->agents.v[k].handle);
			if (p->agents.v[k].type == AGENT_GPU &&
			        imap_get(&device_of_number, (uint64_t)number, &d))
				build_device_at(x->b, d)->model = p->agents.v[k].model;
		}
	}
}

/* ---- records ---- */

/* Returns the number of blocks of a grid. Sizes of grids are in work items; other tools count
 * blocks. */
static int64_t blocks_of(int64_t items, int64_t group)
{
	return group > 0 && items > 0 ? items / group + (items % group != 0) : items;
}

static void put_kernel(struct rocprof *x, const struct roc_process *p, const struct roc_record *r)
{
	uint32_t device = device_of(x, p, r->agent), i, name;
	uint32_t track = build_track(
	        x->b, p->process, device, TRACK_STREAM, r->stream >= 0 ? r->stream : r->queue);
	int64_t grid[3];

	for (unsigned k = 0; k < 3; k++)
		grid[k] = blocks_of(r->grid[k], r->group[k]);
	if (imap_get(&p->kernel_of, (uint64_t)r->kernel, &i)) {
		name = p->kernels.v[i].name;
		if (p->kernels.v[i].short_name != ID_NONE)
			build_arg_text(x->b, ARG_SHORT_NAME,
			        trace_str(build_trace(x->b), p->kernels.v[i].short_name));
	} else {
		name = build_string(x->b, str_fmt(x->a, "kernel %lld", (long long)r->kernel));
	}
	build_arg_triple(x->b, ARG_GRID, grid);
	build_arg_triple(x->b, ARG_BLOCK, r->group);
	build_arg_int(x->b, build_key(x->b, S("group_segment_size")), r->shared);
	build_slice(x->b, track, build_event(x->b, CATEGORY_KERNEL, name), r->start,
	        num_sub(r->end, r->start), r->correlation);
}

static void put_copy(struct rocprof *x, const struct roc_process *p, const struct roc_record *r)
{
	const struct roc_agent *to = find_agent(p, r->to);
	bool source = to && to->type != AGENT_GPU;
	uint32_t device = device_of(x, p, source ? r->from : r->to), track, event;

	track = r->stream >= 0
	                ? build_track(x->b, p->process, device, TRACK_STREAM, r->stream)
	                : build_track_named(x->b, p->process, device, TRACK_STREAM, S(COPIES));
	event = build_event(x->b, CATEGORY_COPY, operation_name(x, p, r));
	if (r->bytes >= 0)
		build_arg_int(x->b, ARG_BYTES, r->bytes);
	build_slice(x->b, track, event, r->start, num_sub(r->end, r->start), r->correlation);
}

static void put_host(struct rocprof *x, const struct roc_process *p, const struct roc_record *r,
        enum trace_category category)
{
	uint32_t track = build_track(x->b, p->process, ID_NONE, TRACK_THREAD, r->thread);
	bool marker = category == CATEGORY_ANNOTATION;
	uint32_t name = marker ? marker_name(x, p, r) : operation_name(x, p, r);

	if (marker && r->start == r->end)
		build_instant(x->b, track, build_event(x->b, CATEGORY_OTHER, name), r->start, 0);
	else
		build_slice(x->b, track, build_event(x->b, category, name), r->start,
		        num_sub(r->end, r->start), marker ? 0 : r->correlation);
}

static bool take_record(struct rocprof *x, const void *of)
{
	const struct roc_process *p = &x->processes.v[x->at];
	const struct list *list = of;
	struct roc_record r = { .kind = -1,
		.operation = -1,
		.start = -1,
		.end = -1,
		.stream = -1,
		.kernel = -1,
		.bytes = -1 };

	if (!roc_object(x, record_fields, &r))
		return false;
	if (r.start < 0 || r.end < 0) {
		x->timeless++;
		return true;
	}
	x->events++;
	switch (list->category) {
	case CATEGORY_KERNEL: put_kernel(x, p, &r); break;
	case CATEGORY_COPY: put_copy(x, p, &r); break;
	default: put_host(x, p, &r, list->category);
	}
	return true;
}

static bool count_record(struct rocprof *x, const void *of)
{
	if (!json_in_skip(&x->j))
		return false;
	x->unused_n.v[*(const uint32_t *)of]++;
	return true;
}

/* Reads a list of buffer_records. */
static bool roc_records(struct rocprof *x, struct str name)
{
	size_t before;
	uint32_t i;

	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		if (str_eq(name, str_of(lists[k].name)))
			return roc_array(x, take_record, &lists[k]);
	if (x->unused.n >= UNUSED_MAX && intern_find(&x->unused, name) == ID_NONE)
		name = S("other lists");
	before = x->unused.n;
	i = intern_add(&x->unused, name);
	if (x->unused.n != before)
		VEC_PUSH(x->a, &x->unused_n, 0);
	return roc_array(x, count_record, &i);
}

/* ---- the file ---- */

static bool read_strings(struct rocprof *x, struct str key)
{
	if (str_eq(key, S("buffer_records")))
		return roc_array(x, take_kind, NULL);
	if (str_eq(key, S("marker_api")))
		return roc_array(x, take_marker, NULL);
	return json_in_skip_item(&x->j);
}

/* Reads the process id; skips commands and settings. */
static bool read_metadata(struct rocprof *x, struct str key)
{
	struct json_in *j = &x->j;
	struct json_value v;
	bool good;

	if (!str_eq(key, S("pid")))
		return json_in_skip_item(j);
	do
		good = json_in_scalar(j, &v) && json_in_peek(j) >= 0;
	while (!good && json_in_more(j));
	if (!good)
		return false;
	if (v.type > JSON_ARRAY)
		json_decimal(v.text, 0, &present(x)->pid);
	json_in_take(j);
	return true;
}

/* Skips the records of a process until its names and its number are known. */
static bool read_records(struct rocprof *x)
{
	struct roc_process *p = present(x);

	if (!x->again && p->names != NAMES_ALL) {
		p->late = x->late = true;
		return json_in_skip_item(&x->j);
	}
	if (x->again && !p->late)
		return json_in_skip_item(&x->j);
	p->process = build_process(x->b, p->pid);
	return each_member(x, roc_records);
}

static bool read_process_member(struct rocprof *x, struct str key)
{
	struct roc_process *p = present(x);

	if (str_eq(key, S("buffer_records")))
		return read_records(x);
	if (str_eq(key, S("callback_records")) && (x->again ? p->late : p->names == NAMES_ALL))
		return each_member(x, roc_records);
	if (x->again)
		return json_in_skip_item(&x->j);
	if (str_eq(key, S("metadata")))
		return each_member(x, read_metadata);
	if (str_eq(key, S("agents"))) {
		p->names |= NAMES_AGENTS;
		return roc_array(x, take_agent, NULL);
	}
	if (str_eq(key, S("kernel_symbols"))) {
		p->names |= NAMES_KERNELS;
		return roc_array(x, take_kernel, NULL);
	}
	if (str_eq(key, S("strings"))) {
		p->names |= NAMES_STRINGS;
		return each_member(x, read_strings);
	}
	return json_in_skip_item(&x->j);
}

static bool read_process(struct rocprof *x)
{
	if (!x->again) {
		struct roc_process made = { .pid = 0 };
		imap_init(&made.agent_of, x->a);
		imap_init(&made.kernel_of, x->a);
		imap_init(&made.marker_of, x->a);
		VEC_PUSH(x->a, &x->processes, made);
	}
	if (x->at == x->processes.n)
		return json_in_skip_item(&x->j);
	if (!each_member(x, read_process_member))
		return false;
	x->at++;
	return true;
}

/* Reads the list of processes, or the only one. */
static bool read_tool(struct rocprof *x, struct str key)
{
	struct json_in *j = &x->j;
	int first = json_in_ahead(j);

	if (str_eq(key, S("rocprofiler-sdk-tool")) && first == '{')
		return read_process(x);
	if (!str_eq(key, S("rocprofiler-sdk-tool")) || first != '[')
		return json_in_skip_item(j);
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		if (ch == ']' || ch == ',') {
			json_in_pass(j);
			if (ch == ']')
				return true;
		} else if (ch != '{') {
			return ch >= 0 && json_in_skip_item(j);
		} else if (!read_process(x)) {
			return false;
		}
	}
}

/* Reads the file once. Damage ends the pass, and adds a note. */
static bool read_pass(struct rocprof *x)
{
	struct json_in *j = &x->j;

	x->at = 0;
	if (!json_in_open_utf8(j, x->s))
		return false;
	bool whole = each_member(x, read_tool);
	json_in_note_flaws(j, &x->noted, build_notes(x->b));
	if (whole || json_in_failed(j))
		return !json_in_failed(j);
	if (!x->again)
		note_line(build_notes(x->b),
		        "note: %.*s: %s (line %llu): all complete records before it were read\n",
		        STR(x->s->name),
		        j->stop == JSON_STOP_MORE ? "the file ends early" : "bad JSON",
		        (unsigned long long)json_in_line(j, j->p));
	return true;
}

/* Reads the file, and reads it a second time if names come after the records. */
static bool read_passes(struct rocprof *x)
{
	if (!read_pass(x))
		return false;
	x->again = true;
	return !x->late || (src_rewind(x->s) && read_pass(x));
}

static void note_gzip(struct rocprof *x)
{
	struct src_damage *d = x->s->damage;

	if (d->in_gzip.n)
		note_line(build_notes(x->b),
		        d->truncated
		                ? "note: %.*s: truncated gzip data: all complete records before "
		                  "the damage were read\n"
		                : "note: %.*s: damaged gzip data: the complete records in them "
		                  "were read and may be wrong\n",
		        STR(x->s->name));
	d->in_gzip = STR_NONE;
}

static void add_notes(struct rocprof *x)
{
	struct notes *to = build_notes(x->b);
	struct sb b = sb_in(x->a);

	for (uint32_t i = 0; i < x->unused.n; i++) {
		struct sb kind = sb_in(x->a);
		if (!x->unused_n.v[i])
			continue;
		sb_put(&b, b.n ? S(", ") : S(""));
		sb_put_name(&b, intern_str(&x->unused, i));
		sb_fmt(&b, " (%llu)", (unsigned long long)x->unused_n.v[i]);
		sb_put(&kind, S("records of "));
		sb_put_name(&kind, intern_str(&x->unused, i));
		src_count_unused(x->s, sb_str(&kind), x->unused_n.v[i]);
	}
	src_count_unused(x->s, S("records without a time"), x->timeless);
	if (b.n)
		note_line(to, "note: records that are not used: %.*s\n", STR(sb_str(&b)));
	note_count(to, x->timeless,
	        "note: %llu {record has|records have} no time: {it is|they are} left out\n",
	        (unsigned long long)x->timeless);
}

int sniff_rocprof(struct str head, struct str path)
{
	static const char blanks[] = " \t\r\n";
	size_t i = str_starts(head, S("\xef\xbb\xbf")) ? 3 : 0;

	(void)path;
	while (i < head.n && strchr(blanks, head.p[i]) && head.p[i])
		i++;
	if (i == head.n || head.p[i++] != '{')
		return 0;
	while (i < head.n && strchr(blanks, head.p[i]) && head.p[i])
		i++;
	return str_starts(str_sub(head, i, head.n), S("\"rocprofiler-sdk-tool\"")) ? 100 : 0;
}

bool read_rocprof(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct rocprof *x = ARENA_NEW(a, struct rocprof);

	*x = (struct rocprof){ .s = s, .b = b, .a = a, .e = e, .text = sb_in(a) };
	intern_init(&x->unused, a);
	build_start(b, TRACE_ROCPROF, 1000);
	build_origin(b, 0, false);
	s->damage->truncated_ok = true;
	if (!read_passes(x) || !src_finish(s)) {
		s->damage->kept = x->events;
		return false;
	}
	note_gzip(x);
	roc_devices_end(x);
	add_notes(x);
	return x->events || err_set(e, ERR_DATA_LOSS,
	                            "%.*s: no records of kernels or calls: 'rocprofv3 --sys-trace "
	                            "--output-format json' writes them",
	                            STR(s->name));
}
