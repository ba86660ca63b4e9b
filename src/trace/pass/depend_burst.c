/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds which threads wait for which other threads.
 */
#include "trace/pass/depend_internal.h"

#include "base/sort.h"

/* ---- processes ---- */

static int by_node_end(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_node *n = v;

	return (n[a].end > n[b].end) - (n[a].end < n[b].end);
}

void depend_find_processes(struct depend_making *m)
{
	struct depend *d = m->d;
	size_t n = d->t->processes.n + 1;

	m->processes = ARENA_ARRAY(m->own, n, struct depend_process);
	for (uint32_t i = 0; i < d->t->tracks.n; i++)
		depend_process_of(m, i)->n_work += d->tracks[i].host ? 0 : d->tracks[i].n;
	for (size_t i = 0; i < n; i++) {
		m->processes[i].work = ARENA_ARRAY(m->own, m->processes[i].n_work, uint32_t);
		m->processes[i].n_work = 0;
	}
	for (uint32_t i = 0; i < d->t->tracks.n; i++) {
		const struct depend_track *k = &d->tracks[i];
		struct depend_process *p = depend_process_of(m, i);
		for (uint32_t j = 0; !k->host && j < k->n; j++)
			p->work[p->n_work++] = k->first + j;
		if (k->host && m->raw_tracks[i].n)
			VEC_PUSH(m->own, &p->hosts, i);
		else if (!k->host && k->n)
			VEC_PUSH(m->own, &p->streams, i);
	}
	for (size_t i = 0; i < n; i++)
		sort_stable(m->own, m->processes[i].work, m->processes[i].n_work, by_node_end,
		        d->nodes.v);
}

/* ---- launches ---- */

struct launch_time {
	int64_t start;
	uint32_t track, process;
};

