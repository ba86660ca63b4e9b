/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_use.h. The records of a process.
 */
#include "view/gpu_use.h"

#include "view/gpu_parts.h"

#define NOTES_MAX 100 /* that are kept */

const char *const gpu_ways[WAY_N] = { [WAY_HTOD] = "HtoD",
	[WAY_DTOH] = "DtoH",
	[WAY_DTOD] = "DtoD",
	[WAY_PTOP] = "PtoP",
	[WAY_HTOH] = "HtoH",
	[WAY_SET] = "Memset",
	[WAY_OTHER] = "other" };

/* CUpti_ActivityMemcpyKind: A is an array on the device. */
static const enum gpu_way way_of[] = { WAY_OTHER, WAY_HTOD, WAY_DTOH, WAY_HTOD, WAY_DTOH, WAY_DTOD,
	WAY_DTOD, WAY_DTOD, WAY_DTOD, WAY_HTOH, WAY_PTOP };

/* CUpti_ActivitySynchronizationType; in the third it is a stream that waits, and no host. */
static const char *const sync_names[GPU_SYNCS] = { "synchronisation", "event synchronize", NULL,
	"stream synchronize", "context synchronize" };

/* One process being read. */
struct reading {
	struct gpu_use *u;
	struct arena *scratch;
	const struct recorded_process *p;
	uint32_t process;
	VEC(uint32_t) parts;  /* by the number that the process gives a GPU: 1 + its part */
	struct imap graph_of; /* number -> index in u->graphs */
	struct gpu_call_feed calls;
	struct gpu_memory_feed memory;
};

static const struct recorded_gpu *find_gpu(const struct recorded_process *p, uint32_t id)
{
	for (size_t i = 0; i < p->gpus.n; i++)
		if (p->gpus.v[i].id == id)
			return &p->gpus.v[i];
	return NULL;
}

static uint32_t part_index(struct reading *r, uint32_t local)
{
	struct gpu_use *u = r->u;

	local = recording_device(local);
	while (r->parts.n <= local)
		VEC_PUSH(r->scratch, &r->parts, 0);
	if (!r->parts.v[local]) {
		VEC_PUSH(u->a, &u->parts,
		        ((struct gpu_part){ .process = r->process,
		                .local = local,
		                .gpu = find_gpu(r->p, local) }));
		r->parts.v[local] = (uint32_t)u->parts.n;
	}
	return r->parts.v[local] - 1;
}

static struct gpu_part *part_of(struct reading *r, uint32_t local)
{
	uint32_t i = part_index(r, local);

	return &r->u->parts.v[i];
}

/* ---- durations by name ---- */

uint32_t gpu_list_index(struct gpu_use *u, struct gpu_list *list, struct str name)
{
	uint32_t id = intern_add(&u->names, name), i;

	if (imap_get(&list->at, id, &i))
		return i;
	i = (uint32_t)list->n;
	VEC_PUSH(u->a, list, ((struct gpu_times){ .name = intern_str(&u->names, id) }));
	imap_put(&list->at, id, i, false);
	return i;
}

/* The kernel of a name, or the graph of one. */
static struct gpu_times *kernel_of(struct reading *r, uint32_t leaf)
{
	struct gpu_use *u = r->u;

	while (u->kernel_of.n <= leaf)
		VEC_PUSH(u->a, &u->kernel_of, 0);
	if (!u->kernel_of.v[leaf]) {
		const struct leaf_name *name = &u->all.names.leaves.v[leaf];
		uint32_t i = gpu_list_index(u, &u->kernels, name->full);
		u->kernels.v[i].path = name->type;
		u->kernel_of.v[leaf] = 1 + i;
	}
	return &u->kernels.v[u->kernel_of.v[leaf] - 1];
}

/* ---- CUDA graphs ---- */

