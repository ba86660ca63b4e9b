/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the records of each process of a recording.
 */
#include "device/device_use.h"

#include "device/device_calls.h"
#include "device/device_idle.h"
#include "device/device_memory.h"
#include "device/device_parts.h"
#include "device/device_ranges.h"

const char *const gpu_ways[WAY_N] = { [WAY_HTOD] = "HtoD",
	[WAY_DTOH] = "DtoH",
	[WAY_DTOD] = "DtoD",
	[WAY_PTOP] = "PtoP",
	[WAY_HTOH] = "HtoH",
	[WAY_SET] = "Memset",
	[WAY_OTHER] = "other" };

/* Indexed by CUpti_ActivityMemcpyKind. A means an array on the device. */
static const enum gpu_way way_of[] = { WAY_OTHER, WAY_HTOD, WAY_DTOH, WAY_HTOD, WAY_DTOH, WAY_DTOD,
	WAY_DTOD, WAY_DTOD, WAY_DTOD, WAY_HTOH, WAY_PTOP };

/* Indexed by CUpti_ActivitySynchronizationType. In the third type a stream waits, not the host. */
static const char *const sync_names[GPU_SYNCS] = { "synchronisation", "event synchronize", NULL,
	"stream synchronize", "context synchronize" };

/* State of the pass over one process. */
struct reading {
	struct device_use *u;
	struct scratch own;
	struct arena *scratch; /* &own.a */
	const struct recorded_process *p;
	uint32_t process;
	VEC(uint32_t) parts;  /* indexed by GPU number in the process: 1 + part */
	struct imap graph_of; /* key: number of the graph; value: index in u->graphs */
	struct gpu_call_feed calls;
	struct gpu_memory_feed memory;
};

static uint32_t part_index(struct reading *r, uint32_t local)
{
	local = recording_device(local);
	while (r->parts.n <= local)
		VEC_PUSH(r->scratch, &r->parts, 0);
	if (!r->parts.v[local])
		r->parts.v[local] =
		        1 + device_part(r->u, r->process, local, recorded_gpu_find(r->p, local));
	return r->parts.v[local] - 1;
}

static struct gpu_part *part_of(struct reading *r, uint32_t local)
{
	uint32_t i = part_index(r, local);

	return &r->u->parts.v[i];
}

/* Returns the kernel with a name, or the graph recorded as a whole. Adds it if necessary. */
static struct gpu_times *kernel_of(struct reading *r, uint32_t leaf)
{
	struct device_use *u = r->u;

	while (u->kernel_of.n <= leaf)
		VEC_PUSH(u->a, &u->kernel_of, 0);
	if (!u->kernel_of.v[leaf])
		u->kernel_of.v[leaf] =
		        1 + gpu_list_index(u, &u->kernels, u->all.names.leaves.v[leaf].full);
	return &u->kernels.v[u->kernel_of.v[leaf] - 1];
}

/* ---- CUDA graphs ---- */

static struct gpu_graph *graph_of(struct reading *r, uint32_t number)
{
	struct device_use *u = r->u;
	uint32_t i;

	if (!imap_get(&r->graph_of, number, &i)) {
		i = (uint32_t)u->graphs.n;
		imap_put(&r->graph_of, number, i, false);
		VEC_PUSH(u->a, &u->graphs,
		        ((struct gpu_graph){ .process = r->process, .number = number }));
	}
	return &u->graphs.v[i];
}

static void take_node(struct reading *r, uint32_t number, uint64_t length)
{
	struct gpu_graph *g = graph_of(r, number);

	g->nodes++;
	g->ns = num_add(g->ns, num_from_u64(length));
}

/* ---- operations ---- */

/* Adds an operation that has been matched with its call. */
static void take_operation(void *user, const struct recorded_op *op, struct recorded_call *c)
{
	struct reading *r = user;
	struct device_use *u = r->u;

	if (!op->start || op->kind == SPOOL_MEMORY || op->kind == SPOOL_SUM)
		return;
	gpu_ranges_take(u, r->process, op, c);
	if (!c)
		return;
	if (op->graph && !c->announced) {
		graph_of(r, op->graph)->launches++;
		c->announced = true;
	}
	if (op->kind == SPOOL_COPY || op->kind == SPOOL_SET)
		gpu_calls_transfer(&r->calls, op, c);
}

