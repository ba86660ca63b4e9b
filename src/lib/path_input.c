/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the data for the commands about the path of a step.
 */
#include "lib/path_input.h"

#include "trace/pass/step_time.h"
#include "why/run_difference.h"
#include "why/why.h"

/* Caches the last trace and its replay, because the next command usually needs them. */
struct kept_path {
	struct path_input in;
	struct replay x;
	bool replayed;
	const struct why *why; /* of the steps that count in averages; NULL: not found yet */
};

/* Prepares a trace. */
static void open_trace(const struct trace *t, struct path_input *in, struct arena *a)
{
	in->t = t;
	trace_link(t, &in->links, a);
	trace_find_steps(t, &in->steps, a);
	trace_steps_find_work(&in->steps, &in->links);
}

/* Prepares a trace, and stores it in the session. */
static void keep_trace(struct session *s, const struct trace *t, struct path_input *in)
{
	if (!s->kept || s->kept->in.t != t) {
		s->kept = NULL;
		arena_clear(&s->path_arena);
		struct kept_path *made = ARENA_NEW(&s->path_arena, struct kept_path);
		open_trace(t, &made->in, &s->path_arena);
		s->kept = made;
	}
	*in = s->kept->in;
}

const struct trace_links *path_kept_links(const struct session *s, const struct trace *t)
{
	return s->kept && s->kept->in.t == t ? &s->kept->in.links : NULL;
}

/* Opens the replay of all steps. */
static void open_replay(struct session *s, const struct path_input *in, struct replay *x)
{
	struct kept_path *kept = s->kept;

	if (!kept || kept->in.t != in->t) {
		replay_open(in->t, &in->links, &in->steps, x, &s->query_arena);
		return;
	}
	if (!kept->replayed) {
		s->kept = NULL; /* until the whole struct is filled */
		replay_open(in->t, &kept->in.links, &kept->in.steps, &kept->x, &s->path_arena);
		kept->replayed = true;
		s->kept = kept;
	}
	*x = kept->x;
	x->a = &s->query_arena;
}

/* Fails if the trace has neither threads nor device work, such as a memory timeline. */
static bool has_path(struct session *s, const struct trace *t)
{
	for (size_t i = 0; i < t->tracks.n; i++)
		if (track_is_thread(&t->tracks.v[i]) || track_is_device(&t->tracks.v[i]))
			return true;
	return session_fail(s, ERR_FAILED,
	        "the file has no ops, calls or device work, so nothing has a time\n"
	        "hint: 'summary' shows what the file has");
}

bool path_input_open(struct session *s, const struct opts *o, struct path_input *in)
{
	if (!session_need_steps(s, o) || !session_seal(s) || !session_one_trace(s, o) ||
	        !session_need_slices(s))
		return false;
	const struct trace *t = session_one_trace(s, o);
	if (!t || !has_path(s, t))
		return false;
	keep_trace(s, t, in);
	return true;
}

bool path_one_step(struct session *s, const struct opts *o)
{
	return !o->steps.n ||
	       session_fail(s, ERR_INVALID_ARGUMENT, "-step %.*s: one step expected, not several",
	               STR(o->steps.text));
}

void path_note_unknown(struct session *s, const struct depend *d, uint64_t waits)
{
	static const char *const cures[TRACE_SOURCES] = {
		[TRACE_KINETO] = "; PyTorch records them with enable_cuda_sync_events=True",
		[TRACE_RECORDING] = ("; recordings do not tell which work an event stands for, and "
		                     "which stream waits only with record --sync"),
		[TRACE_NSYS] = "; Nsight Systems records them with --cuda-event-trace=true",
	};
	const char *cure = cures[d->t->source];

	if (waits && d->nodes.n && !d->nodes.v[0].host) /* the file has device work */
		note_line(&s->notes,
		        "note: streams wait for events in %llu call%s whose event the file does "
		        "not identify; the work that ended last before is assumed%s\n",
		        (unsigned long long)waits, waits == 1 ? "" : "s", cure ? cure : "");
}

/* Chooses the windows of the steps that -step selects, and describes them. Without -step, the
 * steps that count in averages (trace_step_counts) are chosen. */
static bool choose_steps(struct session *s, const struct path_input *in, const struct opts *o,
        struct replay *x, struct path_steps *out)
{
	struct arena *a = &s->query_arena;
	uint32_t *chosen = ARENA_ARRAY(a, x->n_windows, uint32_t);
	bool all = o->step < 0 && !o->steps.n;
	size_t n = 0, candidates = x->n_windows;
	int64_t sum = 0;

