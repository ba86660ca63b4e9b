/* SPDX-License-Identifier: Apache-2.0
 *
 * The command flops: float operations of a trace, a graph, an ONNX model or a profile.
 */
#include "lib/command.h"

#include "export/table/flops_out.h"
#include "model/graph_flops.h"

/* A trace, its steps and the calls of its ops. */
struct counted_trace {
	const struct trace *t;
	struct trace_steps steps;
	struct trace_ops ops;
};

/* Takes the calls that were found when the trace was loaded, or finds them now. */
static void find_calls(const struct model_trace *m, struct counted_trace *to, struct arena *a)
{
	to->t = m->t;
	trace_find_steps(to->t, &to->steps, a);
	if (m->counted) {
		to->ops = *m->counted;
		return;
	}
	struct trace_links links;
	trace_link(to->t, &links, a);
	trace_find_ops(to->t, &links, &to->steps, TRACE_BY_OP, &to->ops, a);
}

/* Returns the peaks of the devices with work if all of them have the same model. */
static struct flops_rate rate_of(
        const struct counted_trace *c, const struct request *r, struct arena *a)
{
	const struct trace *t = c->t;
	struct flops_rate rate = { .steps = &c->steps,
		.n = c->steps.by == STEPS_UNKNOWN ? 1 : c->steps.steps.n,
		.partial = r->partial,
		.given = (double)r->peak_flops };
	bool *works = ARENA_ARRAY(a, t->devices.n, bool);
	uint32_t model = ID_NONE;

	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *track = &t->tracks.v[i];
		if (!track_is_device(track) || track->derived || !track->n || works[track->device])
			continue;
		works[track->device] = true;
		uint32_t of = t->devices.v[track->device].model;
		model = rate.devices++ && model != of ? ID_NONE : of;
	}
	if (model != ID_NONE)
		rate.model = trace_str(t, model);
	rate.peak = peak_find(rate.model);
	return rate;
}

/* Compares the traces of several ranks. */
static bool write_ranks(struct session *s, const struct request *r, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	const struct model_trace *v;
	size_t n;

	if (!session_need_slices(s) || !(v = session_traces(s, &n)))
		return false;
	struct flops_rank *ranks = ARENA_ARRAY(a, n, struct flops_rank);
	for (size_t i = 0; i < n; i++) {
		struct counted_trace *c = ARENA_NEW(a, struct counted_trace);
		find_calls(&v[i], c, a);
		ranks[i] = (struct flops_rank){ s->model.workers.v[v[i].worker], c->ops,
			rate_of(c, r, a) };
	}
	return flops_write_ranks(ranks, n, (size_t)r->top, &r->opts, s->columns, &to, &s->error);
}

/* Takes the number that the op log has for a node, where the formula lacks data. */
static void take_stated(struct op_calls *c)
{
	c->lack = LACK_NOTHING;
	c->from_file = true;
	c->one = (struct flops){ .flops = c->stated, .read = -1, .written = -1 };
	c->flops = c->stated;
	if (c->formula == FORMULAS || c->formula == FORMULA_NONE)
		c->formula = FORMULA_STATED;
}

/* Appends the call of a node that has float operations, or may have some. time: ticks of its device
 * work. */
static void add_node(const struct session *s, const struct graph_flops *f, uint32_t node,
        int64_t time, struct trace_ops *to)
{
	const struct model *m = &s->model;
	struct op_calls c = { .name = model_str(m, m->nodes.v[node].op),
		.formula = FORMULAS,
		.lack = LACK_FORMULA,
		.device = time,
		.on = ID_NONE };

	c.stated = s->computes_flops ? 0 : m->nodes.v[node].float_ops;
	if (f->state[node] == NODE_WITHOUT_FLOPS && c.stated <= 0) {
		to->moved_time = num_add(to->moved_time, time);
		return;
	}
	if (f->state[node] == NODE_COUNTED || f->state[node] == NODE_LACKS_DATA) {
		c.list = model_node_call(m, f->shapes, node, to->a);
		c.one = flops_of_list(c.list, NULL, &c.formula);
		c.lack = c.one.lack;
		c.input = c.one.input;
		c.flops = c.one.flops;
	}
	if (c.lack && c.stated > 0)
		take_stated(&c);
	*(c.lack ? &c.unknown : &c.calls) = 1;
	VEC_PUSH(to->a, &to->calls, c);
}

/* Counts the operations of a graph, an ONNX model or a ProfileProto that is loaded without a trace.
 */
static struct trace_ops model_calls(struct session *s, struct arena *a)
{
	struct trace *t = ARENA_NEW(a, struct trace); /* has no slices; only its unit of times is
	                                                 used */
	const struct graph_flops f = model_flops(&s->model, s->assume_batch, a);
	const struct tally *times = model_tallies(&s->model, NULL, a);
	struct trace_ops ops = { .t = t, .a = a };
	int64_t accelerator = 0;

	t->ticks_per_us = model_ticks(&s->model);

	if (!(f.counted + f.unknown))
		return ops;
	for (uint32_t i = 0; i < s->model.nodes.n; i++)
		accelerator |= times[i].v[V_ACCELERATOR_MICROS];
	for (uint32_t i = 0; i < s->model.nodes.n; i++)
		add_node(s, &f, i, times[i].v[accelerator ? V_ACCELERATOR_MICROS : V_MICROS], &ops);
	return ops;
}

static bool write_calls(struct session *s, const struct request *r, const struct trace_ops *ops,
        const struct flops_rate *rate, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);

	if (!ops->calls.n)
		return session_fail(s, ERR_FAILED,
		        "no call of an op is in the file: shapes of inputs (PyTorch: "
		        "record_shapes=True) or compiled programs (XSpace) were expected");
	if (!r->explain.n)
		return flops_write(ops, rate, (size_t)r->top, &r->opts, s->columns, &to, &s->error);
	if (!flops_explain(ops, r->explain, (size_t)r->top, out, &s->query_arena))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--explain: the file has no call of '%.*s'", STR(r->explain));
	return true;
}

bool run_flops(struct session *s, const struct request *r, struct sink *out)
{
	struct arena *a = &s->query_arena;
	const struct model_trace *v;
	struct counted_trace c;
	size_t n;

	if (!session_need_steps(s, &r->opts) || !session_seal(s))
		return false;
	session_note_averages(s, &r->opts);
	if (s->model.traces.n > 1 && !r->explain.n)
		return write_ranks(s, r, out);
	if (!s->model.traces.n) {
		const struct trace_ops model = model_calls(s, a);
		if (model.calls.n)
			return write_calls(s, r, &model, &(struct flops_rate){ .n = 1 }, out);
	}
	if (!session_one_trace(s) || !session_need_slices(s) || !(v = session_traces(s, &n)))
		return false;
	find_calls(v, &c, a);
	const struct flops_rate rate = rate_of(&c, r, a);
	return write_calls(s, r, &c.ops, &rate, out);
}
