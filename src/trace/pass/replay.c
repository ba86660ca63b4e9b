/* SPDX-License-Identifier: Apache-2.0
 *
 * New times of the nodes, and of the windows.
 */
#include "trace/pass/replay_internal.h"

#include "base/sort.h"

/* ---- times ---- */

static double factor_of(const struct replay_factors *f, const struct depend_node *n)
{
	if (n->host)
		return f->contexts && n->context != ID_NONE ? f->host * f->contexts[n->context]
		                                            : f->host;
	double x = f->by_class[n->class];
	if (f->kernels && n->class != USAGE_COPY)
		x *= f->kernels[n->event];
	return f->launched && n->context != ID_NONE ? x * f->launched[n->context] : x;
}

#define SLOW_CALL 2 /* times the base latency; a longer call did other work before its launch */

/* Returns the time when an edge left its node. A launch leaves at the start of the call. If a slow
 * call becomes shorter, its work starts earlier by the same time or, if the work started during the
 * call, by the part before its start. */
static int64_t left_at(const struct depend *d, const struct depend_node *to,
        const struct depend_edge *e, const struct depend_times *times)
{
	const struct depend_node *call = &d->nodes.v[e->from];
	int64_t took = call->end - call->start, start = times->start[e->from];

	if (e->kind != DEPEND_LAUNCH)
		return times->end[e->from];
	int64_t base = depend_base(d, to, DEPEND_LAUNCH);
	int64_t saved = num_sub(took, num_sub(times->end[e->from], start));
	int64_t before = e->length - base; /* time that the call spent before its launch */
	if (before <= 0 || took <= num_mul(base, SLOW_CALL) || saved <= 0)
		return start;
	if (e->length < took)
		saved = (int64_t)((double)saved * ((double)before / (double)took));
	return num_sub(start, saved < before ? saved : before);
}

/* Returns the start of a node: the time when the last edge reaches it or, without edges, the
 * recorded start. */
static int64_t start_of(
        const struct depend *d, uint32_t node, const struct depend_times *times, bool unblocked)
{
	const struct depend_node *n = &d->nodes.v[node];
	int64_t start = INT64_MIN;

	if (n->host && !n->first)
		start = times->end[node - 1];
	for (uint32_t i = d->first_edge[node]; i < d->first_edge[node + 1]; i++) {
		const struct depend_edge *e = &d->edges[i];
		if (unblocked && e->kind == DEPEND_SYNC)
			continue;
		int64_t at = depend_arrival(d, n, e, left_at(d, n, e, times), times);
		start = at > start ? at : start;
	}
	return start == INT64_MIN ? n->start : start;
}

void replay_begin(const struct replay *x, struct replay_run *out, struct arena *a)
{
	*out = (struct replay_run){ 0 };
	out->times.start = ARENA_ARRAY(a, x->depend.nodes.n, int64_t);
	out->times.end = ARENA_ARRAY(a, x->depend.nodes.n, int64_t);
	out->times.launch = 1;
}

void replay_node(const struct replay *x, const struct replay_factors *f, struct replay_run *out,
        uint32_t node)
{
	const struct depend_node *n = &x->depend.nodes.v[node];
	struct depend_times *times = &out->times;
	int64_t length = n->end - n->start;
	double factor = factor_of(f, n);

	if (factor != 1 && length) {
		length = (int64_t)((double)length * factor + 0.5);
		out->changed++;
	}
	if (f->plan && f->plan->lengths)
		length = f->plan->lengths[node];
	times->start[node] = start_of(
	        &x->depend, node, times, f->plan && f->plan->unblocked && f->plan->unblocked[node]);
	times->end[node] = num_add(times->start[node], length);
}

void replay_times(const struct replay *x, const struct replay_factors *f, struct replay_run *out)
{
	out->times.launch = f->launch;
	out->times.no_sync = f->no_sync;
	out->changed = 0;
	for (size_t i = 0; i < x->depend.nodes.n; i++) {
		replay_node(x, f, out, x->depend.order[i]);
		if (i % 65536 == 0)
			work_poll(x->a->work);
	}
}

/* ---- windows ---- */

