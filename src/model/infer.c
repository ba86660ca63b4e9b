/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks a graph from its inputs to its outputs and applies the rules of infer.def. A shape that the
 * file states is never replaced.
 */
#include "base/sort.h"
#include "model/infer_internal.h"

static const struct infer_rule {
	const char *names;
	infer_shape_rule *shape;
	infer_value_rule *value;
	infer_shape_rule *second;
} rules[] = {
#define RULE(names, shape, value, second) { (names), (shape), (value), (second) },
#include "model/infer.def"
};

/* Nodes whose inputs are being computed. */
struct pending_nodes {
	uint32_t *v;
	size_t n, cap;
};

enum node_state { STATE_NEW, STATE_ENTERED, STATE_DONE };

/* The outputs of a node, in the pool of numbers. */
struct stored {
	uint32_t at; /* position of dimensions, elements, and the shapes of the other outputs, each
	                after its rank (-1: unknown) */
	uint8_t rank, values, others; /* number of each of these */
	bool known;                   /* true: the rank is known */
	bool lost, listed; /* lost: the node loses the shape; listed: graph_shapes_lost has reached
	                      the node */
	uint8_t state;
};

struct graph_shapes {
	const struct model *m;
	struct arena *a;
	int64_t batch;
	struct stored *node;
	VEC(int64_t) pool;
	struct imap rule_of; /* key: string id of an operation; value: index in rules */
	struct containers *containers;
	uint32_t handle_op, next_op, ref_next_op; /* string ids of VarHandleOp, NextIteration and
	                                             RefNextIteration, or ID_NONE */
	size_t computed;
	struct infer_op op, further; /* op: the operation being computed; further: the operation
	                                whose elements it reads */
};

/* ---- rules ---- */

/* Stores the rules of the operations of the graph. */
static void find_rules(struct graph_shapes *x)
{
	imap_init(&x->rule_of, x->a);
	for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++)
		infer_put_words(&x->rule_of, x->m, rules[i].names, i);
}

static const struct infer_rule *rule_for(const struct graph_shapes *x, uint32_t op)
{
	uint32_t at;

	return imap_get(&x->rule_of, op, &at) ? &rules[at] : NULL;
}

/* ---- stored shapes ---- */

static struct fact_shape load_shape(
        const struct graph_shapes *x, bool known, size_t at, unsigned rank)
{
	struct fact_shape to = { .known = known, .rank = rank };

	for (unsigned i = 0; i < rank; i++)
		to.dim[i] = x->pool.v[at + i];
	return to;
}

/* Returns the shape of an output after the first. Outputs beyond the stored ones have the shape of
 * the last stored one. */
static struct fact_shape load_other(
        const struct graph_shapes *x, const struct stored *s, int32_t slot)
{
	size_t at = (size_t)s->at + s->rank + s->values;
	int32_t i = 1;

	if (!s->others || slot < 1)
		return infer_unknown();
	for (; i < slot && i < s->others; i++)
		at += 1 + (x->pool.v[at] < 0 ? 0 : (size_t)x->pool.v[at]);
	int64_t rank = x->pool.v[at];
	return load_shape(x, rank >= 0, at + 1, rank < 0 ? 0 : (unsigned)rank);
}

static struct fact_list load_values(const struct graph_shapes *x, const struct stored *s)
{
	struct fact_list to = { .n = s->values };

	for (unsigned i = 0; i < to.n; i++)
		to.v[i] = x->pool.v[s->at + s->rank + i];
	return to;
}

/* Returns the shape, or an unknown shape if a dimension is too large. */
static struct fact_shape limited(struct fact_shape s)
{
	for (unsigned i = 0; i < s.rank; i++) {
		if (s.dim[i] == INT64_MAX)
			return infer_unknown();
		s.dim[i] = s.dim[i] < 0 ? -1 : s.dim[i];
	}
	return s;
}

