/* SPDX-License-Identifier: Apache-2.0
 *
 * See passes.h. The tracks of a device are merged by start, so each union stores only its latest
 * end.
 */
#include "trace/passes.h"

/* State of a track. */
struct stream_state {
	struct cover busy;
	bool any_outer;
	int64_t outer_end; /* end of the outermost op so far */
};

struct device_walk {
	const struct trace *t;
	const struct trace_links *links;
	const struct usage_watch *watch; /* or NULL */
	const int64_t *launched;      /* start of the launch of the next slice; NULL: use links */
	struct stream_state *streams; /* by track */
	struct cover busy, by_class[USAGE_CLASS_N], both; /* both: compute or communication */
	struct cover any;                                 /* work of any class */
	struct device_usage *to;
};

/* ---- classes ---- */

static bool is_collective(struct str name)
{
	static const char *const prefixes[] = { "nccl", "rccl", "oneccl" };

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(name, str_of(prefixes[i])))
			return str_contains(name, S("Kernel"));
	return str_starts(name, S("nvshmem"));
}

/* Returns the class of device work, from the category of its event and, for kernels, the name. */
static enum usage_class class_of(const struct trace *t, uint32_t event)
{
	const struct trace_event *e = &t->events.v[event];

	switch (e->category) {
	case CATEGORY_COPY:
	case CATEGORY_SET: return USAGE_COPY;
	case CATEGORY_COMMUNICATION: return USAGE_COMMUNICATION;
	default: break;
	}
	return is_collective(trace_str(t, e->name)) ? USAGE_COMMUNICATION : USAGE_COMPUTE;
}

/* Returns the classes of all events; in a. */
static uint8_t *find_classes(const struct trace *t, struct arena *a)
{
	uint8_t *classes = ARENA_ARRAY(a, t->events.n, uint8_t);

	for (uint32_t i = 0; i < t->events.n; i++)
		classes[i] = (uint8_t)class_of(t, i);
	return classes;
}

/* ---- one slice ---- */

bool work_latency(const struct trace *t, const struct trace_links *links, const struct slice *s,
        int64_t *ticks)
{
	const struct launch *launch = links ? link_launch(links, s) : NULL;

	if (!launch)
		return slice_has_int(t, s, ARG_LATENCY, ticks);
	*ticks = num_sub(s->start, launch->start);
	return true;
}

static void judge_gap(struct device_walk *w, const struct slice *s)
{
	const struct cover *stream = &w->streams[s->track].busy;
	int64_t gap = num_sub(s->start, stream->until), latency;
	enum usage_idle why = trace_ns(w->t, gap) < IDLE_KERNEL_NS ? IDLE_KERNEL : IDLE_OTHER;

	if (!stream->any || gap <= 0)
		return;
	bool known =
	        w->launched ? *w->launched != INT64_MIN : work_latency(w->t, w->links, s, &latency);
	if (w->launched)
		latency = num_sub(s->start, *w->launched);
	if (known && latency < gap)
		why = IDLE_HOST;
	w->to->idle_why[why] = num_add(w->to->idle_why[why], gap);
}

/* Ops of a program nest on their line: a loop contains the ops of its body. Only the outermost
 * count in the sum, and only the innermost have a class. Work on streams does not nest. */
static bool is_contained(struct device_walk *w, const struct slice *s)
{
	struct stream_state *k = &w->streams[s->track];
	bool inner = k->any_outer && slice_end(s) <= k->outer_end;

	if (w->t->tracks.v[s->track].kind != TRACK_LINE)
		return false;
	if (!inner)
		k->outer_end = slice_end(s);
	k->any_outer = true;
	return inner;
}

static void add_slice(
        struct device_walk *w, const struct slice *s, enum usage_class class, bool contains)
{
	struct device_usage *u = w->to;
	int64_t end = slice_end(s);