uint32_t replay_node_at(const struct depend *d, uint32_t track, int64_t at)
{
	const struct depend_track *k = &d->tracks[track];
	uint32_t i;

	BISECT(i, 0, k->n, d->nodes.v[k->first + i].start <= at);
	return i ? k->first + i - 1 : ID_NONE;
}

/* Converts a time of the recording to the time in the replay. Uses the thread with a node that
 * starts at this time or, if there is none, the thread whose node around this time starts last. */
static int64_t moved(const struct depend *d, const struct depend_times *times, int64_t at)
{
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		uint32_t node = d->tracks[i].host ? replay_node_at(d, i, at) : ID_NONE;
		if (node != ID_NONE &&
		        (found == ID_NONE || d->nodes.v[node].start > d->nodes.v[found].start))
			found = node;
	}
	if (found == ID_NONE)
		return at;
	const struct depend_node *n = &d->nodes.v[found];
	int64_t length = n->end - n->start, now = times->end[found] - times->start[found];
	int64_t into = at - n->start < length ? at - n->start : length;
	return times->start[found] +
	       (length > 0 ? (int64_t)((double)now * (double)into / (double)length) : 0) +
	       (at - n->start - into);
}

/* Finds the node of each window whose work ends last in the new times; ID_NONE: none. */
static uint32_t *last_works(
        const struct replay *x, const struct depend_times *times, struct arena *a)
{
	const struct depend *d = &x->depend;
	uint32_t *v = ARENA_ARRAY(a, x->n_windows, uint32_t);

	for (size_t i = 0; i < x->n_windows; i++)
		v[i] = ID_NONE;
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		uint32_t *to = &v[x->steps[i] == ID_NONE ? 0 : x->steps[i]];
		if (x->steps[i] != ID_NONE && (*to == ID_NONE || times->end[i] >= times->end[*to]))
			*to = i;
	}
	return v;
}

/* Returns the thread's node that ends last among the nodes that end at or before a recorded time,
 * or ID_NONE. */
static uint32_t last_host(const struct depend *d, int64_t until)
{
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		uint32_t at;
		/* the nodes of a thread end in order */
		BISECT(at, 0, k->n, d->nodes.v[k->first + at].end <= until);
		if (k->host && at &&
		        (found == ID_NONE ||
		                d->nodes.v[k->first + at - 1].end > d->nodes.v[found].end))
			found = k->first + at - 1;
	}
	return found;
}

/* Returns a window in the times of the run. */
static struct critical_window measure(const struct replay *x, const struct depend_times *times,
        const uint32_t *last, uint32_t i, uint32_t *end)
{
	struct critical_window w = x->windows[i];

	*end = ID_NONE;
	if (w.step == ID_NONE) {
		*end = x->end;
		for (uint32_t k = 0; k < x->depend.nodes.n; k++)
			if (x->steps[k] != ID_NONE && times->end[k] > times->end[*end])
				*end = k;
		w.to = *end == ID_NONE ? w.to : times->end[*end];
		return w;
	}
	w.from = w.mark || last[w.before] == ID_NONE ? moved(&x->depend, times, w.from)
	                                             : times->end[last[w.before]];
	if (w.device && last[i] != ID_NONE) {
		*end = last[i];
		w.to = times->end[*end];
	} else {
		*end = last_host(&x->depend, w.to);
		w.to = moved(&x->depend, times, w.to);
	}
	if (w.to < w.from)
		w.to = w.from;
	return w;
}

int64_t replay_measure(const struct replay *x, struct replay_run *run, struct arena *a)
{
	const uint32_t *last = last_works(x, &run->times, a);
	int64_t sum = 0;

	run->windows = ARENA_ARRAY(a, x->n_chosen, struct critical_window);
	run->ends = ARENA_ARRAY(a, x->n_chosen, uint32_t);
	for (size_t i = 0; i < x->n_chosen; i++) {
		struct critical_window *w = &run->windows[i];
		*w = measure(x, &run->times, last, x->chosen[i], &run->ends[i]);
		sum = num_add(sum, num_sub(w->to, w->from));
	}
	return x->n_chosen ? sum / (int64_t)x->n_chosen : 0;
}

/* ---- opening ---- */

