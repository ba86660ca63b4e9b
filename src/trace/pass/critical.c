/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks from the end of the window to its start.
 */
#include "trace/pass/critical.h"

#define CRITICAL(id, name, text) [CRITICAL_##id] = name,
const char *const critical_names[CRITICAL_KINDS] = {
#include "trace/pass/critical.def"
};
#undef CRITICAL
#define CRITICAL(id, name, text) [CRITICAL_##id] = text,
const char *const critical_texts[CRITICAL_KINDS] = {
#include "trace/pass/critical.def"
};
#undef CRITICAL

/* ---- windows ---- */

/* Extends the ends of steps to their last device work. */
static void find_ends(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, int64_t *ends)
{
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices(t, i);
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice s; slice_next(&it, &s);) {
			uint32_t step;
			if (!slice_is_work(t, &s))
				continue;
			step = trace_step_of(steps, &s, link_launch(links, &s));
			if (slice_end(&s) > ends[step])
				ends[step] = slice_end(&s);
		}
	}
}

/* Finds the time from the first to the last slice of the threads that launch work, and of the
 * devices; without device work, of all threads. */
static void find_span(const struct trace *t, const struct trace_links *links,
        struct critical_window *w, struct arena *a)
{
	bool *counts = ARENA_ARRAY(a, t->tracks.n, bool), any = false;

	for (size_t i = 0; i < links->launches.n; i++)
		any = counts[trace_track_of(t, links->launches.v[i].slice)] = true;
	*w = (struct critical_window){ .step = ID_NONE, .from = INT64_MAX, .to = INT64_MIN };
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		if (!k->n || k->derived || k->kind == TRACK_COUNTER ||
		        (any && !counts[i] && !track_is_device(k)))
			continue;
		w->from = k->start < w->from ? k->start : w->from;
		w->to = k->end > w->to ? k->end : w->to;
	}
	if (w->to < w->from)
		w->from = w->to = 0;
}

struct critical_window *critical_windows(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, size_t *n, struct arena *a)
{
	struct critical_window *v;
	int64_t *ends;

	*n = steps->steps.n;
	v = ARENA_ARRAY(a, *n, struct critical_window);
	if (steps->by == STEPS_UNKNOWN) {
		find_span(t, links, &v[0], a);
		return v;
	}
	ends = ARENA_ARRAY(a, *n, int64_t);
	for (size_t i = 0; i < *n; i++)
		ends[i] = INT64_MIN;
	find_ends(t, links, steps, ends);
	for (size_t i = 0; i < *n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		bool device = ends[i] != INT64_MIN;
		v[i] = (struct critical_window){ (uint32_t)i, device, true, s->start,
			device ? ends[i] : s->end };
		if (device && i && ends[i - 1] != INT64_MIN && ends[i - 1] < ends[i]) {
			v[i].from = ends[i - 1];
			v[i].mark = false;
		}
		if (v[i].to <= v[i].from)
			v[i] = (struct critical_window){ (uint32_t)i, false, true, s->start,
				s->end };
	}
	return v;
}

/* ---- the walk ---- */

struct path_walk {
	const struct depend *d;
	struct critical *out;
	struct arena *a;
	int64_t at;     /* the window is explained from here on */
	uint32_t track; /* of a thread; ID_NONE: at the node */
	uint32_t node;  /* device work */
	unsigned still; /* changes of track since the last progress */
};

#define STILL_MAX                                                                                  \
	16 /* changes of track without progress before a thread is followed without changes */

/* Adds the time from `from` to the present place. */
static void put(struct path_walk *w, enum critical_kind kind, const struct depend_node *n,
        uint32_t track, int64_t from)
{
	struct critical_segment made = { .kind = kind,
		.event = n ? n->event : ID_NONE,
		.frame = n ? n->frame : ID_NONE,
		.slice = n ? n->slice : ID_NONE,
		.track = track,
		.start = from > w->d->from ? from : w->d->from,
		.end = w->at };

	if (made.end <= made.start)
		return;
	w->at = made.start;
	w->still = 0;
	w->out->kinds[kind] = num_add(w->out->kinds[kind], made.end - made.start);
	VEC_PUSH(w->a, &w->out->segments, made);
}

