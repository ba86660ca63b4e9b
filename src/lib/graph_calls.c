/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes calls of ops from the nodes of a model.
 */
#include "lib/graph_calls.h"

#include "model/graph_flops.h"
#include "view/facts.h"

/* A model whose nodes are being added. */
struct graph_counting {
	const struct session *s;
	struct graph_flops flops;
	struct graph_calls *to;
	const struct tally *times; /* indexed by node of the model: a mean step */
	enum value work;           /* the time that counts as work */
	bool ran; /* true: the file has executions, so that nodes without one did not run */
	bool copies;
	struct arena *a;
};

/* Adds the devices of the model to the trace that stands for it. */
static struct trace *make_trace(const struct model *m, struct arena *a)
{
	struct trace *t = trace_new(a);

	t->ticks_per_us = model_ticks(m);
	for (uint32_t i = 0; i < m->devices.n; i++) {
		struct trace_device d = { .kind = DEVICE_KIND_OTHER,
			.process = ID_NONE,
			.name = intern_add(&t->strings, device_name(m, i)),
			.model = ID_NONE,
			.uuid = ID_NONE };
		VEC_PUSH(a, &t->devices, d);
	}
	return t;
}

/* Takes the number that the op log has for a node, where the formula lacks data. */
static void take_stated(struct op_calls *c)
{
	c->lack = LACK_NOTHING;
	c->from_file = true;
	c->one = (struct flops){ .flops = c->stated, .read = -1, .written = -1 };
	c->flops = c->stated;
	c->bytes = 0;
	if (c->formula == FORMULAS || c->formula == FORMULA_NONE)
		c->formula = FORMULA_STATED;
}

/* Counts one execution of a node by its formula. */
static void count_node(const struct graph_counting *x, uint32_t node, struct op_calls *c)
{
	struct node_count found = x->flops.counts[node];

	if (!found.list.n)
		found = graph_flops_count(&x->flops, node, x->a);
	c->list = found.list;
	c->one = found.one;
	c->formula = found.formula;
	c->lack = c->one.lack;
	c->input = c->one.input;
	c->flops = c->one.flops;
	if (!c->lack && c->one.read >= 0 && c->one.written >= 0)
		c->bytes = num_add(c->one.read, c->one.written);
}

/* Adds the float operations of a call to those of the step, if it is a product. */
static void add_product(struct trace_ops *to, const struct op_calls *c)
{
	if (c->lack || c->formula == FORMULAS || flops_class_of(c->formula) != CLASS_MATRIX)
		return;
	int64_t *sum = &to->products[0].all[c->one.type];
	*sum = num_add(*sum, c->flops);
}

/* Returns how often a node runs in a step: as often as the node that calls the function of which it
 * is a part; once if the file has no executions. */
static int64_t runs_of(const struct graph_counting *x, uint32_t node)
{
	if (!x->ran)
		return 1;
	return x->times[x->flops.owner ? x->flops.owner[node] : node].v[V_RUNS];
}

/* Multiplies the numbers of one execution by the number of executions. */
static void add_runs(struct op_calls *c, int64_t runs)
{
	c->flops = num_mul(c->flops, runs);
	c->bytes = num_mul(c->bytes, runs);
	c->stated = num_mul(c->stated, runs);
	*(c->lack ? &c->unknown : &c->calls) = (uint64_t)runs;
}

/* Appends the call of a node that has float operations, or may have some. */
static void add_node(struct graph_counting *x, uint32_t node)
{
	const struct model *m = &x->s->model;
	const struct node *n = &x->flops.m->nodes.v[node];
	struct trace_ops *to = &x->to->ops;
	enum node_flops state = x->flops.state[node];
	int64_t time = node < m->nodes.n ? x->times[node].v[x->work] : 0, runs = runs_of(x, node);
	struct op_calls c = { .name = model_str(x->flops.m, n->op),
		.node = node_name(x->flops.m, node),
		.formula = FORMULAS,
		.lack = LACK_FORMULA,
		.device = time,
		.on = n->device };

	c.stated = x->s->computes_flops || n->flags & NODE_CALL ? 0 : n->float_ops;
	if (state == NODE_WITHOUT_FLOPS && c.stated <= 0 && (!x->copies || !time)) {
		to->moved_time = num_add(to->moved_time, time);
		return;
	}
	if (state != NODE_LACKS_FORMULA)
		count_node(x, node, &c);
	if (c.stated > 0 && (c.lack || state == NODE_WITHOUT_FLOPS))
		take_stated(&c);
	if (!runs) {
		to->idle_nodes += c.flops > 0;
		to->idle_flops = num_add(to->idle_flops, c.flops);
		return;
	}
	add_runs(&c, runs);
	add_product(to, &c);
	VEC_PUSH(x->a, &to->calls, c);
}

/* Finds the mean length of the steps, and the devices with work. */
static void find_step(struct graph_counting *x)
{
	struct graph_calls *to = x->to;
	struct facts f;
	int64_t sum = 0;
	size_t cpus = 0;

	if (!x->s->model.steps.n)
		return;
	facts_find(&x->s->model, NULL, &x->s->recording_options, &f, x->a);
	for (size_t i = 0; i < f.steps.n; i++)
		sum = num_add(sum, f.steps.v[i].ns);
	for (size_t i = 0; i < f.devices.n; i++)
		*(f.devices.v[i].host ? &cpus : &to->devices) += f.devices.v[i].busy > 0;
	to->devices = to->devices ? to->devices : cpus;
	if (!f.steps.n)
		return;
	double ns = (double)sum / (double)f.steps.n;
	double ticks = ns * (double)to->ops.t->ticks_per_us / 1e3;
	struct trace_step step = { .id = -1, .name = ID_NONE, .end = num_from_real(ticks + 0.5) };
	to->step.by = STEPS_BY_RUN;
	VEC_PUSH(x->a, &to->step.steps, step);
}

struct graph_calls graph_calls_find(struct session *s, bool copies)
{
	struct arena *a = &s->query_arena;
	const struct model *m = &s->model;
	struct graph_calls to = { .ops = { .t = make_trace(m, a), .a = a } };
	struct graph_counting x = { .s = s,
		.flops = model_flops(m, s->assume_batch, true, a),
		.to = &to,
		.a = a,
		.copies = copies };
	int64_t accelerator = 0;

	if (!(x.flops.counted + x.flops.unknown))
		return to;
	to.ops.products = ARENA_ARRAY(a, 1, struct step_products);
	x.times = model_tallies(m, NULL, a);
	for (uint32_t i = 0; i < m->nodes.n; i++) {
		accelerator |= x.times[i].v[V_ACCELERATOR_MICROS];
		x.ran |= x.times[i].v[V_RUNS] > 0;
	}
	x.work = accelerator ? V_ACCELERATOR_MICROS : V_MICROS;
	for (uint32_t i = 0; i < x.flops.m->nodes.n; i++)
		add_node(&x, i);
	find_step(&x);
	return to;
}
