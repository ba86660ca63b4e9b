/* SPDX-License-Identifier: Apache-2.0
 *
 * The command why.
 */
#include "lib/command.h"
#include "lib/path_input.h"

#include "export/table/run_difference_out.h"
#include "export/table/why_out.h"
#include "trace/pass/step_time.h"

/* A rule of --fail-on. */
struct why_rule {
	struct str text;
	enum why_id cause;
	int64_t ns; /* the command fails if removing the cause saves more per step */
};
struct why_request {
	size_t top;
	enum files_as as;
	enum why_id cause; /* WHY_IDS: all causes */
	const struct why_rule *rules;
	size_t n_rules;
	bool allow_inconclusive; /* no verdict does not fail the rules */
};

/* Reads a rule of the form "ID" or "ID>TIME". */
static bool read_rule(struct session *s, struct str text, struct why_rule *out)
{
	size_t at = str_find_char(text, '>');
	struct str id = str_sub(text, 0, at), time;

	*out = (struct why_rule){ .text = text, .cause = why_find_row(id) };
	if (out->cause == WHY_IDS)
		return path_fail_cause(s, "--fail-on: ", id);
	if (at == SIZE_MAX)
		return true;
	time = str_sub(text, at + 1, SIZE_MAX);
	if (!quantity_parse_time(time, QUANTITY_US, QUANTITY_NS, &out->ns))
		return session_fail(s, ERR_INVALID_ARGUMENT, "--fail-on: '%.*s' is %s", STR(time),
		        quantity_refusal(QUANTITY_TIME));
	return true;
}

/* Reads --cause (default: all causes) and the values of --fail-on, "ID" or "ID>TIME". */
static bool read_why(struct session *s, const struct request *r, struct why_request *out)
{
	const struct strs *fail_on = &r->fail_on;
	struct why_rule *rules = ARENA_ARRAY(&s->query_arena, fail_on->n, struct why_rule);

	*out = (struct why_request){ .top = (size_t)r->top,
		.as = r->section > 0 ? (enum files_as)r->section : FILES_AS_AUTO,
		.cause = r->cause.n ? why_find_row(r->cause) : WHY_IDS };
	if (r->cause.n && out->cause == WHY_IDS)
		return path_fail_cause(s, "--cause: ", r->cause);
	out->rules = rules;
	out->n_rules = fail_on->n;
	out->allow_inconclusive = r->allow_inconclusive;
	for (size_t i = 0; i < fail_on->n; i++)
		if (!read_rule(s, fail_on->v[i], &rules[i]))
			return false;
	return true;
}

static bool check_rules(struct session *s, const struct why_request *request, const struct why *x)
{
	if (request->n_rules && x->no_verdict.p && !request->allow_inconclusive)
		return session_fail(s, ERR_FAILED,
		        "--fail-on=%.*s cannot be judged without a verdict\n"
		        "hint: --allow-inconclusive accepts files without a verdict",
		        STR(request->rules[0].text));
	for (size_t i = 0; i < request->n_rules; i++) {
		const struct why_rule *r = &request->rules[i];
		struct str reason = why_gap_of(x, r->cause);
		if (reason.p)
			note_line(&s->notes, "note: --fail-on=%.*s: not judged: %.*s\n",
			        STR(r->text), STR(reason));
		for (size_t k = 0; k < x->reported; k++)
			if (x->found.v[k].id == r->cause &&
			        trace_ns(x->x->depend.t, x->found.v[k].saved) > r->ns)
				return session_fail(s, ERR_FAILED, "%s is a cause (--fail-on=%.*s)",
				        why_rows[r->cause].id, STR(r->text));
	}
	return true;
}

/* Returns the value of -step as given, or an empty text. */
static struct str typed_steps(struct session *s, const struct opts *o)
{
	if (o->steps.n)
		return o->steps.text;
	return o->step >= 0 ? str_fmt(&s->query_arena, "%lld", (long long)o->step) : STR_NONE;
}

/* ---- one job ---- */

/* Returns the phase of a step of a server. */
static enum serving_phase phase_of(const struct replay *x, uint32_t window)
{
	const struct trace_step *mark = &x->marks->steps.v[x->windows[window].step];
	struct serving_step info;

	return serving_parse(trace_str(x->depend.t, mark->name), &info) ? info.phase : PHASE_OTHER;
}

