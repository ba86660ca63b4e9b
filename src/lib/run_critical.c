/* SPDX-License-Identifier: Apache-2.0
 *
 * The command critical: the critical path of a step.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "base/bits.h"
#include "base/fmt.h"
#include "export/table/critical_out.h"
#include "export/timeline/timeline.h"
#include "trace/pass/step_time.h"

/* idle names gaps before work whose launch is not recorded by another cause. */
static void note_unlaunched(struct session *s, const struct critical *x)
{
	struct sb b = sb_in(&s->query_arena);

	if (x->unlaunched <= 0)
		return;
	fmt_time(&b, trace_ns(x->depend->t, x->unlaunched));
	note_line(&s->notes,
	        "note: %.*s of the gaps and waits on the path are before work whose launch is not "
	        "recorded; idle lists the idle time before such work as \"%s\"\n",
	        STR(sb_str(&b)), idle_texts[IDLE_UNKNOWN_LAUNCH]);
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

	if (!path_one_step(s, o) || !path_input_open(s, o, &in))
		return false;
	if (page.chosen && !imap_get(&in.steps.by_id, zigzag(o->step), &found))
		return session_fail(s, ERR_INVALID_ARGUMENT, "step %lld is not in the trace",
		        (long long)o->step);
	bool marked = in.steps.by != STEPS_UNKNOWN;
	replay_open_step(in.t, &in.links, &in.steps, marked && !page.chosen ? REPLAY_MEDIAN : found,
	        &replay, a);
	const struct trace_step *step = &in.steps.steps.v[replay.chosen[0]];
	page.step_ns = step_time_mean(in.t, num_sub(step->end, step->start), 1);
	if (marked) {
		const struct step_wall wall = step_time_of(&in.steps, a);
		page.as_long = wall.shortest == wall.longest;
		page.step = str_fmt(a, "step %lld", (long long)step->id);
		page.steps = replay_working(&replay, ARENA_ARRAY(a, replay.n_windows, uint32_t));
		page.empty = replay.n_windows - page.steps;
	}
	replay_path(&replay, &replay.recorded, 0, &x, a);
	page.x = &x;
	path_note_unknown(s, &replay.depend, replay.depend.unknown_waits);
	note_unlaunched(s, &x);
	if (o->output.kind == OUT_TIMELINE)
		return timeline_path(&x, critical_title(&page, a), o, &to, &s->error);
	return critical_write(&page, (size_t)r->top, o, o->wide ? 0 : s->columns, &to, &s->error);
}