	*out = (struct path_steps){ .of = S("the whole trace"),
		.marked = in->steps.by != STEPS_UNKNOWN };
	if (!out->marked && all) {
		out->wall = step_time_mean(in->t, step_time_sum(&in->steps), 1);
		return true;
	}
	if (all)
		candidates = replay_working(x, chosen);
	for (uint32_t i = 0; i < candidates; i++) {
		uint32_t window = all ? chosen[i] : i;
		const struct trace_step *step = &in->steps.steps.v[window];
		if (!opts_has_step(o, step->id))
			continue;
		chosen[n++] = window;
		sum = num_add(sum, num_sub(step->end, step->start));
		out->device |= x->windows[window].device;
	}
	if (!n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "the trace has none of the steps given with -step");
	out->wall = step_time_mean(in->t, sum, n);
	const char *guessed = in->steps.by == STEPS_BY_GUESS ? "guessed " : "";
	out->of = n == 1 ? str_fmt(a, "%sstep %lld", guessed,
	                           (long long)in->steps.steps.v[chosen[0]].id)
	                 : str_fmt(a, "the mean of %zu %ssteps", n, guessed);
	if (candidates < x->n_windows)
		out->of = str_fmt(a, "%.*s%s (%zu of %zu steps %s device work)", STR(out->of),
		        n == 1 ? "" : " with device work", n, x->n_windows,
		        n == 1 ? "has" : "have");
	replay_choose(x, chosen, n);
	return true;
}

bool path_replay(struct session *s, const struct path_input *in, const struct opts *o,
        struct replay *x, struct path_steps *out)
{
	open_replay(s, in, x);
	return choose_steps(s, in, o, x, out);
}

/* Opens the replay of each trace. */
static bool open_replays(struct session *s, const struct model_trace *v, const struct opts *o,
        struct path_replays *out)
{
	struct arena *a = &s->query_arena;
	const struct replay **replays = ARENA_ARRAY(a, out->n, const struct replay *);
	struct path_steps *all = &out->steps, one = { 0 };

	out->v = replays;
	out->of = ARENA_ARRAY(a, out->n, struct str);
	out->device = ARENA_ARRAY(a, out->n, bool);
	for (size_t i = 0; i < out->n; i++) {
		struct path_input *in = ARENA_NEW(a, struct path_input);
		struct replay *x = ARENA_NEW(a, struct replay);
		if (out->n == 1)
			keep_trace(s, v[i].t, in);
		else
			open_trace(v[i].t, in, a);
		if (!path_replay(s, in, o, x, &one))
			return false;
		replays[i] = x;
		out->of[i] = one.of;
		out->device[i] = one.device;
		all->wall = num_add(all->wall, one.wall);
		all->device |= one.device;
		all->marked |= one.marked;
	}
	all->of = one.of;
	if (out->n > 1) {
		all->wall /= (int64_t)out->n;
		all->of = str_fmt(a, "%.*s in %zu files", STR(one.of), out->n);
	}
	return true;
}

bool path_replays_find(struct session *s, const struct opts *o, struct path_replays *out)
{
	*out = (struct path_replays){ 0 };
	const struct model_trace *v = session_traces(s, &out->n);
	return v && open_replays(s, v, o, out);
}

bool path_replays_open(struct session *s, const struct opts *o, struct path_replays *out)
{
	uint64_t waits = 0;
	size_t n;

	if (!session_need_steps(s, o) || !session_seal(s) || !session_traces(s, &n) ||
	        !session_need_slices(s) || !path_replays_find(s, o, out))
		return false;
	for (size_t i = 0; i < out->n; i++) {
		if (!has_path(s, out->v[i]->depend.t))
			return false;
		waits += out->v[i]->depend.unknown_waits;
	}
	path_note_unknown(s, &out->v[0]->depend, waits);
	return true;
}

/* A job with its causes, in one arena. */
struct explained {
	struct replay x; /* of a job that is kept */
	const struct replay *v[1];
	struct rank_group job;
	struct why why;
};

static const struct why *explain(
        struct explained *e, const struct replay *const *v, size_t n, struct arena *a)
{
	rank_group_open(v, n, &e->job, a);
	why_find(&e->job, &e->why, a);
	return &e->why;
}

const struct why *path_why(struct session *s, const struct path_replays *in, const struct opts *o)
{
	struct kept_path *kept = s->kept;
	const struct replay *x = in->v[0];
	struct arena *a = &s->path_arena;

	if (in->n > 1 || !kept || kept->in.t != x->depend.t || o->step >= 0 || o->steps.n)
		return explain(ARENA_NEW(&s->query_arena, struct explained), in->v, in->n,
		        &s->query_arena);
	if (!kept->why) {
		s->kept = NULL; /* until all of it is made */
		struct explained *e = ARENA_NEW(a, struct explained);
		e->x = *x;
		e->x.a = a;
		replay_choose(&e->x,
		        (const uint32_t *)arena_copy(a, x->chosen, x->n_chosen * sizeof *x->chosen),
		        x->n_chosen);
		e->v[0] = &e->x;
		kept->why = explain(e, e->v, 1, a);
		s->kept = kept;
	}
	return kept->why;
}

bool path_fail_cause(struct session *s, const char *option, struct str id)
{
	struct sb b = sb_in(&s->query_arena);

	for (int i = 0; i < WHY_IDS; i++)
		sb_fmt(&b, "%s%s", i ? ", " : "", why_rows[i].id);
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s'%.*s' is not a cause: %.*s", option,
	        STR(id), STR(sb_str(&b)));
}

bool path_are_runs(const struct path_replays *in, enum files_as as)
{
	int64_t ranks[RUNS_N];

	for (size_t i = 0; i < RUNS_N && i < in->n; i++)
		ranks[i] = rank_number(in->v[i]->depend.t);
	return files_are_runs(as, in->n, ranks);
}
