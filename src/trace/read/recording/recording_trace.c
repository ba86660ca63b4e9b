/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a trace of a recording.
 */
#include "trace/read/recording/recordings.h"

#include <inttypes.h>

#include "trace/pass/communication.h"
#include "trace/pass/usage.h"
#include "trace/trace_build.h"

#define TICKS 1000 /* ticks per microsecond */

struct tracing {
	struct recordings *all;
	const struct recording_follower *also; /* may be NULL */
	struct trace_build *b;
	struct arena *a;      /* arena for scratch data */
	bool calls;           /* true: store calls and correlations */
	bool graphs;          /* true: store the nodes of graphs */
	struct imap event_of; /* key: scope << 32 | leaf; value: event */
	uint64_t sums;
};

/* An open range: on a thread or, if it has an id, of the whole process. */
struct tracing_range {
	uint64_t start, id;
	uint32_t event, tid, domain;
};
#define RANGES_MAX 4096 /* maximum number of open ranges per process */

/* State of the current process. */
struct tracing_process {
	struct tracing *x;
	struct recorded_process *p;
	uint32_t process;
	uint64_t end;          /* end of the last operation */
	struct imap device_of; /* key: id; value: device */
	struct imap call_of;   /* key: string of a name; value: event */
	struct imap range_of;  /* key: string of a range or mark; value: event */
	VEC(struct tracing_range) ranges;
	struct imap context_of;       /* key: context; value: device id */
	VEC(struct spool_sync) syncs; /* stored until the device of each context is known */
	uint32_t context;             /* context of the last operation that has one */
	/* Fields of the last operation. */
	uint32_t device, stream, track, scope, leaf, event;
	bool any;
};

/* ---- times ---- */

/* Converts a time to ticks after the origin. Saturates. */
static int64_t tick_of(const struct tracing *x, uint64_t time)
{
	uint64_t origin = x->all->origin;

	return time >= origin ? num_from_u64(time - origin) : -num_from_u64(origin - time);
}

/* ---- devices ---- */

/* Returns the number of a GPU over all processes. */
static uint32_t gpu_number(const struct tracing_process *y, uint32_t id)
{
	const struct recorded_gpu *g = recorded_gpu_find(y->p, id);

	return g ? g->number : id;
}

/* Returns the device of a GPU. Processes that share a GPU share the device. */
static uint32_t device_of(struct tracing_process *y, uint32_t id)
{
	const struct recorded_gpu *g = recorded_gpu_find(y->p, id);
	struct trace_build *b = y->x->b;
	uint32_t device;

	if (imap_get(&y->device_of, id, &device))
		return device;
	uint32_t number = gpu_number(y, id);
	device = build_device(
	        b, ID_NONE, DEVICE_KIND_GPU, number, str_fmt(y->x->a, "gpu:%u", number));
	if (g && g->name.n)
		build_device_at(b, device)->model = build_string(b, g->name);
	if (g && recorded_gpu_known(g))
		build_device_at(b, device)->uuid = build_string(b, recorded_gpu_uuid(y->x->a, g));
	imap_put(&y->device_of, id, device, false);
	return device;
}

/* ---- operations and calls ---- */

/* Returns the category of an operation. scope: the ranges around its call. */
static enum trace_category category_of(
        const struct tracing *x, const struct recorded_op *op, uint32_t scope)
{
	const struct recording_names *n = &x->all->names;

	if (op->kind == SPOOL_COPY)
		return CATEGORY_COPY;
	if (op->kind == SPOOL_SET)
		return CATEGORY_SET;
	return n->leaves.v[op->leaf].communication || communication_is_op(n->scopes.v[scope].type)
	               ? CATEGORY_COMMUNICATION
	               : CATEGORY_KERNEL;
}

/* Returns the event of all work with a name that was launched in the given ranges. */
static uint32_t event_of(struct tracing *x, const struct recorded_op *op, uint32_t scope)
{
	uint64_t key = (uint64_t)scope << 32 | op->leaf;
	struct sb path = sb_in(x->a);
	uint32_t event;

	if (imap_get(&x->event_of, key, &event))
		return event;
	const struct leaf_name *leaf = &x->all->names.leaves.v[op->leaf];
	names_put_scope(&x->all->names, &path, scope);
	if (path.n && !x->graphs)
		build_arg_text(x->b, ARG_SCOPE, sb_str(&path));
	if (leaf->type.n && !str_eq(leaf->type, leaf->full))
		build_arg_text(x->b, ARG_SHORT_NAME, leaf->type);
	event = build_event(x->b, category_of(x, op, scope),
	        build_string(x->b, x->all->names.leaves.v[op->leaf].full));
	imap_put(&x->event_of, key, event, false);
	return event;
}

