/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds nodes, edges, types and call stacks to the model, and seals it. Steps are in fold.c.
 * Independent of file formats.
 */
#include "base/sort.h"
#include "model/ingest_internal.h"
#include "model/graph_functions.h"

struct ingest *ingest_open(struct model *m, struct notes *notes, bool keep_attrs)
{
	struct ingest *in = ARENA_NEW(m->a, struct ingest);

	in->m = m;
	in->notes = notes;
	in->keep_attrs = keep_attrs;
	intern_init(&m->strings, m->a);
	intern_init(&m->shapes, m->a);
	intern_init(&m->frames, m->a);
	imap_init(&m->string_ids, m->a);
	imap_init(&m->device_of, m->a);
	VEC_PUSH(m->a, &m->input0, 0);
	VEC_PUSH(m->a, &m->output0, 0);
	VEC_PUSH(m->a, &m->attr0, 0);
	VEC_PUSH(m->a, &m->type0, 0);
	return in;
}

uint32_t ingest_find_next(const struct model *m, struct str name, uint32_t *next)
{
	uint32_t n = *next;

	if (n >= m->nodes.n || !str_eq(node_name(m, n), name))
		n = model_find(m, name);
	if (n != ID_NONE)
		*next = n + 1;
	return n;
}

void ingest_base(struct ingest *in, const struct model *base)
{
	in->base = base;
}

bool ingest_overlay_begin(struct ingest *in)
{
	if (!in->base || in->m->nodes.n || in->m->steps.n)
		return false;
	in->base_next = 0;
	in->base_seen = ARENA_ARRAY(in->m->a, in->base->nodes.n, bool);
	return true;
}

size_t ingest_base_nodes(const struct ingest *in)
{
	return in->base->nodes.n;
}

bool ingest_base_node(struct ingest *in, struct str name, uint32_t *node)
{
	*node = ingest_find_next(in->base, name, &in->base_next);
	if (*node == ID_NONE || in->base_seen[*node])
		return false;
	return in->base_seen[*node] = true;
}

void ingest_overlay_end(struct ingest *in, struct arena *scratch)
{
	in->base_seen = NULL;
	ingest_undo(in);
	ingest_begin(in, scratch);
}

const struct model *ingest_model(const struct ingest *in)
{
	return in->m;
}

struct notes *ingest_notes(struct ingest *in)
{
	return in->notes;
}

void ingest_keep_attrs(struct ingest *in)
{
	in->keep_attrs = true;
}

void ingest_keep_notes(struct ingest *in)
{
	in->m->keep_annotations = true;
}

bool ingest_keeps_attrs(const struct ingest *in)
{
	return in->keep_attrs;
}

void ingest_begin(struct ingest *in, struct arena *scratch)
{
	const struct model *m = in->m;

	in->scratch = scratch;
	in->mark = (struct ingest_mark){ m->nodes.n, m->inputs.n, m->input_index.n, m->input_slot.n,
		m->output_slot.n, m->attrs.n, in->extra.n, m->traces.n, m->has_traces, m->library };
	memset(&in->pending, 0, sizeof in->pending);
	memset(&in->steps, 0, sizeof in->steps);
	memset(&in->existing, 0, sizeof in->existing);
	imap_init(&in->step_of, scratch);
	in->ticks_per_us = 1;
	in->cell_step = NULL;
}

static void apply_pending(struct ingest *in)
{
	for (size_t i = 0; i < in->pending.n; i++) {
		const struct pending *p = &in->pending.v[i];
		struct node *n = &in->m->nodes.v[p->node];
		if (!p->stack) {
			n->float_ops = p->value;
		} else if (!(n->flags & NODE_STACK)) {
			n->flags |= NODE_STACK;
			n->frame = (uint32_t)p->value;
		}
	}
}

void ingest_undo(struct ingest *in)
{
	struct model *m = in->m;
	const struct ingest_mark *k = &in->mark;

	for (size_t i = k->nodes; i < m->nodes.n; i++)
		m->node_of[m->nodes.v[i].name] = 0;
	m->nodes.n = k->nodes;
	m->input0.n = m->output0.n = m->attr0.n = k->nodes + 1;
	m->inputs.n = k->inputs;
	m->input_index.n = k->input_index;
	m->input_slot.n = k->input_slot;
	m->output_slot.n = m->output_shape.n = k->outputs;
	m->attrs.n = k->attrs;
	m->has_traces = k->has_traces;
	m->library = k->library;
	m->traces.n = k->traces;
	in->extra.n = k->extra;
	in->scratch = NULL;
}

