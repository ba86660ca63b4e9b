/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a trace.
 */
#include "lib/path_input.h"

#include "export/table/flops_out.h"
#include "trace/pass/step_time.h"

/* The peaks of the devices with work, if all are of one model. */
static struct flops_rate rate_of(
        const struct path_input *in, const struct trace_ops *ops, struct arena *a)
{
	const struct trace *t = in->t;
	struct flops_rate rate = { .steps = in->steps.by == STEPS_UNKNOWN ? 1 : in->steps.steps.n,
		.ns = trace_ns(t, step_time_sum(&in->steps)) };
	bool *works = ARENA_ARRAY(a, t->devices.n, bool);
	uint32_t model = ID_NONE;

	for (size_t i = 0; i < ops->kernels.n; i++) {
		uint32_t device = ops->kernels.v[i].device, of = t->devices.v[device].model;
		if (works[device])
			continue;
		works[device] = true;
		model = rate.devices++ && model != of ? ID_NONE : of;
	}
	if (model != ID_NONE)
		rate.model = trace_str(t, model);
	rate.peak = peak_find(rate.model);
	return rate;
}

bool session_flops(struct session *s, const struct flops_request *request, const struct opts *o,
        struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct path_input in;
	struct trace_ops ops;

	if (!path_input_open(s, o, &in))
		return false;
	trace_find_ops(in.t, &in.links, &in.steps, TRACE_BY_OP, &ops, a);
	if (!ops.calls.n)
		return session_fail(s, ERR_FAILED,
		        "no call of an op is in the file: a PyTorch trace with record_shapes=True "
		        "was expected");
	if (!request->explain.n) {
		struct flops_rate rate = rate_of(&in, &ops, a);
		rate.partial = request->partial;
		rate.given = (double)request->peak_flops;
		return flops_write(&ops, &rate, request->top, o, s->columns, &to, &s->error);
	}
	if (!flops_explain(&ops, request->explain, request->top, out, a))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--explain: the file has no call of '%.*s'", STR(request->explain));
	return true;
}
