/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity of devices. Work comes in order of start, so each union stores only its latest end:
 * a slice adds the interval after that end, and steps get the parts of this interval that are
 * inside of them.
 */
#include "trace/pass/communication.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"
#include "trace/pass/work_merge.h"

/* State of a track during the pass. */
struct stream_state {
	bool any_outer;
	int64_t outer_end; /* end of the outermost op so far */
};

struct device_walk {
	bool works; /* the device has work */
	struct cover covers[COVER_N];
	size_t step, idle_step;      /* first step that later work and idle time may reach */
	struct usage_times *in_step; /* indexed by step; may be NULL */
	struct device_usage to;
};

struct usage_adding {
	const struct trace *t;
	const struct trace_steps *steps; /* NULL: no steps */
	struct step_usage *by_step;      /* may be NULL */
	int64_t from, to;                /* bounds of the window */
	int64_t clip_from, clip_to;      /* work is cut to this part; of a step: the window */
	struct arena *a;
	VEC(uint8_t) classes; /* indexed by event */
	struct device_walk *devices;
	struct stream_state *streams; /* indexed by track */
	struct idle *idle;
	const struct usage_watch *watch; /* may be NULL */
	bool marking;                    /* true: the steps that count are known only at the end */
};

/* Maximum number of pairs of a step and a device whose times are stored. */
#define IN_STEP_MAX (1u << 20)

/* ---- derived numbers ---- */

int64_t usage_overlap(const struct usage_times *u)
{
	return num_sub(
	        num_add(u->by_class[USAGE_COMPUTE], u->by_class[USAGE_COMMUNICATION]), u->kernels);
}

int64_t usage_copy_overlap(const struct usage_times *u)
{
	return num_sub(num_add(u->by_class[USAGE_COPY], u->kernels), u->busy);
}

int64_t usage_exposed_communication(const struct usage_times *u)
{
	return num_sub(u->kernels, u->by_class[USAGE_COMPUTE]);
}

int64_t usage_exposed_copy(const struct usage_times *u)
{
	return num_sub(u->busy, u->kernels);
}

struct usage_partition usage_partition(
        const struct trace *t, const struct usage_times *u, int64_t window, size_t n)
{
	int64_t per = n ? num_from_u64(n) : 1;
	int64_t compute = trace_ns(t, u->by_class[USAGE_COMPUTE]) / per,
	        kernels = trace_ns(t, u->kernels) / per, busy = trace_ns(t, u->busy) / per,
	        all = trace_ns(t, window) / per;

	return (struct usage_partition){ .window = all,
		.compute = compute,
		.communication = num_sub(kernels, compute),
		.copy = num_sub(busy, kernels),
		.idle = num_sub(all, busy) };
}

int64_t usage_idle_ns(const struct trace *t, const struct usage_times *u, enum idle_cause why)
{
	int64_t before = u->busy;

	for (enum idle_cause i = 0; i < why; i++)
		before = num_add(before, u->idle[i]);
	return num_sub(trace_ns(t, num_add(before, u->idle[why])), trace_ns(t, before));
}

/* ---- classes ---- */

enum usage_class usage_class_of(const struct trace *t, uint32_t event)
{
	const struct trace_event *e = &t->events.v[event];

	switch (e->category) {
	case CATEGORY_COPY:
	case CATEGORY_SET: return USAGE_COPY;
	case CATEGORY_COMMUNICATION: return USAGE_COMMUNICATION;
	default: break;
	}
	return communication_is_event(t, event) || communication_is_kernel(trace_str(t, e->name))
	               ? USAGE_COMMUNICATION
	               : USAGE_COMPUTE;
}

static enum usage_class class_at(struct usage_adding *x, const struct slice *s, bool collective)
{
	for (uint32_t i = (uint32_t)x->classes.n; i <= s->event; i++)
		VEC_PUSH(x->a, &x->classes, (uint8_t)usage_class_of(x->t, i));
	enum usage_class class = (enum usage_class)x->classes.v[s->event];
	return class == USAGE_COMPUTE && collective ? USAGE_COMMUNICATION : class;
}

