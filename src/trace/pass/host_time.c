/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity of each thread over time, and its waits for other threads.
 */
#include "trace/pass/host_time.h"

#include "base/sort.h"
#include "trace/pass/depend_internal.h"

#define HOPS_MAX 4 /* maximum length of a chain of threads that wait for one another */

/* A run of tiles of a thread that launches work. */
struct host_burst {
	int64_t start, end;
	uint32_t track;
	uint32_t process; /* the number of processes for tracks without a process */
};

struct host_making {
	struct host_time *out;
	struct depend depend; /* contains only the data that nodes of threads need */
	struct depend_making making;
	VEC(uint32_t) contexts; /* index of the activity of each context */
	VEC(uint32_t)
	plain; /* the same if the innermost call of the context does not wait; 0: not known yet */
	struct host_thread *thread; /* the thread that receives tiles */
	struct arena *a, *own;
	VEC(struct host_burst) bursts; /* sorted by process, then start, then track */
	size_t *first_burst;           /* indexed by process; the last one is for tracks without a
	                                  process */
};

static const struct host_tile no_tile = { .activity = HOST_GAP, .other = ID_NONE };

static const struct host_activity no_activity = { .op = ID_NONE,
	.frame = ID_NONE,
	.line = ID_NONE,
	.call = ID_NONE,
	.step = ID_NONE,
	.loader = ID_NONE };

/* ---- tiles ---- */

static uint32_t add_activity(struct host_making *m, struct host_activity x)
{
	VEC_PUSH(m->a, &m->out->activities, x);
	return (uint32_t)m->out->activities.n - 1;
}

/* Returns the activity of the slices of a context. Its class is the class of the innermost
 * event. */
static struct host_activity inside(struct host_making *m, const struct depend_context *c)
{
	uint32_t around = c->parent == ID_NONE ? HOST_GAP : m->contexts.v[c->parent];
	struct host_activity x = m->out->activities.v[around];

	x.class = m->depend.classes[c->event];
	if (x.class == DEPEND_LOADS && x.loader == ID_NONE)
		x.loader = c->event;
	x.line = c->frame;
	switch (m->depend.t->events.v[c->event].category) {
	case CATEGORY_FRAME:
		x.frame = c->event;
		m->out->frames = true;
		break;
	case CATEGORY_CALL:
	case CATEGORY_SYNC:
	case CATEGORY_OVERHEAD: x.call = c->event; return x;
	case CATEGORY_PREEMPTED:
		x.class = DEPEND_WAITS;
		x.call = c->event;
		return x;
	case CATEGORY_STEP: x.step = c->event; break;
	default: x.op = c->event; break;
	}
	x.call = ID_NONE;
	return x;
}

/* Returns the activity of a context whose innermost call, a copy, does not wait. */
static uint32_t without_wait(struct host_making *m, uint32_t context)
{
	struct host_activity x = m->out->activities.v[m->contexts.v[context]];

	x.class = DEPEND_PLAIN;
	if (!m->plain.v[context])
		m->plain.v[context] = add_activity(m, x);
	return m->plain.v[context];
}

static void add_node(struct host_making *m, const struct depend_node *n)
{
	struct host_tile x = no_tile;

	x.start = n->start;
	if (n->context != ID_NONE)
		x.activity = m->contexts.v[n->context];
	if (m->out->activities.v[x.activity].class == DEPEND_COPIES &&
	        !depend_copy_waits(m->depend.t, n->event, n->slice, &m->making.copies))
		x.activity = without_wait(m, n->context);
	VEC_PUSH(m->own, &m->thread->tiles, x);
}

/* Makes tiles of the nodes that wait in raw, and removes these. */
static void take_nodes(void *user)
{
	struct host_making *m = user;

	for (size_t i = m->contexts.n; i < m->depend.contexts.n; i++) {
		uint32_t made = add_activity(m, inside(m, &m->depend.contexts.v[i]));
		VEC_PUSH(m->own, &m->contexts, made);
		VEC_PUSH(m->own, &m->plain, 0);
	}
	for (size_t i = 0; i < m->making.raw.n; i++)
		add_node(m, &m->making.raw.v[i]);
	m->making.raw.n = 0;
}