	if (!u->slices++)
		u->start = u->end = s->start;
	u->end = end > u->end ? end : u->end;
	judge_gap(w, s);
	if (w->watch)
		w->watch->work(w->watch->user, s, &w->busy);
	cover_add(&w->streams[s->track].busy, s->start, end);
	cover_add(&w->busy, s->start, end);
	if (!contains) {
		cover_add(&w->any, s->start, end);
		cover_add(&w->by_class[class], s->start, end);
		if (class != USAGE_COPY)
			cover_add(&w->both, s->start, end);
	}
	if (!is_contained(w, s))
		u->sum = num_add(u->sum, s->length);
	if (s->category == CATEGORY_COPY)
		u->copy_bytes = num_add(u->copy_bytes, slice_int(w->t, s, ARG_BYTES));
}

static void end_device(const struct device_walk *w)
{
	struct device_usage *u = w->to;

	u->busy = w->busy.total;
	for (int i = 0; i < USAGE_CLASS_N; i++)
		u->by_class[i] = w->by_class[i].total;
	u->overlap = num_sub(num_add(u->by_class[USAGE_COMPUTE], u->by_class[USAGE_COMMUNICATION]),
	        w->both.total);
	u->kernels = w->both.total;
	u->copy_overlap = num_sub(num_add(u->by_class[USAGE_COPY], u->kernels), w->any.total);
}

/* classes: by event. */
static void walk_device(
        struct device_walk *w, uint32_t device, const uint8_t *classes, struct arena *a)
{
	struct device_usage *u = w->to;
	struct work_merge m;
	const struct slice *s;
	bool contains;

	u->device = device;
	if (w->watch)
		w->watch->device(w->watch->user, device);
	work_merge_init(&m, w->t, device, a);
	while ((s = work_merge_next(&m, &contains)))
		add_slice(w, s, (enum usage_class)classes[s->event], contains);
	end_device(w);
}

void trace_usage(const struct trace *t, const struct trace_links *links, struct trace_usage *out,
        struct arena *a)
{
	trace_usage_watched(t, links, NULL, out, a);
}

void trace_usage_watched(const struct trace *t, const struct trace_links *links,
        const struct usage_watch *watch, struct trace_usage *out, struct arena *a)
{
	struct scratch own;

	if (t->sums) {
		*out = *t->sums->usage;
		return;
	}
	scratch_open(&own, a->work);
	const uint8_t *classes = find_classes(t, &own.a);
	struct stream_state *streams = ARENA_ARRAY(&own.a, t->tracks.n, struct stream_state);
	out->devices.v = NULL;
	out->devices.n = out->devices.cap = 0;
	for (uint32_t i = 0; i < t->devices.n; i++) {
		struct device_usage u = { .slices = 0 };
		struct device_walk w = {
			.t = t, .links = links, .watch = watch, .streams = streams, .to = &u
		};
		walk_device(&w, i, classes, &own.a);
		if (u.slices)
			VEC_PUSH(a, &out->devices, u);
	}
	scratch_close(&own);
}

/* ---- by step ---- */

/* The covers of a step. */
struct step_cover {
	struct cover busy, by_class[USAGE_CLASS_N], both;
};

/* Adds the part of a slice that is inside a step. */
static void add_to_step(struct step_usage *u, struct step_cover *c, const struct trace_step *step,
        const struct slice *s, enum usage_class class, bool contains)
{
	int64_t from = s->start > step->start ? s->start : step->start;
	int64_t to = slice_end(s) < step->end ? slice_end(s) : step->end;

	u->slices++;
	cover_add(&c->busy, from, to);
	if (contains)
		return;
	cover_add(&c->by_class[class], from, to);
	if (class != USAGE_COPY)
		cover_add(&c->both, from, to);
}

