/* SPDX-License-Identifier: Apache-2.0
 *
 * Assigns operations to nodes and steps. Each node and step has a cell with sums; if there are few
 * operations, or with --detail-steps, each operation is kept as well.
 */
#include "model/read/recording_place.h"

#define KEPT_MAX    ((uint64_t)1 << 20) /* with more operations, only sums are kept */
#define STREAMS_MAX 32768u              /* further streams share a device */
#define BY_OP       UINT32_MAX          /* replaces a leaf: the node is the range itself */

/* ---- preparing ---- */

bool place_begin(struct recording_lowering *r)
{
	struct place *w = r->place = ARENA_NEW(r->a, struct place);
	uint64_t ops = 0;

	w->a = r->a;
	w->path = sb_in(r->a);
	imap_init(&w->node_of, r->a);
	imap_init(&w->cell_of, r->a);
	imap_init(&w->held, r->a);
	for (size_t i = 0; i < r->all.n; i++) {
		const uint64_t *t = r->all.v[i].facts.totals;
		ops += t[SPOOL_KERNEL] + t[SPOOL_COPY] + t[SPOOL_SET] + t[SPOOL_GRAPH];
	}
	w->keep_all = ops <= KEPT_MAX;
	return steps_list_read(&w->detail, r->a, r->all.o->detail_steps, r->all.e);
}

static bool is_kept(const struct place *w, int64_t step)
{
	if (w->keep_all)
		return true;
	for (size_t i = 0; i < w->detail.n; i += 2)
		if (step >= w->detail.v[i] && step <= w->detail.v[i + 1])
			return true;
	return false;
}

/* ---- devices ---- */

static struct placed_device make_unit(struct recording_lowering *r,
        const struct recorded_process *p, uint32_t process, uint32_t device)
{
	struct placed_device u = { .process = process, .gpu = device };
	struct arena *a = r->a;
	uint32_t index = device;
	bool sum = r->all.o->sum_ranks;

	for (size_t i = 0; i < p->gpus.n && !sum; i++)
		if (p->gpus.v[i].id == device)
			index = p->gpus.v[i].number;
	struct str name = str_fmt(a, "/job:%.*s/replica:0/task:%lld/device:gpu:%u",
	        STR(str_lower(a, recording_job(a, p, S("localhost")))),
	        (long long)(sum || p->facts.who.rank < 0 ? 0 : p->facts.who.rank), index);
	u.prefix = p->gpus_used > 1 ? str_fmt(a, "%.*sgpu%u/", STR(p->prefix), index) : p->prefix;
	u.device = ingest_device(r->to, name);
	u.all = ingest_device(r->to, str_fmt(a, "%.*s/stream:all", STR(name)));
	u.copies = u.all;
	if (r->all.o->tf_layout)
		u.copies = ingest_device(r->to, str_fmt(a, "%.*s/memcpy", STR(name)));
	imap_init(&u.streams, a);
	imap_init(&u.nodes, a);
	return u;
}

static uint32_t unit_of(struct recording_lowering *r, struct recorded_process *p, uint32_t device)
{
	struct place *w = r->place;
	uint32_t process = r->all.o->sum_ranks ? 0 : (uint32_t)(p - r->all.v);

	if (w->last_unit < w->units.n && w->units.v[w->last_unit].process == process &&
	        w->units.v[w->last_unit].gpu == device)
		return w->last_unit;
	for (uint32_t i = (uint32_t)w->units.n;
	        i-- > 0;) /* backwards, because the units of this process are the newest */
		if (w->units.v[i].process == process && w->units.v[i].gpu == device)
			return w->last_unit = i;
	VEC_PUSH(r->a, &w->units, make_unit(r, p, process, device));
	return w->last_unit = (uint32_t)w->units.n - 1;
}

