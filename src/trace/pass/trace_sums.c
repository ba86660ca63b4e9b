/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the sums of a trace without its slices. A thread has two stacks: of ops, and of all
 * categories that may contain a launch.
 */
#include "trace/pass/trace_sums.h"
#include "trace/pass/communication.h"

#include "base/sort.h"
#include "trace/pass/launch_join.h"
#include "trace/pass/ops_internal.h"
#include "trace/pass/usage.h"

/* Stacks of open slices of a thread. */
struct sums_thread {
	struct nest ops, all;
};

/* Position of the first slice of an op in a trace that stores slices; 0: no slice yet. */
struct first_use {
	uint64_t host, work; /* track << SLICE_BITS | 1 + number of the slice in its track */
};

struct slice_sums {
	const struct trace *t;
	struct arena *a;
	struct launch_join *launches;
	struct finding ops;
	struct sums_thread *threads; /* indexed by track */
	size_t n_tracks;             /* number of tracks after the first reading */
	VEC(struct first_use) first;
	struct trace_steps steps;
	struct trace_ops found;
	struct step_usage *by_step;
	struct usage_adding *usage;
	bool marking; /* true: steps with device work are marked at the end */
	uint64_t slices;
};

#define SLICE_BITS 40

struct slice_sums *trace_sums_new(const struct trace *t, struct arena *scratch)
{
	struct slice_sums *x = ARENA_NEW(scratch, struct slice_sums);

	x->t = t;
	x->a = scratch;
	x->launches = launch_join_new(scratch);
	return x;
}

static uint32_t process_of(const struct slice_sums *x, uint32_t track)
{
	uint32_t process = x->t->tracks.v[track].process;

	return process == ID_NONE ? (uint32_t)x->t->processes.n : process;
}

void trace_sums_expect(struct slice_sums *x, uint32_t track, bool call, int64_t correlation)
{
	if (call)
		launch_join_expect_call(x->launches, process_of(x, track), correlation);
	else
		launch_join_expect_work(x->launches, process_of(x, track), correlation);
}

void trace_sums_begin(struct slice_sums *x)
{
	const struct trace *t = x->t;
	const uint32_t launching = nest_bits(CATEGORY_HOST_NEST | CATEGORY_LAUNCH);

	trace_find_steps(t, &x->steps, t->a);
	ops_begin(&x->ops, t, &x->steps, TRACE_BY_PATH, &x->found, t->a, x->a);
	x->ops.linked = true;
	x->by_step = ARENA_ARRAY(t->a, x->steps.steps.n, struct step_usage);
	x->usage = usage_begin(t, &x->steps, x->by_step, x->a);
	x->marking = x->steps.by != STEPS_UNKNOWN && usage_may_mark(x->usage);
	x->n_tracks = t->tracks.n;
	x->threads = ARENA_ARRAY(x->a, t->tracks.n, struct sums_thread);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		nest_init(&x->threads[i].ops, t, i, x->ops.rule.nested, x->a);
		nest_init(&x->threads[i].all, t, i, launching, x->a);
	}
}

/* ---- first uses ---- */

static void use(struct slice_sums *x, uint32_t op, const struct slice *s, bool work)
{
	uint64_t now = (uint64_t)s->track << SLICE_BITS | x->slices;

	while (x->first.n <= op)
		VEC_PUSH(x->a, &x->first, ((struct first_use){ 0, 0 }));
	uint64_t *first = work ? &x->first.v[op].work : &x->first.v[op].host;
	if (*first && *first <= now)
		return;
	*first = now;
	if (work)
		x->found.ops.v[op].device = x->t->tracks.v[s->track].device;
}

static int by_first_use(const void *uses, uint32_t a, uint32_t b)
{
	const struct first_use *x = (const struct first_use *)uses + a,
	                       *y = (const struct first_use *)uses + b;

	if (!x->host != !y->host)
		return x->host ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->work > y->work) - (x->work < y->work);
}

/* Sorts the ops by first use: on threads, then on devices. This is their order in a trace with
 * slices. */