/* Explains the chosen steps of one phase. Returns false if there are none. */
static bool explain_phase(
        const struct replay *all, enum serving_phase phase, struct why_phase *out, struct arena *a)
{
	uint32_t *chosen = ARENA_ARRAY(a, all->n_chosen, uint32_t);
	struct replay *x = ARENA_NEW(a, struct replay);
	const struct replay **v = ARENA_NEW(a, const struct replay *);
	struct rank_group *job = ARENA_NEW(a, struct rank_group);
	struct why *why = ARENA_NEW(a, struct why);
	int64_t sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->n_chosen; i++) {
		const struct trace_step *mark = &all->marks->steps.v[all->chosen[i]];
		if (phase_of(all, all->chosen[i]) != phase)
			continue;
		chosen[n++] = all->chosen[i];
		sum = num_add(sum, num_sub(mark->end, mark->start));
	}
	if (!n)
		return false;
	*x = *all;
	x->a = a;
	replay_choose(x, chosen, n);
	*v = x;
	rank_group_open(v, 1, job, a);
	why_find(job, why, a);
	*out = (struct why_phase){ phase, n, step_time_mean(all->depend.t, sum, n), why };
	return true;
}

/* Explains the phases of a server, if steps of several phases are chosen. Returns their number. */
static size_t explain_phases(
        const struct path_replays *in, struct why_phase out[PHASE_N], struct arena *a)
{
	const struct replay *x = in->v[0];
	bool has[PHASE_N] = { false };
	size_t n = 0, several = 0;

	if (in->n != 1 || x->marks->by != STEPS_BY_SERVING)
		return 0;
	for (size_t i = 0; i < x->n_chosen; i++)
		has[phase_of(x, x->chosen[i])] = true;
	for (enum serving_phase i = 0; i < PHASE_N; i++)
		several += has[i];
	for (enum serving_phase i = 0; several > 1 && i < PHASE_N; i++)
		n += has[i] && explain_phase(x, i, &out[n], a);
	return n;
}

static bool write_job(struct session *s, const struct why_request *request, const struct opts *o,
        const struct path_replays *in, struct emit *to)
{
	const struct why *why = path_why(s, in, o);
	const struct table *host = NULL;
	struct why_phase phases[PHASE_N];

	if (why->of_host && !session_host_ops(s, o, &host))
		return false;
	const struct why_page page = { .x = why,
		.of = in->steps.of,
		.marked = in->steps.marked,
		.wall = in->steps.wall,
		.host = host,
		.steps = typed_steps(s, o),
		.top = request->top,
		.cause = request->cause,
		.phases = phases,
		.n_phases = request->cause == WHY_IDS ? explain_phases(in, phases, &s->query_arena)
		                                      : 0 };
	return why_write(&page, o, s->columns, to, &s->error) && check_rules(s, request, why);
}

/* ---- two runs ---- */

static bool write_runs(struct session *s, const struct why_request *request, const struct opts *o,
        const struct path_replays *in, struct emit *to)
{
	struct arena *a = &s->query_arena;
	struct rank_group jobs[RUNS_N];
	struct why runs[RUNS_N];
	struct run_difference x;

	if (in->n != RUNS_N)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--as=runs: two files expected");
	if (request->cause != WHY_IDS || request->n_rules)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "%s applies to one run, but the files are compared as two runs (see --as)",
		        request->n_rules ? "--fail-on" : "--cause");
	for (size_t i = 0; i < RUNS_N; i++) {
		rank_group_open(in->v + i, 1, &jobs[i], a);
		why_find(&jobs[i], &runs[i], a);
	}
	run_difference_find(&runs[RUN_LEFT], &runs[RUN_RIGHT], &x, a);
	const struct run_difference_page page = { .x = &x,
		.of = { in->of[RUN_LEFT], in->of[RUN_RIGHT] },
		.device = { in->device[RUN_LEFT], in->device[RUN_RIGHT] },
		.assumed = request->as == FILES_AS_AUTO };
	return run_difference_write(&page, request->top, o, s->columns, to, &s->error);
}

bool check_why(struct session *s, const struct request *r)
{
	struct why_request request;

	return read_why(s, r, &request);
}

bool run_why(struct session *s, const struct request *r, struct sink *out)
{
	const struct opts *o = &r->opts;
	struct emit to = session_emit(s, VK_N, out);
	struct path_replays in;
	struct why_request request;

	if (!read_why(s, r, &request) || !path_replays_open(s, o, &in))
		return false;
	return path_are_runs(&in, request.as) ? write_runs(s, &request, o, &in, &to)
	                                      : write_job(s, &request, o, &in, &to);
}