/* Returns the number of outputs after the first whose shapes differ. */
static unsigned other_outputs(const struct infer_rule *rule, const struct infer_op *o)
{
	int64_t n = 1;

	if (rule->second == infer_split_part)
		n = facts_number(o->facts, "num_split", 0) - 1;
	else if (rule->second == infer_at_slot)
		n = (int64_t)o->n - 1;
	return n < 0 ? 0 : n < INFER_INPUTS_MAX ? (unsigned)n : INFER_INPUTS_MAX - 1;
}

/* Stores the shapes of the outputs after the first. */
static void store_others(
        struct graph_shapes *x, struct stored *s, const struct infer_rule *rule, struct infer_op *o)
{
	s->others = (uint8_t)other_outputs(rule, o);
	for (unsigned i = 0; i < s->others; i++) {
		o->slot = i + 1;
		const struct fact_shape shape = limited(rule->second(o));
		VEC_PUSH(x->a, &x->pool, shape.known ? (int64_t)shape.rank : -1);
		for (unsigned d = 0; shape.known && d < shape.rank; d++)
			VEC_PUSH(x->a, &x->pool, shape.dim[d]);
	}
}

static bool pool_has_room(const struct graph_shapes *x)
{
	return x->pool.n < UINT32_MAX - INFER_INPUTS_MAX * (FACTS_RANK_MAX + 1) - FACTS_RANK_MAX -
	                           FACTS_VALUES_MAX;
}

/* Stores the first output. Returns false if the pool is full. */
static bool store_first(struct graph_shapes *x, struct stored *s, const struct inferred *v)
{
	bool room = pool_has_room(x);

	s->known = v->shape.known && room;
	s->at = (uint32_t)x->pool.n;
	s->rank = s->known ? (uint8_t)v->shape.rank : 0;
	s->values = s->known ? (uint8_t)v->values.n : 0;
	for (unsigned i = 0; i < s->rank; i++)
		VEC_PUSH(x->a, &x->pool, v->shape.dim[i]);
	for (unsigned i = 0; i < s->values; i++)
		VEC_PUSH(x->a, &x->pool, v->values.v[i]);
	return room;
}

/* Returns a shape that the file states. The shape is not known if the file states none. Files of
 * the model state a scalar as one element. The shape of a handle is that of its variable. */
static struct fact_shape stated(const struct graph_shapes *x, uint32_t node, int32_t slot)
{
	uint32_t id = x->m->nodes.v[node].op == x->handle_op ? x->m->nodes.v[node].shape
	                                                     : model_output_shape(x->m, node, slot);
	size_t rank = id == ID_NONE ? 0 : model_rank(x->m, id);
	struct fact_shape s = { .known = rank > 0 && rank <= FACTS_RANK_MAX };

	for (size_t i = 0; s.known && i < rank; i++) {
		int64_t v = model_dim(x->m, id, i);
		s.dim[s.rank++] = v < 0 && !i && x->batch > 0 ? x->batch : v;
	}
	return s;
}

/* ---- the walk ---- */

static struct str facts_of(const struct graph_shapes *x, uint32_t node)
{
	const struct node *n = &x->m->nodes.v[node];

	return n->flags & NODE_CALL ? STR_NONE : model_str(x->m, n->facts);
}

/* Returns the output slot that input i of a node reads. at: index into the inputs of the model. */
static uint32_t slot_of_input(const struct graph_shapes *x, uint32_t node, size_t at)
{
	const struct model *m = x->m;
	int32_t slot = model_input_slot(m, at);

	if (slot || m->slots_final)
		return (uint32_t)slot;
	return facts_slot(facts_of(x, node), (uint32_t)(at - m->input0.v[node]));
}

static void read_op(
        const struct graph_shapes *x, uint32_t node, struct infer_op *o, struct infer_op *further);