static uint32_t stream_of(struct recording_lowering *r, struct placed_device *u, uint32_t stream)
{
	uint32_t device;

	if (imap_get(&u->streams, stream, &device))
		return device;
	struct str name = device_name(ingest_model(r->to), u->device);
	if (r->place->streams == STREAMS_MAX)
		return ingest_device(r->to, str_fmt(r->a, "%.*s/stream:others", STR(name)));
	device = ingest_device(r->to, str_fmt(r->a, "%.*s/stream:%u", STR(name), stream));
	imap_put(&u->streams, stream, device, false);
	r->place->streams++;
	return device;
}

/* ---- nodes ---- */

/* Returns the path of a node; valid until the next call. */
static struct str node_path(
        struct recording_lowering *r, const struct placed_device *u, uint32_t scope, uint32_t leaf)
{
	struct sb *b = &r->place->path;
	const struct strs *parts;

	b->n = 0;
	sb_put(b, u->prefix);
	names_put_scope(&r->all.names, b, scope);
	if (leaf == BY_OP)
		return sb_str(b);
	parts = &r->all.names.leaves.v[leaf].parts;
	for (size_t i = scope ? parts->n - 1 : 0; i < parts->n; i++) {
		if (b->n && b->p[b->n - 1] != '/')
			sb_char(b, '/');
		sb_put(b, parts->v[i]);
	}
	return sb_str(b);
}

/* Finds or adds the node of a leaf, and adds the full name of this kernel to the node's names. */
static uint32_t make_node(
        struct recording_lowering *r, uint32_t unit, uint32_t scope, uint32_t leaf)
{
	struct place *w = r->place;
	struct str name = node_path(r, &w->units.v[unit], scope, leaf);
	uint32_t id = ingest_string(r->to, name), node = (uint32_t)w->nodes.n;

	if (!imap_get(&w->node_of, id, &node)) {
		struct made_node n = {
			.name = id, .scope = scope, .unit = unit, .last_step = INT64_MIN
		};
		n.type = leaf == BY_OP ? r->all.names.scopes.v[scope].type
		                       : r->all.names.leaves.v[leaf].type;
		imap_put(&w->node_of, id, node, false);
		VEC_PUSH(w->a, &w->nodes, n);
	}
	if (leaf != BY_OP) {
		VEC_PUSH(w->a, &w->fulls, ((struct full_name){ w->nodes.v[node].full, leaf }));
		w->nodes.v[node].full = (uint32_t)w->fulls.n;
	}
	return node;
}

static uint32_t node_of(struct recording_lowering *r, uint32_t unit, uint32_t scope, uint32_t leaf)
{
	struct place *w = r->place;
	uint64_t key = (uint64_t)scope << 32 | leaf;
	struct recent *recent = &w->recent[(scope * 31 + leaf) % PLACE_RECENT];
	uint32_t node;

	if (recent->key == key && recent->unit == unit + 1)
		return recent->node;
	if (!imap_get(&w->units.v[unit].nodes, key, &node)) {
		node = make_node(r, unit, scope, leaf);
		imap_put(&w->units.v[unit].nodes, key, node, false);
	}
	*recent = (struct recent){ key, unit + 1, node };
	return node;
}

/* Returns a node for time outside of all operations and ranges. */
static uint32_t named_node(struct recording_lowering *r, struct str name)
{
	struct place *w = r->place;
	uint32_t id = ingest_string(r->to, name), node = (uint32_t)w->nodes.n;

	if (imap_get(&w->node_of, id, &node))
		return node;
	imap_put(&w->node_of, id, node, false);
	VEC_PUSH(w->a, &w->nodes,
	        ((struct made_node){
	                .name = id, .type = str_copy(w->a, name), .last_step = INT64_MIN }));
	return node;
}

/* ---- cells ---- */

static uint32_t cell_of(struct place *w, uint32_t node, int64_t step)
{
	struct made_node *n = &w->nodes.v[node];
	uint64_t key = (uint64_t)step << 32 | node;
	uint32_t cell;

	if (n->last_step == step)
		return n->last_cell;
	if (!imap_get(&w->cell_of, key, &cell)) {
		cell = (uint32_t)w->cells.n;
		imap_put(&w->cell_of, key, cell, false);
		VEC_PUSH(w->a, &w->cells, ((struct cell){ .node = node, .step = step }));
	}
	n->last_step = step;
	n->last_cell = cell;
	return cell;
}

