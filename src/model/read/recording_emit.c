/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds the placed operations to the model: nodes in order of first appearance, their cells in the
 * order of steps, the spans and allocations of each cell. Times are in nanoseconds.
 */
#include "base/bits.h"
#include "base/sort.h"
#include "model/read/recording_place.h"

#define TICKS 1000 /* ticks per microsecond */
#define AHEAD 16   /* singles to fetch in advance: those of a cell are far apart */

struct emitting {
	struct recording_lowering *r;
	struct arena *a;
	uint32_t *node;              /* indexed by placed node: node of the model */
	uint32_t *cell0, *cells;     /* cells of the placed node i: cells[cell0[i]] .. cells[cell0[i
	                                + 1]] */
	uint32_t *single0, *singles; /* singles of cell i: singles[single0[i]] .. singles[single0[i
	                                + 1]] */
	uint32_t range_file, kernel_file; /* string ids that frames have as their file */
	VEC(uint32_t) frames;             /* indexed by scope: 1 + its frame; 0: not created yet */
};

/* Groups indices by key. The returned list has the indices of a key from at[key] to at[key + 1], in
 * order. */
static uint32_t *group(struct arena *a, size_t n, size_t keys, uint32_t **at,
        uint32_t (*key)(const struct place *w, size_t i), const struct place *w)
{
	uint32_t *v = ARENA_ARRAY(a, n, uint32_t), *next = ARENA_ARRAY(a, keys + 2, uint32_t);

	for (size_t i = 0; i < n; i++)
		next[key(w, i) + 2]++;
	for (size_t i = 2; i < keys + 2; i++)
		next[i] += next[i - 1];
	for (uint32_t i = 0; i < n; i++)
		v[next[key(w, i) + 1]++] = i;
	*at = next;
	return v;
}

static uint32_t node_of_cell(const struct place *w, size_t i)
{
	return w->cells.v[i].node;
}

static uint32_t cell_of_single(const struct place *w, size_t i)
{
	return w->singles.v[i].cell;
}

/* ---- nodes ---- */

/* Returns the names of all kernels of the node as an AttrValue: a list of bytes. */
static struct str full_names(struct emitting *x, const struct made_node *n)
{
	const struct place *w = x->r->place;
	struct sb list = sb_in(x->a), b = sb_in(x->a);
	VEC(uint32_t) leaves = { 0 };

	for (uint32_t i = n->full; i; i = w->fulls.v[i - 1].next)
		VEC_PUSH(x->a, &leaves, w->fulls.v[i - 1].leaf);
	while (leaves.n-- > 0) {
		struct str full = x->r->all.names.leaves.v[leaves.v[leaves.n]].full;
		uint8_t *p = (uint8_t *)sb_room(&list, 1 + VARINT_MAX);
		*p = 2 << 3 | 2; /* the field ListValue.s */
		list.n += (size_t)(varint_put(p + 1, full.n) - p);
		sb_put(&list, full);
	}
	uint8_t *p = (uint8_t *)sb_room(&b, 1 + VARINT_MAX);
	*p = 1 << 3 | 2; /* the field AttrValue.list */
	b.n += (size_t)(varint_put(p + 1, list.n) - p);
	sb_put(&b, sb_str(&list));
	return sb_str(&b);
}

/* Returns the frame of a scope. The stack of ranges becomes a call stack with frames such as
 * "range:0:conv1". */
static uint32_t frame_of(struct emitting *x, uint32_t scope)
{
	const struct recording_names *n = &x->r->all.names;
	uint32_t way[512], frame = ID_NONE, depth = 0;

	for (; scope && !x->frames.v[scope]; scope = n->scopes.v[scope].parent)
		way[depth++] = scope;
	if (scope)
		frame = x->frames.v[scope] - 1;
	while (depth-- > 0) {
		struct str part = intern_str(&n->parts, n->scopes.v[way[depth]].part);
		struct frame f = { .parent = frame,
			.file = x->range_file,
			.function = ingest_string(x->r->to, part),
			.source = ID_NONE };
		frame = ingest_frame(x->r->to, &f);
		x->frames.v[way[depth]] = frame + 1;
	}
	return frame;
}

static uint32_t stack_of(struct emitting *x, const struct made_node *n)
{
	uint32_t frame = frame_of(x, n->scope);
	const struct place *w = x->r->place;

	if (!n->full)
		return frame;
	const struct leaf_name *leaf = &x->r->all.names.leaves.v[w->fulls.v[n->full - 1].leaf];
	struct frame f = { .parent = frame,
		.file = x->kernel_file,
		.function = ingest_string(x->r->to, leaf->type),
		.source = ingest_string(x->r->to, leaf->full) };
	return ingest_frame(x->r->to, &f);
}

static uint32_t emit_node(struct emitting *x, const struct made_node *n)
{
	struct ingest *to = x->r->to;
	const struct model *m = ingest_model(to);
	uint32_t device = x->r->place->units.v[n->unit].device, id;

	if (!ingest_node(to, n->name, ingest_string(to, n->type)))
		return m->node_of[n->name] - 1;
	if (n->full && ingest_keeps_attrs(to))
		ingest_attr(to, S("kernel_names"), full_names(x, n));
	id = ingest_end_node(to);
	ingest_set_device(to, id, device, m->devices.v[device].host);
	ingest_set_stack(to, id, stack_of(x, n));
	return id;
}

