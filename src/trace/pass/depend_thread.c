/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of threads: self times of nested slices and the gaps between them; then without the parts
 * in which the thread waited.
 */
#include "trace/pass/depend_internal.h"

#include "base/sort.h"

/* ---- nested slices ---- */

#define RAW_NODES 4096 /* number of nodes in raw that are passed on together */

/* An open slice of a thread. */
struct open_level {
	int64_t end;
	uint32_t event, slice, context;
};

struct thread_walk {
	struct depend_making *m;
	struct arena *own;
	VEC(struct open_level) open;
	uint32_t track;
	int64_t at; /* end of the nodes so far, ticks */
	bool any;
};

static void add_node(struct thread_walk *w, const struct open_level *s, int64_t end)
{
	struct depend *d = w->m->d;
	int64_t from = w->at > d->from ? w->at : d->from, to = end < d->to ? end : d->to;

	if (end > w->at)
		w->at = end;
	if (to <= from)
		return;
	VEC_PUSH(w->m->own, &w->m->raw,
	        ((struct depend_node){ .start = from,
	                .end = to,
	                .event = s ? s->event : ID_NONE,
	                .slice = s ? s->slice : ID_NONE,
	                .context = s ? s->context : ID_NONE,
	                .track = w->track,
	                .host = true }));
	if (w->m->take && w->m->raw.n >= RAW_NODES)
		w->m->take(w->m->user);
}

static void close_until(struct thread_walk *w, int64_t at)
{
	while (w->open.n && w->open.v[w->open.n - 1].end <= at) {
		add_node(w, &w->open.v[w->open.n - 1], w->open.v[w->open.n - 1].end);
		w->open.n--;
	}
}

/* Makes a slice fit into the innermost open slice, by cutting the shorter of the two parts: the
 * part beyond the end of the open slice, or the part inside. */
static void cut_overlap(struct thread_walk *w, int64_t start, int64_t *end)
{
	while (w->open.n && *end > w->open.v[w->open.n - 1].end) {
		struct open_level *top = &w->open.v[w->open.n - 1];
		int64_t beyond = num_sub(*end, top->end), inside = num_sub(top->end, start);
		w->m->d->cut++;
		w->m->d->cut_ticks = num_add(w->m->d->cut_ticks, beyond < inside ? beyond : inside);
		if (beyond <= inside) {
			*end = top->end;
			return;
		}
		add_node(w, top, start);
		w->open.n--;
	}
}

uint32_t depend_add_context(struct depend_making *m, uint32_t parent, uint32_t event)
{
	struct depend *d = m->d;
	uint32_t id = (uint32_t)d->contexts.n;
	uint64_t key = (uint64_t)(parent + 1) << 32 | event;
	const struct trace_event *e = &d->t->events.v[event];
	bool line = e->category == CATEGORY_FRAME && frame_has_line(trace_str(d->t, e->name));

	if (imap_get(&m->contexts, key, &id))
		return id;
	imap_put(&m->contexts, key, id, true);
	struct depend_context around = { .frame = ID_NONE }, made;

	if (parent != ID_NONE)
		around = d->contexts.v[parent];
	made = (struct depend_context){ .parent = parent,
		.event = event,
		.frame = line ? event : around.frame,
		.loads = around.loads || d->classes[event] == DEPEND_LOADS };
	VEC_PUSH(m->a, &d->contexts, made);
	return id;
}

static void open_level(struct thread_walk *w, const struct slice *s, bool contexts)
{
	const struct open_level *top;
	int64_t end = slice_end(s);

	close_until(w, s->start);
	cut_overlap(w, s->start, &end);
	top = w->open.n ? &w->open.v[w->open.n - 1] : NULL;
	if (top || w->any)
		add_node(w, top, s->start);
	else
		w->at = s->start;
	w->any = true;
	struct open_level made = { .end = end, .event = s->event, .slice = s->number };
	made.context = contexts ? depend_add_context(w->m, top ? top->context : ID_NONE, s->event)
	                        : ID_NONE;
	VEC_PUSH(w->own, &w->open, made);
}

/* True if a thread waits in a slice and so needs no CPU: a preempted thread loses no time there. */
static bool is_waiting(const struct depend *d, const struct open_level *s)
{
	enum depend_class class = s ? d->classes[s->event] : DEPEND_PLAIN;

	return class != DEPEND_PLAIN && class != DEPEND_LOADS;
}