static struct gpu_graph *graph_of(struct reading *r, uint32_t number)
{
	struct gpu_use *u = r->u;
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

#define LABEL_HOST (1u << 16) /* it does not belong on the GPU's time line */

static enum gpu_class class_of(const struct gpu_use *u, const struct recorded_op *op)
{
	switch (op->kind) {
	case SPOOL_COPY: return GPU_COPY;
	case SPOOL_SET: return GPU_SET;
	default:
		return u->all.names.leaves.v[op->leaf].communication ? GPU_COMMUNICATION
		                                                     : GPU_KERNEL;
	}
}

/* Takes an operation after the join with its call. */
static void take_operation(void *user, const struct recorded_op *op, struct recorded_call *c)
{
	struct reading *r = user;
	struct gpu_use *u = r->u;
	bool known = c && c->start && (c->graph || !c->announced) && op->start >= c->start;

	if (!op->start || op->kind == SPOOL_MEMORY || op->kind == SPOOL_SUM)
		return;
	gpu_ranges_take(u, r->process, op, c);
	if (!(op->label & LABEL_HOST))
		spans_add(&part_of(r, op->device)->spans, u->a, r->scratch,
		        (struct span){ op->start, op->length, known ? 1 + op->start - c->start : 0,
		                class_of(u, op) });
	if (!c)
		return;
	if (op->graph && !c->announced) {
		graph_of(r, op->graph)->launches++;
		c->announced = true;
	}
	if (op->kind == SPOOL_COPY || op->kind == SPOOL_SET)
		gpu_calls_transfer(&r->calls, op, c);
}

/* Counts a launch; returns the index of the part. */
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
	struct gpu_times *t = kernel_of(r, op->leaf);
	hist_add(&t->h, r->u->a, num_from_u64(op->length));
	if (!t->shapes)
		t->shapes = ARENA_NEW(r->u->a, struct gpu_shapes);
	gpu_shapes_add(t->shapes, k, part);
	if (op->graph)
		take_node(r, op->graph, op->length);
}

/* A graph whose kernels are not recorded counts as one kernel. */
static void take_graph(struct reading *r, uint32_t number, const struct recorded_op *op)
{
	struct gpu_graph *graph = graph_of(r, number);

	take_launch(r, op);
	graph->launches++;
	if (!op->start)
		return;
	graph->ns = num_add(graph->ns, num_from_u64(op->length));
	hist_add(&kernel_of(r, op->leaf)->h, r->u->a, num_from_u64(op->length));
}

/* memory: kinds of source and destination, 8 bits each. */
static void take_copy(struct reading *r, enum gpu_way way, uint32_t memory, struct recorded_op *op)
{
	struct gpu_copies *c = &part_of(r, op->device)->ways[way];

	op->label = memory | (way == WAY_HTOH ? LABEL_HOST : 0);
	c->count = num_add_u64(c->count, 1);
	c->bytes = num_add(c->bytes, num_from_u64(op->bytes));
	if (!op->start) {
		r->u->untimed++;
		return;
	}
	c->ns = num_add(c->ns, num_from_u64(op->length));
	gpu_copies_take(r->u, way, memory, op);
	if (op->graph)
		take_node(r, op->graph, op->length);
}

static enum gpu_way way(const struct spool_copy *c)
{
	return c->kind < sizeof way_of / sizeof *way_of ? way_of[c->kind] : WAY_OTHER;
}

static void take_sum_of_copies(struct gpu_part *p, enum gpu_way way, const struct spool_sum *s)
{
	struct gpu_copies *c = &p->ways[way];

	c->count = num_add_u64(c->count, s->count);
	c->bytes = num_add(c->bytes, num_from_u64(s->bytes));
	c->ns = num_add(c->ns, num_from_u64(s->sum));
}

static void take_sum(struct reading *r, const struct recording_feed *f, const struct spool_sum *s,
        const struct recorded_op *op)
{
	struct gpu_use *u = r->u;

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
	struct gpu_use *u = r->u;

	if (!sync_names[type])
		return;
	gpu_calls_sync(&r->calls, s);
	u->syncs[type].name = str_of(sync_names[type]);
	hist_add(&u->syncs[type].h, u->a, num_from_u64(s->length));
}

/* ---- facts ---- */

static void take_overhead(struct gpu_use *u, const struct spool_overhead *o)
{
	unsigned i = 0;

	while (i < u->n_overheads && i < GPU_OVERHEADS - 1 && u->overheads[i].kind != o->kind)
		i++;
	if (i == u->n_overheads)
		u->overheads[u->n_overheads++].kind = o->kind;
	hist_add(&u->overheads[i].h, u->a, num_from_u64(o->length));
}

