/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_use.h. The records of a spool.
 */
#include "view/gpu_use.h"

#include "base/num.h"
#include "view/gpu_calls.h"
#include "view/gpu_memory.h"
#include "view/gpu_ranges.h"

#define NOTES_MAX   100  /* that are kept */
#define DEVICES_MAX 4096 /* numbers above count as this one */

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

/* One spool being read. */
struct reading {
	struct gpu_use *u;
	struct arena *scratch;
	struct block_decoder *g;
	uint32_t process;
	VEC(uint32_t) parts;     /* by the number that the process gives a GPU: 1 + its part */
	VEC(uint32_t) kernel_of; /* by string id: 1 + the kernel << 1 | 1 for communication */
	struct imap graphs;      /* number -> kernel */
	struct imap graph_of;    /* number -> index in u->graphs */
	struct gpu_call_feed calls;
	struct gpu_memory_feed memory;
	struct gpu_range_feed ranges;
	bool callless; /* no calls were recorded */
};

static struct gpu_part *part_of(struct reading *r, uint32_t local)
{
	struct gpu_use *u = r->u;

	local = local < DEVICES_MAX ? local : DEVICES_MAX;
	while (r->parts.n <= local)
		VEC_PUSH(r->scratch, &r->parts, 0);
	if (!r->parts.v[local]) {
		struct gpu_part new = { .process = r->process, .local = local };
		VEC_PUSH(u->a, &u->parts, new);
		r->parts.v[local] = (uint32_t)u->parts.n;
	}
	return &u->parts.v[r->parts.v[local] - 1];
}

static uint32_t part_index(struct reading *r, uint32_t local)
{
	return (uint32_t)(part_of(r, local) - r->u->parts.v);
}

/* ---- durations by name ---- */

uint32_t gpu_list_index(struct gpu_use *u, struct gpu_list *list, struct str name)
{
	uint32_t id = intern_add(&u->names, name.p ? name : S("(name lost)")), i;
	struct str bytes = intern_str(&u->names, id);

	if (imap_get(&list->at, id, &i))
		return i;
	i = (uint32_t)list->n;
	VEC_PUSH(u->a, list, ((struct gpu_times){ .name = bytes, .mangled = bytes }));
	imap_put(&list->at, id, i, false);
	return i;
}

/* True for a kernel of a library for communication; name: as the compiler has it. */
static bool is_communication(struct str name)
{
	static const char *const prefixes[] = { "nccl", "nvshmem", "rccl", "oneccl" };
	size_t at = 0;

	if (str_starts(name, S("_Z"))) {
		at = name.n > 2 && name.p[2] == 'N' ? 3 : 2;
		while (at < name.n && name.p[at] >= '0' && name.p[at] <= '9')
			at++;
	}
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(str_sub(name, at, SIZE_MAX), str_of(prefixes[i])))
			return true;
	return false;
}

/* The index of the kernel in u->kernels, and its class. */
static uint32_t kernel_index(struct reading *r, uint32_t name, enum gpu_class *class)
{
	struct gpu_list *kernels = &r->u->kernels;
	struct str text = block_decode_string(r->g, name);

	*class = GPU_KERNEL;
	if (!text.p)
		return gpu_list_index(r->u, kernels, text);
	while (r->kernel_of.n <= name)
		VEC_PUSH(r->scratch, &r->kernel_of, 0);
	if (!r->kernel_of.v[name])
		r->kernel_of.v[name] =
		        (1 + gpu_list_index(r->u, kernels, text)) << 1 | is_communication(text);
	*class = r->kernel_of.v[name] & 1 ? GPU_COMMUNICATION : GPU_KERNEL;
	return (r->kernel_of.v[name] >> 1) - 1;
}

/* A graph whose kernels are not recorded one by one counts as a kernel. */
static struct gpu_times *graph_times(struct reading *r, uint32_t graph)
{
	struct gpu_list *kernels = &r->u->kernels;
	uint32_t i;