static int64_t time_of(uint64_t ns)
{
	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns;
}

static struct single single_of(
        uint32_t cell, enum span_kind kind, uint32_t device, uint64_t from, uint64_t ns)
{
	return (struct single){ .cell = cell,
		.device = device,
		.kind = (uint8_t)kind,
		.start = time_of(from),
		.length = time_of(ns) };
}

/* Adds a time to the sums of its cell and, if times are stored, as a span. */
static void add_time(struct recording_lowering *r, struct single t, struct span_annotation said)
{
	struct place *w = r->place;
	struct cell *c = &w->cells.v[t.cell];
	int64_t end = num_add(t.start, t.length);

	if (!c->start || t.start < c->start)
		c->start = t.start;
	if (end > c->end)
		c->end = end;
	if (t.kind == SPAN_CPU) {
		c->cpu_start = c->cpu_start && c->cpu_start < t.start ? c->cpu_start : t.start;
		c->cpu_length = num_add(c->cpu_length, t.length);
	} else if (t.kind == SPAN_ACCELERATOR) {
		c->acc_start = c->acc_start && c->acc_start < t.start ? c->acc_start : t.start;
		c->acc_length = num_add(c->acc_length, t.length);
	}
	if (!is_kept(w, c->step)) {
		w->summed++;
		return;
	}
	c->spans++;
	VEC_PUSH(w->a, &w->singles, t);
	if (ingest_model(r->to)->keep_annotations)
		VEC_PUSH(w->a, &w->said, said);
}

/* ---- the critical path ---- */

static void give(
        struct recording_lowering *r, struct recorded_part *part, uint32_t node, bool stepless)
{
	uint32_t at = cell_of(r->place, node, stepless ? 0 : part->step);
	struct cell *c = &r->place->cells.v[at];

	c->critical = num_add(c->critical, part->ticks);
	if (!c->start)
		c->start = c->end = num_add(r->path->t->origin_ns, part->start);
	part->given = true;
}

static void give_parts(struct recording_lowering *r, const struct recorded_process *p,
        struct recorded_parts parts, uint32_t node)
{
	for (size_t i = 0; i < parts.n; i++)
		if (!parts.v[i].given)
			give(r, &parts.v[i], node, p->stepless);
}

/* Assigns the parts of the path that are in an operation to a node. */
static void give_op(struct recording_lowering *r, const struct recorded_process *p,
        const struct recorded_op *op, uint32_t node)
{
	if (r->path)
		give_parts(r, p, path_of_op(r->path, (uint32_t)(p - r->all.v), p, op), node);
}

/* Assigns the parts of the path that are in a call or range starting on a thread at a time to a
 * node. */
static void give_host(struct recording_lowering *r, const struct recorded_process *p,
        uint32_t thread, uint64_t start, uint32_t node)
{
	if (r->path)
		give_parts(
		        r, p, path_of_host(r->path, (uint32_t)(p - r->all.v), thread, start), node);
}

void place_rest(struct recording_lowering *r)
{
	struct sb name = sb_in(r->a);
	bool stepless = false;

	if (!r->path || !r->place->units.n)
		return; /* without operations, the views stay empty */
	for (size_t i = 0; i < r->all.n; i++)
		stepless |= r->all.v[i].stepless;
	for (size_t i = 0; i < r->path->parts.n; i++) {
		struct recorded_part *part = &r->path->parts.v[i];
		if (part->given)
			continue;
		name.n = 0;
		sb_fmt(&name, "(%s)", critical_texts[part->kind]);
		give(r, part, named_node(r, sb_str(&name)), stepless);
	}
	for (size_t i = 0; !stepless && i < r->path->steps->steps.n; i++)
		ingest_step(r->to, r->path->steps->steps.v[i].id);
}

/* ---- memory ---- */