static void take_note(struct gpu_use *u, struct str text)
{
	for (size_t i = 0; i < u->notes.n; i++)
		if (str_eq(u->notes.v[i], text))
			return;
	if (u->notes.n < NOTES_MAX)
		strs_add(u->a, &u->notes, str_copy(u->a, text));
}

static struct str string_of(const void *feed, uint32_t id)
{
	return recording_string(feed, id);
}

/* Takes a record before it meets its call. */
static void take_record(void *user, const struct recording_feed *f, const struct spool_record *x,
        struct recorded_op *op)
{
	struct reading *r = user;

	switch (x->kind) {
	case SPOOL_KERNEL: take_kernel(r, &x->kernel, op); break;
	case SPOOL_API: gpu_calls_take(&r->calls, string_of, f, &x->api); break;
	case SPOOL_COPY:
		take_copy(r, way(&x->copy), x->copy.from | (uint32_t)x->copy.to << 8, op);
		break;
	case SPOOL_SET: take_copy(r, WAY_SET, x->set.memory, op); break;
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
	case SPOOL_GAP:
		if (x->gap.why)
			take_note(r->u, recording_string(f, x->gap.why));
		break;
	default: break;
	}
}

/* ---- all of them ---- */

void gpu_use_init(struct gpu_use *u, struct arena *a)
{
	*u = (struct gpu_use){ .a = a };
	intern_init(&u->names, a);
	imap_init(&u->kernels.at, a);
	imap_init(&u->waits.at, a);
	imap_init(&u->calls.at, a);
}

static bool read_process(struct gpu_use *u, uint32_t process, struct arena *scratch)
{
	struct gpu_process *p = &u->processes.v[process];
	struct reading r = { .u = u, .scratch = scratch, .p = p->from, .process = process };
	struct recording_reader to = {
		.record = take_record, .operation = take_operation, .user = &r
	};

	imap_init(&r.graph_of, scratch);
	gpu_calls_begin(&r.calls, u, process, scratch);
	gpu_memory_begin(&r.memory, u, scratch);
	if (!recording_operations(&u->all, p->from, &to))
		return false;
	gpu_calls_end(&r.calls);
	gpu_memory_end(&r.memory);
	for (size_t i = 0; i < r.parts.n; i++)
		if (r.parts.v[i])
			spans_end(&u->parts.v[r.parts.v[i] - 1].spans, u->a);
	return true;
}

/* Adds the recording's facts about itself. */
static void take_facts(struct gpu_use *u, const struct recorded_process *p)
{
	const struct recording_facts *f = &p->facts;

	for (unsigned i = 0; i < SPOOL_LOST_WHY_N; i++)
		u->lost[i] = num_add_u64(u->lost[i], f->lost[i]);
	u->damaged = num_add_u64(u->damaged, f->fault.bytes);
	u->gaps = num_add_u64(u->gaps, f->gaps);
	u->gap_ns = num_add(u->gap_ns, num_from_u64(f->gap_ns));
	for (size_t i = 0; i < f->notes.n; i++)
		take_note(u, f->notes.v[i]);
	if (p->clock_map.apart) {
		char text[CLOCK_MAP_TEXT];
		clock_map_text(text, &p->clock_map);
		take_note(u, str_of(text));
	}
}

bool gpu_use_read(struct gpu_use *u, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch, struct arena *a,
        struct err *e)
{
	bool ok = true;

	gpu_use_init(u, a);
	if (!recordings_open(&u->all, files, o, watch, a, e))
		return false;
	for (size_t i = 0; i < u->all.n; i++)
		VEC_PUSH(a, &u->processes, ((struct gpu_process){ .from = &u->all.v[i] }));
	for (uint32_t i = 0; i < u->all.n && ok; i++) {
		struct scratch scratch;
		scratch_open(&scratch, a->work);
		ok = read_process(u, i, &scratch.a);
		scratch_close(&scratch);
		take_facts(u, &u->all.v[i]);
	}
	if (!ok || !recordings_close(&u->all))
		return false;
	gpu_sum(u);
	return true;
}