	if (!imap_get(&r->graphs, graph, &i)) {
		i = gpu_list_index(r->u, kernels, str_fmt(r->scratch, "(graph %u)", graph));
		imap_put(&r->graphs, graph, i, false);
	}
	return &kernels->v[i];
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

/* An operation that has met its call, or has none. */
static void take_joined(void *user, const struct op *op, struct launch *l)
{
	static const enum gpu_class classes[SPOOL_N] = {
		[SPOOL_COPY] = GPU_COPY, [SPOOL_SET] = GPU_SET
	};
	struct reading *r = user;
	enum gpu_class class =
	        op->kind == SPOOL_KERNEL ? (enum gpu_class)op->leaf : classes[op->kind];
	struct gpu_part *p = &r->u->parts.v[op->device];
	bool known = l && l->start && (l->graph || !l->announced) && op->start >= l->start;
	uint64_t tag = known ? 1 + op->start - l->start : 0;

	if (op->stream) /* it belongs on the GPU's time line */
		spans_add(&p->spans, r->u->a, r->scratch,
		        (struct span){ op->start, op->length, tag, class });
	if (!l)
		return;
	if (op->graph && !l->announced) {
		graph_of(r, op->graph)->launches++;
		l->announced = true;
	}
	if (op->kind == SPOOL_COPY || op->kind == SPOOL_SET)
		gpu_calls_transfer(&r->calls, op, l);
}

static void take_work(struct reading *r, uint32_t correlation, const struct op *op)
{
	join_op(r->calls.join, r->callless ? 0 : correlation, op);
}

/* Counts a launch; returns the index of the part. */
static uint32_t take_launch(struct reading *r, uint32_t device, uint64_t start)
{
	uint32_t part = part_index(r, device);
	struct gpu_part *p = &r->u->parts.v[part];

	p->kernels = num_add_u64(p->kernels, 1);
	r->u->untimed += !start;
	return part;
}

static void take_shape(
        struct reading *r, uint32_t kernel, const struct spool_kernel *k, uint32_t part)
{
	struct gpu_times *t = &r->u->kernels.v[kernel];

	if (!t->shapes)
		t->shapes = ARENA_NEW(r->u->a, struct gpu_shapes);
	gpu_shapes_add(t->shapes, k, part);
}

static void take_kernel(struct reading *r, const struct spool_kernel *k)
{
	uint32_t part = take_launch(r, k->at.device, k->start);
	enum gpu_class class;

	if (!k->start)
		return;
	uint32_t kernel = kernel_index(r, k->name, &class);
	hist_add(&r->u->kernels.v[kernel].h, r->u->a, num_from_u64(k->length));
	take_shape(r, kernel, k, part);
	if (k->graph)
		take_node(r, k->graph, k->length);
	take_work(r, k->correlation,
	        &(struct op){ .kind = SPOOL_KERNEL,
	                .start = k->start,
	                .length = k->length,
	                .leaf = class,
	                .device = part,
	                .stream = 1,
	                .graph = k->graph });
}

static void take_graph(struct reading *r, const struct spool_graph *g)
{
	uint32_t part = take_launch(r, g->at.device, g->start);
	struct gpu_graph *graph = graph_of(r, g->graph);

	graph->launches++;
	if (!g->start)
		return;
	graph->ns = num_add(graph->ns, num_from_u64(g->length));
	hist_add(&graph_times(r, g->graph)->h, r->u->a, num_from_u64(g->length));
	take_work(r, g->correlation,
	        &(struct op){ .kind = SPOOL_KERNEL,
	                .start = g->start,
	                .length = g->length,
	                .leaf = GPU_KERNEL,
	                .device = part,
	                .stream = 1 });
}

static void take_copy(
        struct reading *r, enum gpu_way way, uint32_t device, uint32_t correlation, struct op *op)
{
	struct gpu_part *p = part_of(r, device);
	struct gpu_copies *c = &p->ways[way];

