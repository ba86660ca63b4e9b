/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands critical and what-if: the critical path of a step, and the times after changes.
 */
#include "lib/path_input.h"

#include "base/bits.h"
#include "base/sort.h"
#include "export/table/critical_out.h"
#include "export/table/what_if_out.h"
#include "export/timeline/timeline.h"
#include "why/why.h"

/* Returns the index of the step with the median length. */
static size_t median_step(const struct trace_steps *steps, struct arena *a)
{
	int64_t *lengths = ARENA_ARRAY(a, steps->steps.n, int64_t);

	for (size_t i = 0; i < steps->steps.n; i++)
		lengths[i] = num_sub(steps->steps.v[i].end, steps->steps.v[i].start);
	return keysort_new(a, steps->steps.n, lengths)[(steps->steps.n - 1) / 2];
}

bool session_critical(struct session *s, size_t top, const struct opts *o, struct sink *out)
{
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
		found = page.chosen ? found : (uint32_t)median_step(&in.steps, a);
		const struct trace_step *step = &in.steps.steps.v[found];
		page.step = str_fmt(a, "step %lld", (long long)step->id);
		page.steps = in.steps.steps.n;
		page.step_ns = trace_ns(in.t, step->end) - trace_ns(in.t, step->start);
	}
	replay_open_step(in.t, &in.links, &in.steps, found, &replay, a);
	replay_path(&replay, &replay.recorded, 0, &x, a);
	page.x = &x;
	path_note_unknown(s, in.t, replay.depend.unknown_waits);
	if (o->output.kind == OUT_TIMELINE)
		return timeline_path(&x, critical_title(&page, a), o, &to, &s->error);
	return critical_write(&page, top, o, s->columns, &to, &s->error);
}

/* ---- what if ---- */

static bool write_each(struct session *s, const struct what_if *w,
        const struct what_if_request *request, const struct opts *o, struct emit *to)
{
	struct what_if_each each = {
		.of = w, .each = (enum replay_each)(request->each - 1), .top = request->top
	};

	each.v = replay_rank(
	        w->x, each.each, request->top, &each.n, &each.left_out, &s->query_arena);
	return what_if_write_each(&each, o, s->columns, to, &s->error);
}

bool what_if_read(struct session *s, const struct strs *words, struct what_if_request *out)
{
	struct arena *a = &s->query_arena;
	struct replay_change *changes = ARENA_ARRAY(a, words->n, struct replay_change);

	out->changes = changes;
	out->n_changes = words->n;
	out->cause = WHY_IDS;
	for (size_t i = 0; i < words->n; i++) {
		struct str word = words->v[i];
		if (!str_starts(word, S(WHAT_IF_CAUSE))) {
			if (!replay_parse(word, &changes[i], &s->error))
				return false;
			continue;
		}
		struct str id = str_sub(word, sizeof WHAT_IF_CAUSE - 1, SIZE_MAX);
		if (words->n > 1)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "'%.*s' cannot be combined with other changes", STR(word));
		out->cause = why_find_row(id);
		if (out->cause == WHY_IDS)
			return path_fail_cause(s, "cause:", id);
		changes[i] = (struct replay_change){ .text = word };
	}
	return true;
}

/* Notes that changes of times, rather than of waits, found no time to change. */
static void note_unchanged(struct session *s, const struct what_if *w)
{
	for (size_t i = 0; i < w->n_changes; i++) {
		const struct replay_change *c = &w->changes[i];
		if (c->what == REPLAY_LAUNCH || c->what == REPLAY_SYNC || c->factor == 1)
			return;
	}
	if (!w->run.changed)
		note_line(&s->notes, "note: nothing changes: the trace has no such work\n");
}

bool session_what_if(struct session *s, const struct what_if_request *request, const struct opts *o,
        struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct replay x;
	const struct replay *replays[] = { &x };
	struct rank_group job;
	struct path_steps steps;
	struct path_input in;

	if (!path_input_open(s, o, &in) || !path_replay(s, &in, o, &x, &steps))
		return false;
	struct what_if w = { .x = &x,
		.changes = request->changes,
		.n_changes = request->n_changes,
		.error = replay_error(&x),
		.of = steps.of,
		.device = steps.device,
		.marks = steps.marks };
	path_note_unknown(s, in.t, x.depend.unknown_waits);
	if (request->each)
		return write_each(s, &w, request, o, &to);
	rank_group_open(replays, 1, &job, a);
	bool named = request->cause == WHY_IDS;
	bool ok = named ? replay_run(&x, request->changes, request->n_changes, &w.run, a, &s->error)
	                : why_replay(&job, request->cause, &w.run, a, &s->error);
	if (ok && named)
		note_unchanged(s, &w);
	return ok && what_if_write(&w, request->top, o, s->columns, &to, &s->error);
}