static void order_ops(struct slice_sums *x)
{
	struct trace_ops *o = &x->found;
	size_t n = o->ops.n;
	struct trace_op *old = ARENA_ARRAY(x->a, n, struct trace_op);
	uint32_t *place = ARENA_ARRAY(x->a, n, uint32_t);

	while (x->first.n < n)
		VEC_PUSH(x->a, &x->first, ((struct first_use){ 0, 0 }));
	const uint32_t *order = sort_order(x->a, n, by_first_use, x->first.v);
	if (n)
		memcpy(old, o->ops.v, n * sizeof *old);
	for (uint32_t i = 0; i < n; i++) {
		o->ops.v[i] = old[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < o->cells.n; i++)
		o->cells.v[i].op = place[o->cells.v[i].op];
	for (size_t i = 0; i < o->kernels.n; i++)
		if (o->kernels.v[i].has_op)
			o->kernels.v[i].op = place[o->kernels.v[i].op];
}

/* ---- slices ---- */

/* Opens a slice on the stack of ops. Returns 1 + its op. */
static uint32_t open_op(struct slice_sums *x, struct nest *n, const struct slice *s)
{
	struct nest_level *level;

	while ((level = nest_close(n, s)))
		ops_close_host(&x->ops, level);
	level = nest_open(n, s);
	ops_open_host(&x->ops, n, level, NULL);
	use(x, level->user - 1, s, false);
	return level->user;
}

static void add_work(struct slice_sums *x, const struct slice *s, const struct launched *call)
{
	const struct launch launch = {
		.start = call ? call->start : 0, .slice = ID_NONE, .op = ID_NONE, .scope = ID_NONE
	};

	x->ops.launching = call ? call->op : 0;
	uint32_t op = ops_add_work(&x->ops, s, s->length, call ? &launch : NULL);
	ops_cover_work(&x->ops, s, s->length, ID_NONE, op);
	use(x, op, s, true);
}

static void take_work(struct slice_sums *x, const struct slice *s)
{
	struct launch_call known = { .known = false };
	struct launched call = { 0 };

	switch (launch_join_work(x->launches, process_of(x, s->track), s, &call)) {
	case LAUNCH_NONE:
		usage_add(x->usage, s, &known, false);
		add_work(x, s, NULL);
		break;
	case LAUNCH_FOUND:
		known = (struct launch_call){ .known = true, .start = call.start, .end = call.end };
		usage_add(x->usage, s, &known, call.collective);
		add_work(x, s, &call);
		break;
	case LAUNCH_LATER:
		known = (struct launch_call){ .known = true, .start = INT64_MAX, .end = INT64_MAX };
		usage_add(x->usage, s, &known, false);
		break;
	}
}

static void take_call(struct slice_sums *x, const struct slice *s, const struct nest *all,
        const struct nest_level *level)
{
	const struct nest_level *op = nest_around(all, level, CATEGORY_BIT(CATEGORY_OP));
	const struct launched call = { s->start, slice_end(s), op ? op->user : 0,
		op && communication_is_op(trace_str(x->t, op->s.name)) };
	struct slice work;

	launch_join_call(x->launches, process_of(x, s->track), s->correlation, &call);
	while (launch_join_waiting(x->launches, &work))
		add_work(x, &work, &call);
}

static void take_host(struct slice_sums *x, const struct slice *s)
{
	struct sums_thread *h = &x->threads[s->track];
	uint32_t bit = CATEGORY_BIT(s->category), op = 0;
	struct nest_level *level;

	if (bit & h->ops.categories)
		op = open_op(x, &h->ops, s);
	if (!(bit & h->all.categories))
		return;
	while (nest_close(&h->all, s)) {
	}
	level = nest_open(&h->all, s);
	level->user = op;
	if (trace_category_flags[s->category] & CATEGORY_LAUNCH)
		take_call(x, s, &h->all, level);
}

void trace_sums_add(struct slice_sums *x, const struct slice *s)
{
	const struct trace_track *k = &x->t->tracks.v[s->track];

	x->slices++;
	ops_know_events(&x->ops);
	if (k->derived || s->track >= x->n_tracks) /* if the file changed between the readings, it
	                                              may have new tracks */
		return;
	if (!track_is_device(k))
		take_host(x, s);
	else if (slice_is_work(x->t, s))
		take_work(x, s);
	else if (slice_is_event_wait(x->t, s))
		usage_wait(x->usage, s);
}

/* Marks the steps that have device work. */
static void mark_steps(struct slice_sums *x)
{
	for (size_t i = 0; i < x->found.cells.n; i++)
		if (x->found.cells.v[i].kernels)
			x->steps.steps.v[x->found.cells.v[i].step].works = true;
	trace_steps_count_work(&x->steps);
}

const struct trace_sums *trace_sums_end(struct slice_sums *x, struct str path)
{
	struct arena *a = x->t->a;
	struct trace_sums *made = ARENA_NEW(a, struct trace_sums);
	struct trace_steps *steps = ARENA_NEW(a, struct trace_steps);
	struct trace_ops *ops = ARENA_NEW(a, struct trace_ops);
	struct trace_usage *usage = ARENA_NEW(a, struct trace_usage);
	struct nest_level *level;

	for (uint32_t i = 0; i < x->t->tracks.n; i++) {
		while ((level = nest_close(&x->threads[i].ops, NULL)))
			ops_close_host(&x->ops, level);
		x->found.overlaps += x->threads[i].ops.overlaps;
	}
	if (x->marking)
		mark_steps(x);
	usage_end(x->usage, usage, a);
	ops_end(&x->ops);
	order_ops(x);
	*steps = x->steps;
	*ops = x->found;
	*made = (struct trace_sums){ steps, ops, usage, x->by_step, str_copy(a, path) };
	return made;
}
