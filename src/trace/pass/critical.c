/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks from the end of the window to its start.
 */
#include "trace/pass/critical.h"

#include "base/sort.h"
#include "trace/pass/nest.h"

#define CRITICAL(id, name, text) [CRITICAL_##id] = (name),
const char *const critical_names[CRITICAL_KINDS] = {
#include "trace/pass/critical.def"
};
#undef CRITICAL
#define CRITICAL(id, name, text) [CRITICAL_##id] = (text),
const char *const critical_texts[CRITICAL_KINDS] = {
#include "trace/pass/critical.def"
};
#undef CRITICAL

/* ---- windows ---- */

#define IDLER_SHARE 100 /* an idler has less than 1 / 100 of the work of another device */

bool *critical_idlers(const struct trace *t, const struct trace_steps *steps, struct arena *a)
{
	int64_t *works = ARENA_ARRAY(a, t->devices.n, int64_t), most = 0;
	bool *idlers = ARENA_ARRAY(a, t->devices.n, bool), any = false;

	for (uint32_t i = 0; i < t->tracks.n && steps->by != STEPS_UNKNOWN; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		int64_t *sum = &works[t->tracks.v[i].device];
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				*sum = num_add(*sum, s.length);
		most = *sum > most ? *sum : most;
	}
	for (size_t i = 0; i < t->devices.n; i++)
		any |= idlers[i] = works[i] > 0 && works[i] < most / IDLER_SHARE;
	return any ? idlers : NULL;
}

uint32_t **critical_steps(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, struct arena *a)
{
	uint32_t **v = ARENA_ARRAY(a, t->tracks.n, uint32_t *);
	const bool *idlers = critical_idlers(t, steps, a);

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(k))
			continue;
		v[i] = ARENA_ARRAY(a, k->n, uint32_t); /* the index of the only step is 0 */
		for (struct slice s; steps->by != STEPS_UNKNOWN && slice_next(&it, &s);)
			v[i][s.number - k->first] =
			        idlers && idlers[k->device]
			                ? ID_NONE
			                : trace_step_of(steps, &s, link_launch(links, &s));
	}
	return v;
}

/* The step of each piece of device work, and the end of the last work of each step. */
struct step_ends {
	const struct trace *t;
	uint32_t *const *of;
	int64_t *ends;
};

static void extend(struct step_ends *x, const struct slice *s)
{
	uint32_t step = x->of[s->track][s->number - x->t->tracks.v[s->track].first];

	if (step != ID_NONE && slice_end(s) > x->ends[step])
		x->ends[step] = slice_end(s);
}

/* Finds the end of each step on a line. The innermost op counts: an op around it that ends at the
 * same time does no work of its own then. */
static void find_line_ends(struct step_ends *x, uint32_t track, struct work *work)
{
	int64_t inner = INT64_MIN; /* end of the op that closed last */
	struct nest_level *level;
	struct scratch own;
	enum nest_what what;
	struct nest n;

	scratch_open(&own, work);
	nest_init(&n, x->t, track, NEST_ALL, &own.a);
	while ((what = nest_next(&n, &level))) {
		if (what == NEST_OPEN)
			continue;
		if (slice_is_work(x->t, &level->s) && slice_end(&level->s) > inner)
			extend(x, &level->s);
		inner = slice_end(&level->s);
	}
	scratch_close(&own);
}

/* Extends the ends of steps to their last device work. */
static void find_ends(struct step_ends *x, struct work *work)
{
	const struct trace *t = x->t;

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		if (t->tracks.v[i].kind == TRACK_LINE) {
			find_line_ends(x, i, work);
			continue;
		}
		for (struct slice s; slice_next(&it, &s);)
			if (slice_is_work(t, &s))
				extend(x, &s);
	}
}

/* Finds the time from the first to the last slice of the threads that launch
 * work, and of the devices; without device work, of all threads. */
static void find_span(const struct trace *t, const struct trace_links *links,
        struct critical_window *w, struct arena *a)
{
	bool *counts = ARENA_ARRAY(a, t->tracks.n, bool), any = false;

	for (size_t i = 0; i < links->launches.n; i++)
		any = counts[trace_track_of(t, links->launches.v[i].slice)] = true;
	*w = (struct critical_window){ .step = ID_NONE, .from = INT64_MAX, .to = INT64_MIN };
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		if (!k->n || (track_is_device(k) ? k->derived
		                                 : !track_is_thread(k) || (any && !counts[i])))
			continue;
		w->from = k->start < w->from ? k->start : w->from;
		w->to = k->end > w->to ? k->end : w->to;
	}
	if (w->to < w->from)
		w->from = w->to = 0;
}

/* Starts a window at the end of the previous step's work. */
static void start_after(
        struct critical_window *w, const int64_t *ends, const uint32_t *order, size_t n)
{
	size_t at;

	BISECT(at, 0, n, ends[order[at]] < ends[w->step]);
	if (!at || ends[order[at - 1]] == INT64_MIN)
		return;
	w->before = order[at - 1];
	w->from = ends[w->before];
	w->mark = false;
}