/* Returns the elements of an output other than the first output. */
static struct fact_list further_values(
        const struct graph_shapes *x, uint32_t node, uint32_t slot, struct infer_op *o)
{
	const struct infer_rule *rule = rule_for(x, x->m->nodes.v[node].op);

	if (!rule)
		return (struct fact_list){ .n = 0 };
	read_op(x, node, o, NULL);
	o->slot = slot;
	return rule->value(o);
}

/* Sets o->element and o->count of an operation that reads from a container. */
static void read_container(const struct graph_shapes *x, uint32_t node, struct infer_op *o)
{
	const struct model *m = x->m;
	const struct container *c = containers_read(x->containers, node);

	if (!c)
		return;
	for (uint32_t i = c->first; i != ID_NONE && !o->element.known;) {
		const struct container_write *w = containers_write(x->containers, i);
		const size_t input = m->input0.v[w->node] + w->input;
		struct fact_shape s = graph_shapes_input(x, w->node, input);
		if (s.known && w->drops_first)
			s = infer_without_first(&s);
		o->element = s;
		i = w->next;
	}
	const size_t from = m->input0.v[c->root] + c->size_input;
	if (from >= m->input0.v[c->root + 1] || m->inputs.v[from] & INPUT_UNKNOWN)
		return;
	const struct fact_shape s = graph_shapes_input(x, c->root, from);
	const struct fact_list v = load_values(x, &x->node[m->inputs.v[from]]);
	if (c->size_of_shape)
		o->count = s.known && s.rank ? s.dim[0] : -1;
	else if (v.n == 1 && !s.rank && v.v[0] >= 0)
		o->count = v.v[0];
}

/* Reads an operation. Reads elements of inputs from first outputs. further: used to compute the
 * elements of other outputs; may be NULL. */
static void read_op(
        const struct graph_shapes *x, uint32_t node, struct infer_op *o, struct infer_op *further)
{
	const struct model *m = x->m;

	o->facts = facts_of(x, node);
	o->batch = x->batch;
	o->slot = 0;
	o->n = 0;
	o->element = infer_unknown();
	o->count = -1;
	for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1] && o->n < INFER_INPUTS_MAX;
	        i++) {
		struct inferred *in = &o->in[o->n++];
		uint32_t source = m->inputs.v[i], slot = slot_of_input(x, node, i);
		in->shape = graph_shapes_input(x, node, i);
		in->values.n = 0;
		if (source & INPUT_UNKNOWN || x->node[source].state != STATE_DONE)
			continue;
		if (!slot)
			in->values = load_values(x, &x->node[source]);
		else if (further)
			in->values = further_values(x, source, slot, further);
	}
	read_container(x, node, o);
}

/* True if at least one dimension is unknown, or the rank is. */
static bool is_partial(const struct fact_shape *s)
{
	for (unsigned i = 0; i < s->rank; i++)
		if (s->dim[i] < 0)
			return true;
	return !s->known;
}

/* True if the shapes of all inputs are known. */
static bool has_shapes(const struct infer_op *o)
{
	for (unsigned i = 0; i < o->n; i++)
		if (is_partial(&o->in[i].shape))
			return false;
	return true;
}

/* Returns the computed shape of a node, or what the file states for a node of a function if the
 * computed shape lacks dimensions: a function may be called with several shapes. */
static struct fact_shape stated_in_function(
        const struct graph_shapes *x, uint32_t node, struct fact_shape computed)
{
	struct fact_shape s;

	if (!is_partial(&computed) || x->m->nodes.v[node].facts == ID_NONE)
		return computed;
	s = facts_output(facts_of(x, node));
	if (s.known && s.rank && s.dim[0] < 0 && x->batch > 0)
		s.dim[0] = x->batch;
	return s.known && (!computed.known || !is_partial(&s)) ? s : computed;
}