void ingest_keep_trace(struct ingest *in, const struct model_trace *t)
{
	VEC_PUSH(in->m->a, &in->m->traces, *t);
	ingest_parallel_times(in);
}

void ingest_share_names(struct ingest *in, struct pool *p)
{
	in->readers = p;
}

uint32_t ingest_string(struct ingest *in, struct str s)
{
	if (in->readers) {
		uint32_t id = intern_find(&in->m->strings, s);
		if (id != ID_NONE)
			return id;
		par_wait_idle(in->readers);
	}
	return intern_add(&in->m->strings, s);
}

uint32_t ingest_shape(struct ingest *in, const int64_t *dims, size_t n)
{
	return intern_add(&in->m->shapes, str_make(dims, n * sizeof *dims));
}

uint32_t ingest_device(struct ingest *in, struct str name)
{
	struct model *m = in->m;
	uint32_t id = ingest_string(in, name), found;

	if (imap_get(&m->device_of, id, &found))
		return found;
	uint32_t host = ingest_string(in, device_host(m->a, name));
	struct device d = { .name = id, .host = host, .kind = device_kind(name) };
	imap_put(&m->device_of, id, (uint32_t)m->devices.n, false);
	VEC_PUSH(m->a, &m->devices, d);
	return (uint32_t)m->devices.n - 1;
}

static void name_node(struct model *m, uint32_t name, uint32_t node)
{
	if (name >= m->node_of_cap) {
		size_t cap = m->node_of_cap;
		m->node_of = vec_grow(m->a, m->node_of, &cap, (size_t)name + 1, sizeof *m->node_of);
		m->node_of_cap = cap;
	}
	m->node_of[name] = node + 1;
}

/* Appends a node without inputs, outputs and attributes. */
uint32_t ingest_plain_node(struct ingest *in, uint32_t name, uint32_t op)
{
	struct model *m = in->m;
	struct node n = { .name = name,
		.op = op,
		.device = ID_NONE,
		.host = ID_NONE,
		.frame = ID_NONE,
		.shape = ID_NONE,
		.facts = ID_NONE };

	par_wait_idle(in->readers);
	name_node(m, name, (uint32_t)m->nodes.n);
	VEC_PUSH(m->a, &m->nodes, n);
	in->nodes_changed = in->types_changed = true;
	return ingest_end_node(in);
}

bool ingest_node(struct ingest *in, uint32_t name, uint32_t op)
{
	struct model *m = in->m;

	if (name < m->node_of_cap && m->node_of[name])
		return false;
	if (m->nodes.n >= NODES_MAX) {
		in->overflow = "nodes";
		return false;
	}
	ingest_plain_node(in, name, op);
	m->input0.n--;
	m->output0.n--;
	m->attr0.n--;
	return true;
}

uint32_t ingest_end_node(struct ingest *in)
{
	struct model *m = in->m;

	if (m->inputs.n >= UINT32_MAX || m->output_slot.n >= UINT32_MAX || m->attrs.n >= UINT32_MAX)
		in->overflow = "edges";
	VEC_PUSH(m->a, &m->input0, (uint32_t)m->inputs.n);
	VEC_PUSH(m->a, &m->output0, (uint32_t)m->output_slot.n);
	VEC_PUSH(m->a, &m->attr0, (uint32_t)m->attrs.n);
	return (uint32_t)m->nodes.n - 1;
}

/* Creates the columns for indexes and slots when the first input needs them. */
static void input_columns(struct model *m)
{
	while (m->input_index.n < m->inputs.n - 1) {
		size_t input = m->input_index.n, i;
		/* the first node whose inputs begin after this one */
		BISECT(i, 1, m->nodes.n, m->input0.v[i] <= input);
		VEC_PUSH(m->a, &m->input_index, (int32_t)(input - m->input0.v[i - 1]));
		VEC_PUSH(m->a, &m->input_slot, 0);
	}
}

void ingest_input(struct ingest *in, int32_t index, uint32_t source, int32_t slot)
{
	struct model *m = in->m;
	bool plain = index == (int64_t)(m->inputs.n - m->input0.v[m->nodes.n - 1]) && slot == 0;

	VEC_PUSH(m->a, &m->inputs, source | INPUT_UNKNOWN);
	if (plain && !m->input_index.n)
		return;
	input_columns(m);
	VEC_PUSH(m->a, &m->input_index, index);
	VEC_PUSH(m->a, &m->input_slot, slot);
}

