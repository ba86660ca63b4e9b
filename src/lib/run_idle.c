/* SPDX-License-Identifier: Apache-2.0
 *
 * The command idle: idle time by cause and place.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "base/bits.h"
#include "export/table/idle_out.h"

bool run_idle(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct idle_report report;
	struct trace_usage usage;
	struct idle_page page = { .report = &report };
	struct idle_question request = { .step = ID_NONE, .by = (enum idle_by)r->section };
	struct path_input in;

	if (!path_one_step(s, o) || !path_input_open(s, o, &in))
		return false;
	request.links = &in.links;
	request.steps = &in.steps;
	if (o->step >= 0 && (in.steps.by == STEPS_UNKNOWN ||
	                            !imap_get(&in.steps.by_id, zigzag(o->step), &request.step)))
		return session_fail(s, ERR_INVALID_ARGUMENT, "step %lld is not in the trace",
		        (long long)o->step);
	if (o->step >= 0)
		page.step = str_fmt(a, "step %lld", (long long)o->step);
	idle_find(in.t, &request, &report, &usage, a);
	return idle_write(&page, (size_t)r->top, o, s->columns, &to, &s->error);
}