/* Returns a memory kind in the numbering of CUpti_ActivityMemoryKind. */
static const char *const memory_kinds[] = { "other", "pageable", "pinned", "device", "array",
	"managed", "static", "managed static" };

/* Adds an allocation or a release, on the thread of its call or, without a call, on a track of its
 * own. */
static void take_memory(
        struct tracing_process *y, const struct recorded_op *op, const struct recorded_call *c)
{
	struct trace_build *b = y->x->b;
	bool host = op->label == SPOOL_PAGEABLE || op->label == SPOOL_PINNED;
	struct str kind = str_of(
	        memory_kinds[op->label < sizeof memory_kinds / sizeof *memory_kinds ? op->label
	                                                                            : 0]);
	struct sb path = sb_in(y->x->a);

	build_arg_text(b, ARG_ALLOCATOR, kind);
	build_arg_int(b, ARG_MEMORY_KIND, host ? 0 : 1);
	if (c)
		names_put_scope(&y->x->all->names, &path, c->scope);
	if (path.n)
		build_arg_text(b, ARG_SCOPE, sb_str(&path));
	uint32_t event = build_event(b, CATEGORY_ALLOCATION,
	        build_string(b, op->freed ? S("MemoryDeallocation") : S("MemoryAllocation")));
	uint32_t track = c ? build_track(b, y->process, ID_NONE, TRACK_THREAD, c->thread)
	                   : build_track_named(b, y->process, ID_NONE, TRACK_THREAD, S("memory"));
	if (!host)
		build_arg_int(b, ARG_DEVICE, gpu_number(y, op->device));
	build_arg_uint(b, ARG_BYTES, op->bytes);
	build_arg_uint(b, ARG_ADDRESS, op->address);
	build_instant(b, track, event, tick_of(y->x, op->start), 0);
}

/* Finds the track and the event of an operation, which usually equal those of the previous
 * operation. */
static void find_place(struct tracing_process *y, const struct recorded_op *op, uint32_t scope)
{
	if (!y->any || op->device != y->device || op->stream != y->stream)
		y->track = build_track(
		        y->x->b, y->process, device_of(y, op->device), TRACK_STREAM, op->stream);
	if (!y->any || op->leaf != y->leaf || scope != y->scope)
		y->event = event_of(y->x, op, scope);
	y->device = op->device;
	y->stream = op->stream;
	y->leaf = op->leaf;
	y->scope = scope;
	y->any = true;
}

static void add_operation(
        struct tracing_process *y, const struct recorded_op *op, const struct recorded_call *c)
{
	struct tracing *x = y->x;

	if (op->kind == SPOOL_SUM)
		x->sums = num_add_u64(x->sums, op->bytes);
	if (op->kind == SPOOL_MEMORY && op->start && x->calls)
		take_memory(y, op, c);
	if (op->kind == SPOOL_MEMORY || op->kind == SPOOL_SUM || op->between_host || !op->start)
		return;
	y->p->unlaunched += !c;
	uint64_t end = num_add_u64(op->start, op->length);
	y->end = end > y->end ? end : y->end;
	find_place(y, op, recorded_scope(op, c));
	int64_t step = STEP_WARMUP;
	if (build_wants(x->b, ARG_GROUP) && recording_has_steps(y->p))
		step = recording_step(x->all, y->p, c ? c->start : op->start);
	if (step >= 0)
		build_arg_int(x->b, ARG_GROUP, step);
	if (op->kind != SPOOL_KERNEL && op->bytes)
		build_arg_uint(x->b, ARG_BYTES, op->bytes);
	if (op->kind == SPOOL_COPY)
		build_arg_int(x->b, ARG_PAGEABLE, op->pageable);
	if (x->graphs && op->node)
		build_arg_int(x->b, ARG_GRAPH_NODE, num_from_u64(op->node));
	if (!x->calls && c && c->start && (c->graph || !c->announced)) {
		build_arg_int(x->b, ARG_LATENCY, (int64_t)(op->start - c->start));
		build_arg_int(x->b, ARG_CALL_LENGTH, num_from_u64(c->length));
	}
	build_slice(x->b, y->track, y->event, tick_of(x, op->start), num_from_u64(op->length),
	        c && x->calls ? op->label : 0);
}