/* Computes the outputs of a node. A shape that the file states in full is not replaced. */
static void compute(struct graph_shapes *x, uint32_t node)
{
	const struct infer_rule *rule = rule_for(x, x->m->nodes.v[node].op);
	struct stored *to = &x->node[node];
	struct inferred out = { .shape = stated(x, node, 0) };
	bool given = out.shape.known;

	if (!rule) {
		if (!given)
			out.shape = stated_in_function(x, node, out.shape);
		store_first(x, to, &out);
		if (given)
			return;
	}
	struct infer_op *o = &x->op;
	read_op(x, node, o, &x->further);
	if (rule) {
		if (!given)
			out.shape = stated_in_function(x, node, limited(rule->shape(o)));
		out.values = rule->value(o);
		if (store_first(x, to, &out))
			store_others(x, to, rule, o);
		x->computed += !given && out.shape.known;
	}
	to->lost = !given && is_partial(&out.shape) && has_shapes(o);
}

/* True if a node reads an input before the input can be computed, as in the next iteration of a
 * loop. */
static bool is_later(const struct graph_shapes *x, uint32_t source)
{
	uint32_t op = x->m->nodes.v[source].op;

	return op != ID_NONE && (op == x->next_op || op == x->ref_next_op);
}

static void push_new(struct graph_shapes *x, uint32_t source, struct pending_nodes *stack)
{
	if (!(source & INPUT_UNKNOWN) && x->node[source].state == STATE_NEW && !is_later(x, source))
		VEC_PUSH(x->a, stack, source);
}

/* Pushes the next node that may determine the elements of a container, if a node reads from one. A
 * later write may depend on the elements, so it is examined only if the earlier writes have no
 * shape. Returns false if none is left. */
static bool push_write(struct graph_shapes *x, uint32_t node, struct pending_nodes *stack)
{
	const struct container *c = containers_read(x->containers, node);
	size_t before = stack->n;

	for (uint32_t i = c ? c->first : ID_NONE; i != ID_NONE && stack->n == before;) {
		const struct container_write *w = containers_write(x->containers, i);
		const size_t input = x->m->input0.v[w->node] + w->input;
		if (graph_shapes_input(x, w->node, input).known)
			return false;
		push_new(x, x->m->inputs.v[input], stack);
		i = w->next;
	}
	return stack->n > before;
}

/* Computes a node after the nodes that it reads. In a loop, uses the shapes from before the
 * loop. */
static void visit(struct graph_shapes *x, uint32_t first, struct pending_nodes *stack)
{
	const struct model *m = x->m;

	VEC_PUSH(x->a, stack, first);
	while (stack->n) {
		uint32_t node = stack->v[stack->n - 1];
		struct stored *s = &x->node[node];
		if (s->state == STATE_NEW) {
			s->state = STATE_ENTERED;
			for (size_t i = m->input0.v[node]; i < m->input0.v[node + 1]; i++)
				push_new(x, m->inputs.v[i], stack);
			const struct container *c = containers_read(x->containers, node);
			if (c)
				push_new(x, c->root, stack);
			continue;
		}
		if (s->state == STATE_ENTERED) {
			if (push_write(x, node, stack))
				continue;
			compute(x, node);
			s->state = STATE_DONE;
		}
		stack->n--;
	}
}

struct graph_shapes *graph_shapes_find(const struct model *m, int64_t batch, struct arena *a)
{
	struct graph_shapes *x = ARENA_NEW(a, struct graph_shapes);
	struct pending_nodes stack = { 0 };

	x->m = m;
	x->a = a;
	x->batch = batch;
	x->node = ARENA_ARRAY(a, m->nodes.n, struct stored);
	find_rules(x);
	x->containers = containers_find(m, a);
	x->handle_op = intern_find(&m->strings, S("VarHandleOp"));
	x->next_op = intern_find(&m->strings, S("NextIteration"));
	x->ref_next_op = intern_find(&m->strings, S("RefNextIteration"));
	for (uint32_t i = 0; i < m->nodes.n; i++)
		visit(x, i, &stack);
	return x;
}

