/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges one model into another: nodes are matched by name, steps become steps of a worker. Known
 * attributes of a node stay as they are; only new nodes are copied whole. The source model was not
 * sealed: its inputs are names.
 */
#include "base/sort.h"
#include "model/ingest_internal.h"
#include "trace/trace.h"
#include "trace/pass/flops_sums.h"

struct merge {
	struct ingest *in;
	const struct ingest *from_in;
	const struct model *from;
	struct arena *a;  /* arena for scratch data */
	uint32_t *node;   /* indexed by node of the source: node of the model; NULL if the ids
	                     are identical */
	bool *fresh;      /* indexed by node of the source: true if newly added */
	uint32_t *string; /* indexed by string of the source: 1 + string of the model; 0: not
	                     requested yet */
	uint32_t *device; /* indexed by device of the source: 1 + device of the model; 0: not
	                     requested yet */
	uint32_t *frame;  /* indexed by frame of the source: frame of the model; NULL: not requested
	                     yet */
};

static uint32_t map_string(struct merge *g, uint32_t id)
{
	if (id == ID_NONE)
		return ID_NONE;
	if (!g->string[id])
		g->string[id] = ingest_string(g->in, model_str(g->from, id)) + 1;
	return g->string[id] - 1;
}

static uint32_t map_device(struct merge *g, uint32_t id)
{
	if (id == ID_NONE)
		return ID_NONE;
	if (!g->device[id])
		g->device[id] = ingest_device(g->in, device_name(g->from, id)) + 1;
	return g->device[id] - 1;
}

/* Returns the model's frame for a frame of the source. Outer frames precede inner frames. */
static uint32_t map_frame(struct merge *g, uint32_t id)
{
	if (id == ID_NONE)
		return ID_NONE;
	if (!g->frame) {
		g->frame = ARENA_ARRAY(g->a, g->from->frames.n, uint32_t);
		for (uint32_t i = 0; i < g->from->frames.n; i++) {
			struct frame f = model_frame(g->from, i);
			f.parent = f.parent == ID_NONE ? ID_NONE : g->frame[f.parent];
			f.file = map_string(g, f.file);
			f.function = map_string(g, f.function);
			f.source = map_string(g, f.source);
			g->frame[i] = ingest_frame(g->in, &f);
		}
	}
	return g->frame[id];
}

static void map_shape(struct merge *g, uint32_t shape, uint32_t *to)
{
	struct str bytes = intern_str(&g->from->shapes, shape);

	*to = intern_add(&g->in->m->shapes, bytes);
}

/* Copies inputs, outputs and attributes of a node being added. */
static void add_edges(struct merge *g, uint32_t i)
{
	const struct model *f = g->from;
	uint32_t shape;

	for (uint32_t k = f->input0.v[i]; k < f->input0.v[i + 1]; k++)
		ingest_input(g->in, model_input_index(f, i, k),
		        map_string(g, f->inputs.v[k] & ~INPUT_UNKNOWN), model_input_slot(f, k));
	for (uint32_t k = f->output0.v[i]; k < f->output0.v[i + 1]; k++) {
		map_shape(g, f->output_shape.v[k], &shape);
		ingest_output(g->in, f->output_slot.v[k], shape);
	}
	for (uint32_t k = f->attr0.v[i]; k < f->attr0.v[i + 1]; k++)
		ingest_attr(g->in, model_str(f, f->attrs.v[k].key), f->attrs.v[k].value);
	if (f->nodes.v[i].shape != ID_NONE) {
		map_shape(g, f->nodes.v[i].shape, &shape);
		ingest_node_shape(g->in, shape);
	}
	ingest_flags(g->in, f->nodes.v[i].flags & (NODE_NHWC | NODE_TRANSPOSED | NODE_UNCOUNTED |
	                                                  NODE_CALL | NODE_TYPE));
	ingest_window(g->in, f->nodes.v[i].window, f->nodes.v[i].stride);
	ingest_facts(g->in, map_string(g, f->nodes.v[i].facts));
}

static uint32_t add_node(struct merge *g, uint32_t i)
{
	const struct node *n = &g->from->nodes.v[i];
	uint32_t to;

	ingest_node(g->in, map_string(g, n->name), map_string(g, n->op));
	add_edges(g, i);
	to = ingest_end_node(g->in);
	if (n->float_ops)
		ingest_set_float_ops(g->in, to, n->float_ops);
	if (n->device != ID_NONE || n->host != ID_NONE)
		ingest_set_device(g->in, to, map_device(g, n->device), map_string(g, n->host));
	if (n->flags & NODE_STACK)
		ingest_set_stack(g->in, to, map_frame(g, n->frame));
	if (n->flags & NODE_TYPES_GIVEN)
		ingest_given_types(g->in, to);
	if (n->flags & NODE_COVERED) {
		g->in->m->nodes.v[to].flags |= NODE_COVERED;
		g->in->m->covered++;
	}
	return to;
}