static void take_operation(void *user, const struct recorded_op *op, struct recorded_call *c)
{
	struct tracing_process *y = user;

	add_operation(y, op, c);
	if (y->x->also)
		y->x->also->to.operation(y->x->also->to.user, op, c);
}

static void take_call(
        struct tracing_process *y, const struct recording_feed *f, const struct spool_api *c)
{
	struct trace_build *b = y->x->b;
	uint32_t event;

	if (!c->start || !y->x->calls)
		return;
	if (!imap_get(&y->call_of, c->name, &event)) {
		event = build_event(
		        b, CATEGORY_CALL, build_string(b, recording_string(f, c->name)));
		imap_put(&y->call_of, c->name, event, false);
	}
	build_slice(b, build_track(b, y->process, ID_NONE, TRACK_THREAD, c->tid), event,
	        tick_of(y->x, c->start), num_from_u64(c->length), c->correlation);
}

/* ---- ranges ---- */

static uint32_t range_event(
        struct tracing_process *y, const struct recording_feed *f, uint32_t name)
{
	struct trace_build *b = y->x->b;
	uint32_t event;

	if (imap_get(&y->range_of, name, &event))
		return event;
	event = build_event(b, CATEGORY_ANNOTATION, build_string(b, recording_string(f, name)));
	imap_put(&y->range_of, name, event, false);
	return event;
}

/* Adds the innermost open range that the record ends. A range with an id can begin and end on
 * different threads, so such ranges have a track of their own. */
static void end_range(struct tracing_process *y, const struct spool_range *g)
{
	struct trace_build *b = y->x->b;
	size_t i = y->ranges.n;
	bool stop = g->op == SPOOL_STOP;

	while (i && (stop ? y->ranges.v[i - 1].id != g->id
	                  : y->ranges.v[i - 1].id || y->ranges.v[i - 1].tid != g->tid ||
	                                    y->ranges.v[i - 1].domain != g->domain))
		i--;
	if (!i)
		return;
	const struct tracing_range *o = &y->ranges.v[i - 1];
	uint64_t length = g->time > o->start ? g->time - o->start : 0;
	uint32_t track = stop ? build_track_named(b, y->process, ID_NONE, TRACK_THREAD, S("ranges"))
	                      : build_track(b, y->process, ID_NONE, TRACK_THREAD, o->tid);
	build_slice(b, track, o->event, tick_of(y->x, o->start), num_from_u64(length), 0);
	memmove(y->ranges.v + i - 1, y->ranges.v + i, (y->ranges.n - i) * sizeof *y->ranges.v);
	y->ranges.n--;
}

/* Drops the older half of the open ranges, assuming that they never end. */
static void drop_ranges(struct tracing_process *y)
{
	size_t half = y->ranges.n / 2;

	memmove(y->ranges.v, y->ranges.v + half, (y->ranges.n - half) * sizeof *y->ranges.v);
	y->ranges.n -= half;
}

static void take_range(
        struct tracing_process *y, const struct recording_feed *f, const struct spool_range *g)
{
	struct trace_build *b = y->x->b;

	if (!y->x->calls)
		return;
	if (y->ranges.n == RANGES_MAX)
		drop_ranges(y);
	if (g->op == SPOOL_POP || g->op == SPOOL_STOP)
		end_range(y, g);
	else if (g->op == SPOOL_INSTANT)
		build_instant(b, build_track(b, y->process, ID_NONE, TRACK_THREAD, g->tid),
		        range_event(y, f, g->name), tick_of(y->x, g->time), 0);
	else if (g->op == SPOOL_PUSH || g->id)
		VEC_PUSH(y->x->a, &y->ranges,
		        ((struct tracing_range){ .start = g->time,
		                .id = g->op == SPOOL_START ? g->id : 0,
		                .event = range_event(y, f, g->name),
		                .tid = g->tid,
		                .domain = g->domain }));
}

/* ---- graph nodes ---- */

static void take_node(struct tracing_process *y, const struct spool_node *n)
{
	struct trace_build *b = y->x->b;

	build_creation(b, &(struct build_creation){ num_from_u64(n->id), num_from_u64(n->original),
	                          n->original ? 0 : tick_of(y->x, n->time),
	                          build_track(b, y->process, ID_NONE, TRACK_THREAD, n->tid) });
}