static void make_tiles(struct host_making *m, uint32_t track)
{
	struct host_tile end = no_tile;

	if (!m->depend.t->tracks.v[track].n)
		return;
	m->thread = &m->out->threads[track];
	end.start = INT64_MIN;
	VEC_PUSH(m->own, &m->thread->tiles, end);
	end.start = depend_add_thread(&m->making, track);
	take_nodes(m);
	if (m->thread->tiles.n > 1)
		VEC_PUSH(m->own, &m->thread->tiles, end);
}

/* Makes the tiles of all threads from the thread nodes of the dependency graph. */
static void add_threads(struct host_making *m, const struct trace_links *links)
{
	const struct trace *t = m->depend.t;

	add_activity(m, no_activity);
	m->making = (struct depend_making){
		.d = &m->depend, .a = m->own, .own = m->own, .take = take_nodes, .user = m
	};
	m->making.raw_tracks = ARENA_ARRAY(m->own, t->tracks.n, struct depend_track);
	m->depend.classes = depend_classes(t, m->own);
	m->depend.tracks = ARENA_ARRAY(m->own, t->tracks.n, struct depend_track);
	imap_init(&m->making.contexts, m->own);
	depend_find_copies(t, links, &m->making.copies, m->own);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct trace_track *k = &t->tracks.v[i];
		m->depend.tracks[i].host = !track_is_device(k);
		if (track_is_thread(k))
			make_tiles(m, i);
	}
}

/* ---- bursts ---- */

static uint32_t process_of(const struct trace *t, uint32_t track)
{
	uint32_t process = t->tracks.v[track].process;

	return process == ID_NONE ? (uint32_t)t->processes.n : process;
}

/* launched: the launches of the track, by start. */
static void find_bursts_of(
        struct host_making *m, uint32_t track, const struct launch *launched, size_t n)
{
	const struct host_thread *h = &m->out->threads[track];
	size_t at = 0;

	for (size_t i = 0; i < h->tiles.n; i++) {
		if (host_tile_is_gap(&h->tiles.v[i]))
			continue;
		struct host_burst b = { h->tiles.v[i].start, 0, track,
			process_of(m->out->t, track) };
		while (i + 1 < h->tiles.n && !host_tile_is_gap(&h->tiles.v[i]))
			i++;
		b.end = h->tiles.v[i].start;
		while (at < n && launched[at].start < b.start)
			at++;
		if (at < n && launched[at].start < b.end)
			VEC_PUSH(m->own, &m->bursts, b);
	}
}

static int by_process_and_start(const void *v, uint32_t a, uint32_t b)
{
	const struct host_burst *x = (const struct host_burst *)v + a,
	                        *y = (const struct host_burst *)v + b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void order_bursts(struct host_making *m)
{
	const size_t processes = m->out->t->processes.n;
	size_t at = 0;

	sort_array(m->own, m->bursts.v, m->bursts.n, sizeof *m->bursts.v, by_process_and_start);
	m->first_burst = ARENA_ARRAY(m->own, processes + 2, size_t);
	for (size_t p = 0; p < processes + 2; p++) {
		while (at < m->bursts.n && m->bursts.v[at].process < p)
			at++;
		m->first_burst[p] = at;
	}
}

static void find_bursts(struct host_making *m, const struct trace_links *links)
{
	const struct launch *v = links->launches.v;

	for (size_t i = 0, n; i < links->launches.n; i = n) {
		uint32_t track = trace_track_of(links->t, v[i].slice);
		for (n = i + 1;
		        n < links->launches.n && trace_track_of(links->t, v[n].slice) == track; n++)
			;
		find_bursts_of(m, track, v + i, n - i);
	}
	order_bursts(m);
}

/* ---- waits for other threads ---- */

const struct host_activity *host_time_activity(const struct host_time *h, const struct host_tile *x)
{
	return &h->activities.v[x->activity];
}

const struct host_tile *host_time_at(const struct host_thread *h, int64_t at)
{
	size_t i;

	BISECT(i, 0, h->tiles.n, h->tiles.v[i].start <= at);
	return i ? &h->tiles.v[i - 1] : NULL;
}

int64_t host_time_end(const struct host_thread *h, const struct host_tile *x)
{
	return x + 1 < h->tiles.v + h->tiles.n ? x[1].start : INT64_MAX;
}

/* Returns a thread of the process with a tile that contains the whole burst, or ID_NONE. If there
 * are several, returns the thread whose tile starts last. */
static uint32_t enclosing(const struct host_making *m, const struct host_burst *b)
{
	const struct trace *t = m->out->t;
	int64_t start = INT64_MIN;
	uint32_t found = ID_NONE;

	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct host_thread *h = &m->out->threads[i];
		const struct host_tile *x =
		        i == b->track || process_of(t, i) != process_of(t, b->track)
		                ? NULL
		                : host_time_at(h, b->start);
		if (x && !host_tile_is_gap(x) && host_time_end(h, x) >= b->end &&
		        x->start > start) {
			start = x->start;
			found = i;
		}
	}
	return found;
}