static void add_piece(struct place *w, struct cell *c, uint64_t time, int64_t bytes)
{
	VEC_PUSH(w->a, &w->pieces, ((struct piece){ c->items, time_of(time), bytes }));
	c->items = (uint32_t)w->pieces.n;
	c->live = num_add(c->live, bytes);
	c->peak = c->live > c->peak ? c->live : c->peak;
	if (bytes > 0)
		c->requested = num_add(c->requested, bytes);
	if (!c->start)
		c->start = c->end = time_of(time);
}

/* Subtracts a release from the cell where the allocation was counted, if both are in the same
 * step. */
static void place_free(struct recording_lowering *r, const struct recorded_op *op, int64_t step)
{
	struct place *w = r->place;
	uint32_t i;

	if (!imap_get(&w->held, op->address, &i) || !w->holds.v[i].bytes)
		return;
	struct hold *h = &w->holds.v[i];
	if (w->cells.v[h->cell].step == step)
		add_piece(w, &w->cells.v[h->cell], op->start, -h->bytes);
	h->bytes = 0;
}

static void place_memory(
        struct recording_lowering *r, const struct recorded_op *op, uint32_t node, int64_t step)
{
	struct place *w = r->place;
	uint32_t cell = cell_of(w, node, step);
	int64_t bytes = time_of(op->bytes);

	w->cells.v[cell].runs++;
	add_piece(w, &w->cells.v[cell], op->start, bytes);
	imap_put(&w->held, op->address, (uint32_t)w->holds.n, true);
	VEC_PUSH(w->a, &w->holds, ((struct hold){ cell, bytes }));
}

/* ---- operations ---- */

/* Adds the node for the launch of a graph, which all operations of the launch share. */
static void place_graph_launch(struct recording_lowering *r, const struct recorded_process *p,
        uint32_t unit, int64_t step, struct recorded_call *l)
{
	struct place *w = r->place;

	if (!w->graph_leaf)
		w->graph_leaf = 1 + names_leaf(&r->all.names, S("GraphLaunch"));
	uint32_t node = node_of(r, unit, l->scope, w->graph_leaf - 1);
	uint32_t cell = cell_of(w, node, step);

	give_host(r, p, l->thread, l->start, node);
	w->cells.v[cell].runs++;
	add_time(r, single_of(cell, SPAN_CPU, w->units.v[unit].device, l->start, l->length),
	        (struct span_annotation){ 0, l->thread });
}

static void place_launch(struct recording_lowering *r, const struct recorded_process *p,
        uint32_t unit, uint32_t cell, const struct recorded_op *op, struct recorded_call *l)
{
	struct place *w = r->place;

	if (!l || l->announced)
		return;
	l->announced = true;
	if (l->graph && op->kind != SPOOL_GRAPH) {
		place_graph_launch(r, p, unit, w->cells.v[cell].step, l);
		return;
	}
	give_host(r, p, l->thread, l->start, w->cells.v[cell].node);
	add_time(r, single_of(cell, SPAN_CPU, w->units.v[unit].device, l->start, l->length),
	        (struct span_annotation){ op->label, l->thread });
}

static void place_times(struct recording_lowering *r, uint32_t unit, uint32_t cell,
        const struct recorded_op *op, const struct recorded_call *l)
{
	struct span_annotation said = { op->label, l ? l->thread : 0 };
	struct place *w = r->place;
	struct placed_device *u = &w->units.v[unit];
	bool apart = r->all.o->tf_layout && op->kind == SPOOL_COPY;
	struct cell *c = &w->cells.v[cell];

	if (op->kind == SPOOL_SUM)
		c->kernels = num_add(c->kernels, time_of(op->bytes));
	else
		c->kernels += op->kind == SPOOL_KERNEL || op->kind == SPOOL_GRAPH;
	add_time(r,
	        single_of(cell, apart ? SPAN_SEEN : SPAN_ACCELERATOR, apart ? u->copies : u->all,
	                op->start, op->length),
	        said);
	if (op->kind != SPOOL_SUM && is_kept(w, w->cells.v[cell].step))
		add_time(r,
		        single_of(cell, SPAN_SEEN, stream_of(r, u, op->stream), op->start,
		                op->length),
		        said);
}

