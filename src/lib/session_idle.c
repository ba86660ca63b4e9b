/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time by cause and place.
 */
#include "lib/session.h"

#include "base/bits.h"
#include "export/table/idle_out.h"

bool session_idle(struct session *s, size_t top, int by, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct idle_report report;
	struct idle_page page = { .report = &report };
	struct idle_question request = { .step = ID_NONE, .by = (enum idle_by)by };
	struct trace_links links;
	struct trace_steps steps;

	if (!session_need_steps(s, o) || !session_seal(s) || !session_one_trace(s) ||
	        !session_need_slices(s))
		return false;
	const struct trace *t = session_one_trace(s);
	if (!t)
		return false;
	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	request.links = &links;
	request.steps = &steps;
	if (o->step >= 0 && (steps.by == STEPS_UNKNOWN ||
	                            !imap_get(&steps.by_id, zigzag(o->step), &request.step)))
		return session_fail(s, ERR_INVALID_ARGUMENT, "step %lld is not in the trace",
		        (long long)o->step);
	if (o->step >= 0)
		page.step = str_fmt(a, "step %lld", (long long)o->step);
	idle_find(t, &request, &report, a);
	return idle_write(&page, top, o, s->columns, &to, &s->error);
}
