/* SPDX-License-Identifier: Apache-2.0
 *
 * Edges and waits of the graph of dependencies, their lengths, and the order of its nodes.
 */
#include "trace/pass/depend_internal.h"

#include "base/heap.h"
#include "base/sort.h"

struct depend_process *depend_process_of(const struct depend_making *m, uint32_t track)
{
	uint32_t process = m->d->tracks[track].process;

	return &m->processes[process == ID_NONE ? m->d->t->processes.n : process];
}

uint32_t depend_find(const struct depend_node *v, const struct depend_track *k, int64_t at)
{
	uint32_t i;

	BISECT(i, 0, k->n, v[k->first + i].start < at);
	return i ? k->first + i - 1 : ID_NONE;
}

void depend_put_wait(
        struct depend_making *m, const struct depend_node *n, uint32_t work, uint32_t burst)
{
	int64_t end = work != ID_NONE ? m->d->nodes.v[work].end : m->bursts.v[burst].end;
	struct depend_wait w = { .from = n->start,
		.to = end > n->start ? end : n->start,
		.work = work,
		.burst = burst,
		.kind = work != ID_NONE ? DEPEND_SYNC : DEPEND_THREAD };

	VEC_PUSH(m->own, &m->waits[n->track].v, w);
}

void depend_put_room(struct depend_making *m, const struct depend_node *n, uint32_t work)
{
	struct depend_waits *to = &m->waits[n->track];

	depend_put_wait(m, n, work, ID_NONE);
	to->v.v[to->v.n - 1].kind = DEPEND_QUEUE;
}

void depend_add_edge(struct depend_making *m, uint32_t from, uint32_t to, enum depend_kind kind)
{
	const struct depend_node *v = m->d->nodes.v;
	int64_t slack = num_sub(v[to].start, v[from].end);

	if (slack < 0 || from == to) {
		m->d->dropped++;
		return;
	}
	VEC_PUSH(m->own, &m->edges,
	        ((struct depend_made){ { 0, from, (uint8_t)kind, slack == 0 }, to }));
}

/* ---- order ---- */

/* The nodes of a track that are not in the order yet. */
struct order_head {
	int64_t start; /* start of the next node */
	uint32_t next, end;
	uint8_t rank; /* rank of the next node */
};

static bool is_before(const void *a, const void *b)
{
	const struct order_head *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start;
	return x->rank != y->rank ? x->rank < y->rank : x->next < y->next;
}

/* Returns the rank of each node among nodes of the same start: threads come before devices, and
 * devices before threads that waited. */
static uint8_t *find_ranks(struct depend_making *m)
{
	const struct depend *d = m->d;
	uint8_t *rank = ARENA_ARRAY(m->own, d->nodes.n, uint8_t);

	for (size_t i = 0; i < d->nodes.n; i++)
		rank[i] = !d->nodes.v[i].host;
	for (size_t i = 0; i < m->edges.n; i++)
		if (d->nodes.v[m->edges.v[i].to].host)
			rank[m->edges.v[i].to] = 2;
	return rank;
}

/* Stores the nodes of each track in the order of the replay. They are already sorted by start. */
static void order_tracks(const struct depend *d, const uint8_t *rank, uint32_t *ids)
{
	const struct depend_node *v = d->nodes.v;

	for (size_t k = 0; k < d->t->tracks.n; k++) {
		uint32_t first = d->tracks[k].first, end = first + d->tracks[k].n;
		for (uint32_t i = first; i < end; i++) {
			uint32_t at = i;
			for (; at > first && v[ids[at - 1]].start == v[i].start &&
			        rank[ids[at - 1]] > rank[i];
			        at--)
				ids[at] = ids[at - 1];
			ids[at] = i;
		}
	}
}

static void set_head(
        struct order_head *h, const struct depend *d, const uint8_t *rank, const uint32_t *ids)
{
	h->start = d->nodes.v[ids[h->next]].start;
	h->rank = rank[ids[h->next]];
}

/* Returns the nodes in topological order: each after the sources of its edges. Nodes are ordered by
 * start; nodes with equal starts, by rank. ids: scratch space for all nodes. */
static uint32_t *order_nodes(struct depend_making *m, uint32_t *ids)
{
	const struct depend *d = m->d;
	const uint8_t *rank = find_ranks(m);
	uint32_t *order = ARENA_ARRAY(m->a, d->nodes.n, uint32_t);
	struct order_head *heads = ARENA_ARRAY(m->own, d->t->tracks.n, struct order_head);
	size_t n = 0, live = 0;

	order_tracks(d, rank, ids);
	for (size_t k = 0; k < d->t->tracks.n; k++) {
		const struct depend_track *track = &d->tracks[k];
		if (!track->n)
			continue;
		heads[live] =
		        (struct order_head){ .next = track->first, .end = track->first + track->n };
		set_head(&heads[live++], d, rank, ids);
	}
	heap_make(heads, live, sizeof *heads, is_before);
	while (live) {
		order[n++] = ids[heads[0].next++];
		if (heads[0].next < heads[0].end)
			set_head(&heads[0], d, rank, ids);
		else
			heads[0] = heads[--live];
		heap_down(heads, live, sizeof *heads, 0, is_before);
	}
	return order;
}

