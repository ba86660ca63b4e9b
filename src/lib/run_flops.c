/* SPDX-License-Identifier: Apache-2.0
 *
 * The command flops: float operations of a trace, a graph, an ONNX model or a profile.
 */
#include "lib/command.h"

#include "export/table/flops_out.h"
#include "lib/graph_calls.h"

/* A trace, its steps and the calls of its ops. */
struct counted_trace {
	const struct trace *t;
	struct trace_steps steps;
	struct trace_ops ops;
};

/* Takes the calls that were found when the trace was loaded, or finds them now. */
static void find_calls(const struct model_trace *m, struct counted_trace *to, struct arena *a)
{
	struct trace_links links;

	to->t = m->t;
	trace_find_steps(to->t, &to->steps, a);
	if (to->steps.by != STEPS_UNKNOWN || !m->counted)
		trace_link(to->t, &links, a);
	if (to->steps.by != STEPS_UNKNOWN)
		trace_steps_find_work(&to->steps, &links);
	if (m->counted) {
		to->ops = *m->counted;
		return;
	}
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
	if (!rate.devices) /* threads did the work */
		rate.devices = 1;
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

/* Hints for files without shapes, by format. */
static const struct {
	const char *format, *hint;
} cures[] = {
	{ "XSpace",
	        "record the compiled programs (HLO), as JAX and newer versions of TensorFlow do" },
	{ "ONNX Runtime", "newer versions of ONNX Runtime write shapes; 'flops MODEL.onnx' "
	                  "counts the model without times" },
	{ "Nsight Systems",
	        "run PyTorch within torch.autograd.profiler.emit_nvtx(record_shapes=True)" },
	{ "PyTorch execution trace", "give the PyTorch trace of the same run too" },
	{ "PyTorch trace",
	        "record a PyTorch trace with record_shapes=True, or give its execution trace too" },
	{ "TensorFlow trace", "give the XSpace (*.xplane.pb) of the same folder" },
	{ "TensorRT timings",
	        "give the layers too: trtexec --exportLayerInfo --profilingVerbosity=detailed" },
	{ "TensorRT layers", "export them with --profilingVerbosity=detailed" },
	{ "ONNX model",
	        "export it with shapes: torch.onnx.export(dynamo=True), or onnx.shape_inference" },
	{ "graph", "export it with as_graph_def(add_shapes=True), or give --assume_batch=N" },
	{ "TensorFlow profile", "write it with TensorFlow's tf.profiler, with the graph" },
	{ "run metadata", "give the graph too (--graph_path)" },
};

/* Fails because no call has shapes. The hint depends on the format of the first file. */
static bool fail_without_calls(struct session *s)
{
	const char *hint = "PyTorch traces have such shapes, and XSpaces have compiled programs";
	const struct str format = s->model.files.n ? s->model.files.v[0].format : STR_NONE;

	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
		if (str_starts(format, str_of(cures[i].format))) {
			hint = cures[i].hint;
			break;
		}
	return session_fail(s, ERR_FAILED,
	        "no op has shapes: shapes of inputs or compiled programs were expected\n"
	        "hint: %s",
	        hint);
}

/* Adds a note if the sum of all calls does not fit in 64 bits. */
static void note_large_sum(struct session *s, const struct trace_ops *ops)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ops->calls.n; i++)
		sum = num_sum(sum, ops->calls.v[i].lack ? 0 : ops->calls.v[i].flops);
	if (num_stopped(sum))
		note_line(&s->notes, "note: a sum of float operations does not fit in 64 bits: "
		                     "it stops at 9.22E, a lower bound\n");
}

static bool write_calls(struct session *s, const struct request *r, const struct trace_ops *ops,
        const struct flops_rate *rate, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);

	if (!ops->calls.n)
		return fail_without_calls(s);
	note_large_sum(s, ops);
	if (!r->explain.n)
		return flops_write(ops, rate, (size_t)r->top, &r->opts, s->columns, &to, &s->error);
	if (!flops_explain(ops, r->explain, (size_t)r->top, r->opts.wide ? 0 : s->columns, out,
	            &s->query_arena))
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
		const struct graph_calls graph = graph_calls_find(s, false);
		const struct flops_rate rate = { .devices = graph.devices,
			.steps = &graph.step,
			.n = 1,
			.partial = r->partial,
			.given = (double)r->peak_flops };
		if (graph.ops.calls.n || (s->model.nodes.n && !s->recording.n))
			return write_calls(s, r, &graph.ops, &rate, out);
	}
	if (!session_one_trace(s, NULL) || !session_need_slices(s) || !(v = session_traces(s, &n)))
		return false;
	find_calls(v, &c, a);
	const struct flops_rate rate = rate_of(&c, r, a);
	return write_calls(s, r, &c.ops, &rate, out);
}