struct critical_window *critical_windows(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t *const *of, size_t *n, struct arena *a)
{
	struct critical_window *v;
	int64_t *ends;
	uint32_t *order;

	*n = steps->steps.n;
	v = ARENA_ARRAY(a, *n, struct critical_window);
	if (steps->by == STEPS_UNKNOWN) {
		find_span(t, links, &v[0], a);
		return v;
	}
	ends = ARENA_ARRAY(a, *n, int64_t);
	for (size_t i = 0; i < *n; i++)
		ends[i] = INT64_MIN;
	find_ends(&(struct step_ends){ t, of, ends }, a->work);
	order = keysort_new(a, *n, ends);
	for (size_t i = 0; i < *n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		bool device = ends[i] != INT64_MIN;
		v[i] = (struct critical_window){ (uint32_t)i, device, true, s->start,
			device ? ends[i] : s->end, ID_NONE };
		if (device && i && ends[i - 1] != INT64_MIN)
			start_after(&v[i], ends, order, *n);
		if (v[i].to <= v[i].from || (t->source == TRACE_ONNXRUNTIME && v[i].to < s->end))
			v[i] = (struct critical_window){ (uint32_t)i, false, true, s->start, s->end,
				ID_NONE };
	}
	return v;
}

/* ---- the walk ---- */

struct path_walk {
	const struct depend *d;
	const struct depend_times *times;
	struct critical *out;
	struct arena *a; /* arena for the segments; NULL: find only the times by kind */
	struct work *work;
	int64_t at; /* the part of the window after this time is explained */
	int64_t from;
};

static int64_t start_of(const struct path_walk *w, uint32_t node)
{
	return w->times->start[node];
}

static int64_t end_of(const struct path_walk *w, uint32_t node)
{
	return w->times->end[node];
}

/* Adds the time from `from` to the current position. */
static void put(struct path_walk *w, enum critical_kind kind, const struct depend_node *n,
        uint32_t track, int64_t from)
{
	int64_t start = from > w->from ? from : w->from, end = w->at;

	if (end <= start)
		return;
	w->at = start;
	w->out->kinds[kind] = num_add(w->out->kinds[kind], end - start);
	if (w->a)
		VEC_PUSH(w->a, &w->out->segments,
		        ((struct critical_segment){ .kind = kind,
		                .event = n ? n->event : ID_NONE,
		                .frame = n && n->host ? depend_frame(w->d, n) : ID_NONE,
		                .slice = n ? n->slice : ID_NONE,
		                .track = track,
		                .start = start,
		                .end = end }));
}

/* Moves the current position back to `from`. The time between the two has no known cause. */
static void skip_to(struct path_walk *w, int64_t from)
{
	put(w, CRITICAL_UNKNOWN, NULL, ID_NONE, from);
}

static enum critical_kind kind_of_host(const struct depend *d, const struct depend_node *n)
{
	const struct depend_context *c = depend_context(d, n);

	if (n->event == ID_NONE)
		return CRITICAL_OUTSIDE;
	if (c && c->loads)
		return CRITICAL_LOADING;
	if (d->classes[n->event] == DEPEND_WAITS)
		return CRITICAL_WAIT;
	switch (d->t->events.v[n->event].category) {
	case CATEGORY_PREEMPTED: return CRITICAL_WAIT;
	case CATEGORY_CALL:
	case CATEGORY_SYNC:
	case CATEGORY_OVERHEAD: return CRITICAL_CALL;
	case CATEGORY_FRAME: return CRITICAL_PYTHON;
	case CATEGORY_ANNOTATION:
	case CATEGORY_MODULE:
	case CATEGORY_STEP: return CRITICAL_RANGE;
	default: return CRITICAL_OP;
	}
}

static enum critical_kind kind_of(const struct depend *d, const struct depend_node *n)
{
	if (n->host)
		return kind_of_host(d, n);
	switch ((enum usage_class)n->class) {
	case USAGE_COMMUNICATION: return CRITICAL_COMMUNICATION;
	case USAGE_COPY: return CRITICAL_COPY;
	default: return CRITICAL_COMPUTE;
	}
}

/* Assigns the time before a node to its edge, at most the base length of the edge. The rest has no
 * known cause. */
static void put_edge(
        struct path_walk *w, const struct depend_node *n, const struct depend_edge *e, int64_t from)
{
	int64_t base = depend_base(w->d, n, (enum depend_kind)e->kind);

	switch ((enum depend_kind)e->kind) {
	case DEPEND_OTHER: skip_to(w, from); break;
	case DEPEND_LAUNCH:
		skip_to(w, num_add(from, base));
		put(w, CRITICAL_LAUNCH, NULL, n->track, from);
		break;
	case DEPEND_STREAM:
	case DEPEND_EVENT:
		skip_to(w, num_add(from, base));
		put(w, CRITICAL_KERNEL_GAP, NULL, n->track, from);
		break;
	default: put(w, CRITICAL_OUTSIDE, NULL, n->track, from);
	}
}