/* True if a slice states that the thread had no CPU while the thread waited for something else. */
static bool is_idle_thread(struct thread_walk *w, const struct slice *s)
{
	if (s->category != CATEGORY_PREEMPTED)
		return false;
	close_until(w, s->start);
	return is_waiting(w->m->d, w->open.n ? &w->open.v[w->open.n - 1] : NULL);
}

int64_t depend_add_thread(struct depend_making *m, uint32_t track)
{
	struct slice_iter it = trace_slices(m->d->t, track);
	struct depend_track *k = &m->raw_tracks[track];
	struct scratch own;

	scratch_open(&own, m->a->work);
	struct thread_walk w = { .m = m, .own = &own.a, .track = track };
	k->first = (uint32_t)m->raw.n;
	for (struct slice s; slice_next(&it, &s) && s.start < m->d->to;)
		if (s.form == SLICE_COMPLETE && s.length > 0 && !is_idle_thread(&w, &s))
			open_level(&w, &s, m->d->tracks[track].host);
	close_until(&w, INT64_MAX);
	k->n = (uint32_t)m->raw.n - k->first;
	int64_t end = w.at < m->d->to ? w.at : m->d->to;
	scratch_close(&own);
	return end;
}

/* ---- waits taken out ---- */

/* A thread while its waits are taken out of its nodes. */
struct thread_cut {
	struct depend_making *m;
	const struct depend_waits *waits;
	size_t next, pending, pending_n; /* waits before the next node */
	uint32_t last;                   /* node added last, or ID_NONE */
	uint32_t track;
};

/* Adds an edge from the start of a call to its part after a wait, because without the wait the call
 * would still take its own length. */
static void own_length(struct depend_making *m, uint32_t before, uint32_t node)
{
	const struct depend_node *n = &m->d->nodes.v[node], *b;
	int64_t own, slack;

	if (before == ID_NONE)
		return;
	b = &m->d->nodes.v[before];
	if (b->slice != n->slice || b->end != b->start || n->event == ID_NONE)
		return;
	own = num_sub(m->lengths[n->event], n->end - n->start);
	slack = n->start - b->start;
	if (own > 0 && slack > 0)
		VEC_PUSH(m->own, &m->edges,
		        ((struct depend_made){
		                { own < slack ? own : slack, before, DEPEND_THREAD, false },
		                node }));
}

static void add_piece(struct thread_cut *c, const struct depend_node *n, int64_t from, int64_t to)
{
	struct depend *d = c->m->d;
	struct depend_node made = *n;
	uint32_t id = (uint32_t)d->nodes.n;

	made.start = from;
	made.end = to;
	made.first = c->last == ID_NONE;
	VEC_PUSH(c->m->a, &d->nodes, made);
	for (; c->pending < c->pending_n; c->pending++) {
		const struct depend_wait *w = &c->waits->v.v[c->pending];
		if (w->work != ID_NONE)
			depend_add_edge(c->m, w->work, id, w->kind);
		else if (w->burst != ID_NONE)
			VEC_PUSH(c->m->own, &c->m->from_bursts,
			        ((struct burst_edge){ id, w->burst }));
	}
	own_length(c->m, c->last, id);
	c->last = id;
}

/* Adds a node without the time in which it waits. A call that waits from its start keeps a node of
 * length 0 there, because it may launch work. */
static void cut_node(struct thread_cut *c, const struct depend_node *n)
{
	int64_t at = n->start;
	const struct depend_waits *waits = c->waits;
	const struct depend *d = c->m->d;
	bool call = n->event != ID_NONE && (d->t->events.v[n->event].category == CATEGORY_CALL ||
	                                           d->classes[n->event] == DEPEND_COPIES);

	for (; c->next < waits->v.n && waits->v.v[c->next].from < n->end; c->next++) {
		const struct depend_wait *w = &waits->v.v[c->next];
		if (w->from > at || call)
			add_piece(c, n, at, w->from > at ? w->from : at);
		call = false;
		at = w->to > at ? w->to : at;
		c->pending_n = c->next + 1;
	}
	if (at < n->end)
		add_piece(c, n, at, n->end);
}

static int by_begin(const void *v, uint32_t a, uint32_t b)
{
	const struct depend_wait *x = v;

	return (x[a].from > x[b].from) - (x[a].from < x[b].from);
}

