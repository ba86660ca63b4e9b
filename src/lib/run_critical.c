/* SPDX-License-Identifier: Apache-2.0
 *
 * The command critical: the critical path of a step.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "base/bits.h"
#include "base/sort.h"
#include "export/table/critical_out.h"
#include "export/timeline/timeline.h"
#include "trace/pass/step_time.h"

/* Returns the index of the step with the median length; of an even number, of the shorter one of
 * the two in the middle. */
static uint32_t median_step(const struct trace_steps *steps, struct arena *a)
{
	int64_t *lengths = ARENA_ARRAY(a, steps->steps.n, int64_t);

	for (size_t i = 0; i < steps->steps.n; i++)
		lengths[i] = num_sub(steps->steps.v[i].end, steps->steps.v[i].start);
	return (uint32_t)keysort_new(a, steps->steps.n, lengths)[(steps->steps.n - 1) / 2];
}

bool run_critical(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct critical_page page = { .chosen = o->step >= 0 };
	struct path_input in;
	struct replay replay;
	struct critical x;
	uint32_t found = 0;

	if (!path_input_open(s, o, &in))
		return false;
	if (page.chosen && !imap_get(&in.steps.by_id, zigzag(o->step), &found))
		return session_fail(s, ERR_INVALID_ARGUMENT, "step %lld is not in the trace",
		        (long long)o->step);
	if (in.steps.by != STEPS_UNKNOWN) {
		found = page.chosen ? found : median_step(&in.steps, a);
		page.step = str_fmt(a, "step %lld", (long long)in.steps.steps.v[found].id);
		page.steps = in.steps.steps.n;
	}
	const struct trace_step *step = &in.steps.steps.v[found];
	page.step_ns = step_time_mean(in.t, num_sub(step->end, step->start), 1);
	replay_open_step(in.t, &in.links, &in.steps, found, &replay, a);
	replay_path(&replay, &replay.recorded, 0, &x, a);
	page.x = &x;
	path_note_unknown(s, in.t, replay.depend.unknown_waits);
	if (o->output.kind == OUT_TIMELINE)
		return timeline_path(&x, critical_title(&page, a), o, &to, &s->error);
	return critical_write(&page, (size_t)r->top, o, s->columns, &to, &s->error);
}