/* Adds the nodes that the model lacks. */
static void merge_nodes(struct merge *g)
{
	const struct model *f = g->from;

	for (uint32_t i = 0; i < f->nodes.n; i++)
		if (g->node[i] == ID_NONE) {
			g->node[i] = add_node(g, i);
			g->fresh[i] = true;
		}
	for (size_t i = 0; i < g->from_in->extra.n; i++) {
		const struct node_type *x = &g->from_in->extra.v[i];
		if (g->fresh[x->node])
			/* NOLINTNEXTLINE: with a base there are no types */
			ingest_add_type(g->in, g->node[x->node], map_string(g, x->type));
	}
	g->in->m->has_traces |= f->has_traces;
	g->in->m->misses_streams |= f->misses_streams;
	g->in->m->new_input |= f->new_input;
	g->in->m->parallel_times |= f->parallel_times;
}

/* ---- steps ---- */

static int by_node(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *node = ctx;

	return (node[a] > node[b]) - (node[a] < node[b]);
}

/* Sorts the cells of a step in the order of the model's nodes. They are nearly always sorted
 * already. */
static uint32_t *order_cells(struct merge *g, const struct step *f, uint32_t *node)
{
	uint32_t *order = ARENA_ARRAY(g->a, f->n_cells, uint32_t);
	bool ascends = true;

	for (uint32_t c = 0; c < f->n_cells; c++) {
		order[c] = c;
		node[c] = g->node ? g->node[f->cell_node[c]] : f->cell_node[c];
		ascends &= c == 0 || node[c - 1] < node[c];
	}
	if (!ascends)
		sort_stable(g->a, order, f->n_cells, by_node, node);
	return order;
}

static void copy_spans(struct step *to, uint32_t at, const struct step *f, uint32_t c)
{
	uint32_t from = f->cell_span0[c], n = f->cell_span0[c + 1] - from;

	for (uint32_t k = 0; k < n; k++) {
		to->span_device[at + k] = f->span_device[from + k];
		to->span_kind[at + k] = f->span_kind[from + k];
		to->span_start[at + k] = f->span_start[from + k];
		to->span_length[at + k] = f->span_length[from + k];
	}
}

static void make_columns(struct arena *a, struct step *s, const struct step *f)
{
	uint32_t n = f->n_cells;

	step_make_columns(a, s, n, f->n_spans, n ? f->cell_mem0[n] : 0);
	s->n_devices = f->n_devices;
	s->devices = ARENA_ARRAY(a, f->n_devices, uint32_t);
}

static struct step *copy_step(struct merge *g, const struct step *f)
{
	struct arena *a = g->in->m->a;
	struct step *s = ARENA_NEW(a, struct step);
	uint32_t *node = ARENA_ARRAY(g->a, f->n_cells, uint32_t);
	uint32_t *order = order_cells(g, f, node), spans = 0, mem = 0;

	*s = (struct step){ .id = f->id, .ticks_per_us = f->ticks_per_us, .base_us = f->base_us };
	make_columns(a, s, f);
	for (uint32_t i = 0; i < f->n_cells; i++) {
		uint32_t c = order[i], bytes = f->cell_mem0[c + 1] - f->cell_mem0[c];
		s->cell_node[i] = node[c];
		s->cell_runs[i] = f->cell_runs[c];
		s->cell_start[i] = f->cell_start[c];
		s->cell_end[i] = f->cell_end[c];
		copy_spans(s, spans, f, c);
		memcpy(s->mem + mem, f->mem + f->cell_mem0[c], bytes);
		spans += f->cell_span0[c + 1] - f->cell_span0[c];
		mem += bytes;
		s->cell_span0[i + 1] = spans;
		s->cell_mem0[i + 1] = mem;
	}
	for (uint32_t i = 0; i < f->n_devices; i++)
		s->devices[i] = map_device(g, f->devices[i]);
	return s;
}

static void merge_steps(struct merge *g, uint32_t worker, bool excluded_from_average)
{
	struct step **run = ARENA_ARRAY(g->a, g->from->steps.n, struct step *);
	size_t n = 0;

	for (size_t i = 0; i < g->from->steps.n; i++) {
		const struct step *f = g->from->steps.v[i];
		if (excluded_from_average && model_step_of(g->in->m, worker, f->id, NULL))
			continue;
		struct arena_mark mark = arena_mark(g->a);
		struct step *s = copy_step(g, f);
		s->worker = worker;
		s->excluded_from_average = excluded_from_average;
		run[n++] = s;
		arena_reset(g->a, mark);
	}
	ingest_put_steps(g->in, run, n);
}

/* ---- merging ---- */

/* True if both are traces of different formats, which may name the same nodes differently. */
static bool of_two_formats(const struct model *a, const struct model *b)
{
	return a->traces.n && b->traces.n && a->traces.v[0].t->source != b->traces.v[0].t->source;
}

/* Matches nodes. Returns false if both models have nodes but none in common, although they have the
 * same format. */
static bool match_nodes(struct merge *g, const struct model *m)
{
	uint32_t next = 0;
	bool any = false;

	for (uint32_t i = 0; i < g->from->nodes.n; i++) {
		/* NOLINTNEXTLINE: with a base there are no nodes */
		g->node[i] = ingest_find_next(m, node_name(g->from, i), &next);
		any |= g->node[i] != ID_NONE;
	}
	return any || !m->nodes.n || !g->from->nodes.n || of_two_formats(m, g->from);
}