/* ---- steps ---- */

/* Moves *first past the steps that end at or before a time. Steps are sorted by start: an earlier
 * step may end later. */
static void skip_steps(const struct usage_adding *x, size_t *first, int64_t time)
{
	while (x->steps && *first < x->steps->steps.n && x->steps->steps.v[*first].end <= time)
		++*first;
}

/* Returns the length of the part of an interval that is inside a step; 0 or less if nothing is
 * inside. */
static int64_t inside(const struct trace_step *step, int64_t from, int64_t to)
{
	return num_sub(to < step->end ? to : step->end, from > step->start ? from : step->start);
}

static void count_slice(const struct usage_adding *x, size_t first, const struct slice *s)
{
	const struct trace_step *v = x->steps->steps.v;

	for (size_t i = first; x->by_step && i < x->steps->steps.n && v[i].start < slice_end(s);
	        i++)
		x->by_step[i].slices += v[i].end > s->start;
}

static void increase(int64_t *sum, int64_t by)
{
	*sum = num_add(*sum, by > 0 ? by : 0);
}

/* Returns the sums for a device in a step, or NULL if the step does not count in averages. */
static struct usage_times *times_in(
        const struct usage_adding *x, struct device_walk *w, size_t step)
{
	if (w->in_step)
		return &w->in_step[step];
	return trace_step_counts(x->steps, step) ? &w->to.in_steps : NULL;
}

/* Adds up the times of a device in the steps that count. */
static void sum_steps(const struct usage_adding *x, struct device_walk *w)
{
	struct usage_times *to = &w->to.in_steps;

	for (size_t i = 0; w->in_step && i < x->steps->steps.n; i++) {
		const struct usage_times *u = &w->in_step[i];
		if (!trace_step_counts(x->steps, i))
			continue;
		for (unsigned k = 0; k < COVER_N; k++)
			increase(&to->covered[k], u->covered[k]);
		for (enum idle_cause k = 0; k < IDLE_CAUSES; k++)
			increase(&to->idle[k], u->idle[k]);
	}
}

/* ---- idle time ---- */

static void take_idle(void *user, uint32_t device, enum idle_cause why, int64_t from, int64_t to,
        const struct launch_call *call)
{
	struct usage_adding *x = user;
	struct device_walk *w = &x->devices[device];

	if (x->watch && x->watch->idle)
		x->watch->idle(x->watch->user, device, why, from, to, call);
	increase(&w->to.times.idle[why],
	        num_sub(to < x->to ? to : x->to, from > x->from ? from : x->from));
	if (!x->steps)
		return;
	const struct trace_step *v = x->steps->steps.v;
	skip_steps(x, &w->idle_step, from);
	for (size_t i = w->idle_step; i < x->steps->steps.n && v[i].start < to; i++) {
		int64_t part = inside(&v[i], from, to);
		struct usage_times *sum = times_in(x, w, i);
		if (sum)
			increase(&sum->idle[why], part);
		if (x->by_step)
			increase(&x->by_step[i].times.idle[why], part);
	}
}

/* ---- one slice ---- */

struct launch_call work_call(
        const struct trace *t, const struct trace_links *links, const struct slice *s)
{
	const struct launch *launch = links ? link_launch(links, s) : NULL;
	struct launch_call call = { .known = false };
	int64_t latency;

	if (launch)
		return (struct launch_call){ .known = true,
			.start = launch->start,
			.end = launch_end(links, launch),
			.launch = 1 + (uint32_t)(launch - links->launches.v) };
	if (!slice_has_int(t, s, ARG_LATENCY, &latency))
		return call;
	call = (struct launch_call){ .known = true, .start = num_sub(s->start, latency) };
	call.end = num_add(call.start, slice_int(t, s, ARG_CALL_LENGTH));
	return call;
}

/* True if a slice is inside an earlier slice of its line. Ops of a program nest on their line: a
 * loop contains the ops of its body. Only the outermost ops count in the sum, and only the
 * innermost have a class. Work on streams does not nest. */