void ingest_output(struct ingest *in, int32_t slot, uint32_t shape)
{
	VEC_PUSH(in->m->a, &in->m->output_slot, slot);
	VEC_PUSH(in->m->a, &in->m->output_shape, shape);
}

/* Quirk 16: a shape defines parameters, whatever the operation. */
void ingest_node_shape(struct ingest *in, uint32_t shape)
{
	struct node *n = &in->m->nodes.v[in->m->nodes.n - 1];
	size_t rank = model_rank(in->m, shape);
	int64_t params = rank ? 1 : 0;

	for (size_t i = 0; i < rank; i++) {
		int64_t d = model_dim(in->m, shape, i);
		params = d < 0 || params < 0 ? -1 : num_mul(params, d);
	}
	n->shape = shape;
	n->params = params < 0 ? 0 : params;
}

void ingest_flags(struct ingest *in, uint32_t flags)
{
	in->m->nodes.v[in->m->nodes.n - 1].flags |= flags;
}

void ingest_window(struct ingest *in, uint32_t window, uint32_t stride)
{
	struct node *n = &in->m->nodes.v[in->m->nodes.n - 1];

	n->window = window;
	n->stride = stride;
}

void ingest_facts(struct ingest *in, uint32_t facts)
{
	in->m->nodes.v[in->m->nodes.n - 1].facts = facts;
}

struct library *ingest_library(struct ingest *in)
{
	struct model *m = in->m;

	if (!m->library)
		m->library = library_new(m->a, ingest_string(in, S("Identity")));
	return m->library;
}

void ingest_attr(struct ingest *in, struct str key, struct str value)
{
	if (!in->keep_attrs)
		return;
	struct attr at = { ingest_string(in, key), str_copy(in->m->a, value) };
	VEC_PUSH(in->m->a, &in->m->attrs, at);
}

void ingest_set_float_ops(struct ingest *in, uint32_t node, int64_t n)
{
	VEC_PUSH(in->scratch, &in->pending, ((struct pending){ node, false, n }));
}

void ingest_set_uncounted(struct ingest *in, uint32_t node)
{
	in->m->nodes.v[node].flags |= NODE_UNCOUNTED;
}

void ingest_set_stack(struct ingest *in, uint32_t node, uint32_t frame)
{
	VEC_PUSH(in->scratch, &in->pending, ((struct pending){ node, true, frame }));
}

void ingest_set_device(struct ingest *in, uint32_t node, uint32_t device, uint32_t host)
{
	in->m->nodes.v[node].device = device;
	in->m->nodes.v[node].host = host;
}

void ingest_given_types(struct ingest *in, uint32_t node)
{
	in->m->nodes.v[node].flags |= NODE_TYPES_GIVEN;
}

void ingest_add_type(struct ingest *in, uint32_t node, uint32_t type)
{
	VEC_PUSH(in->m->a, &in->extra, ((struct node_type){ node, type }));
	in->types_changed = true;
}

void ingest_canonical(struct ingest *in, uint32_t node, uint32_t device)
{
	struct node *n = &in->m->nodes.v[node];
	const struct device *d = &in->m->devices.v[device];

	n->device = device;
	n->host = d->host;
	in->types_changed = true;
	if (n->flags & NODE_TYPES_GIVEN)
		ingest_add_type(in, node, d->name);
}

uint32_t ingest_frame(struct ingest *in, const struct frame *f)
{
	return intern_add(&in->m->frames, str_make(f, sizeof *f));
}

void ingest_has_traces(struct ingest *in)
{
	in->m->has_traces = true;
}

void ingest_new_input(struct ingest *in)
{
	in->m->new_input = true;
}

void ingest_parallel_times(struct ingest *in)
{
	in->m->parallel_times = true;
}

void ingest_workers(struct ingest *in, const struct strs *names)
{
	in->m->workers.n = 0;
	for (size_t i = 0; i < names->n; i++)
		strs_add(in->m->a, &in->m->workers, str_copy(in->m->a, names->v[i]));
}

void ingest_commit(struct ingest *in)
{
	apply_pending(in);
	ingest_commit_steps(in);
	in->scratch = NULL;
}

/* ---- sealing ---- */

static void resolve_inputs(struct model *m)
{
	for (size_t i = 0; i < m->inputs.n; i++) {
		uint32_t id = m->inputs.v[i] & ~INPUT_UNKNOWN;
		if ((m->inputs.v[i] & INPUT_UNKNOWN) && id < m->node_of_cap && m->node_of[id])
			m->inputs.v[i] = m->node_of[id] - 1;
	}
}