/* ---- answers ---- */

struct fact_shape graph_shapes_output(const struct graph_shapes *x, uint32_t node, int32_t slot)
{
	struct fact_shape s = stated(x, node, slot);

	if (s.known)
		return s;
	const struct stored *at = &x->node[node];
	if (at->state != STATE_DONE)
		return infer_unknown();
	if (slot)
		return load_other(x, at, slot);
	return load_shape(x, at->known, at->at, at->rank);
}

struct fact_shape graph_shapes_input(const struct graph_shapes *x, uint32_t node, size_t i)
{
	const struct model *m = x->m;
	uint32_t source = m->inputs.v[i];

	if (source & INPUT_UNKNOWN)
		return infer_unknown();
	return graph_shapes_output(x, source, (int32_t)slot_of_input(x, node, i));
}

size_t graph_shapes_computed(const struct graph_shapes *x)
{
	return x->computed;
}

static int more_nodes(const void *v, uint32_t a, uint32_t b)
{
	const struct lost_shapes *x = (const struct lost_shapes *)v + a,
	                         *y = (const struct lost_shapes *)v + b;

	return (x->nodes < y->nodes) - (x->nodes > y->nodes);
}

/* Operations at which shapes are lost. */
struct lost_list {
	VEC(struct lost_shapes) v;
	struct imap of; /* key: string id of an operation; value: index in v */
};

static void add_lost(const struct graph_shapes *x, uint32_t node, struct lost_list *to)
{
	uint32_t op = x->m->nodes.v[node].op, at = (uint32_t)to->v.n;

	if (!imap_get(&to->of, op, &at)) {
		imap_put(&to->of, op, at, false);
		VEC_PUSH(x->a, &to->v,
		        ((struct lost_shapes){ model_str(x->m, op), node_name(x->m, node), 0 }));
	}
	to->v.v[at].nodes++;
}

/* Pushes the source of an input if its shape is not known. */
static void push_partial(
        const struct graph_shapes *x, uint32_t node, size_t input, struct pending_nodes *stack)
{
	const struct fact_shape in = graph_shapes_input(x, node, input);

	if (!(x->m->inputs.v[input] & INPUT_UNKNOWN) && is_partial(&in))
		VEC_PUSH(x->a, stack, x->m->inputs.v[input]);
}

/* Follows unknown shapes from a node back to the operations that lose them. */
static void find_lost(
        struct graph_shapes *x, uint32_t first, struct lost_list *to, struct pending_nodes *stack)
{
	const struct model *m = x->m;

	VEC_PUSH(x->a, stack, first);
	while (stack->n) {
		uint32_t node = stack->v[--stack->n];
		struct stored *s = &x->node[node];
		if (s->listed)
			continue;
		s->listed = true;
		if (s->lost)
			add_lost(x, node, to);
		const struct container *c = containers_read(x->containers, node);
		for (uint32_t i = c ? c->first : ID_NONE; i != ID_NONE;) {
			const struct container_write *w = containers_write(x->containers, i);
			push_partial(x, w->node, m->input0.v[w->node] + w->input, stack);
			i = w->next;
		}
		for (size_t i = m->input0.v[node] + (c != NULL); i < m->input0.v[node + 1]; i++)
			push_partial(x, node, i, stack);
	}
}

const struct lost_shapes *graph_shapes_lost(
        struct graph_shapes *x, const uint8_t *state, uint8_t lacks, size_t *n)
{
	struct lost_list to = { { 0 }, { 0 } };
	struct pending_nodes stack = { 0 };

	imap_init(&to.of, x->a);
	for (uint32_t i = 0; i < x->m->nodes.n; i++)
		if (state[i] == lacks)
			find_lost(x, i, &to, &stack);
	sort_array(x->a, to.v.v, to.v.n, sizeof *to.v.v, more_nodes);
	*n = to.v.n;
	return to.v.v;
}