static bool is_contained(struct usage_adding *x, const struct slice *s)
{
	struct stream_state *k = &x->streams[s->track];
	bool inner = k->any_outer && slice_end(s) <= k->outer_end;

	if (x->t->tracks.v[s->track].kind != TRACK_LINE)
		return false;
	if (!inner)
		k->outer_end = slice_end(s);
	k->any_outer = true;
	return inner;
}

/* Adds a slice to a union of its device and to the same union of the steps. */
static void cover(
        struct usage_adding *x, struct device_walk *w, unsigned which, const struct slice *s)
{
	struct cover *c = &w->covers[which];
	int64_t from = c->any && c->until > s->start ? c->until : s->start, end = slice_end(s);

	cover_add(c, s->start, end);
	increase(&w->to.times.covered[which], num_sub(end < x->clip_to ? end : x->clip_to,
	                                              from > x->clip_from ? from : x->clip_from));
	if (!x->steps || end <= from)
		return;
	const struct trace_step *v = x->steps->steps.v;
	for (size_t i = w->step; i < x->steps->steps.n && v[i].start < end; i++) {
		int64_t part = inside(&v[i], from, end);
		struct usage_times *sum = times_in(x, w, i);
		if (sum)
			increase(&sum->covered[which], part);
		if (x->by_step)
			increase(&x->by_step[i].times.covered[which], part);
	}
}

/* Counts a slice that is at least partly in the window. contained: another one contains it. */
static void count(
        const struct usage_adding *x, struct device_usage *u, const struct slice *s, bool contained)
{
	int64_t start = s->start > x->clip_from ? s->start : x->clip_from;
	int64_t end = slice_end(s) < x->clip_to ? slice_end(s) : x->clip_to;

	if (end < start || s->start >= x->clip_to)
		return;
	if (!u->slices++)
		u->start = u->end = start;
	u->end = end > u->end ? end : u->end;
	if (!contained)
		u->sum = num_add(u->sum, num_sub(end, start));
	if (s->category == CATEGORY_COPY && s->start >= x->clip_from)
		u->copy_bytes = num_add(u->copy_bytes, slice_int(x->t, s, ARG_BYTES));
}

/* Adds a slice of work. contains: the slice contains the next slice of its line. */
static void add(struct usage_adding *x, const struct slice *s, const struct launch_call *call,
        enum usage_class class, bool contains)
{
	struct device_walk *w = &x->devices[x->t->tracks.v[s->track].device];

	if (!w->works && x->marking)
		w->in_step = ARENA_ARRAY(x->a, x->steps->steps.n, struct usage_times);
	w->works = true;
	idle_add(x->idle, s, call);
	skip_steps(x, &w->step, s->start);
	if (x->steps)
		count_slice(x, w->step, s);
	cover(x, w, COVER_BUSY, s);
	if (!contains) {
		cover(x, w, COVER_CLASSED, s);
		cover(x, w, class, s);
		if (class != USAGE_COPY)
			cover(x, w, COVER_KERNELS, s);
	}
	count(x, &w->to, s, is_contained(x, s));
}

/* ---- one slice at a time ---- */

struct usage_adding *usage_begin(const struct trace *t, const struct trace_steps *steps,
        struct step_usage *by_step, struct arena *a)
{
	struct usage_adding *x = ARENA_NEW(a, struct usage_adding);

	*x = (struct usage_adding){ .t = t, .steps = steps, .by_step = by_step, .a = a };
	trace_window(t, &x->from, &x->to);
	x->clip_from = INT64_MIN;
	x->clip_to = INT64_MAX;
	x->devices = ARENA_ARRAY(a, t->devices.n, struct device_walk);
	x->streams = ARENA_ARRAY(a, t->tracks.n, struct stream_state);
	x->idle = idle_begin(t, take_idle, x, a);
	for (uint32_t i = 0; i < t->devices.n; i++)
		x->devices[i].to.device = i;
	return x;
}

bool usage_may_mark(struct usage_adding *x)
{
	size_t n = x->steps ? x->steps->steps.n : 0;

	x->marking = n && x->t->devices.n <= IN_STEP_MAX / n;
	return x->marking;
}