	c->count = num_add_u64(c->count, 1);
	c->bytes = num_add(c->bytes, num_from_u64(op->bytes));
	if (!op->start) {
		r->u->untimed++;
		return;
	}
	c->ns = num_add(c->ns, num_from_u64(op->length));
	gpu_copies_take(r->u, way, op);
	if (op->graph)
		take_node(r, op->graph, op->length);
	op->device = part_index(r, device);
	op->stream = way != WAY_HTOH;
	take_work(r, correlation, op);
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

static void take_sum(struct reading *r, const struct spool_sum *s)
{
	struct str name = block_decode_string(r->g, s->name);
	struct gpu_use *u = r->u;

	if (s->what == SPOOL_API)
		return;
	struct gpu_part *p = part_of(r, s->device);
	u->summed = num_add_u64(u->summed, s->count);
	if (s->what == SPOOL_SET) {
		take_sum_of_copies(p, WAY_SET, s);
		return;
	}
	if (s->what == SPOOL_COPY) {
		enum gpu_way w = 0;
		while (w < WAY_OTHER && !str_ends(name, str_of(gpu_ways[w])))
			w++;
		take_sum_of_copies(p, w, s);
		return;
	}
	enum gpu_class class;
	uint32_t kernel = kernel_index(r, s->name, &class);
	struct gpu_times *t = &u->kernels.v[kernel];
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

static void take_info(struct reading *r, const struct spool_info *i)
{
	if (str_eq(str_make(i->key.p, i->key.n), S("level")))
		r->callless = str_eq(str_make(i->value.p, i->value.n), S("kernels"));
	process_identity_take(&r->u->processes.v[r->process].who, r->u->a, i);
}

static void take_overhead(struct gpu_use *u, const struct spool_overhead *o)
{
	unsigned i = 0;

	while (i < u->n_overheads && i < GPU_OVERHEADS - 1 && u->overheads[i].kind != o->kind)
		i++;
	if (i == u->n_overheads)
		u->overheads[u->n_overheads++].kind = o->kind;
	hist_add(&u->overheads[i].h, u->a, num_from_u64(o->length));
}

static void take_device(struct reading *r, const struct spool_device *d)
{
	static const uint8_t none[16];
	struct gpu_part *p = part_of(r, d->id);
	bool mig = memcmp(d->mig_uuid, none, 16) != 0;

	memcpy(p->uuid, mig ? d->mig_uuid : d->uuid, 16);
	p->known = memcmp(p->uuid, none, 16) != 0;
	p->name = str_copy(r->u->a, block_decode_string(r->g, d->name));
	p->capability = d->major < 100 && d->minor < 10 ? d->major * 10 + d->minor : 0;
}

static void take_note(struct gpu_use *u, struct str text)
{
	for (size_t i = 0; i < u->notes.n; i++)
		if (str_eq(u->notes.v[i], text))
			return;
	if (u->notes.n < NOTES_MAX)
		strs_add(u->a, &u->notes, str_copy(u->a, text));
}

static void take(struct reading *r, const struct spool_record *x)
{
	struct gpu_use *u = r->u;

	u->processes.v[r->process].ended = x->kind == SPOOL_END;
	switch (x->kind) {
	case SPOOL_KERNEL: take_kernel(r, &x->kernel); break;
	case SPOOL_API: gpu_calls_take(&r->calls, &x->api); break;
	case SPOOL_COPY:
		take_copy(r, way(&x->copy), x->copy.at.device, x->copy.correlation,
		        &(struct op){ .kind = SPOOL_COPY,
		                .start = x->copy.start,
		                .length = x->copy.length,
		                .bytes = x->copy.bytes,
		                .label = x->copy.from | (uint32_t)x->copy.to << 8,
		                .graph = x->copy.graph });
		break;
	case SPOOL_SET:
		take_copy(r, WAY_SET, x->set.at.device, x->set.correlation,
		        &(struct op){ .kind = SPOOL_SET,
		                .start = x->set.start,
		                .length = x->set.length,
		                .bytes = x->set.bytes,
		                .label = x->set.memory,
		                .graph = x->set.graph });
		break;
	case SPOOL_MEMORY:
		gpu_memory_take(&r->memory, part_index(r, x->memory.at.device), &x->memory);
		break;
	case SPOOL_RANGE: gpu_ranges_take(&r->ranges, &x->range); break;
	case SPOOL_MARK: gpu_ranges_mark(&r->ranges, &x->mark); break;
	case SPOOL_OVERHEAD: take_overhead(u, &x->overhead); break;
	case SPOOL_GRAPH: take_graph(r, &x->graph); break;
	case SPOOL_SYNC: take_sync(r, &x->sync); break;
	case SPOOL_SUM: take_sum(r, &x->sum); break;
	case SPOOL_INFO: take_info(r, &x->info); break;
	case SPOOL_CLOCK: clock_map_add(&u->processes.v[r->process].clock, u->a, &x->clock); break;
	case SPOOL_DEVICE: take_device(r, &x->device); break;
	case SPOOL_LOST:
		if (x->lost.why < SPOOL_LOST_WHY_N)
			u->lost[x->lost.why] = num_add_u64(u->lost[x->lost.why], x->lost.count);
		break;
	case SPOOL_GAP:
		u->gaps++;
		if (x->gap.to > x->gap.from)
			u->gap_ns = num_add(u->gap_ns, num_from_u64(x->gap.to - x->gap.from));
		take_note(u, block_decode_string(r->g, x->gap.why));
		break;
	case SPOOL_NOTE: take_note(u, str_make(x->note.text.p, x->note.text.n)); break;
	default: break;
	}
}

/* ---- a spool ---- */

void gpu_use_init(struct gpu_use *u, struct arena *a)
{
	*u = (struct gpu_use){ .a = a };
	intern_init(&u->names, a);
	imap_init(&u->kernels.at, a);
	imap_init(&u->waits.at, a);
	imap_init(&u->calls.at, a);
	imap_init(&u->range_of, a);
}

static void note_clock(struct gpu_use *u, const struct clock_map *m)
{
	char text[CLOCK_MAP_TEXT];

	clock_map_text(text, m);
	take_note(u, str_of(text));
}

static bool read_spool(struct reading *r, struct src *s, struct err *e)
{
	struct spool_damage damage;
	struct spool_record x;
	enum spool_event event;

	r->g = ARENA_NEW(r->scratch, struct block_decoder);
	r->calls = (struct gpu_call_feed){ .u = r->u,
		.scratch = r->scratch,
		.g = r->g,
		.join = join_new(r->scratch, take_joined, r),
		.process = r->process };
	gpu_calls_begin(&r->calls);
	r->ranges = (struct gpu_range_feed){
		.u = r->u, .scratch = r->scratch, .g = r->g, .process = r->process
	};
	gpu_ranges_begin(&r->ranges);
	gpu_memory_begin(&r->memory, r->u, r->scratch);
	imap_init(&r->graphs, r->scratch);
	imap_init(&r->graph_of, r->scratch);
	block_decode_init(r->g, s, r->scratch, e);
	while ((event = block_decode(r->g, &x, &damage)) < SPOOL_EVENT_END) {
		spool_fault_take(&r->u->processes.v[r->process].fault, event, &x, &damage);
		if (event == SPOOL_EVENT_RECORD)
			take(r, &x);
		else if (!damage.cut)
			r->u->damaged += damage.skipped;
	}
	join_finish(r->calls.join);
	if (r->u->processes.v[r->process].clock.apart)
		note_clock(r->u, &r->u->processes.v[r->process].clock);
	gpu_calls_end(&r->calls);
	for (size_t i = 0; i < r->parts.n; i++)
		if (r->parts.v[i])
			spans_end(&r->u->parts.v[r->parts.v[i] - 1].spans, r->u->a);
	return event == SPOOL_EVENT_END;
}

bool gpu_use_add(struct gpu_use *u, struct str path, struct err *e)
{
	struct gpu_process process = { .file = path };
	struct scratch scratch;
	struct src *s;

	process_identity_init(&process.who);
	scratch_open(&scratch, u->a->work);
	struct reading r = { .u = u, .scratch = &scratch.a, .process = (uint32_t)u->processes.n };
	bool ok = src_open_file(&s, &scratch.a, path, e);
	if (ok) {
		VEC_PUSH(u->a, &u->processes, process);
		ok = read_spool(&r, s, e);
		src_close(s);
		ok = ok && gpu_ranges_attribute(&r.ranges, path, e);
	}
	scratch_close(&scratch);
	return ok;
}