/* Finds the step of each node of device work. */
static uint32_t *find_steps(const struct depend *d, uint32_t *const *of, struct arena *a)
{
	uint32_t *v = ARENA_ARRAY(a, d->nodes.n, uint32_t);

	for (size_t k = 0; k < d->nodes.n; k++) {
		const struct depend_node *n = &d->nodes.v[k];
		v[k] = n->host ? ID_NONE : of[n->track][n->slice - d->t->tracks.v[n->track].first];
	}
	return v;
}

void replay_choose(struct replay *x, const uint32_t *windows, size_t n)
{
	x->chosen = windows;
	x->n_chosen = n;
	x->recorded.after = replay_measure(x, &x->recorded, x->a);
}

/* Takes the recorded times of the nodes from the file. */
static void take_recorded(struct replay *x)
{
	replay_begin(x, &x->recorded, x->a);
	for (size_t i = 0; i < x->depend.nodes.n; i++) {
		x->recorded.times.start[i] = x->depend.nodes.v[i].start;
		x->recorded.times.end[i] = x->depend.nodes.v[i].end;
	}
}

static const struct replay_factors no_change = { .host = 1, .launch = 1, .by_class = { 1, 1, 1 } };

/* Builds the graph of dependencies of the time from `from` to `to`. */
static void open_between(struct replay *x, const struct trace *t, const struct trace_links *links,
        uint32_t *const *of, int64_t from, int64_t to)
{
	depend_build(t, links, from, to, &x->depend, x->a);
	x->steps = find_steps(&x->depend, of, x->a);
	if (x->windows[0].step == ID_NONE) {
		x->end = critical_end(&x->depend);
		if (x->end != ID_NONE)
			x->windows[0].to = x->depend.nodes.v[x->end].end;
	}
	take_recorded(x);
}

static void find_windows(struct replay *x, const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t *const *of, struct arena *a)
{
	*x = (struct replay){ .a = a, .end = ID_NONE, .marks = steps };
	x->windows = critical_windows(t, links, steps, of, &x->n_windows, a);
}

void replay_open(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, struct replay *out, struct arena *a)
{
	int64_t from = 0, to = 0;
	struct scratch own;

	scratch_open(&own, a->work);
	uint32_t *const *of = critical_steps(t, links, steps, &own.a);
	find_windows(out, t, links, steps, of, a);
	trace_span(t, &from, &to);
	if (out->windows[0].step == ID_NONE) {
		from = out->windows[0].from;
		to = out->windows[0].to;
	}
	open_between(out, t, links, of, from, to);
	scratch_close(&own);
	uint32_t *all = ARENA_ARRAY(a, out->n_windows, uint32_t);
	for (uint32_t i = 0; i < out->n_windows; i++)
		all[i] = i;
	replay_choose(out, all, out->n_windows);
}

size_t replay_working(const struct replay *x, uint32_t *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < x->n_windows; i++)
		if (trace_step_counts(x->marks, i))
			out[n++] = i;
	return n;
}

/* Returns the index of the step with the median length among the steps with device work. If the
 * number of these steps is even, returns the shorter of the two in the middle. */
static uint32_t median_step(const struct replay *x, struct arena *own)
{
	uint32_t *steps = ARENA_ARRAY(own, x->n_windows, uint32_t);
	size_t n = replay_working(x, steps);
	int64_t *lengths = ARENA_ARRAY(own, n, int64_t);

	for (size_t i = 0; i < n; i++) {
		const struct trace_step *mark = &x->marks->steps.v[steps[i]];
		lengths[i] = num_sub(mark->end, mark->start);
	}
	return steps[keysort_new(own, n, lengths)[(n - 1) / 2]];
}

void replay_open_step(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t step, struct replay *out, struct arena *a)
{
	uint32_t *only = ARENA_NEW(a, uint32_t);
	struct scratch own;

	scratch_open(&own, a->work);
	uint32_t *const *of = critical_steps(t, links, steps, &own.a);
	find_windows(out, t, links, steps, of, a);
	*only = step == REPLAY_MEDIAN ? median_step(out, &own.a) : step;
	open_between(out, t, links, of, out->windows[*only].from, out->windows[*only].to);
	scratch_close(&own);
	replay_choose(out, only, 1);
}

bool replay_run(const struct replay *x, const struct replay_change *changes, size_t n,
        struct replay_run *out, struct arena *a, struct err *e)
{
	struct replay_factors f;
	struct scratch own;
	bool ok;