void usage_add(struct usage_adding *x, const struct slice *s, const struct launch_call *call,
        bool collective)
{
	add(x, s, call, class_at(x, s, collective), false);
}

void usage_wait(struct usage_adding *x, const struct slice *s)
{
	idle_wait(x->idle, s->track, s->start);
}

/* Counts the time of a loop without the ops of its body as compute. */
static void end_times(struct usage_times *u)
{
	int64_t own = num_sub(u->busy, u->classed);

	u->by_class[USAGE_COMPUTE] = num_add(u->by_class[USAGE_COMPUTE], own);
	u->kernels = num_add(u->kernels, own);
	u->classed = u->busy;
}

void usage_end(struct usage_adding *x, struct trace_usage *out, struct arena *a)
{
	idle_end(x->idle);
	for (size_t i = 0; i < x->t->devices.n; i++) {
		struct device_walk *w = &x->devices[i];
		end_times(&w->to.times);
		sum_steps(x, w);
		end_times(&w->to.in_steps);
		w->to.window = num_sub(x->to, x->from);
		if (w->works)
			VEC_PUSH(a, &out->devices, w->to);
	}
	for (size_t i = 0; x->by_step && i < x->steps->steps.n; i++)
		end_times(&x->by_step[i].times);
}

/* ---- stored slices ---- */

static void walk_device(
        struct usage_adding *x, uint32_t device, const struct usage_request *request)
{
	const struct usage_watch *watch = request->watch;
	const struct cover *busy = &x->devices[device].covers[COVER_BUSY];
	const struct slice *s;
	struct work_merge m;
	bool contains;

	if (watch && watch->device)
		watch->device(watch->user, device);
	work_merge_init(&m, x->t, device, true, x->a);
	while ((s = work_merge_next(&m, &contains))) {
		if (!slice_is_work(x->t, s)) {
			usage_wait(x, s);
			continue;
		}
		const struct launch *launch =
		        request->links ? link_launch(request->links, s) : NULL;
		struct launch_call call = work_call(x->t, request->links, s);
		if (watch && watch->work)
			watch->work(watch->user, s, busy, &call);
		add(x, s, &call, class_at(x, s, launch && launch->collective), contains);
	}
}

static void copy_sums(
        const struct trace_sums *sums, const struct usage_request *request, struct trace_usage *out)
{
	*out = *sums->usage;
	if (request->by_step && request->steps->steps.n)
		memcpy(request->by_step, sums->by_step,
		        request->steps->steps.n * sizeof *request->by_step);
}

void trace_usage(const struct trace *t, const struct usage_request *request,
        struct trace_usage *out, struct arena *a)
{
	struct usage_adding *x;
	struct scratch own;

	*out = (struct trace_usage){ .devices = { .n = 0 } };
	if (t->sums) {
		copy_sums(t->sums, request, out);
		return;
	}
	scratch_open(&own, a->work);
	x = usage_begin(t, request->steps, request->by_step, &own.a);
	x->watch = request->watch;
	if (request->window) {
		x->from = x->clip_from = request->window->start;
		x->to = x->clip_to = request->window->end;
	}
	for (uint32_t i = 0; i < t->devices.n; i++)
		walk_device(x, i, request);
	usage_end(x, out, a);
	scratch_close(&own);
}

/* ---- lengths without waiting ---- */

static void ignore(void *user, uint32_t device, enum idle_cause why, int64_t from, int64_t to,
        const struct launch_call *call)
{
	(void)user, (void)device, (void)why, (void)from, (void)to, (void)call;
}

void trace_bases(const struct trace *t, const struct trace_links *links, struct idle_base *out,
        struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct idle *x = idle_begin(t, ignore, NULL, &own.a);
	for (uint32_t i = 0; i < t->devices.n; i++) {
		const struct slice *s;
		struct work_merge m;
		bool contains;
		work_merge_init(&m, t, i, false, &own.a);
		while ((s = work_merge_next(&m, &contains))) {
			struct launch_call call = work_call(t, links, s);
			idle_add(x, s, &call);
		}
		out[i] = idle_base_of(x, i);
	}
	scratch_close(&own);
}