/* ---- synchronisations ---- */

/* Numbers of CUpti_ActivitySynchronizationType. The other types name no stream. */
enum { SYNC_STREAM_WAIT = 2, SYNC_STREAM = 3 };
#define NO_STREAM UINT32_MAX

/* Returns the place where an operation ran, or NULL. */
static const struct spool_where *where_of(const struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_KERNEL: return &r->kernel.at;
	case SPOOL_COPY: return &r->copy.at;
	case SPOOL_SET: return &r->set.at;
	case SPOOL_GRAPH: return &r->graph.at;
	default: return NULL;
	}
}

/* Stores the device of the operation's context. */
static void take_context(
        struct tracing_process *y, const struct spool_record *r, const struct recorded_op *op)
{
	const struct spool_where *at = where_of(r);

	if (!at || (y->context_of.n && at->context == y->context))
		return;
	imap_put(&y->context_of, at->context, op->device, true);
	y->context = at->context;
}

/* Adds the synchronisations that name a stream to the track of the stream. The recording does not
 * show after which work an event was recorded. */
static void add_syncs(struct tracing_process *y)
{
	struct trace_build *b = y->x->b;
	uint32_t device;

	for (size_t i = 0; i < y->syncs.n; i++) {
		const struct spool_sync *s = &y->syncs.v[i];
		if (!imap_get(&y->context_of, s->context, &device))
			continue; /* no work ran in the context, so it has no track */
		uint32_t event = build_event(b, CATEGORY_SYNC,
		        build_string(b, s->type == SYNC_STREAM ? S("stream synchronize")
		                                               : S("stream wait event")));
		build_slice(b,
		        build_track(b, y->process, device_of(y, device), TRACK_STREAM, s->stream),
		        event, tick_of(y->x, s->start), num_from_u64(s->length),
		        y->x->calls ? s->correlation : 0);
	}
}

static void take_sync(struct tracing_process *y, const struct spool_sync *s)
{
	if (s->start && s->stream != NO_STREAM &&
	        (s->type == SYNC_STREAM || s->type == SYNC_STREAM_WAIT))
		VEC_PUSH(y->x->a, &y->syncs, *s);
}

/* ---- records ---- */

/* Stores the correlation of a piece of work as its label. */
static void label_work(
        struct tracing_process *y, const struct spool_record *r, struct recorded_op *op)
{
	if (r->kind != SPOOL_SUM && r->kind != SPOOL_MEMORY)
		y->p->untimed += !op->start;
	switch (r->kind) {
	case SPOOL_KERNEL: op->label = r->kernel.correlation; break;
	case SPOOL_GRAPH: op->label = r->graph.correlation; break;
	case SPOOL_SET: op->label = r->set.correlation; break;
	case SPOOL_MEMORY: op->label = r->memory.memory; break;
	case SPOOL_COPY: op->label = r->copy.correlation; break;
	default: break;
	}
}

/* Extends the window of the trace by calls and ranges, whether they are stored or not. */
static void cover(const struct tracing *x, const struct spool_record *r)
{
	uint64_t start = r->kind == SPOOL_API     ? r->api.start
	                 : r->kind == SPOOL_RANGE ? r->range.time
	                                          : 0;
	int64_t tick = tick_of(x, start);

	if (start)
		build_cover(x->b, tick,
		        num_add(tick, r->kind == SPOOL_API ? num_from_u64(r->api.length) : 0));
}

static void take_record(void *user, const struct recording_feed *f, const struct spool_record *r,
        struct recorded_op *op)
{
	struct tracing_process *y = user;

	cover(y->x, r);
	if (r->kind == SPOOL_API)
		take_call(y, f, &r->api);
	else if (r->kind == SPOOL_RANGE)
		take_range(y, f, &r->range);
	else if (r->kind == SPOOL_SYNC)
		take_sync(y, &r->sync);
	else if (r->kind == SPOOL_NODE && y->x->graphs)
		take_node(y, &r->node);
	if (op) {
		label_work(y, r, op);
		take_context(y, r, op);
	}
	if (y->x->also)
		y->x->also->to.record(y->x->also->to.user, f, r, op);
}

/* ---- steps ---- */