static void cut_thread(struct depend_making *m, uint32_t track)
{
	const struct depend_track *raw = &m->raw_tracks[track];
	struct depend_track *k = &m->d->tracks[track];
	struct thread_cut c = {
		.m = m, .waits = &m->waits[track], .last = ID_NONE, .track = track
	};

	sort_array(m->own, m->waits[track].v.v, m->waits[track].v.n, sizeof(struct depend_wait),
	        by_begin);
	k->first = (uint32_t)m->d->nodes.n;
	for (uint32_t i = raw->first; i < raw->first + raw->n; i++)
		cut_node(&c, &m->raw.v[i]);
	if (c.pending < c.pending_n) {
		struct depend_node last = m->raw.v[raw->first + raw->n - 1];
		add_piece(&c, &last, last.end, last.end);
	}
	k->n = (uint32_t)m->d->nodes.n - k->first;
}

/* Finds the nodes with which a burst begins and ends. */
static void place_burst(const struct depend *d, struct depend_burst *b)
{
	const struct depend_track *k = &d->tracks[b->track];
	uint32_t last = depend_find(d->nodes.v, k, b->end);

	b->first = depend_find(d->nodes.v, k, b->start);
	b->first = b->first == ID_NONE ? k->first : b->first + 1;
	b->last = last;
	if (b->first >= k->first + k->n || last == ID_NONE || last < b->first)
		b->first = b->last = ID_NONE;
}

static void join_bursts(struct depend_making *m)
{
	struct depend *d = m->d;

	for (size_t i = 0; i < m->from_bursts.n; i++) {
		const struct burst_edge *x = &m->from_bursts.v[i];
		const struct depend_burst *b = &m->bursts.v[x->burst];
		if (b->last != ID_NONE)
			depend_add_edge(m, b->last, x->node, DEPEND_THREAD);
	}
	for (size_t i = 0; i < m->to_bursts.n; i++) {
		const struct burst_edge *x = &m->to_bursts.v[i]; /* true: a starting thread */
		const struct depend_burst *b = &m->bursts.v[x->burst];
		uint32_t from = depend_find(d->nodes.v, &d->tracks[x->node], b->start);
		if (b->first != ID_NONE && from != ID_NONE)
			depend_add_edge(m, from, b->first, DEPEND_THREAD);
	}
}

void depend_cut_threads(struct depend_making *m)
{
	for (uint32_t i = 0; i < m->d->t->tracks.n; i++)
		if (m->d->tracks[i].host && m->raw_tracks[i].n)
			cut_thread(m, i);
	for (size_t i = 0; i < m->bursts.n; i++)
		place_burst(m->d, &m->bursts.v[i]);
	join_bursts(m);
}

/* ---- calls without waiting ---- */

struct call_length {
	int64_t length;
	uint32_t event;
};

static int by_event_and_length(const void *v, uint32_t a, uint32_t b)
{
	const struct call_length *x = (const struct call_length *)v + a,
	                         *y = (const struct call_length *)v + b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

/* Marks the nodes of raw that waited, and their events. */
static void mark_waiting(const struct depend_making *m, bool *nodes, bool *events)
{
	for (uint32_t i = 0; i < m->d->t->tracks.n; i++) {
		for (size_t j = 0; j < m->waits[i].v.n; j++) {
			const struct depend_wait *w = &m->waits[i].v.v[j];
			uint32_t at = depend_find(m->raw.v, &m->raw_tracks[i], num_add(w->from, 1));
			if (at == ID_NONE || m->raw.v[at].event == ID_NONE || w->to == w->from)
				continue;
			nodes[at] = true;
			events[m->raw.v[at].event] = true;
		}
	}
}

/* Finds the median length of the calls that did not wait, for each call name of which some calls
 * waited. */
void depend_find_lengths(struct depend_making *m)
{
	const struct trace *t = m->d->t;
	bool *waited = ARENA_ARRAY(m->own, m->raw.n, bool);
	bool *events = ARENA_ARRAY(m->own, t->events.n, bool);
	VEC(struct call_length) v = { .n = 0 };

	m->lengths = ARENA_ARRAY(m->own, t->events.n, int64_t);
	mark_waiting(m, waited, events);
	for (size_t i = 0; i < m->raw.n; i++) {
		const struct depend_node *n = &m->raw.v[i];
		if (!waited[i] && n->event != ID_NONE && events[n->event] &&
		        t->events.v[n->event].category == CATEGORY_CALL)
			VEC_PUSH(m->own, &v, ((struct call_length){ n->end - n->start, n->event }));
	}
	sort_array(m->own, v.v, v.n, sizeof *v.v, by_event_and_length);
	for (size_t i = 0, n; i < v.n; i = n) {
		for (n = i + 1; n < v.n && v.v[n].event == v.v[i].event; n++)
			;
		m->lengths[v.v[i].event] = v.v[i + (n - i) / 2].length;
	}
}