/* ---- cells ---- */

/* Adds the memory of a cell: one record with its sums, then each allocation in order. */
static void emit_memory(struct emitting *x, const struct cell *c)
{
	const struct place *w = x->r->place;
	uint8_t buffer[MEM_ITEM_MAX];
	struct mem_item sums = {
		.time = c->start, .bytes = c->requested, .peak = c->peak, .residual = c->live
	};
	VEC(uint32_t) v = { 0 };

	if (!c->items)
		return;
	ingest_mem(x->r->to, buffer, (size_t)(mem_put(buffer, &sums) - buffer));
	for (uint32_t i = c->items; i; i = w->pieces.v[i - 1].next)
		VEC_PUSH(x->a, &v, i - 1);
	while (v.n-- > 0) {
		const struct piece *p = &w->pieces.v[v.v[v.n]];
		struct mem_item m = { .allocation = true, .time = p->time, .bytes = p->bytes };
		ingest_mem(x->r->to, buffer, (size_t)(mem_put(buffer, &m) - buffer));
	}
}

static void emit_annotation(struct emitting *x, uint32_t single, const struct cell *c)
{
	const struct place *w = x->r->place;
	struct ingest *to = x->r->to;

	if (!w->said.n)
		return;
	struct span_annotation said = w->said.v[single];
	struct str node = node_name(ingest_model(to), x->node[c->node]);
	said.label = labels_of_node(x->r, said.label, node);
	if (said.label || said.thread)
		ingest_span_annotation(to, said);
}

/* Adds the time on the critical path, and the kernels. */
static void emit_work(struct emitting *x, const struct cell *c)
{
	const struct mem_item m = { .critical = c->critical, .uncounted = c->kernels };
	uint8_t buffer[MEM_ITEM_MAX];

	if (c->critical || c->kernels)
		ingest_mem(x->r->to, buffer, (size_t)(mem_put(buffer, &m) - buffer));
}

static void emit_cell(struct emitting *x, uint32_t at)
{
	struct ingest *to = x->r->to;
	const struct place *w = x->r->place;
	const struct cell *c = &w->cells.v[at];
	const struct placed_device *u = &w->units.v[w->nodes.v[c->node].unit];

	ingest_cell(to, c->step, x->node[c->node],
	        &(struct cell_in){ .runs = c->runs, .start = c->start, .end = c->end });
	for (uint32_t i = x->single0[at]; i < x->single0[at + 1]; i++) {
		const struct single *s = &w->singles.v[x->singles[i]];
		if (i + AHEAD < w->singles.n)
			__builtin_prefetch(&w->singles.v[x->singles[i + AHEAD]]);
		ingest_span(to, s->kind, s->device, s->start, s->length);
		emit_annotation(x, x->singles[i], c);
	}
	if (!c->spans && c->cpu_start)
		ingest_span(to, SPAN_CPU, u->device, c->cpu_start, c->cpu_length);
	if (!c->spans && c->acc_start)
		ingest_span(to, SPAN_ACCELERATOR, u->all, c->acc_start, c->acc_length);
	emit_memory(x, c);
	emit_work(x, c);
}

static int by_step(const void *ctx, uint32_t a, uint32_t b)
{
	const struct cell *v = ctx;

	return v[a].step < v[b].step ? -1 : v[a].step > v[b].step;
}

static int by_model_node(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *node = ctx;

	return node[a] < node[b] ? -1 : node[a] > node[b];
}

void emit_model(struct recording_lowering *r)
{
	struct place *w = r->place;
	struct scratch s;
	struct emitting x = { .r = r };

	scratch_open(&s, r->a->work);
	x.a = &s.a;
	x.range_file = ingest_string(r->to, S("range"));
	x.kernel_file = ingest_string(r->to, S("kernel"));
	x.frames.v = ARENA_ARRAY(x.a, r->all.names.scopes.n, uint32_t);
	x.node = ARENA_ARRAY(x.a, w->nodes.n, uint32_t);
	x.cells = group(x.a, w->cells.n, w->nodes.n, &x.cell0, node_of_cell, w);
	x.singles = group(x.a, w->singles.n, w->cells.n, &x.single0, cell_of_single, w);
	for (uint32_t i = 0; i < w->nodes.n; i++)
		x.node[i] = emit_node(&x, &w->nodes.v[i]);
	ingest_ticks(r->to, TICKS);
	const uint32_t *order = sort_order(x.a, w->nodes.n, by_model_node, x.node);
	for (size_t i = 0; i < w->nodes.n; i++) {
		uint32_t from = x.cell0[order[i]], to = x.cell0[order[i] + 1];
		sort_stable(x.a, x.cells + from, to - from, by_step, w->cells.v);
		for (uint32_t c = from; c < to; c++)
			emit_cell(&x, x.cells[c]);
	}
	if (w->nodes.n)
		ingest_has_traces(r->to);
	scratch_close(&s);
}