static void add_step(struct tracing_process *y, uint32_t track, int64_t number, struct str label,
        uint64_t start, uint64_t end)
{
	struct tracing *x = y->x;
	struct str name = label.n ? label : str_fmt(x->a, "%lld", (long long)number);

	build_arg_int(x->b, ARG_STEP, number);
	uint32_t event = build_event(x->b, CATEGORY_STEP, build_string(x->b, name));
	build_slice(x->b, track, event, tick_of(x, start), num_from_u64(end - start), 0);
}

/* Adds the steps. A mark lasts from one boundary to the next, like the steps of recordings. */
static void add_steps(struct tracing_process *y)
{
	const struct recorded_process *p = y->p;
	const struct recordings *r = y->x->all;
	uint32_t track = build_track_named(y->x->b, y->process, ID_NONE, TRACK_THREAD, S("steps"));
	uint64_t last = y->end > p->last ? y->end : p->last;

	for (uint64_t i = 0; p->every && i < STEPS_MAX && r->origin + i * p->every < last; i++)
		add_step(y, track, (int64_t)i, S(""), r->origin + i * p->every,
		        r->origin + (i + 1) * p->every);
	for (size_t i = 0; i < p->boundaries.n && i < STEPS_MAX; i++) {
		uint64_t start = p->boundaries.v[i],
		         end = i + 1 < p->boundaries.n ? p->boundaries.v[i + 1] : last;
		if (i < p->ends.n && p->ends.v[i] < end)
			end = p->ends.v[i];
		add_step(y, track, (int64_t)i + r->o->keep_warmup, p->labels.v[i], start,
		        end > start ? end : start);
	}
}

/* ---- all of it ---- */

static bool read_process(struct tracing *x, struct recorded_process *p)
{
	const struct process_identity *who = &p->facts.who;
	struct tracing_process y = {
		.x = x, .p = p, .process = build_process_named(x->b, p->name)
	};
	struct recording_reader to = {
		.record = take_record,
		.operation = take_operation,
		.user = &y,
		.by_launch = x->graphs /* request->join finds the places */
	};
	struct trace_process *made = build_process_at(x->b, y.process);

	made->pid = who->pid;
	made->rank = who->rank;
	if (who->program.n)
		made->name = build_string(x->b, who->program);
	imap_init(&y.device_of, x->a);
	imap_init(&y.call_of, x->a);
	imap_init(&y.range_of, x->a);
	imap_init(&y.context_of, x->a);
	if (x->also)
		x->also->begin(x->also->to.user, (uint32_t)(p - x->all->v), y.process);
	bool ok = recording_operations(x->all, p, &to);
	if (x->also)
		x->also->end(x->also->to.user);
	if (ok)
		add_syncs(&y);
	if (ok && recording_has_steps(p))
		add_steps(&y);
	return ok;
}

bool recording_trace(struct trace *t, const struct recording_set *files,
        const struct recording_options *o, const struct recording_request *request,
        struct notes *notes, struct err *e)
{
	struct scratch own;
	bool ok;

	scratch_open(&own, t->a->work);
	struct tracing *x = ARENA_NEW(&own.a, struct tracing);
	x->a = &own.a;
	x->calls = request->wants == ARG_BITS_ALL;
	x->graphs = t->by_ranges = x->calls && request->graphs;
	imap_init(&x->event_of, x->a);
	x->also = request->also;
	x->all = x->also ? x->also->all : ARENA_NEW(x->a, struct recordings);
	x->b = build_open(t, request->wants, notes, x->a);
	build_start(x->b, TRACE_RECORDING, TICKS);
	ok = recordings_open(x->all, files, o, request->watch, x->also ? t->a : x->a, e);
	if (ok && x->all->origin == UINT64_MAX)
		x->all->origin = 0;
	if (ok)
		build_origin(x->b, num_from_u64(x->all->origin), true);
	for (size_t i = 0; ok && i < x->all->n; i++)
		ok = read_process(x, &x->all->v[i]);
	ok = ok && recordings_close(x->all);
	t->lost = x->sums;
	for (size_t i = 0; ok && i < x->all->n; i++)
		t->lost = num_add_u64(t->lost, recording_lost_work(&x->all->v[i].facts.lost));
	if (ok)
		note_count(notes, x->sums,
		        "note: %" PRIu64
		        " {operation is known only as a sum|operations are known only as sums} and "
		        "not shown\n",
		        x->sums);
	if (ok && request->say)
		recordings_say(x->all, false, notes);
	if (ok)
		build_seal(x->b);
	if (ok && x->graphs)
		ok = request->join(request->graphs, x->b, x->a, e);
	scratch_close(&own);
	return ok;
}
