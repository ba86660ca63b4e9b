/* SPDX-License-Identifier: Apache-2.0
 *
 * The second reading of a file: calls and operations go through the join, and the reader gets each
 * operation with its call. Each call finds the ranges that were open on its thread when it began.
 */
#include "base/sort.h"
#include "trace/read/recording/recording_internal.h"

#define COPY_HTOH 9 /* values of CUpti_ActivityMemcpyKind */

enum { API_UNKNOWN, API_OTHER, API_LAUNCH, API_GRAPH };

/* State of the pass over one process. */
struct reading_ops {
	struct recordings *r;
	struct recording_feed f;
	const struct recording_reader *to;
	struct join *join;
	struct imap graphs;                              /* key: number of a graph; value: leaf */
	uint32_t copies[SPOOL_COPY_KINDS], sets, memory; /* 1 + leaf of names; 0: not created yet */
};

/* ---- names ---- */

/* Extends the columns that are indexed by string id to include all strings read so far. */
static void columns(struct reading_ops *x)
{
	struct recorded_process *p = x->f.p;
	size_t n = x->f.get->strings.n;

	if (p->leaf_of.n >= n)
		return;
	VEC_ROOM(x->r->a, &p->leaf_of, n - p->leaf_of.n);
	VEC_ROOM(x->r->a, &p->api_of, n - p->api_of.n);
	memset(p->leaf_of.v + p->leaf_of.n, 0, (n - p->leaf_of.n) * sizeof *p->leaf_of.v);
	memset(p->api_of.v + p->api_of.n, 0, n - p->api_of.n);
	p->leaf_of.n = p->api_of.n = n;
}

static uint32_t leaf_of(struct reading_ops *x, uint32_t id)
{
	struct recorded_process *p = x->f.p;

	columns(x);
	if (id >= p->leaf_of.n)
		return names_leaf(&x->r->names, recording_string(&x->f, id));
	if (!p->leaf_of.v[id])
		p->leaf_of.v[id] = 1 + names_leaf(&x->r->names, recording_string(&x->f, id));
	return p->leaf_of.v[id] - 1;
}

/* Returns the kind of a call by its name. memory: allocations count as operations. */
static unsigned judge_api(struct str name, bool memory)
{
	static const char *const words[] = { "Launch", "Memcpy", "Memset", "Malloc", "Free",
		"Mem" };

	if (str_contains(name, S("GraphLaunch")))
		return API_GRAPH;
	for (size_t i = 0; i < (memory ? 6 : 3); i++)
		if (str_contains(name, str_of(words[i])))
			return API_LAUNCH;
	return API_OTHER;
}

static unsigned api_of(struct reading_ops *x, uint32_t id)
{
	struct recorded_process *p = x->f.p;
	bool memory = p->facts.totals[SPOOL_MEMORY] != 0;

	columns(x);
	if (id >= p->api_of.n) /* the name is lost, so the call may be of any kind */
		return API_LAUNCH;
	if (!p->api_of.v[id])
		p->api_of.v[id] = (uint8_t)judge_api(recording_string(&x->f, id), memory);
	return p->api_of.v[id];
}

/* Returns the leaf of a name such as "MemcpyHtoD". Creates each leaf once. */
static uint32_t own_leaf(struct reading_ops *x, uint32_t *known, struct str name)
{
	if (!*known)
		*known = 1 + names_leaf(&x->r->names, name);
	return *known - 1;
}

/* ---- calls ---- */

/* Returns the range that was open on the thread at a time. Calls mostly arrive in order of time. */
static uint32_t scope_at(struct recorded_process *p, uint32_t tid, uint64_t time)
{
	uint32_t at = p->last_thread;

	if (!p->threads.n || (p->threads.v[at].tid != tid && !imap_get(&p->thread_of, tid, &at)))
		return SCOPE_NONE;
	struct recorded_thread *t = &p->threads.v[at];
	p->last_thread = at;
	const uint64_t *v = t->times.v;
	size_t n = t->times.n, i = t->cursor;
	for (unsigned tries = 0; tries < 4 && i < n && v[i] <= time; tries++, i++)
		if (i + 1 == n || time < v[i + 1]) {
			t->cursor = i;
			return t->scopes.v[i];
		}
	n = sort_count(v, n, time);
	t->cursor = n ? n - 1 : 0;
	return n ? t->scopes.v[n - 1] : SCOPE_NONE;
}