/* Moves to a time without using it: the time up to the present place is not known. */
static void skip_to(struct path_walk *w, int64_t from)
{
	put(w, CRITICAL_UNKNOWN, NULL, ID_NONE, from);
}

static void go_thread(struct path_walk *w, uint32_t track)
{
	w->still++;
	w->track = track;
	w->node = ID_NONE;
}

static void go_work(struct path_walk *w, uint32_t node)
{
	w->still++;
	w->track = ID_NONE;
	w->node = node;
}

static enum critical_kind kind_of_host(const struct depend *d, const struct depend_node *n)
{
	if (n->event == ID_NONE)
		return CRITICAL_OUTSIDE;
	if (n->launch)
		return CRITICAL_LOADING;
	if (d->classes[n->event] == DEPEND_WAITS)
		return CRITICAL_WAIT;
	switch (d->t->events.v[n->event].category) {
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

/* A gap of a thread: it waits for the thread that encloses the burst after the gap, or for the
 * burst of another thread that ended in the gap. Returns false if there is no such thread. */
static bool leave_gap(struct path_walk *w, const struct depend_node *n, int64_t from)
{
	uint32_t other = depend_enclosing(w->d, w->track, w->at);
	const struct depend_burst *burst;

	if (other != ID_NONE) {
		go_thread(w, other);
		return true;
	}
	burst = depend_last_burst(w->d, w->track, INT64_MIN, from, w->at);
	if (!burst)
		return false;
	put(w, CRITICAL_OUTSIDE, n, w->track, burst->end);
	go_thread(w, burst->track);
	return true;
}

/* A node that may have waited for device work or for another thread. Returns false if it did not.
 */
static bool leave_wait(struct path_walk *w, const struct depend_node *n, enum depend_class class)
{
	const struct depend_burst *burst = NULL;
	uint32_t work = ID_NONE;
	uint32_t track = w->track;
	int64_t at;

	if (class == DEPEND_COPIES)
		work = depend_last_work(w->d, track, n->start, w->at, n->slice);
	else if (class == DEPEND_BLOCKS || class == DEPEND_WAITS)
		work = depend_last_work(w->d, track, n->start, w->at, ID_NONE);
	burst = depend_last_burst(
	        w->d, track, class == DEPEND_WAITS ? INT64_MIN : n->start, n->start, w->at);
	if (work == ID_NONE && !burst)
		return false;
	at = work != ID_NONE ? w->d->nodes.v[work].end : INT64_MIN;
	if (burst && burst->end > at) {
		put(w, kind_of_host(w->d, n), n, track, burst->end);
		go_thread(w, burst->track);
	} else {
		put(w, kind_of_host(w->d, n), n, track, at);
		go_work(w, work);
	}
	return true;
}

static void step_thread(struct path_walk *w)
{
	uint32_t node = depend_before(w->d, w->track, w->at);
	const struct depend_node *n = node == ID_NONE ? NULL : &w->d->nodes.v[node];
	struct depend_node gap = { .event = ID_NONE, .slice = ID_NONE, .frame = ID_NONE };

	if (!n || n->end < w->at) { /* before the first node, or after the last one */
		gap.start = n ? n->end : w->d->from;
		gap.end = w->at;
		n = &gap;
	}
	enum depend_class class = n->event == ID_NONE ? DEPEND_PLAIN : w->d->classes[n->event];
	if (w->still < STILL_MAX) {
		if (n->event == ID_NONE ? leave_gap(w, n, n->start) : leave_wait(w, n, class))
			return;
	}
	if (n == &gap && node == ID_NONE)
		skip_to(w, w->d->from);
	else
		put(w, kind_of_host(w->d, n), n, w->track, n->start);
}

static enum critical_kind kind_of_work(
        const struct depend *d, uint32_t event, const struct launch *launch)
{
	switch (usage_class_of(d->t, event, launch)) {
	case USAGE_COMMUNICATION: return CRITICAL_COMMUNICATION;
	case USAGE_COPY: return CRITICAL_COPY;
	default: return CRITICAL_COMPUTE;
	}
}

/* Explains the time before work that follows another one on its stream. */
static void follow_stream(struct path_walk *w, const struct depend_node *before, uint32_t node,
        uint32_t track, int64_t base)
{
	int64_t gap = num_add(before->end, base);

	if (gap < w->at)
		skip_to(w, gap);
	put(w, CRITICAL_KERNEL_GAP, NULL, track, before->end);
	go_work(w, node);
}

/* Explains the time before work that waited for its launch. */
static void follow_launch(
        struct path_walk *w, const struct launch *launch, uint32_t track, int64_t base)
{
	int64_t latency = num_add(launch->start, base);

	if (latency < w->at)
		skip_to(w, latency);
	put(w, CRITICAL_LAUNCH, NULL, track, launch->start);
	go_thread(w, trace_track_of(w->d->t, launch->slice));
}

static void step_work(struct path_walk *w)
{
	const struct depend_node *n = &w->d->nodes.v[w->node];
	uint32_t track = depend_track_of(w->d, w->node), before = ID_NONE;
	const struct depend_track *k = &w->d->tracks[track];
	const struct depend_base *base = &w->d->bases[w->d->t->tracks.v[track].device];
	const struct launch *launch = n->launch ? &w->d->links->launches.v[n->launch - 1] : NULL;

	put(w, kind_of_work(w->d, n->event, launch), n, track, n->start);
	if (w->node > k->first)
		before = w->node - 1;
	const struct depend_node *b = before == ID_NONE ? NULL : &w->d->nodes.v[before];
	if (launch && (!b || num_add(launch->start, base->latency) > num_add(b->end, base->gap))) {
		follow_launch(w, launch, track, base->latency);
	} else if (b) {
		follow_stream(w, b, before, track, base->gap);
	} else {
		before = depend_last_work(w->d, track, INT64_MIN, w->at, ID_NONE);
		if (before == w->node || before == ID_NONE) {
			skip_to(w, w->d->from);
			return;
		}
		skip_to(w, w->d->nodes.v[before].end);
		go_work(w, before);
	}
}

/* Returns the node of devices, or of threads, that ends last, or ID_NONE. blocking: only calls that
 * block. */
static uint32_t last_node(const struct depend *d, bool host, bool blocking)
{
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		for (uint32_t j = k->first; k->host == host && j < k->first + k->n; j++) {
			const struct depend_node *n = &d->nodes.v[j];
			if (n->event == ID_NONE || n->end > d->to ||
			        (blocking && d->classes[n->event] != DEPEND_BLOCKS))
				continue;
			if (found == ID_NONE || n->end > d->nodes.v[found].end)
				found = j;
		}
	}
	return found;
}

/* Chooses the last device work or the last blocking call; without device work, the thread that ends
 * last. */
static void choose_end(struct path_walk *w)
{
	const struct depend *d = w->d;
	uint32_t work = last_node(d, false, false), host = last_node(d, true, work != ID_NONE);

	w->at = d->to;
	w->track = w->node = ID_NONE;
	if (work != ID_NONE && (host == ID_NONE || d->nodes.v[host].end <= d->nodes.v[work].end))
		w->node = work;
	else if (host != ID_NONE)
		w->track = depend_track_of(d, host);
	else
		return;
	skip_to(w, d->nodes.v[w->node != ID_NONE ? work : host].end);
}

static void reverse(struct critical *x)
{
	for (size_t i = 0, n = x->segments.n; i < n / 2; i++) {
		struct critical_segment s = x->segments.v[i];
		x->segments.v[i] = x->segments.v[n - 1 - i];
		x->segments.v[n - 1 - i] = s;
	}
}

void critical_find(const struct trace *t, const struct trace_links *links,
        const struct critical_window *window, struct critical *out, struct arena *a)
{
	struct path_walk w = { .out = out, .a = a };

	*out = (struct critical){ .window = *window };
	depend_build(t, links, window->from, window->to, &out->depend, a);
	w.d = &out->depend;
	choose_end(&w);
	while (w.at > window->from) {
		work_poll(a->work);
		if (w.track != ID_NONE)
			step_thread(&w);
		else if (w.node != ID_NONE)
			step_work(&w);
		else
			skip_to(&w, window->from);
	}
	reverse(out);
}
