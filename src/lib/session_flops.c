/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a trace.
 */
#include "lib/session.h"

#include "export/table/flops_out.h"
#include "trace/pass/step_time.h"

/* The peaks of the devices with work, if all are of one model. */
static struct flops_rate rate_of(
        const struct trace *t, const struct trace_ops *ops, const struct trace_steps *steps)
{
	struct flops_rate rate = { .steps = steps->by == STEPS_UNKNOWN ? 1 : steps->steps.n,
		.ns = trace_ns(t, step_time_sum(steps)) };
	uint32_t model = ID_NONE;

	for (uint32_t i = 0; i < t->devices.n; i++) {
		const struct trace_device *d = &t->devices.v[i];
		bool works = false;
		for (size_t k = 0; k < ops->kernels.n && !works; k++)
			works = ops->kernels.v[k].device == i;
		if (!works)
			continue;
		model = rate.devices++ && model != d->model ? ID_NONE : d->model;
	}
	if (model != ID_NONE)
		rate.model = trace_str(t, model);
	rate.peak = peak_find(rate.model);
	return rate;
}

bool session_flops(
        struct session *s, const struct flops_ask *ask, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct trace_links links;
	struct trace_steps steps;
	struct trace_ops ops;

	if (!session_seal(s) || !session_one_trace(s) || !session_need_slices(s))
		return false;
	const struct trace *t = session_one_trace(s);
	if (!t)
		return false;
	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	trace_find_ops(t, &links, &steps, TRACE_BY_OP, &ops, a);
	if (!ops.calls.n)
		return session_fail(s, ERR_FAILED,
		        "no call of an op is in the file: a PyTorch trace with record_shapes=True "
		        "was expected");
	if (!ask->explain.n) {
		struct flops_rate rate = rate_of(t, &ops, &steps);
		rate.partial = ask->partial;
		rate.given = (double)ask->peak_flops;
		return flops_write(&ops, &rate, ask->top, o, s->columns, &to, &s->error);
	}
	if (!flops_explain(&ops, ask->explain, ask->top, out, a))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--explain: the file has no call of '%.*s'", STR(ask->explain));
	return true;
}