static void take_api(struct reading_ops *x, const struct spool_api *c)
{
	unsigned what = api_of(x, c->name);

	if (what == API_OTHER || !c->correlation)
		return;
	struct recorded_call l = { .start = c->start,
		.length = c->length,
		.scope = scope_at(x->f.p, c->tid, c->start),
		.thread = c->tid,
		.name = c->name,
		.graph = what == API_GRAPH };
	join_call(x->join, c->correlation, &l);
}

/* ---- graph nodes ---- */

#define COPIES_MAX 64 /* longest chain of copied nodes that is followed */

/* Returns the ranges in which a graph node was created; SCOPE_NONE: unknown. */
static uint32_t scope_of_node(struct recorded_process *p, uint64_t id)
{
	uint32_t i;

	for (unsigned hops = 0; hops < COPIES_MAX && idmap_get(&p->copies, id, &i); hops++)
		id = p->nodes.v[i].original;
	if (!idmap_get(&p->created, id, &i))
		return SCOPE_NONE;
	return scope_at(p, p->nodes.v[i].tid, p->nodes.v[i].time);
}

/* Passes on an operation with its call. Work of a graph gets the ranges in which its node was
 * created, if they are known. */
static void found(void *user, const struct recorded_op *op, struct recorded_call *call)
{
	struct reading_ops *x = user;
	struct recorded_process *p = x->f.p;
	uint32_t scope = op->node && !x->to->by_launch ? scope_of_node(p, op->node) : SCOPE_NONE;

	if (scope == SCOPE_NONE) {
		x->to->operation(x->to->user, op, call);
		return;
	}
	struct recorded_op placed = *op;
	placed.scope = scope;
	p->created_work++;
	p->created_ns = num_add_u64(p->created_ns, op->length);
	x->to->operation(x->to->user, &placed, call);
}

/* ---- operations ---- */

/* Joins an operation with its call. If no calls were recorded, operations do not wait for a
 * call. */
static void join(struct reading_ops *x, const struct spool_record *r, uint32_t correlation,
        struct recorded_op *op)
{
	op->device = recording_device(op->device);
	if (x->to->record)
		x->to->record(x->to->user, &x->f, r, op);
	join_op(x->join, x->f.p->facts.totals[SPOOL_API] ? correlation : 0, op);
}

static void take_kernel(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_kernel *k = &r->kernel;
	struct recorded_op op = { .kind = SPOOL_KERNEL,
		.start = k->start,
		.length = k->length,
		.leaf = leaf_of(x, k->name),
		.device = k->at.device,
		.stream = k->at.stream,
		.graph = k->graph,
		.node = k->graph_node };

	join(x, r, k->correlation, &op);
}

static void take_copy(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_copy *c = &r->copy;
	unsigned kind = c->kind < SPOOL_COPY_KINDS ? c->kind : 0;
	struct recorded_op op = { .kind = SPOOL_COPY,
		.start = c->start,
		.length = c->length,
		.bytes = c->bytes,
		.leaf = own_leaf(x, &x->copies[kind], str_of(spool_copy_name(c->kind))),
		.device = c->at.device,
		.stream = c->at.stream,
		.graph = c->graph,
		.node = c->graph_node,
		.between_host = c->kind == COPY_HTOH,
		.pageable = c->from == SPOOL_PAGEABLE || c->to == SPOOL_PAGEABLE };

	join(x, r, c->correlation, &op);
}

