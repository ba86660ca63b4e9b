/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the steps of a trace as sides of one entry, for gates: what steps prints, the number
 * of kernels, and what a step would be shorter without a cause.
 */
#include "lib/diff.h"

#include "lib/path_input.h"
#include "trace/pass/serving.h"
#include "view/facts.h"
#include "why/why.h"

/* The numbers of the chosen steps. */
struct step_values {
	VEC(int64_t) v;
	int64_t whole;   /* sum over all steps that v divides; 0 if v does not divide a sum */
	struct str lack; /* reason why they are unknown; p is NULL if they are known */
};

/* True if a step is chosen. phase: as in struct gate. */
static bool is_chosen(const struct path_input *in, size_t i, int phase, const struct opts *o)
{
	const struct trace_step *step = &in->steps.steps.v[i];
	struct serving_step info;

	if (phase >= 0 && (in->steps.by != STEPS_BY_SERVING ||
	                          !serving_parse(trace_str(in->t, step->name), &info) ||
	                          (int)info.phase != phase))
		return false;
	if (!opts_names_steps(o))
		return phase >= 0 || trace_step_counts(&in->steps, i);
	return in->steps.by == STEPS_UNKNOWN || opts_has_step(o, step->id);
}

/* ---- times ---- */

static void find_times(const struct path_input *in, const struct diff_sides *d,
        const struct opts *o, struct step_values *out, struct arena *a)
{
	const struct trace *t = in->t;
	size_t n = in->steps.steps.n;
	struct step_usage *by_step = ARENA_ARRAY(a, n, struct step_usage);
	const struct usage_request request = {
		.links = &in->links, .steps = &in->steps, .by_step = by_step
	};
	struct trace_usage usage;

	trace_usage(t, &request, &usage, a);
	for (size_t i = 0; i < n; i++) {
		const struct trace_step *s = &in->steps.steps.v[i];
		int64_t length = num_sub(s->end, s->start);
		const struct usage_partition part = usage_partition(
		        t, &by_step[i].times, num_mul(length, num_from_u64(usage.devices.n)), 1);
		if (!is_chosen(in, i, d->phase, o))
			continue;
		out->whole = num_add(out->whole, part.window);
		VEC_PUSH(a, &out->v,
		        d->number == STEP_step_time ? trace_ns(t, length)
		        : d->number == STEP_idle    ? part.idle
		                                    : part.communication);
	}
}

/* ---- kernels ---- */

static void count_kernels(const struct path_input *in, const struct diff_sides *d,
        const struct opts *o, struct step_values *out, struct arena *a)
{
	const struct trace *t = in->t;
	int64_t *v = ARENA_ARRAY(a, in->steps.steps.n, int64_t);

	for (uint32_t k = 0; k < t->tracks.n; k++) {
		struct slice_iter it = trace_slices_if(t, k, CATEGORY_BIT(CATEGORY_KERNEL));
		for (struct slice s; slice_next(&it, &s);)
			if (s.category == CATEGORY_KERNEL && slice_is_work(t, &s))
				v[in->steps.by == STEPS_UNKNOWN
				                ? 0
				                : trace_step_of(&in->steps, &s,
				                          link_launch(&in->links, &s))]++;
	}
	for (size_t i = 0; i < in->steps.steps.n; i++)
		if (is_chosen(in, i, d->phase, o))
			VEC_PUSH(a, &out->v, v[i]);
}

/* ---- causes ---- */

static bool find_saved(struct session *s, const struct path_input *in, enum why_id id,
        const struct opts *o, struct step_values *out, struct arena *a)
{
	struct path_steps steps;
	struct replay_run run;
	struct rank_group job;
	struct replay x;
	const struct replay *replays[] = { &x };
	struct err e = { .a = a };

	if (!path_replay(s, in, o, &x, &steps))
		return false;
	rank_group_open(replays, 1, &job, a);
	if (!why_replay(&job, id, &run, a, &e)) {
		out->lack = e.text;
		return true;
	}
	for (size_t i = 0; i < x.n_chosen; i++) {
		const struct critical_window *w = &x.recorded.windows[i], *r = &run.windows[i];
		out->whole = num_add(out->whole, trace_ns(in->t, num_sub(w->to, w->from)));
		VEC_PUSH(a, &out->v,
		        trace_ns(in->t, num_sub(num_sub(w->to, w->from), num_sub(r->to, r->from))));
	}
	return true;
}

/* ---- profiles without a trace ---- */