/* Counts a launch. Returns the index of the part. */
static uint32_t take_launch(struct reading *r, const struct recorded_op *op)
{
	uint32_t part = part_index(r, op->device);
	struct gpu_part *p = &r->u->parts.v[part];

	p->kernels = num_add_u64(p->kernels, 1);
	r->u->untimed += !op->start;
	return part;
}

static void take_kernel(
        struct reading *r, const struct spool_kernel *k, const struct recorded_op *op)
{
	uint32_t part = take_launch(r, op);

	if (!op->start)
		return;
	device_add_shape(r->u, kernel_of(r, op->leaf), part, k);
	if (op->graph)
		take_node(r, op->graph, op->length);
}

/* Adds a launch of a graph. A graph whose kernels are not recorded counts as one kernel. */
static void take_graph(struct reading *r, uint32_t number, const struct recorded_op *op)
{
	struct gpu_graph *graph = graph_of(r, number);

	take_launch(r, op);
	graph->launches++;
	if (op->start)
		graph->ns = num_add(graph->ns, num_from_u64(op->length));
}

/* Adds a copy. from, to: kinds of memory. */
static void take_copy(struct reading *r, enum gpu_way way, unsigned from, unsigned to,
        const struct recorded_op *op)
{
	struct gpu_copies one = { 1, num_from_u64(op->bytes), 0 };
	enum gpu_host_memory host = from == SPOOL_PAGEABLE || to == SPOOL_PAGEABLE ? HOST_PAGEABLE
	                            : from == SPOOL_PINNED || to == SPOOL_PINNED   ? HOST_PINNED
	                                                                           : HOST_NONE;

	if (op->start) {
		one.ns = num_from_u64(op->length);
		gpu_copies_take(r->u, way, host, op);
	} else {
		r->u->untimed++;
	}
	gpu_copies_add(&part_of(r, op->device)->ways[way], &one);
	if (op->graph && op->start)
		take_node(r, op->graph, op->length);
}

static enum gpu_way way(const struct spool_copy *c)
{
	return c->kind < sizeof way_of / sizeof *way_of ? way_of[c->kind] : WAY_OTHER;
}

static void take_sum_of_copies(struct gpu_part *p, enum gpu_way way, const struct spool_sum *s)
{
	gpu_copies_add(&p->ways[way],
	        &(struct gpu_copies){ s->count, num_from_u64(s->bytes), num_from_u64(s->sum) });
}

static void take_sum(struct reading *r, const struct recording_feed *f, const struct spool_sum *s,
        const struct recorded_op *op)
{
	struct device_use *u = r->u;

	struct gpu_part *p = part_of(r, s->device);
	u->summed = num_add_u64(u->summed, s->count);
	if (s->what == SPOOL_SET) {
		take_sum_of_copies(p, WAY_SET, s);
		return;
	}
	if (s->what == SPOOL_COPY) {
		struct str name = recording_string(f, s->name);
		enum gpu_way w = 0;
		while (w < WAY_OTHER && !str_ends(name, str_of(gpu_ways[w])))
			w++;
		take_sum_of_copies(p, w, s);
		return;
	}
	struct gpu_times *t = kernel_of(r, op->leaf);
	int64_t min = num_from_u64(s->min), max = num_from_u64(s->max);
	p->kernels = num_add_u64(p->kernels, s->count);
	t->summed_min = t->summed && t->summed_min < min ? t->summed_min : min;
	t->summed_max = t->summed_max > max ? t->summed_max : max;
	t->summed = num_add_u64(t->summed, s->count);
	t->summed_ns = num_add(t->summed_ns, num_from_u64(s->sum));
}

/* ---- synchronisations ---- */

static void take_sync(struct reading *r, const struct spool_sync *s)
{
	unsigned type = s->type < GPU_SYNCS ? s->type : 0;
	struct device_use *u = r->u;

	if (!sync_names[type])
		return;
	u->syncs[type].name = str_of(sync_names[type]);
	hist_add(&u->syncs[type].h, u->a, num_from_u64(s->length));
}

/* ---- facts ---- */

