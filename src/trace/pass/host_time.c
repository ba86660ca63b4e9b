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
};

struct host_making {
	struct host_time *out;
	struct depend depend; /* contains only the data that nodes of threads need */
	struct depend_making making;
	VEC(struct host_tile) contexts; /* the tile of each context */
	struct arena *a, *own;
	uint64_t *launches;            /* number of launches of each track */
	VEC(struct host_burst) bursts; /* sorted by process, then start, then track */
	size_t *first_burst;           /* indexed by process; the last one is for tracks without a
	                                  process */
};

static const struct host_tile no_tile = { .op = ID_NONE,
	.frame = ID_NONE,
	.line = ID_NONE,
	.call = ID_NONE,
	.step = ID_NONE,
	.loader = ID_NONE,
	.other = ID_NONE,
	.gap = true };

/* ---- tiles ---- */

/* Returns the tile of the slices of a context. Its class is the class of the innermost event. */
static struct host_tile inside(struct host_making *m, const struct depend_context *c)
{
	struct host_tile x = c->parent == ID_NONE ? no_tile : m->contexts.v[c->parent];

	x.gap = false;
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

static void add_node(struct host_making *m, struct host_thread *h, const struct depend_node *n)
{
	struct host_tile x = n->context == ID_NONE ? no_tile : m->contexts.v[n->context];

	x.start = n->start;
	if (x.class == DEPEND_COPIES &&
	        !depend_copy_waits(m->depend.t, n->event, n->slice, &m->making.copies))
		x.class = DEPEND_PLAIN;
	VEC_PUSH(m->a, &h->tiles, x);
}

static void make_tiles(struct host_making *m, uint32_t track)
{
	struct host_thread *h = &m->out->threads[track];
	struct host_tile end = no_tile;

	if (!m->depend.t->tracks.v[track].n)
		return;
	end.start = INT64_MIN;
	m->making.raw.n = 0;
	depend_add_thread(&m->making, track);
	VEC_ROOM(m->a, &h->tiles, m->making.raw.n + 2);
	VEC_PUSH(m->a, &h->tiles, end);
	for (size_t i = m->contexts.n; i < m->depend.contexts.n; i++)
		VEC_PUSH(m->own, &m->contexts, inside(m, &m->depend.contexts.v[i]));
	for (size_t i = 0; i < m->making.raw.n; i++)
		add_node(m, h, &m->making.raw.v[i]);
	if (!m->making.raw.n)
		return;
	end.start = m->making.raw.v[m->making.raw.n - 1].end;
	VEC_PUSH(m->a, &h->tiles, end);
}

/* Makes the tiles of all threads from the thread nodes of the dependency graph. */
static void add_threads(struct host_making *m, const struct trace_links *links)
{
	const struct trace *t = m->depend.t;

	m->making = (struct depend_making){ .d = &m->depend, .a = m->own, .own = m->own };
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

static size_t process_of(const struct trace *t, uint32_t track)
{
	uint32_t process = t->tracks.v[track].process;

	return process == ID_NONE ? t->processes.n : process;
}

static void find_bursts_of(struct host_making *m, uint32_t track, const int64_t *launched, size_t n)
{
	const struct host_thread *h = &m->out->threads[track];
	size_t at = 0;

	for (size_t i = 0; i < h->tiles.n; i++) {
		if (h->tiles.v[i].gap)
			continue;
		struct host_burst b = { h->tiles.v[i].start, 0, track };
		while (i + 1 < h->tiles.n && !h->tiles.v[i].gap)
			i++;
		b.end = h->tiles.v[i].start;
		while (at < n && launched[at] < b.start)
			at++;
		if (at < n && launched[at] < b.end)
			VEC_PUSH(m->own, &m->bursts, b);
	}
}

struct host_launch {
	int64_t start;
	uint32_t track;
};

static int by_track_and_start(const void *v, uint32_t a, uint32_t b)
{
	const struct host_launch *x = (const struct host_launch *)v + a,
	                         *y = (const struct host_launch *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_process_and_start(const void *making, uint32_t a, uint32_t b)
{
	const struct host_making *m = making;
	const struct host_burst *x = &m->bursts.v[a], *y = &m->bursts.v[b];
	size_t p = process_of(m->out->t, x->track), q = process_of(m->out->t, y->track);

	if (p != q)
		return p < q ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void order_bursts(struct host_making *m)
{
	const uint32_t *order = sort_order(m->own, m->bursts.n, by_process_and_start, m);
	struct host_burst *v = ARENA_ARRAY(m->own, m->bursts.n, struct host_burst);
	const struct trace *t = m->out->t;
	size_t at = 0;

	for (size_t i = 0; i < m->bursts.n; i++)
		v[i] = m->bursts.v[order[i]];
	m->bursts.v = v;
	m->first_burst = ARENA_ARRAY(m->own, t->processes.n + 2, size_t);
	for (size_t p = 0; p < t->processes.n + 2; p++) {
		while (at < m->bursts.n && process_of(t, v[at].track) < p)
			at++;
		m->first_burst[p] = at;
	}
}

static void find_bursts(struct host_making *m, const struct trace_links *links)
{
	size_t all = links->launches.n;
	struct host_launch *v = ARENA_ARRAY(m->own, all, struct host_launch);
	int64_t *starts = ARENA_ARRAY(m->own, all, int64_t);

	for (size_t i = 0; i < all; i++) {
		const struct launch *x = &links->launches.v[i];
		v[i] = (struct host_launch){ x->start, trace_track_of(links->t, x->slice) };
	}
	sort_array(m->own, v, all, sizeof *v, by_track_and_start);
	for (size_t i = 0; i < all; i++)
		starts[i] = v[i].start;
	for (size_t i = 0, n; i < all; i = n) {
		for (n = i + 1; n < all && v[n].track == v[i].track; n++)
			;
		find_bursts_of(m, v[i].track, starts + i, n - i);
	}
	order_bursts(m);
}

/* ---- waits for other threads ---- */

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
		if (x && !x->gap && host_time_end(h, x) >= b->end && x->start > start) {
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

static void add_tile(
        struct host_waiting *w, struct host_tile x, uint32_t other, int64_t from, int64_t to)
{
	if (from >= to)
		return;
	if (!w->made.n && w->same == w->at && other == ID_NONE && x.start == from) {
		w->same++;
		return;
	}
	if (!w->made.n) {
		VEC_ROOM(w->m->a, &w->made, w->h->tiles.n + 2);
		memcpy(w->made.v, w->h->tiles.v, w->same * sizeof *w->made.v);
		w->made.n = w->same;
	}
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

/* Finds the tiles of a thread divided by its waits. A thread without waits keeps its tiles. */
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
		bool gap = x->gap;
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
	made->tiles.v = w.made.n ? w.made.v : h->tiles.v;
	made->tiles.n = w.made.n ? w.made.n : w.same;
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
	out->threads = ARENA_ARRAY(a, t->tracks.n, struct host_thread);
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
