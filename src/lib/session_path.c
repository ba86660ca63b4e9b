/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path of a step, and what changes would make of the steps.
 */
#include "lib/session.h"

#include "base/bits.h"
#include "base/sort.h"
#include "export/table/critical_out.h"
#include "export/what_if_out.h"
#include "export/why_out.h"
#include "trace/pass/step_time.h"

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

static bool fail_cause(struct session *s, const char *option, struct str id)
{
	struct sb b = sb_in(&s->query_arena);

	for (int i = 0; i < WHY_IDS; i++)
		sb_fmt(&b, "%s%s", i ? ", " : "", why_rows[i].id);
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s'%.*s' is not a cause: %.*s", option,
	        STR(id), STR(sb_str(&b)));
}

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

/* Replays the changes; a cause stands alone. */
static bool run_changes(
        struct session *s, const struct what_if_ask *ask, const struct replay *x, struct what_if *w)
{
	struct arena *a = &s->query_arena;
	struct replay_change *changes = ARENA_ARRAY(a, ask->changes->n, struct replay_change);
	struct str first = ask->changes->v[0];

	w->changes = changes;
	w->n_changes = ask->changes->n;
	if (str_starts(first, S(WHAT_IF_CAUSE))) {
		struct str id = str_sub(first, sizeof WHAT_IF_CAUSE - 1, first.n);
		enum why_id cause = why_find_row(id);
		if (w->n_changes > 1)
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "'%.*s' cannot be combined with other changes", STR(first));
		if (cause == WHY_IDS)
			return fail_cause(s, "cause:", id);
		changes[0] = (struct replay_change){ .text = first };
		return why_replay(x, cause, &w->run, a, &s->error);
	}
	for (size_t i = 0; i < w->n_changes; i++)
		if (!replay_parse(ask->changes->v[i], &changes[i], &s->error))
			return false;
	return replay_run(x, changes, w->n_changes, &w->run, a, &s->error);
}

bool session_what_if(
        struct session *s, const struct what_if_ask *ask, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct replay x;
	struct what_if w = { .x = &x };
	struct path_input in;

	if (!open_input(s, o, &in))
		return false;
	replay_open(in.t, &in.links, &in.steps, &x, a);
	if (!choose_steps(s, &in, o, &x, &w))
		return false;
	w.error = replay_error(&x);
	note_unknown(s, &x.depend);
	if (ask->each)
		return write_each(s, &w, ask, o, &to);
	return run_changes(s, ask, &x, &w) &&
	       what_if_write(&w, ask->top, o, s->columns, &to, &s->error);
}

/* ---- why ---- */

/* A condition of --fail-on. */
struct fail_on {
	enum why_id cause;
	int64_t ns; /* fails if more is saved */
};

static bool parse_fail_on(struct session *s, struct str text, struct fail_on *out)
{
	size_t at = str_find_char(text, '>');
	struct str id = at == SIZE_MAX ? text : str_sub(text, 0, at);

	*out = (struct fail_on){ why_find_row(id), 0 };
	if (out->cause == WHY_IDS)
		return fail_cause(s, "--fail-on: ", id);
	if (at == SIZE_MAX)
		return true;
	struct str time = str_sub(text, at + 1, text.n);
	if (!quantity_parse_time(time, QUANTITY_US, QUANTITY_NS, &out->ns))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--fail-on: '%.*s' is not a time such as 500us, 5ms or 2s", STR(time));
	return true;
}

static bool check_fail_on(struct session *s, const struct strs *texts, const struct why *x)
{
	for (size_t i = 0; i < texts->n; i++) {
		struct fail_on f;
		if (!parse_fail_on(s, texts->v[i], &f))
			return false;
		for (size_t k = 0; k < x->reported; k++)
			if (x->found.v[k].id == f.cause &&
			        trace_ns(x->x->depend.t, x->found.v[k].saved) > f.ns)
				return session_fail(s, ERR_FAILED, "%s is a cause (--fail-on=%.*s)",
				        why_rows[f.cause].id, STR(texts->v[i]));
	}
	return true;
}

bool session_why(
        struct session *s, const struct why_ask *ask, const struct opts *o, struct sink *out)
{
	struct emit to = session_emit(s, VK_N, out);
	struct arena *a = &s->query_arena;
	struct path_input in;
	struct replay x;
	struct what_if w = { .x = &x };
	struct why why;
	struct why_page page = { .x = &why, .top = ask->top, .cause = WHY_IDS };
	struct fail_on unused;

	if (ask->cause.n && (page.cause = why_find_row(ask->cause)) == WHY_IDS)
		return fail_cause(s, "--cause: ", ask->cause);
	for (size_t i = 0; i < ask->fail_on->n; i++)
		if (!parse_fail_on(s, ask->fail_on->v[i], &unused))
			return false;
	if (!open_input(s, o, &in))
		return false;
	replay_open(in.t, &in.links, &in.steps, &x, a);
	if (!choose_steps(s, &in, o, &x, &w))
		return false;
	why_find(&x, &why, a);
	page.of = w.of;
	page.marks = w.marks;
	page.chosen = o->step >= 0;
	page.step = o->step;
	return why_write(&page, o, s->columns, &to, &s->error) &&
	       check_fail_on(s, ask->fail_on, &why);
}

void session_verdict(struct session *s, struct str *verdict, struct str *id)
{
	struct arena *a = &s->query_arena;
	struct path_input in;
	struct replay x;
	struct why why;
	struct why_page page = { .x = &why };

	if (s->model.traces.n != 1)
		return;
	in.t = s->model.traces.v[0].t;
	if (in.t->sums || in.t->n_slices > VERDICT_SLICES_MAX ||
	        in.t->devices.n > VERDICT_DEVICES_MAX)
		return;
	trace_link(in.t, &in.links, a);
	trace_find_steps(in.t, &in.steps, a);
	replay_open(in.t, &in.links, &in.steps, &x, a);
	why_find(&x, &why, a);
	page.marks = in.steps.by == STEPS_UNKNOWN ? 0 : step_time_sum(&in.steps);
	*verdict = why_verdict(&page, a);
	*id = why_verdict_id(&why);
}