static void take_overhead(struct device_use *u, const struct spool_overhead *o)
{
	unsigned i = 0;

	while (i < u->n_overheads && i < GPU_OVERHEADS - 1 && u->overheads[i].kind != o->kind)
		i++;
	if (i == u->n_overheads)
		u->overheads[u->n_overheads++].kind = o->kind;
	hist_add(&u->overheads[i].h, u->a, num_from_u64(o->length));
}

static struct str string_of(const void *feed, uint32_t id)
{
	return recording_string(feed, id);
}

/* Adds a record before it is matched with its call. */
static void take_record(void *user, const struct recording_feed *f, const struct spool_record *x,
        struct recorded_op *op)
{
	struct reading *r = user;

	switch (x->kind) {
	case SPOOL_KERNEL: take_kernel(r, &x->kernel, op); break;
	case SPOOL_API: gpu_calls_take(&r->calls, string_of, f, &x->api); break;
	case SPOOL_COPY: take_copy(r, way(&x->copy), x->copy.from, x->copy.to, op); break;
	case SPOOL_SET: take_copy(r, WAY_SET, x->set.memory, 0, op); break;
	case SPOOL_MEMORY:
		gpu_memory_take(&r->memory, part_index(r, op->device), &x->memory);
		break;
	case SPOOL_OVERHEAD: take_overhead(r->u, &x->overhead); break;
	case SPOOL_GRAPH: take_graph(r, x->graph.graph, op); break;
	case SPOOL_SYNC: take_sync(r, &x->sync); break;
	case SPOOL_SUM:
		if (op)
			take_sum(r, f, &x->sum, op);
		break;
	default: break;
	}
}

/* ---- all of them ---- */

static void begin_process(void *user, uint32_t process, uint32_t made)
{
	struct reading *r = user;
	struct device_use *u = r->u;

	r->process = process;
	r->p = &u->all.v[process];
	VEC_PUSH(u->a, &u->processes, ((struct gpu_process){ .from = &u->all.v[process] }));
	if (made == u->process_of.n)
		VEC_PUSH(u->a, &u->process_of, process);
	scratch_open(&r->own, u->a->work);
	r->scratch = &r->own.a;
	r->parts.v = NULL;
	r->parts.n = r->parts.cap = 0;
	imap_init(&r->graph_of, r->scratch);
	gpu_calls_begin(&r->calls, u, process, r->scratch);
	gpu_memory_begin(&r->memory, u, r->scratch);
}

static void end_process(void *user)
{
	struct reading *r = user;

	gpu_calls_end(&r->calls);
	gpu_memory_end(&r->memory);
	scratch_close(&r->own);
}

/* Adds the metadata of the recording. */
static void take_facts(struct device_use *u, const struct recorded_process *p)
{
	const struct recording_facts *f = &p->facts;

	recording_losses_add(&u->lost, &f->lost);
	u->uncompared += !f->compared;
	u->damaged = num_add_u64(u->damaged, f->fault.bytes);
	u->gaps = num_add_u64(u->gaps, f->gaps);
	u->gap_ns = num_add(u->gap_ns, num_from_u64(f->gap_ns));
}

bool device_use_read(struct device_use *u, const struct recording_set *files,
        const struct recording_options *o, const struct device_request *request, struct arena *a,
        struct notes *notes, struct err *e)
{
	struct trace *t = trace_new(a);
	struct reading r = { .u = u };
	const struct recording_follower also = { .all = &u->all,
		.to = { .record = take_record, .operation = take_operation, .user = &r },
		.begin = begin_process,
		.end = end_process };
	const struct recording_request how = { .wants = ARG_BIT(ARG_BYTES) | ARG_BIT(ARG_STEP) |
		                                        TRACE_LAUNCH_ARGS,
		.watch = request->watch,
		.say = request->say,
		.also = &also };

	device_use_init(u, t, a);
	if (!recording_trace(t, files, o, &how, notes, e))
		return false;
	u->base = u->all.origin;
	u->unique = true;
	for (size_t i = 0; i < u->all.n; i++)
		take_facts(u, &u->all.v[i]);
	trace_find_steps(t, &u->steps, a);
	trace_steps_find_work(&u->steps, NULL);
	device_sum(u);
	return true;
}