/* Adds a slice to the steps that it overlaps. *first: the first step that may still be open. */
static void add_to_steps(const struct trace_steps *steps, struct step_usage *out,
        struct step_cover *covers, size_t *first, const struct slice *s, enum usage_class class,
        bool contains)
{
	const struct trace_step *v = steps->steps.v;
	size_t n = steps->steps.n;

	while (*first < n && v[*first].end <= s->start)
		++*first; /* sorted by start: an earlier step may end later */
	for (size_t i = *first; i < n && v[i].start < slice_end(s); i++)
		if (v[i].end > s->start)
			add_to_step(&out[i], &covers[i], &v[i], s, class, contains);
}

static void end_step(struct step_usage *u, const struct step_cover *c)
{
	u->busy = c->busy.total;
	for (int k = 0; k < USAGE_CLASS_N; k++)
		u->by_class[k] = c->by_class[k].total;
	u->overlap = num_sub(
	        num_add(c->by_class[USAGE_COMPUTE].total, c->by_class[USAGE_COMMUNICATION].total),
	        c->both.total);
}

void usage_by_step(const struct trace *t, const struct trace_steps *steps, struct step_usage *out,
        struct arena *a)
{
	size_t n = steps->steps.n, first = 0;
	const struct slice *s;
	struct work_merge m;
	struct scratch own;
	bool contains;

	if (t->sums) {
		if (n)
			memcpy(out, t->sums->by_step, n * sizeof *out);
		return;
	}
	scratch_open(&own, a->work);
	const uint8_t *classes = find_classes(t, &own.a);
	struct step_cover *covers = ARENA_ARRAY(&own.a, n, struct step_cover);
	work_merge_init(&m, t, ID_NONE, &own.a);
	while ((s = work_merge_next(&m, &contains)))
		add_to_steps(steps, out, covers, &first, s, (enum usage_class)classes[s->event],
		        contains);
	for (size_t i = 0; i < n; i++)
		end_step(&out[i], &covers[i]);
	scratch_close(&own);
}

/* ---- incremental interface ---- */

struct usage_adding {
	const struct trace *t;
	const struct trace_steps *steps;
	struct arena *a;
	VEC(uint8_t) classes; /* by event */
	struct device_walk *devices;
	struct step_cover *covers; /* by step */
	struct step_usage *by_step;
	size_t first;
	int64_t launched;
};

struct usage_adding *usage_begin(const struct trace *t, const struct trace_steps *steps,
        struct step_usage *by_step, struct arena *a)
{
	struct usage_adding *x = ARENA_NEW(a, struct usage_adding);
	struct stream_state *streams = ARENA_ARRAY(a, t->tracks.n, struct stream_state);

	*x = (struct usage_adding){ .t = t, .steps = steps, .a = a, .by_step = by_step };
	x->devices = ARENA_ARRAY(a, t->devices.n, struct device_walk);
	x->covers = ARENA_ARRAY(a, steps->steps.n, struct step_cover);
	for (uint32_t i = 0; i < t->devices.n; i++) {
		struct device_usage *u = ARENA_NEW(a, struct device_usage);
		u->device = i;
		x->devices[i] = (struct device_walk){
			.t = t, .launched = &x->launched, .streams = streams, .to = u
		};
	}
	return x;
}

void usage_add(struct usage_adding *x, const struct slice *s, int64_t launched)
{
	for (uint32_t i = (uint32_t)x->classes.n; i <= s->event; i++)
		VEC_PUSH(x->a, &x->classes, (uint8_t)class_of(x->t, i));
	enum usage_class class = (enum usage_class)x->classes.v[s->event];

	x->launched = launched;
	add_slice(&x->devices[x->t->tracks.v[s->track].device], s, class, false);
	add_to_steps(x->steps, x->by_step, x->covers, &x->first, s, class, false);
}

void usage_end(struct usage_adding *x, struct trace_usage *out, struct arena *a)
{
	for (size_t i = 0; i < x->t->devices.n; i++) {
		end_device(&x->devices[i]);
		if (x->devices[i].to->slices)
			VEC_PUSH(a, &out->devices, *x->devices[i].to);
	}
	for (size_t i = 0; i < x->steps->steps.n; i++)
		end_step(&x->by_step[i], &x->covers[i]);
}