/* Finds the edge that was the last to reach a node. Sets *from to the edge's source node and *time
 * to the time when the edge left that node. Returns NULL if the predecessor is the previous node of
 * the same thread, or if there is none (*from is ID_NONE). */
static const struct depend_edge *last_edge(
        const struct path_walk *w, uint32_t node, uint32_t *from, int64_t *time)
{
	const struct depend *d = w->d;
	const struct depend_node *n = &d->nodes.v[node];
	const struct depend_edge *found = NULL;
	int64_t best = INT64_MIN;
	bool bound = false;

	*from = ID_NONE;
	if (n->host && !n->first) {
		*from = node - 1;
		*time = best = end_of(w, node - 1);
	}
	for (uint32_t i = d->first_edge[node]; i < d->first_edge[node + 1]; i++) {
		const struct depend_edge *e = &d->edges[i];
		int64_t left = e->kind == DEPEND_LAUNCH ? start_of(w, e->from) : end_of(w, e->from);
		int64_t at = depend_arrival(d, n, e, left, w->times);
		if (at < best || (at == best && bound && !e->binding))
			continue;
		found = e;
		best = at;
		bound = e->binding;
		*from = e->from;
		*time = left;
	}
	return found;
}

/* Ends the path at work whose call is before the window. */
static void leave_window(struct path_walk *w, const struct depend_node *n)
{
	const struct launch *l = n->launch ? &w->d->links->launches.v[n->launch - 1] : NULL;
	const struct depend_edge e = { .kind = DEPEND_LAUNCH };

	if (l && l->start <= w->from)
		put_edge(w, n, &e, l->start);
	skip_to(w, w->from);
}

static void walk_path(struct path_walk *w, uint32_t node)
{
	bool starts = false; /* true: the edge left the start of its source node */

	while (node != ID_NONE && w->at > w->from) {
		const struct depend_node *n = &w->d->nodes.v[node];
		const struct depend_edge *e;
		uint32_t from;
		int64_t time = 0, until;

		work_poll(w->work);
		if (!starts)
			put(w, kind_of(w->d, n), n, n->track, start_of(w, node));
		until = w->at;
		e = last_edge(w, node, &from, &time);
		if (from == ID_NONE)
			leave_window(w, n);
		else if (e)
			put_edge(w, n, e, time);
		if (!n->host && !n->launch && from != ID_NONE)
			w->out->unlaunched = num_add(w->out->unlaunched, until - w->at);
		starts = e && e->kind == DEPEND_LAUNCH;
		node = from;
	}
	skip_to(w, w->from);
}

static void reverse(struct critical *x)
{
	for (size_t i = 0, n = x->segments.n; i < n / 2; i++) {
		struct critical_segment s = x->segments.v[i];
		x->segments.v[i] = x->segments.v[n - 1 - i];
		x->segments.v[n - 1 - i] = s;
	}
}

/* ---- the end of a path ---- */

/* Returns the last-ending node of the devices or of the threads, or ID_NONE. blocking: consider
 * only calls that block. */
static uint32_t last_node(const struct depend *d, bool host, bool blocking)
{
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *n = &d->nodes.v[i];
		if (n->host != host || n->event == ID_NONE || n->end > d->to)
			continue;
		if (blocking && d->classes[n->event] != DEPEND_BLOCKS &&
		        d->classes[n->event] != DEPEND_ALL)
			continue;
		if (found == ID_NONE || n->end > d->nodes.v[found].end)
			found = i;
	}
	return found;
}

uint32_t critical_end(const struct depend *d)
{
	uint32_t work = last_node(d, false, false), host = last_node(d, true, work != ID_NONE);

	if (work != ID_NONE && (host == ID_NONE || d->nodes.v[host].end <= d->nodes.v[work].end))
		return work;
	return host;
}

static void walk(const struct depend *d, const struct depend_times *times,
        const struct critical_window *window, uint32_t end, struct critical *out, struct arena *a)
{
	struct path_walk w = { .d = d,
		.times = times,
		.out = out,
		.a = a,
		.work = d->t->a->work,
		.at = window->to,
		.from = window->from };

	*out = (struct critical){ .depend = d, .window = *window };
	if (end != ID_NONE)
		skip_to(&w, end_of(&w, end));
	walk_path(&w, end);
}

void critical_walk(const struct depend *d, const struct depend_times *times,
        const struct critical_window *window, uint32_t end, struct critical *out, struct arena *a)
{
	walk(d, times, window, end, out, a);
	reverse(out);
}

void critical_add_kinds(const struct depend *d, const struct depend_times *times,
        const struct critical_window *window, uint32_t end, int64_t kinds[CRITICAL_KINDS])
{
	struct critical x;

	walk(d, times, window, end, &x, NULL);
	for (size_t i = 0; i < CRITICAL_KINDS; i++)
		kinds[i] = num_add(kinds[i], x.kinds[i]);
}