static void sort_names(struct model *m)
{
	size_t n = m->nodes.n;

	VEC_ROOM(m->a, &m->by_name, n - m->by_name.n);
	struct arena_mark k = arena_mark(m->a);
	struct str *names = ARENA_ARRAY(m->a, n, struct str);
	for (uint32_t i = 0; i < n; i++) {
		m->by_name.v[i] = i;
		names[i] = node_name(m, i);
	}
	m->by_name.n = n;
	sort_strings(m->a, m->by_name.v, n, names);
	arena_reset(m->a, k);
}

static int by_bytes(const void *m, uint32_t a, uint32_t b)
{
	return str_cmp(model_str(m, a), model_str(m, b));
}

/* Sorts by bytes and removes duplicates. Returns the new length. */
static size_t tidy_set(const struct model *m, struct arena *a, uint32_t *ids, size_t n)
{
	size_t kept = 0;

	sort_stable(a, ids, n, by_bytes, m);
	for (size_t i = 0; i < n; i++)
		if (!kept || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	return kept;
}

static uint32_t add_set(struct model *m, struct intern *sets, const uint32_t *ids, size_t n)
{
	size_t before = sets->n;
	uint32_t set = intern_add(sets, str_make(ids, n * sizeof *ids));

	if (sets->n > before) {
		for (size_t i = 0; i < n; i++)
			/* NOLINTNEXTLINE: the array has n elements */
			VEC_PUSH(m->a, &m->types, ids[i]);
		VEC_PUSH(m->a, &m->type0, (uint32_t)m->types.n);
	}
	return set;
}

/* Sorts extra types by node; within a node, they keep their order. */
static const uint32_t *extra_by_node(struct ingest *in, struct arena *a, uint32_t **by)
{
	size_t n = in->m->nodes.n;
	uint32_t *first = ARENA_ARRAY(a, n + 2, uint32_t);

	*by = ARENA_ARRAY(a, in->extra.n, uint32_t);
	for (size_t i = 0; i < in->extra.n; i++)
		first[in->extra.v[i].node + 2]++;
	for (size_t i = 2; i <= n; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < in->extra.n; i++)
		(*by)[first[in->extra.v[i].node + 1]++] = in->extra.v[i].type;
	return first;
}

/* Creates one type set per distinct combination of types. Most nodes have only the types op and
 * device. */
static void make_type_sets(struct ingest *in)
{
	struct model *m = in->m;
	struct scratch own;
	struct intern sets;
	struct imap plain;
	uint32_t *extra, set;

	scratch_open(&own, m->a->work);
	intern_init(&sets, &own.a);
	imap_init(&plain, &own.a);
	m->types.n = 0;
	m->type0.n = 1;
	const uint32_t *first = extra_by_node(in, &own.a, &extra);
	VEC(uint32_t) ids = { 0 };
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		struct node *n = &m->nodes.v[i];
		uint64_t key = (uint64_t)n->op << 32 | n->device;
		bool is_plain = first[i] == first[i + 1] && !(n->flags & NODE_TYPES_GIVEN);
		if (is_plain && imap_get(&plain, key, &n->types))
			continue;
		ids.n = 0;
		if (!(n->flags & NODE_TYPES_GIVEN)) {
			VEC_PUSH(&own.a, &ids, n->op);
			if (n->device != ID_NONE)
				VEC_PUSH(&own.a, &ids, m->devices.v[n->device].name);
		}
		for (uint32_t e = first[i]; e < first[i + 1]; e++)
			VEC_PUSH(&own.a, &ids, extra[e]);
		set = add_set(m, &sets, ids.v, tidy_set(m, &own.a, ids.v, ids.n));
		n->types = set;
		if (is_plain)
			imap_put(&plain, key, set, false);
	}
	scratch_close(&own);
}

bool ingest_seal(struct ingest *in, struct err *e)
{
	if (in->overflow)
		return err_set(
		        e, ERR_RESOURCE, "the model has more %s than can be counted", in->overflow);
	if (in->nodes_changed) {
		resolve_inputs(in->m);
		sort_names(in->m);
		if (in->m->sums.n)
			ingest_sum_room(in->m);
	}
	if (in->types_changed)
		make_type_sets(in);
	in->nodes_changed = in->types_changed = false;
	return true;
}
