/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a trace.
 */
#include "lib/session.h"

#include "export/table/flops_out.h"

bool session_flops(
        struct session *s, size_t top, struct str explain, const struct opts *o, struct sink *out)
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
	if (!explain.n)
		return flops_write(&ops, steps.by == STEPS_UNKNOWN ? 1 : steps.steps.n, top, o,
		        s->columns, &to, &s->error);
	if (!flops_explain(&ops, explain, top, out, a))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--explain: the file has no call of '%.*s'", STR(explain));
	return true;
}