struct host_waiting {
	struct host_making *m;
	const struct host_thread *h;
	size_t at;                  /* the current tile of h */
	size_t same;                /* number of first tiles that stay as they are */
	VEC(struct host_tile) made; /* tiles after division; empty while all tiles stay unchanged */
	uint32_t track;
	size_t first, last; /* range of the bursts of the process */
	size_t next;        /* the first burst that starts at or after the tile */
	size_t ended;       /* the first burst, sorted by end, that ends at or after the tile */
	const uint32_t *by_end;
};

/* Copies the first tiles, which stay as they are. */
static void start_tiles(struct host_waiting *w)
{
	VEC_ROOM(w->m->a, &w->made, w->h->tiles.n);
	if (w->same)
		memcpy(w->made.v, w->h->tiles.v, w->same * sizeof *w->made.v);
	w->made.n = w->same;
}

static void add_tile(
        struct host_waiting *w, struct host_tile x, uint32_t other, int64_t from, int64_t to)
{
	if (from >= to)
		return;
	if (!w->made.n && w->same == w->at && other == ID_NONE && x.start == from) {
		w->same++;
		return;
	}
	if (!w->made.n)
		start_tiles(w);
	x.other = other;
	x.start = from;
	VEC_PUSH(w->m->a, &w->made, x);
}

/* Divides a tile by the bursts of other threads that it contains. */
static void divide_tile(struct host_waiting *w, struct host_tile x, int64_t end)
{
	const struct host_burst *v = w->m->bursts.v;
	int64_t at = x.start;

	while (w->next < w->last && v[w->next].start < x.start)
		w->next++;
	for (size_t i = w->next; i < w->last && v[i].start < end; i++) {
		if (v[i].track == w->track || v[i].end > end || v[i].end <= at)
			continue;
		int64_t from = v[i].start > at ? v[i].start : at;
		add_tile(w, x, ID_NONE, at, from);
		add_tile(w, x, v[i].track, from, v[i].end);
		at = v[i].end;
	}
	add_tile(w, x, ID_NONE, at, end);
}

/* Divides a gap, as described in host_time.h. */
static void divide_gap(struct host_waiting *w, struct host_tile x, int64_t end)
{
	const struct host_burst *v = w->m->bursts.v;
	const struct host_burst *last = NULL, *after = NULL;

	while (w->next < w->last && v[w->next].start < end)
		w->next++;
	for (size_t i = w->next; i < w->last && v[i].start == end && !after; i++)
		after = v[i].track == w->track ? &v[i] : NULL;
	uint32_t other = after ? enclosing(w->m, after) : ID_NONE;
	if (other != ID_NONE) {
		add_tile(w, x, other, x.start, end);
		return;
	}
	for (; w->ended < w->last - w->first && v[w->by_end[w->ended]].end <= end; w->ended++)
		if (v[w->by_end[w->ended]].track != w->track &&
		        v[w->by_end[w->ended]].end > x.start)
			last = &v[w->by_end[w->ended]];
	if (last)
		add_tile(w, x, last->track, x.start, last->end);
	add_tile(w, x, ID_NONE, last ? last->end : x.start, end);
}