void ingest_set_options(struct ingest *in, const struct src_options *options)
{
	in->options = options;
}

const struct src_options *ingest_options(const struct ingest *in)
{
	return in->options;
}

/* Finds or adds the count of unused data of a format and kind. */
static struct model_unused *unused_of(struct model *m, struct str format, struct str kind)
{
	for (size_t i = 0; i < m->unused.n; i++) {
		struct model_unused *u = &m->unused.v[i];
		if (str_eq(u->format, format) && str_eq(u->kind, kind))
			return u;
	}
	struct model_unused made = { str_copy(m->a, format), str_copy(m->a, kind), 0 };
	VEC_PUSH(m->a, &m->unused, made);
	return &m->unused.v[m->unused.n - 1];
}

static void add_unused(struct model *m, struct str format, struct str kind, uint64_t n)
{
	struct model_unused *u = unused_of(m, format, kind);

	u->n = num_add_u64(u->n, n);
}

void ingest_set_unused(struct ingest *in, struct str format, struct str kind, uint64_t n)
{
	struct model *m = in->m;
	struct model_unused *u = unused_of(m, format, kind);

	u->n = n;
	if (!n)
		memmove(u, u + 1, (size_t)(&m->unused.v[--m->unused.n] - u) * sizeof *u);
}

static void add_file(struct model *m, struct model_file file)
{
	struct model_file made = { str_copy(m->a, file.path), str_copy(m->a, file.format),
		str_copy(m->a, file.producer), file.pid };

	VEC_PUSH(m->a, &m->files, made);
}

void ingest_file(
        struct ingest *in, struct str path, struct str format, const struct src_facts *facts)
{
	struct str whole = format;

	if (facts->content.n)
		whole = str_fmt(in->m->a, "%.*s, %.*s", STR(format), STR(facts->content));
	add_file(in->m, (struct model_file){ path, whole, facts->producer, facts->pid });
	for (size_t i = 0; i < facts->unused.n; i++)
		add_unused(in->m, format, facts->unused.v[i].kind, facts->unused.v[i].n);
}

static void merge_files(struct model *m, const struct model *from)
{
	for (size_t i = 0; i < from->files.n; i++)
		add_file(m, from->files.v[i]);
	for (size_t i = 0; i < from->unused.n; i++)
		add_unused(
		        m, from->unused.v[i].format, from->unused.v[i].kind, from->unused.v[i].n);
}

static struct flops_coverage *copy_coverage(const struct model_trace *t, struct arena *a)
{
	return t->coverage ? flops_coverage_copy(t->coverage, a) : NULL;
}

/* Fails because a worker has no node of the model. */
static void refuse(const struct model *m, const struct model *from, struct str name, struct err *e)
{
	struct str first = node_name(from, 0);

	if (str_starts(first, S("capture_"))) /* annotation of a server of LLMs */
		err_set(e, ERR_FAILED,
		        "'%.*s' is a trace of the capture of CUDA graphs, not of a worker\n"
		        "hint: --graph-capture=FILE reads it with the trace of the server",
		        STR(name));
	else
		err_set(e, ERR_FAILED,
		        "'%.*s' belongs to another model: none of its nodes ('%.*s', ...) is in "
		        "the model loaded before ('%.*s', ...)",
		        STR(name), STR(first), STR(node_name(m, 0)));
}

bool ingest_merge(struct ingest *in, const struct ingest *from, uint32_t worker,
        bool excluded_from_average, struct str name, struct err *e)
{
	const struct model *f = from->m;
	struct merge g = { .in = in, .from_in = from, .from = f };
	struct scratch own;
	bool ok;

	scratch_open(&own, in->m->a->work);
	g.a = &own.a;
	if (!from->base_seen)
		g.node = ARENA_ARRAY(g.a, f->nodes.n, uint32_t);
	g.fresh = ARENA_ARRAY(g.a, f->nodes.n, bool);
	g.string = ARENA_ARRAY(g.a, f->strings.n, uint32_t);
	g.device = ARENA_ARRAY(g.a, f->devices.n, uint32_t);
	ok = match_nodes(&g, in->m);
	if (!ok)
		refuse(in->m, f, name, e);
	if (ok && in->m->nodes.n + f->nodes.n >= NODES_MAX)
		ok = err_set(e, ERR_RESOURCE, "the model has more than %u nodes", NODES_MAX);
	if (ok) {
		ingest_begin(in, g.a);
		merge_nodes(&g);
		for (size_t i = 0; i < f->traces.n; i++)
			ingest_keep_trace(in,
			        &(struct model_trace){ .t = trace_copy(f->traces.v[i].t, in->m->a),
			                .worker = worker,
			                .coverage = copy_coverage(&f->traces.v[i], in->m->a) });
		ingest_commit(in);
		merge_steps(&g, worker, excluded_from_average);
		merge_files(in->m, f);
	}
	scratch_close(&own);
	return ok;
}
