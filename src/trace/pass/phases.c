/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums device work by phase, and chooses the intervals of a server's steps.
 */
#include "trace/pass/phases.h"
#include "trace/pass/communication.h"
#include "trace/pass/usage.h"
#include "trace/pass/work_merge.h"

#include "base/sort.h"

/* The words that identify a kind of work. */
static const struct {
	enum phase_work work;
	const char *word;
} words[] = {
#define PHASE_WORK(id, name)
#define PHASE_WORD(id, text) { WORK_##id, text },
#include "trace/pass/phase_work.def"
#undef PHASE_WORK
#undef PHASE_WORD
};

struct finding_phases {
	const struct trace *t;
	const struct trace_links *links;
	struct arena *a; /* arena for scratch data */
	struct trace_steps steps;
	struct serving_step *info; /* indexed by step, like all arrays below */
	struct step_usage *usage;
	uint64_t *launches; /* number of graph launches */
	int64_t *gap, *batch, *host;
	int64_t (*work)[PHASE_WORKS];
};

/* ---- work ---- */

static enum phase_work work_of_name(struct str name, struct arena *a)
{
	struct str lower = str_lower(a, name);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_contains(lower, str_of(words[i].word)))
			return words[i].work;
	return WORK_REST;
}

/* Returns the kind of a kernel below the op that launched it. path ends with the kernel's name. */
static enum phase_work work_of(struct str path, struct str kernel, struct arena *a)
{
	struct str around = path.n > kernel.n ? str_sub(path, 0, path.n - kernel.n - 1) : STR_NONE;
	struct str op = str_base(around);
	enum phase_work work;

	if (communication_is_kernel(kernel) || communication_is_op(op))
		return WORK_COMMUNICATION;
	if (str_starts(op, S("nn.Module: ")))
		return work_of_name(kernel, a);
	work = work_of_name(op, a);
	return work == WORK_REST ? work_of_name(kernel, a) : work;
}

/* Adds up the device work of each step by kind. */
static void add_work(struct finding_phases *x)
{
	struct trace_ops ops;

	trace_find_ops(x->t, x->links, &x->steps, TRACE_BY_KERNEL, &ops, x->a);
	uint8_t *kinds = ARENA_ARRAY(x->a, ops.ops.n, uint8_t);
	for (size_t i = 0; i < ops.ops.n; i++)
		kinds[i] = (uint8_t)work_of(intern_str(&ops.strings, ops.ops.v[i].name),
		        intern_str(&ops.strings, ops.ops.v[i].type), x->a);
	for (size_t i = 0; i < ops.cells.n; i++) {
		const struct op_cell *c = &ops.cells.v[i];
		int64_t *to = &x->work[c->step][kinds[c->op]];
		*to = num_add(*to, c->device_total);
	}
}

/* ---- graphs ---- */

/* Returns the step whose annotation contains a time, or ID_NONE. */
static uint32_t step_at(const struct finding_phases *x, int64_t at)
{
	for (size_t i = 0; i < x->steps.intervals.n; i++) {
		const struct step_interval *v = &x->steps.intervals.v[i];
		if (v->start <= at && at < v->end)
			return v->step;
	}
	return ID_NONE;
}

/* Counts the graph launches of each step, and adds up the sizes of their captures. */
static void add_launches(struct finding_phases *x)
{
	for (size_t i = 0; i < x->t->replays.n; i++) {
		const struct trace_replay *r = &x->t->replays.v[i];
		uint32_t step = step_at(x, r->start);
		if (step == ID_NONE)
			continue;
		x->launches[step]++;
		if (r->batch > x->batch[step])
			x->batch[step] = r->batch;
	}
}

/* Adds up the time in which a device was idle before the first work of a launched graph. */
static void add_gaps(struct finding_phases *x, uint32_t device)
{
	struct imap seen;
	struct work_merge m;
	const struct slice *s;
	int64_t until = INT64_MAX;
	bool contains;

	imap_init(&seen, x->a);
	work_merge_init(&m, x->t, device, false, x->a);
	while ((s = work_merge_next(&m, &contains))) {
		int64_t site;
		const struct launch *launch =
		        slice_has_int(x->t, s, ARG_SITE, &site) ? link_launch(x->links, s) : NULL;
		uint32_t step =
		        launch && imap_put(&seen, launch->slice, 0, false) && s->start > until
		                ? step_at(x, launch->start)
		                : ID_NONE;
		if (step != ID_NONE) {
			int64_t from = x->steps.steps.v[step].start;
			from = from > until ? from : until;
			x->gap[step] = num_add(
			        x->gap[step], s->start > from ? num_sub(s->start, from) : 0);
		}
		until = until == INT64_MAX || slice_end(s) > until ? slice_end(s) : until;
	}
}

