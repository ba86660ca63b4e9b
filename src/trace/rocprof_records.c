/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of rocprofv3: calls and markers on threads, kernels and copies on streams of devices.
 */
#include "trace/rocprof_internal.h"

#define AGENT_GPU  2
#define UNUSED_MAX 64       /* names of lists that are counted singly */
#define COPIES     "copies" /* the stream of copies, where records do not have one */

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

/* Lists of buffer_records that become slices. */
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

/* ---- names ---- */

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

/* The number of a GPU: as the runtime counts, else the handle of its agent. */
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

void roc_devices_end(struct rocprof *x)
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

/* Sizes of grids are in work items; blocks of a grid are counted elsewhere. */
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

bool roc_records(struct rocprof *x, struct str name)
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