/* Drops the edges that contradict the order of the nodes. place: scratch space for all nodes. */
static void drop_backward(struct depend_making *m, const uint32_t *order, uint32_t *place)
{
	struct depend *d = m->d;
	size_t n = 0;

	for (uint32_t i = 0; i < d->nodes.n; i++)
		place[order[i]] = i;
	for (size_t i = 0; i < m->edges.n; i++) {
		if (place[m->edges.v[i].edge.from] < place[m->edges.v[i].to])
			m->edges.v[n++] = m->edges.v[i];
		else
			d->dropped++;
	}
	m->edges.n = n;
}

/* Gives each node a binding edge. A thread's node without one gets an edge from the node before it,
 * as long as the pause between them; for other nodes, the first edge becomes binding. */
static void bind_rest(struct depend_making *m)
{
	struct depend *d = m->d;
	bool *bound = ARENA_ARRAY(m->own, d->nodes.n, bool);

	for (size_t i = 0; i < m->edges.n; i++)
		bound[m->edges.v[i].to] |= m->edges.v[i].edge.binding;
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *n = &d->nodes.v[i];
		if (bound[i] || !n->host || n->first)
			continue;
		bound[i] = true;
		if (n[-1].end != n->start)
			VEC_PUSH(m->own, &m->edges,
			        ((struct depend_made){
			                { n->start - n[-1].end, i - 1, DEPEND_THREAD, true }, i }));
	}
	for (size_t i = 0; i < m->edges.n; i++) {
		struct depend_edge *e = &m->edges.v[i].edge;
		const struct depend_node *from = &d->nodes.v[e->from];
		if (bound[m->edges.v[i].to])
			continue;
		bound[m->edges.v[i].to] = e->binding = true;
		e->length = num_sub(d->nodes.v[m->edges.v[i].to].start,
		        e->kind == DEPEND_LAUNCH ? from->start : from->end);
	}
}

static void sort_edges(struct depend_making *m)
{
	struct depend *d = m->d;
	size_t n = d->nodes.n;

	d->first_edge = ARENA_ARRAY(m->a, n + 2, uint32_t);
	d->edges = ARENA_ARRAY(m->a, m->edges.n, struct depend_edge);
	for (size_t i = 0; i < m->edges.n; i++)
		d->first_edge[m->edges.v[i].to + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		d->first_edge[i] += d->first_edge[i - 1];
	for (size_t i = 0; i < m->edges.n; i++)
		d->edges[d->first_edge[m->edges.v[i].to + 1]++] = m->edges.v[i].edge;
}

void depend_sort_edges(struct depend_making *m)
{
	uint32_t *scratch = ARENA_ARRAY(m->own, m->d->nodes.n, uint32_t);

	m->d->order = order_nodes(m, scratch);
	drop_backward(m, m->d->order, scratch);
	bind_rest(m);
	sort_edges(m);
}

const struct depend_context *depend_context(const struct depend *d, const struct depend_node *n)
{
	return n->context == ID_NONE ? NULL : &d->contexts.v[n->context];
}

uint32_t depend_frame(const struct depend *d, const struct depend_node *n)
{
	return n->context == ID_NONE ? ID_NONE : d->contexts.v[n->context].frame;
}

int64_t depend_arrival(const struct depend *d, const struct depend_node *to,
        const struct depend_edge *e, int64_t left, const struct depend_times *times)
{
	int64_t length = e->length, base;

	if (e->kind == DEPEND_SYNC)
		return times->no_sync ? INT64_MIN : num_add(left, length);
	if (to->host)
		return num_add(left, length);
	base = depend_base(d, to, (enum depend_kind)e->kind);
	if (times->based)
		length = base;
	if (e->kind == DEPEND_LAUNCH) {
		int64_t latency = length < base ? length : base;
		length -= latency - (int64_t)((double)latency * times->launch);
	}
	return num_add(left, length);
}

int64_t depend_base(const struct depend *d, const struct depend_node *to, enum depend_kind kind)
{
	uint32_t device = d->t->tracks.v[to->track].device;

	if (device == ID_NONE || kind == DEPEND_SYNC || kind == DEPEND_QUEUE ||
	        kind == DEPEND_THREAD)
		return 0;
	return kind == DEPEND_LAUNCH ? d->bases[device].latency : d->bases[device].gap;
}