	scratch_open(&own, a->work);
	ok = replay_factors(x, changes, n, &f, &own.a, e);
	if (ok) {
		replay_begin(x, out, a);
		replay_times(x, &f, out);
		out->after = replay_measure(x, out, a);
	}
	scratch_close(&own);
	return ok;
}

void replay_path(const struct replay *x, const struct replay_run *run, size_t i,
        struct critical *out, struct arena *a)
{
	critical_walk(&x->depend, &run->times, &run->windows[i], run->ends[i], out, a);
}

void replay_sum_paths(
        const struct replay *x, const struct replay_run *run, int64_t kinds[CRITICAL_KINDS])
{
	memset(kinds, 0, CRITICAL_KINDS * sizeof *kinds);
	for (size_t i = 0; i < x->n_chosen; i++)
		critical_add_kinds(&x->depend, &run->times, &run->windows[i], run->ends[i], kinds);
}

void replay_each_path(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, void (*take)(void *user, const struct critical *path),
        void *user)
{
	struct scratch own;
	struct replay replay;

	scratch_open(&own, t->a->work);
	replay_open(t, links, steps, &replay, &own.a);
	for (size_t i = 0; i < replay.n_chosen; i++) {
		struct critical path;
		replay_path(&replay, &replay.recorded, i, &path, &own.a);
		take(user, &path);
	}
	scratch_close(&own);
}

struct replay_factors replay_plan_factors(const struct replay_plan *plan)
{
	struct replay_factors f = no_change;

	f.plan = plan;
	f.launch = plan->no_latency ? 0 : 1;
	return f;
}

void replay_plan_run(const struct replay *x, const struct replay_plan *plan, struct replay_run *out,
        struct arena *a)
{
	const struct replay_factors f = replay_plan_factors(plan);

	replay_begin(x, out, a);
	replay_times(x, &f, out);
	out->after = replay_measure(x, out, a);
}

double replay_error(const struct replay *x)
{
	struct replay_run run;
	struct scratch own;
	int64_t after, before = x->recorded.after;

	scratch_open(&own, x->a->work);
	replay_begin(x, &run, &own.a);
	run.times.based = true;
	replay_times(x, &no_change, &run);
	after = replay_measure(x, &run, &own.a);
	scratch_close(&own);
	if (before <= 0)
		return 0;
	double error = (double)(after - before) / (double)before;
	return error < 0 ? -error : error;
}

bool replay_is_rough(const struct replay *x, double error)
{
	return error > REPLAY_ROUGH || x->depend.unknown_waits;
}

/* ---- partition ---- */

/* A piece of device work in the times of a run. */
struct moved_work {
	int64_t start, end;
	uint32_t node;
};

static int by_start(const void *v, uint32_t a, uint32_t b)
{
	const struct moved_work *x = v;

	return (x[a].start > x[b].start) - (x[a].start < x[b].start);
}

/* The work of a device, sorted by start. ends[i]: the latest end among the first i + 1 pieces
 * (ascending). */
struct moved_works {
	VEC(struct moved_work) v;
	uint64_t *ends;
};

/* Converts times to unsigned numbers with the same order. */
static uint64_t unsigned_time(int64_t at)
{
	return (uint64_t)at + ((uint64_t)1 << 63);
}

static void find_works(const struct replay *x, const struct replay_run *run, uint32_t device,
        struct moved_works *out, struct arena *a)
{
	const struct depend *d = &x->depend;
	int64_t end = INT64_MIN;

	*out = (struct moved_works){ .ends = NULL };
	for (uint32_t k = 0; k < d->nodes.n && !d->nodes.v[k].host; k++)
		if (d->t->tracks.v[d->nodes.v[k].track].device == device)
			VEC_PUSH(a, &out->v,
			        ((struct moved_work){ run->times.start[k], run->times.end[k], k }));
	sort_array(a, out->v.v, out->v.n, sizeof *out->v.v, by_start);
	out->ends = ARENA_ARRAY(a, out->v.n, uint64_t);
	for (size_t i = 0; i < out->v.n; i++) {
		end = out->v.v[i].end > end ? out->v.v[i].end : end;
		out->ends[i] = unsigned_time(end);
	}
}