static void take_set(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_set *s = &r->set;
	struct recorded_op op = { .kind = SPOOL_SET,
		.start = s->start,
		.length = s->length,
		.bytes = s->bytes,
		.leaf = own_leaf(x, &x->sets, S("Memset")),
		.device = s->at.device,
		.stream = s->at.stream,
		.graph = s->graph,
		.node = s->graph_node,
		.pageable = s->memory == SPOOL_PAGEABLE };

	join(x, r, s->correlation, &op);
}

/* Returns the leaf "CudaGraph_3" of a graph whose kernels are not recorded. */
static uint32_t graph_leaf(struct reading_ops *x, uint32_t graph)
{
	uint32_t leaf;

	if (!imap_get(&x->graphs, graph, &leaf)) {
		leaf = names_leaf(&x->r->names, str_fmt(&x->f.scratch.a, "CudaGraph_%u", graph));
		imap_put(&x->graphs, graph, leaf, false);
	}
	return leaf;
}

static void take_graph(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_graph *g = &r->graph;
	struct recorded_op op = { .kind = SPOOL_GRAPH,
		.start = g->start,
		.length = g->length,
		.leaf = graph_leaf(x, g->graph),
		.device = g->at.device,
		.stream = g->at.stream };

	join(x, r, g->correlation, &op);
}

static void take_memory(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_memory *m = &r->memory;
	struct recorded_op op = { .kind = SPOOL_MEMORY,
		.start = m->time,
		.bytes = m->bytes,
		.address = m->address,
		.freed = m->freed,
		.leaf = own_leaf(x, &x->memory, S("DeviceMemory")),
		.device = m->at.device };

	join(x, r, m->correlation, &op);
}

/* Processes a record of sums. Sums have no call, so the record contains their ranges. */
static void take_sum(struct reading_ops *x, const struct spool_record *r)
{
	const struct spool_sum *s = &r->sum;
	struct recorded_op op = { .kind = SPOOL_SUM,
		.start = s->from,
		.length = s->sum,
		.bytes = s->count,
		.device = recording_device(s->device) };

	if (s->what == SPOOL_API)
		return;
	op.leaf = leaf_of(x, s->name);
	if (s->scope)
		op.scope = names_push(&x->r->names, SCOPE_NONE,
		        names_range(&x->r->names, recording_string(&x->f, s->scope)));
	if (x->to->record)
		x->to->record(x->to->user, &x->f, r, &op);
	x->to->operation(x->to->user, &op, NULL);
}

/* Processes a record that is not an operation. */
static void take_other(struct reading_ops *x, const struct spool_record *r)
{
	if (x->to->record)
		x->to->record(x->to->user, &x->f, r, NULL);
	if (r->kind == SPOOL_API)
		take_api(x, &r->api);
}

static void take(struct reading_ops *x, const struct spool_record *r)
{
	switch (r->kind) {
	case SPOOL_KERNEL: take_kernel(x, r); break;
	case SPOOL_COPY: take_copy(x, r); break;
	case SPOOL_SET: take_set(x, r); break;
	case SPOOL_GRAPH: take_graph(x, r); break;
	case SPOOL_MEMORY: take_memory(x, r); break;
	case SPOOL_SUM: take_sum(x, r); break;
	default: take_other(x, r);
	}
}

bool recording_operations(
        struct recordings *r, struct recorded_process *p, const struct recording_reader *to)
{
	struct reading_ops *x = ARENA_NEW(r->a, struct reading_ops);
	struct spool_record rec;
	struct spool_damage d;
	enum spool_event event;
	struct scratch s;

	x->r = r;
	x->to = to;
	scratch_open(&s, r->a->work);
	x->join = join_new(&s.a, found, x);
	imap_init(&x->graphs, &s.a);
	if (feed_open(&x->f, r, p)) {
		while ((event = feed_next(&x->f, &rec, &d)) < SPOOL_EVENT_END)
			if (event == SPOOL_EVENT_RECORD)
				take(x, &rec);
		join_finish(x->join);
		feed_close(&x->f);
	}
	scratch_close(&s);
	return !r->e->code;
}