static int by_end(const void *v, uint32_t a, uint32_t b)
{
	const struct host_burst *x = (const struct host_burst *)v + a,
	                        *y = (const struct host_burst *)v + b;

	return (x->end > y->end) - (x->end < y->end);
}

/* Finds the tiles of a thread divided by its waits. */
static void find_waits(
        struct host_making *m, uint32_t track, const uint32_t *ends, struct host_thread *made)
{
	const struct host_thread *h = &m->out->threads[track];
	size_t p = process_of(m->out->t, track);
	struct host_waiting w = { .m = m,
		.h = h,
		.track = track,
		.first = m->first_burst[p],
		.last = m->first_burst[p + 1],
		.by_end = ends + m->first_burst[p] };
	size_t next[] = { w.first, w.first }; /* next burst for tiles, and for gaps */

	for (size_t i = 0; i < h->tiles.n; i++) {
		const struct host_tile *x = &h->tiles.v[i];
		int64_t end = host_time_end(h, x);
		bool gap = host_tile_is_gap(x);
		w.next = next[gap];
		w.at = i;
		if (gap)
			divide_gap(&w, *x, end);
		else
			divide_tile(&w, *x, end);
		next[gap] = w.next;
		if (i % 4096 == 4095)
			work_poll(m->a->work);
	}
	if (!w.made.n)
		start_tiles(&w);
	made->tiles.v = w.made.v;
	made->tiles.n = w.made.n;
}

/* Returns the bursts of each process in the order of their ends. */
static uint32_t *order_by_end(struct host_making *m)
{
	size_t processes = m->out->t->processes.n + 1;
	uint32_t *v = ARENA_ARRAY(m->own, m->bursts.n, uint32_t);

	for (uint32_t i = 0; i < m->bursts.n; i++)
		v[i] = i;
	for (size_t p = 0; p < processes; p++)
		sort_stable(m->own, v + m->first_burst[p],
		        (uint32_t)(m->first_burst[p + 1] - m->first_burst[p]), by_end, m->bursts.v);
	return v;
}

void host_time_find(const struct trace *t, const struct trace_links *links, struct host_time *out,
        struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	struct host_making m = {
		.out = out,
		.depend = { .t = t, .from = INT64_MIN, .to = INT64_MAX },
		.a = a,
		.own = &own.a,
	};
	*out = (struct host_time){ .t = t };
	out->threads = ARENA_ARRAY(m.own, t->tracks.n, struct host_thread);
	add_threads(&m, links);
	find_bursts(&m, links);
	const uint32_t *ends = order_by_end(&m);
	struct host_thread *made = ARENA_ARRAY(a, t->tracks.n, struct host_thread);
	for (uint32_t i = 0; i < t->tracks.n; i++)
		find_waits(&m, i, ends, &made[i]);
	out->threads = made;
	scratch_close(&own);
}

/* ---- the walk ---- */

struct host_walk_at {
	uint32_t track;
	int64_t from, to;
};

void host_time_walk(const struct host_time *h, uint32_t track, int64_t from, int64_t to,
        host_part *part, void *user)
{
	struct host_walk_at stack[HOPS_MAX + 1] = { { track, from, to } };
	unsigned n = 1;

	while (n) {
		struct host_walk_at *w = &stack[n - 1];
		const struct host_thread *k = &h->threads[w->track];
		const struct host_tile *x = host_time_at(k, w->from);
		int64_t end;
		if (w->from >= w->to) {
			n--;
			continue;
		}
		end = x ? host_time_end(k, x) : INT64_MAX;
		end = end < w->to ? end : w->to;
		struct host_walk_at now = { w->track, w->from, end };
		w->from = end;
		if (x && x->other != ID_NONE && n <= HOPS_MAX)
			stack[n++] = (struct host_walk_at){ x->other, now.from, now.to };
		else
			part(user, now.track, x ? x : &no_tile, now.from, now.to);
	}
}
