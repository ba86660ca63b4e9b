/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path of a step, and what changes would make of the steps.
 */
#include "lib/session.h"

#include "base/bits.h"
#include "base/sort.h"
#include "export/table/critical_out.h"
#include "export/what_if_out.h"

/* The one trace that is loaded, with what paths need. */
struct path_input {
	const struct trace *t;
	struct trace_links links;
	struct trace_steps steps;
};

static bool open_input(struct session *s, const struct opts *o, struct path_input *in)
{
	struct arena *a = &s->query_arena;

	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	in->t = session_one_trace(s);
	if (!in->t || !session_need_slices(s))
		return false;
	in->t = session_one_trace(s);
	if (!in->t)
		return false;
	trace_link(in->t, &in->links, a);
	trace_find_steps(in->t, &in->steps, a);
	return true;
}

/* Says what the file would have to have, for waits of streams to be known. */
static void note_unknown(struct session *s, const struct depend *d)
{
	if (d->unknown_waits)
		note_line(&s->notes,
		        "note: streams wait for events in %llu call%s whose event is not known%s\n",
		        (unsigned long long)d->unknown_waits, d->unknown_waits == 1 ? "" : "s",
		        d->t->source == TRACE_KINETO
		                ? "; PyTorch records them with enable_cuda_sync_events=True"
		                : "");
}

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
	struct critical x;
	size_t n, i = 0;
	uint32_t found = 0;

	if (!open_input(s, o, &in))
		return false;
	const struct critical_window *windows = critical_windows(in.t, &in.links, &in.steps, &n, a);
	if (page.chosen && !imap_get(&in.steps.by_id, zigzag(o->step), &found))
		return session_fail(s, ERR_INVALID_ARGUMENT, "step %lld is not in the trace",
		        (long long)o->step);
	if (in.steps.by != STEPS_UNKNOWN) {
		i = page.chosen ? found : median_step(&in.steps, a);
		const struct trace_step *step = &in.steps.steps.v[i];
		page.step = str_fmt(a, "step %lld", (long long)step->id);
		page.steps = n;
		page.step_ns = trace_ns(in.t, step->end) - trace_ns(in.t, step->start);
	}
	critical_find(in.t, &in.links, &windows[i], &x, a);
	page.x = &x;
	note_unknown(s, &x.depend);
	return critical_write(&page, top, o, s->columns, &to, &s->error);
}

/* ---- what if ---- */

/* Chooses the windows of the steps that -step selects, and says which they are. */
static bool choose_steps(struct session *s, const struct path_input *in, const struct opts *o,
        struct replay *x, struct what_if *w)
{
	struct arena *a = &s->query_arena;
	uint32_t *chosen = ARENA_ARRAY(a, x->n_windows, uint32_t);
	size_t n = 0;

	w->of = S("the whole trace");
	if (in->steps.by == STEPS_UNKNOWN && o->step < 0 && !o->steps.n)
		return true;
	for (uint32_t i = 0; i < x->n_windows; i++) {
		const struct trace_step *step = &in->steps.steps.v[i];
		if (!opts_has_step(o, step->id))
			continue;
		chosen[n++] = i;
		w->marks = num_add(w->marks, num_sub(step->end, step->start));
		w->device |= x->windows[i].device;
	}
	if (!n)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "the steps of -step are not in the trace");
	w->marks /= (int64_t)n;
	w->of = n == 1 ? str_fmt(a, "step %lld", (long long)in->steps.steps.v[chosen[0]].id)
	               : str_fmt(a, "the mean of %zu steps", n);
	replay_choose(x, chosen, n);
	return true;
}

static bool write_each(struct session *s, const struct what_if *w, const struct what_if_ask *ask,
        const struct opts *o, struct emit *to)
{
	struct what_if_each each = {
		.of = w, .each = (enum replay_each)(ask->each - 1), .top = ask->top
	};

	each.v = replay_rank(w->x, each.each, ask->top, &each.n, &each.left_out, &s->query_arena);
	return what_if_write_each(&each, o, s->columns, to, &s->error);
}

bool session_what_if(
        struct session *s, const struct what_if_ask *ask, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct replay_change *changes = ARENA_ARRAY(a, ask->changes->n, struct replay_change);
	struct replay x;
	struct what_if w = { .x = &x, .changes = changes, .n_changes = ask->changes->n };
	struct path_input in;

	for (size_t i = 0; i < w.n_changes; i++)
		if (!replay_parse(ask->changes->v[i], &changes[i], &s->error))
			return false;
	if (!open_input(s, o, &in))
		return false;
	replay_open(in.t, &in.links, &in.steps, &x, a);
	if (!choose_steps(s, &in, o, &x, &w))
		return false;
	w.error = replay_error(&x);
	note_unknown(s, &x.depend);
	if (ask->each)
		return write_each(s, &w, ask, o, &to);
	return replay_run(&x, changes, w.n_changes, &w.run, a, &s->error) &&
	       what_if_write(&w, ask->top, o, s->columns, &to, &s->error);
}