/* Finds the numbers in the steps of run metadata. */
static void find_in_model(const struct session *s, const struct diff_sides *d, const struct opts *o,
        struct step_values *out, struct arena *a)
{
	struct facts f;
	int64_t devices = 0;

	if (d->phase >= 0 || (d->number != STEP_step_time && d->number != STEP_idle)) {
		out->lack = S("only traces and recordings have this number");
		return;
	}
	facts_find(&s->model, NULL, NULL, &f, a);
	for (size_t i = 0; i < f.devices.n; i++)
		devices += !f.devices.v[i].host;
	for (size_t i = 0; i < f.steps.n; i++) {
		const struct step_summary *x = &f.steps.v[i];
		int64_t window = num_mul(x->ns, devices);
		const struct step *step = model_step_of(&s->model, x->worker, x->id, NULL);
		if (opts_names_steps(o) ? !opts_has_step(o, x->id)
		                        : step && step->excluded_from_average)
			continue;
		out->whole = num_add(out->whole, window);
		VEC_PUSH(a, &out->v,
		        d->number == STEP_idle ? num_sub(window, x->device_busy) : x->ns);
	}
	if (!out->v.n)
		out->lack = S("no step has times");
	else if (!devices && d->number == STEP_idle)
		out->lack = S("no work of an accelerator is recorded");
}

/* ---- the side ---- */

/* Writes the mean and, with steps, the numbers of the steps, each with a run, in the parts of the
 * sides. The number of a share is below the whole. */
static void make_entry(
        const struct diff_sides *d, const struct step_values *found, struct diff_side *x)
{
	struct arena *a = &x->made;
	uint32_t steps = d->with_steps ? (uint32_t)found->v.n : 0, n = 2 * (1 + steps);
	enum value *values = ARENA_ARRAY(a, n, enum value), of = metrics[d->metrics[0]].value;
	int64_t *total = ARENA_ARRAY(a, n, int64_t), sum = 0;
	int64_t parts = side_parts(d->ticks_per_us, of), per = value_is_time(of) ? 1000 : 1;

	for (uint32_t i = 0; i < n; i++) {
		values[i] = i % 2 ? V_RUNS : of;
		total[i] = 1;
	}
	for (size_t i = 0; i < found->v.n; i++)
		sum = num_add(sum, found->v.v[i]);
	total[0] = found->v.n ? num_mul(sum, parts) / per / (int64_t)found->v.n : 0;
	for (uint32_t i = 0; i < steps; i++)
		total[2 * ((size_t)i + 1)] = num_mul(found->v.v[i], parts) / per;
	const struct side_values made = { values, n, d->ticks_per_us, true };
	struct side_maker *w = side_begin(d->view->kind, &made, a);
	side_set_total(w, d->share ? side_child(w, 0, S("of the step time")) : 0, total);
	if (d->share) {
		total[0] =
		        found->v.n ? num_mul(found->whole, parts) / per / (int64_t)found->v.n : 0;
		side_set_total(w, 0, total);
	}
	side_end(w, x->side);
}

bool diff_number_side(
        struct session *s, const struct diff_sides *d, const struct opts *o, struct diff_side *x)
{
	struct arena *a = &s->query_arena;
	struct step_values found = { .v = { .n = 0 } };
	struct path_input in;

	if (x->answer)
		return session_fail(s, ERR_FAILED, "a text has no steps of a trace");
	if (!session_need_steps(s, o) || !session_seal(s))
		return false;
	if (!s->model.traces.n && !s->recording.n && s->model.steps.n) {
		find_in_model(s, d, o, &found, a);
		x->lack = found.lack.p ? str_copy(&x->made, found.lack) : STR_NONE;
		make_entry(d, &found, x);
		return true;
	}
	if (!path_input_open(s, o, &in))
		return false;
	if (d->number >= STEP_CAUSES) {
		if (!find_saved(s, &in, (enum why_id)(d->number - STEP_CAUSES), o, &found, a))
			return false;
	} else if (d->number == STEP_kernels) {
		count_kernels(&in, d, o, &found, a);
	} else {
		find_times(&in, d, o, &found, a);
	}
	if (!found.v.n && d->phase >= 0)
		found.lack = S("no step is of this phase");
	if (!found.v.n && !found.lack.p)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "the trace has none of the steps given with -step");
	x->lack = found.lack.p ? str_copy(&x->made, found.lack) : STR_NONE;
	make_entry(d, &found, x);
	return true;
}