/* ---- phases ---- */

static void add_known(int64_t *sum, int64_t v)
{
	*sum = *sum < 0 || v < 0 ? -1 : num_add(*sum, v);
}

static void add_step(const struct finding_phases *x, struct phase *to, uint32_t i)
{
	const struct serving_step *info = &x->info[i];
	int64_t size = x->batch[i] ? x->batch[i] : info->padded;

	to->steps++;
	add_known(&to->requests, info->requests);
	add_known(&to->tokens, info->tokens);
	to->host = num_add(to->host, trace_ns(x->t, x->host[i]));
	to->busy = num_add(to->busy, trace_ns(x->t, x->usage[i].times.busy));
	to->graph_launches += x->launches[i];
	to->graph_steps += x->launches[i] > 0;
	to->eager += x->t->replays.n && !x->launches[i] && x->usage[i].slices > 0;
	to->graph_gap = num_add(to->graph_gap, trace_ns(x->t, x->gap[i]));
	for (unsigned k = 0; k < PHASE_WORKS; k++) {
		int64_t ns = trace_ns(x->t, x->work[i][k]);
		to->work[k] = num_add(to->work[k], ns);
		to->device = num_add(to->device, ns);
	}
	if (size > 0 && info->tokens > 0 && size >= info->tokens) {
		to->padded_tokens = num_add(to->padded_tokens, info->tokens);
		to->padded = num_add(to->padded, size);
	}
}

static void add_phase(const struct finding_phases *x, enum serving_phase phase, struct phases *out,
        struct arena *a)
{
	int64_t *ns = ARENA_ARRAY(x->a, x->steps.steps.n, int64_t);
	struct phase made = { .phase = phase };
	size_t n = 0;

	for (uint32_t i = 0; i < x->steps.steps.n; i++) {
		const struct trace_step *s = &x->steps.steps.v[i];
		if (x->info[i].phase != phase)
			continue;
		add_step(x, &made, i);
		ns[n++] = trace_ns(x->t, num_sub(s->end, s->start));
		made.total = num_add(made.total, ns[n - 1]);
	}
	if (!n)
		return;
	sort_array(x->a, ns, n, sizeof *ns, sort_ascending);
	made.mean = made.total / (int64_t)n;
	made.host /= (int64_t)n;
	made.median = ns[(n - 1) / 2];
	made.p99 = ns[(n * 99 + 99) / 100 - 1];
	VEC_PUSH(a, &out->list, made);
}

void trace_find_phases(
        const struct trace *t, const struct trace_links *links, struct phases *out, struct arena *a)
{
	struct finding_phases x = { .t = t, .links = links };
	struct trace_usage usage;
	struct scratch own;

	*out = (struct phases){ .list = { .n = 0 } };
	scratch_open(&own, a->work);
	x.a = &own.a;
	trace_find_served(t, &x.steps, x.a);
	bool guessed = x.steps.by == STEPS_BY_GUESS;
	size_t n = guessed || x.steps.by == STEPS_BY_SERVING ? x.steps.steps.n : 0;
	if (n) {
		x.info = ARENA_ARRAY(x.a, n, struct serving_step);
		x.usage = ARENA_ARRAY(x.a, n, struct step_usage);
		x.launches = ARENA_ARRAY(x.a, n, uint64_t);
		x.gap = ARENA_ARRAY(x.a, n, int64_t);
		x.batch = ARENA_ARRAY(x.a, n, int64_t);
		x.host = ARENA_ARRAY(x.a, n, int64_t);
		x.work = (int64_t(*)[PHASE_WORKS])ARENA_ARRAY(x.a, n * PHASE_WORKS, int64_t);
		for (size_t i = 0; i < n; i++)
			if (guessed ||
			        !serving_parse(trace_str(t, x.steps.steps.v[i].name), &x.info[i]))
				x.info[i] = (struct serving_step){ PHASE_OTHER, -1, -1, -1, -1,
					.padded = 0 };
		for (size_t i = 0; i < x.steps.intervals.n; i++)
			x.host[x.steps.intervals.v[i].step] =
			        num_sub(x.steps.intervals.v[i].end, x.steps.intervals.v[i].start);
		trace_usage(t,
		        &(struct usage_request){
		                .links = links, .steps = &x.steps, .by_step = x.usage },
		        &usage, x.a);
		add_work(&x);
		add_launches(&x);
		for (uint32_t i = 0; i < t->devices.n; i++)
			add_gaps(&x, i);
		for (enum serving_phase i = 0; i < PHASE_N; i++)
			add_phase(&x, i, out, a);
	}
	scratch_close(&own);
}