/* True if a GPU of the process was selected. */
static bool is_gpu_selected(struct recorded_process *p, uint32_t device)
{
	struct recorded_gpu *v = p->gpus.v;
	size_t i = p->last_gpu;

	if (i < p->gpus.n && v[i].id == device)
		return v[i].used;
	for (i = 0; i < p->gpus.n; i++)
		if (v[i].id == device) {
			p->last_gpu = (uint32_t)i;
			return v[i].used;
		}
	return false;
}

/* Returns true if the operation counts, and sets its step. */
static bool judge(struct recording_lowering *r, struct recorded_process *p,
        const struct recorded_op *op, const struct recorded_call *l, int64_t *step)
{
	if (!op->start) {
		p->untimed++;
		return false;
	}
	*step = recording_step(&r->all, p, l ? l->start : op->start);
	p->outside += *step < 0;
	p->placed += *step >= 0;
	if (*step >= 0 && !l && op->kind != SPOOL_SUM && op->kind != SPOOL_MEMORY)
		p->unlaunched++;
	return *step >= 0;
}

void place_op(struct recording_lowering *r, struct recorded_process *p,
        const struct recorded_op *op, struct recorded_call *l)
{
	struct place *w = r->place;
	uint32_t scope = recorded_scope(op, l), leaf = op->leaf, unit, node, cell;
	int64_t step;

	if ((r->all.o->gpu.n && !is_gpu_selected(p, op->device)) || !judge(r, p, op, l, &step))
		return;
	if (op->kind == SPOOL_MEMORY && op->freed) {
		place_free(r, op, step);
		return;
	}
	unit = unit_of(r, p, op->device);
	if (r->all.o->by_op && scope && op->kind != SPOOL_MEMORY) {
		node = node_of(r, unit, scope, BY_OP);
		cell = cell_of(w, node, step);
		give_op(r, p, op, node);
		if (l)
			give_host(r, p, l->thread, l->start, node);
		place_times(r, unit, cell, op, l);
		return;
	}
	node = node_of(r, unit, scope, leaf);
	if (op->kind == SPOOL_MEMORY) {
		place_memory(r, op, node, step);
		return;
	}
	cell = cell_of(w, node, step);
	give_op(r, p, op, node);
	place_launch(r, p, unit, cell, op, l);
	w->cells.v[cell].runs =
	        num_add(w->cells.v[cell].runs, op->kind == SPOOL_SUM ? time_of(op->bytes) : 1);
	place_times(r, unit, cell, op, l);
}

/* Adds the executions of ranges. A range runs as often as it was entered, and its self time is cpu
 * time. Only ranges that launched operations are nodes. */
void place_ranges(struct recording_lowering *r, struct recorded_process *p)
{
	struct place *w = r->place;

	for (size_t i = 0; i < p->runs.n; i++) {
		const struct range_run *run = &p->runs.v[i];
		int64_t step = recording_step(&r->all, p, run->start);
		uint64_t key = (uint64_t)run->scope << 32 | BY_OP;
		uint32_t process = r->all.o->sum_ranks ? 0 : (uint32_t)(p - r->all.v),
		         node = ID_NONE, u;
		for (u = 0; u < w->units.n && node == ID_NONE; u++)
			if (w->units.v[u].process != process ||
			        !imap_get(&w->units.v[u].nodes, key, &node))
				node = ID_NONE;
		if (step < 0 || node == ID_NONE)
			continue;
		uint32_t cell = cell_of(w, node, step);
		w->cells.v[cell].runs++;
		give_host(r, p, run->thread, run->start, node);
		add_time(r,
		        single_of(cell, SPAN_CPU, w->units.v[u - 1].device, run->start, run->own),
		        (struct span_annotation){ 0, run->thread });
	}
}