/* Adds the parts of a window to a partition. Pieces of work may extend beyond the window. */
static void add_window(struct replay_part *to, const struct depend *d,
        const struct moved_works *works, const struct critical_window *w)
{
	struct cover compute = { 0 }, kernels = { 0 }, all = { 0 };
	const struct moved_work *v = works->v.v;

	for (size_t i = sort_count(works->ends, works->v.n, unsigned_time(w->from));
	        i < works->v.n && v[i].start < w->to; i++) {
		int64_t from = v[i].start > w->from ? v[i].start : w->from;
		int64_t until = v[i].end < w->to ? v[i].end : w->to;
		uint8_t class = d->nodes.v[v[i].node].class;
		if (until <= from)
			continue;
		cover_add(&all, from, until);
		if (class != USAGE_COPY)
			cover_add(&kernels, from, until);
		if (class == USAGE_COMPUTE)
			cover_add(&compute, from, until);
	}
	to->compute = num_add(to->compute, compute.total);
	to->communication = num_add(to->communication, kernels.total - compute.total);
	to->copy = num_add(to->copy, all.total - kernels.total);
	to->idle = num_add(to->idle, num_sub(num_sub(w->to, w->from), all.total));
}

/* True if the partition contains a device: it works in a chosen window, or its work belongs to
 * other steps. If its work belongs to a chosen step, but is done at another time, the window does
 * not show when the device was idle. */
static bool has_part(const struct replay *x, const struct moved_works *works, const bool *chosen,
        const struct replay_part *part)
{
	bool works_inside = part->compute || part->communication || part->copy;
	bool elsewhere = false;

	for (size_t i = 0; i < works->v.n; i++) {
		uint32_t step = x->steps[works->v.v[i].node];
		if (step == ID_NONE)
			return false; /* the device is an idler */
		if (works_inside)
			return true;
		elsewhere |= chosen[step];
	}
	return works->v.n && !elsewhere;
}

struct replay_part *replay_partition(
        const struct replay *x, const struct replay_run *run, size_t *n, struct arena *a)
{
	const struct depend *d = &x->depend;
	struct replay_part *parts = ARENA_ARRAY(a, d->t->devices.n, struct replay_part);
	bool *chosen = ARENA_ARRAY(a, x->n_windows, bool);

	for (size_t i = 0; i < x->n_chosen; i++)
		chosen[x->chosen[i]] = true;
	*n = 0;
	for (uint32_t i = 0; i < d->t->devices.n; i++) {
		struct moved_works works;
		struct scratch own;
		scratch_open(&own, a->work);
		find_works(x, run, i, &works, &own.a);
		parts[*n] = (struct replay_part){ .device = i };
		for (size_t k = 0; works.v.n && k < x->n_chosen; k++)
			add_window(&parts[*n], d, &works, &run->windows[k]);
		*n += has_part(x, &works, chosen, &parts[*n]);
		scratch_close(&own);
	}
	return parts;
}

/* Returns the sum of the lengths of the work of a device in the times of a run, and sets *busy to
 * the length of its union; ticks. */
static int64_t sum_works(
        const struct replay *x, const struct replay_run *run, uint32_t device, int64_t *busy)
{
	struct moved_works works;
	struct cover all = { 0 };
	struct scratch own;
	int64_t sum = 0;

	scratch_open(&own, x->a->work);
	find_works(x, run, device, &works, &own.a);
	for (size_t i = 0; i < works.v.n; i++) {
		const struct moved_work *w = &works.v.v[i];
		sum = num_add(sum, num_sub(w->end, w->start));
		cover_add(&all, w->start, w->end);
	}
	scratch_close(&own);
	*busy = all.total;
	return sum;
}

bool replay_overlaps(const struct replay *x, const struct replay_run *run)
{
	const struct depend *d = &x->depend;
	bool more = false;

	for (size_t i = 0; i < d->first_edge[d->nodes.n]; i++)
		if (d->edges[i].kind == DEPEND_EVENT)
			return false;
	for (uint32_t i = 0; i < d->t->devices.n && !more; i++) {
		int64_t was, is, before = sum_works(x, &x->recorded, i, &was),
		                 after = sum_works(x, run, i, &is);
		int64_t overlap = num_sub(num_sub(after, is), num_sub(before, was));
		more = (double)overlap > REPLAY_ROUGH * (double)was;
	}
	return more;
}