static int by_track(const void *v, uint32_t a, uint32_t b)
{
	const struct launch_time *x = (const struct launch_time *)v + a,
	                         *y = (const struct launch_time *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_process(const void *v, uint32_t a, uint32_t b)
{
	const struct launch_time *x = (const struct launch_time *)v + a,
	                         *y = (const struct launch_time *)v + b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* Launches in one order: elements 0 to n - 1 of v. */
struct launch_times {
	VEC(struct launch_time) v;
};

/* Returns the first launch at or after a time among v[from .. to). */
static size_t launch_from(const struct launch_times *x, size_t from, size_t to, int64_t at)
{
	size_t i;

	BISECT(i, from, to, x->v.v[i].start < at);
	return i;
}

/* Adds the launches that have work in the window. */
static void collect_launches(struct depend_making *m, struct launch_times *out, struct arena *a)
{
	const struct depend *d = m->d;
	bool *works = ARENA_ARRAY(a, d->links->launches.n, bool);

	for (size_t i = 0; i < d->nodes.n; i++)
		if (d->nodes.v[i].launch)
			works[d->nodes.v[i].launch - 1] = true;
	for (size_t i = 0; i < d->links->launches.n; i++) {
		const struct launch *x = &d->links->launches.v[i];
		uint32_t track;
		if (!works[i] || x->start < d->from || x->start > d->to)
			continue;
		track = trace_track_of(d->t, x->slice);
		VEC_PUSH(a, &out->v,
		        ((struct launch_time){ x->start, track, d->tracks[track].process }));
	}
}

/* ---- bursts ---- */

/* Finds a thread of the same process with a node that contains [start, end]; if there are several,
 * the one whose node starts last. Returns the index of that node in raw, or ID_NONE. */
static uint32_t find_around(
        const struct depend_making *m, uint32_t track, int64_t start, int64_t end)
{
	const struct depend_process *p = depend_process_of(m, track);
	uint32_t found = ID_NONE;

	for (size_t i = 0; i < p->hosts.n; i++) {
		uint32_t other = p->hosts.v[i];
		uint32_t node = other == track
		                        ? ID_NONE
		                        : depend_find(m->raw.v, &m->raw_tracks[other], start);
		if (node == ID_NONE || m->raw.v[node].event == ID_NONE || m->raw.v[node].end < end)
			continue;
		if (found == ID_NONE || m->raw.v[node].start > m->raw.v[found].start)
			found = node;
	}
	return found;
}

/* State of the search for runs of nodes of a thread, and for the bursts that they form. */
struct burst_walk {
	struct depend_making *m;
	const struct launch_times *own, *all; /* launches of the thread, and of its process */
	size_t own_first, own_last, all_first, all_last;
	struct depend_burst burst;
	uint32_t around, before; /* in raw: the node around the burst, and the gap before it */
	bool open, launches;
};

static void add_wait(struct depend_making *m, uint32_t track, struct depend_wait w)
{
	VEC_PUSH(m->own, &m->waits[track].v, w);
}

/* Stores a burst in which work was launched. The node around it, on another thread, waits for the
 * end of the burst; the thread of the burst waited for that other thread before the burst. */
static void end_burst(struct burst_walk *w)
{
	struct depend_making *m = w->m;
	uint32_t id = (uint32_t)m->bursts.n;
	const struct depend_burst *b = &w->burst;

	if (!w->open || !w->launches)
		return;
	VEC_PUSH(m->own, &m->bursts, *b);
	if (w->around == ID_NONE)
		return;
	uint32_t other = m->raw.v[w->around].track;
	add_wait(m, other, (struct depend_wait){ b->start, b->end, ID_NONE, id, DEPEND_THREAD });
	VEC_PUSH(m->own, &m->to_bursts, ((struct burst_edge){ other, id }));
	if (w->before != ID_NONE)
		add_wait(m, b->track,
		        (struct depend_wait){ m->raw.v[w->before].start, b->start, ID_NONE, ID_NONE,
		                DEPEND_THREAD });
}

static void add_run(struct burst_walk *w, uint32_t gap, int64_t start, int64_t end)
{
	struct depend_making *m = w->m;
	size_t mine = launch_from(w->own, w->own_first, w->own_last, start);
	bool launches = mine < w->own_last && w->own->v.v[mine].start <= end;
	uint32_t around = find_around(m, w->burst.track, start, end);
	bool same = w->open && around == w->around;

	if (same) {
		size_t others = launch_from(w->all, w->all_first, w->all_last, w->burst.end);
		same = others == w->all_last || w->all->v.v[others].start >= start;
	}
	if (same) {
		w->burst.end = end;
		w->launches |= launches;
		return;
	}
	end_burst(w);
	w->open = true;
	w->launches = launches;
	w->burst.start = start;
	w->burst.end = end;
	w->around = around;
	w->before = gap;
}

static void add_bursts(struct burst_walk *w, uint32_t track)
{
	const struct depend_track *k = &w->m->raw_tracks[track];
	const struct depend_node *v = w->m->raw.v;
	uint32_t gap = ID_NONE;

	w->burst = (struct depend_burst){ .track = track };
	w->open = false;
	for (uint32_t i = k->first, n; i < k->first + k->n; i = n) {
		if (v[i].event == ID_NONE) {
			gap = i;
			n = i + 1;
			continue;
		}
		for (n = i + 1; n < k->first + k->n && v[n].event != ID_NONE; n++)
			;
		add_run(w, gap, v[i].start, v[n - 1].end);
		work_poll(w->m->own->work);
	}
	end_burst(w);
}

static int by_burst_end(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_burst *x = v;

	return (x[a].end > x[b].end) - (x[a].end < x[b].end);
}

static void sort_bursts(struct depend_making *m)
{
	for (uint32_t i = 0; i < m->bursts.n; i++) {
		struct depend_process *p = depend_process_of(m, m->bursts.v[i].track);
		VEC_PUSH(m->own, &p->bursts, i);
	}
	for (size_t i = 0; i <= m->d->t->processes.n; i++)
		sort_stable(m->own, m->processes[i].bursts.v, m->processes[i].bursts.n,
		        by_burst_end, m->bursts.v);
}

void depend_find_bursts(struct depend_making *m)
{
	struct launch_times own = { .v = { .n = 0 } }, all;
	struct scratch tmp;

	scratch_open(&tmp, m->a->work);
	collect_launches(m, &own, &tmp.a);
	all.v.v = ARENA_ARRAY(&tmp.a, own.v.n, struct launch_time);
	all.v.n = all.v.cap = own.v.n;
	if (own.v.n)
		memcpy(all.v.v, own.v.v, own.v.n * sizeof *own.v.v);
	sort_array(&tmp.a, own.v.v, own.v.n, sizeof *own.v.v, by_track);
	sort_array(&tmp.a, all.v.v, all.v.n, sizeof *all.v.v, by_process);
	for (size_t i = 0, n; i < own.v.n; i = n) {
		struct burst_walk w = { .m = m, .own = &own, .all = &all, .own_first = i };
		for (n = i + 1; n < own.v.n && own.v.v[n].track == own.v.v[i].track; n++)
			;
		w.own_last = n;
		while (w.all_first < all.v.n && all.v.v[w.all_first].process != own.v.v[i].process)
			w.all_first++;
		w.all_last = w.all_first;
		while (w.all_last < all.v.n && all.v.v[w.all_last].process == own.v.v[i].process)
			w.all_last++;
		add_bursts(&w, own.v.v[i].track);
	}
	scratch_close(&tmp);
	sort_bursts(m);
}
