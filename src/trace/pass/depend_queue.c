/* SPDX-License-Identifier: Apache-2.0
 *
 * The capacity of the queue of a device: the number of pieces of work that can be pending. It is
 * recognised if launches block while the device has work, each time with the same number of pending
 * pieces. Then a launch ends after the work that was launched that many places before it. If no
 * launch blocks in this way, launches never wait for room in the queue. Where the file has the
 * waits for room as slices (DEPEND_FULL), depend_wait.c finds what they wait for.
 */
#include "trace/pass/depend_internal.h"

#include "base/sort.h"

#define QUEUE_LEAST 64 /* smallest ceiling that is considered */
#define QUEUE_SEEN  3  /* number of launches that the ceiling must have blocked */
#define QUEUE_LONG  10 /* a blocked launch takes at least 10 times the 10th percentile */
#define QUEUE_NEAR  50 /* a pending number within 1/QUEUE_NEAR of the ceiling reaches it */

/* A launch onto a device, with the last of its work. */
struct queued {
	int64_t start, end, ended; /* start and end of the call, and end of the work */
	uint32_t work;
	uint32_t pending; /* number of unfinished launches when the call ends */
};

struct queue {
	VEC(struct queued) v;
};

static int by_call(const void *v, uint32_t a, uint32_t b)
{
	const struct queued *x = v;

	return (x[a].start > x[b].start) - (x[a].start < x[b].start);
}

/* Collects the launches onto a device in order. */
static void collect(
        const struct depend_making *m, uint32_t device, struct queue *q, struct arena *a)
{
	const struct depend *d = m->d;
	size_t n = 0;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct depend_node *x = &d->nodes.v[i];
		const struct launch *l = depend_launch(d, x);
		if (!l || d->t->tracks.v[x->track].device != device || l->start < d->from)
			continue;
		VEC_PUSH(a, &q->v,
		        ((struct queued){ l->start, launch_end(d->links, l), x->end, i, 0 }));
	}
	sort_array(a, q->v.v, q->v.n, sizeof *q->v.v, by_call);
	for (size_t i = 0; i < q->v.n; i++) {
		struct queued *last = n ? &q->v.v[n - 1] : NULL;
		if (!last || last->start != q->v.v[i].start)
			q->v.v[n++] = q->v.v[i];
		else if (q->v.v[i].ended > last->ended)
			*last = q->v.v[i];
	}
	q->v.n = n;
}

/* Counts the pending launches at the end of each call. Returns the largest number. */
static uint32_t count_pending(struct queue *q, struct arena *a)
{
	int64_t *ends = ARENA_ARRAY(a, q->v.n, int64_t);
	uint32_t most = 0;

	for (size_t i = 0; i < q->v.n; i++)
		ends[i] = q->v.v[i].ended;
	sort_array(a, ends, q->v.n, sizeof *ends, sort_ascending);
	for (size_t i = 0, ended = 0; i < q->v.n; i++) {
		while (ended < q->v.n && ends[ended] <= q->v.v[i].end)
			ended++;
		q->v.v[i].pending = i + 1 > ended ? (uint32_t)(i + 1 - ended) : 0;
		most = q->v.v[i].pending > most ? q->v.v[i].pending : most;
	}
	return most;
}

static int64_t short_call(const struct queue *q, struct arena *a)
{
	int64_t *v = ARENA_ARRAY(a, q->v.n, int64_t);

	for (size_t i = 0; i < q->v.n; i++)
		v[i] = num_sub(q->v.v[i].end, q->v.v[i].start);
	sort_array(a, v, q->v.n, sizeof *v, sort_ascending);
	return v[q->v.n / 10];
}

/* Returns the ceiling, or 0 if there is none. */
static uint32_t find_ceiling(struct queue *q, struct arena *a)
{
	uint32_t most = q->v.n < QUEUE_LEAST ? 0 : count_pending(q, a);
	size_t at_most = 0, blocked = 0;
	int64_t usual;

	if (most < QUEUE_LEAST)
		return 0;
	usual = short_call(q, a);
	for (size_t i = 0; i < q->v.n; i++) {
		const struct queued *x = &q->v.v[i];
		if (x->pending < most - most / QUEUE_NEAR)
			continue;
		at_most++;
		blocked += num_sub(x->end, x->start) >= num_mul(usual, QUEUE_LONG);
	}
	return blocked >= QUEUE_SEEN && blocked * 2 >= at_most ? most : 0;
}

/* Adds an edge to each launch that blocked until the queue had room. */
static void block_launches(struct depend_making *m, const struct queue *q, uint32_t ceiling)
{
	for (size_t i = ceiling; i < q->v.n; i++) {
		const struct queued *x = &q->v.v[i], *room = &q->v.v[i - ceiling];
		const struct launch *l = depend_launch(m->d, &m->d->nodes.v[x->work]);
		if (!l)
			continue;
		const struct depend_track *k = &m->raw_tracks[trace_track_of(m->d->t, l->slice)];
		uint32_t call = depend_find(m->raw.v, k, num_add(l->start, 1));
		if (call != ID_NONE && m->raw.v[call].slice == l->slice &&
		        room->ended <= m->raw.v[call].end)
			depend_put_room(m, &m->raw.v[call], room->work);
	}
}

void depend_find_queue(struct depend_making *m)
{
	for (uint32_t i = 0; i < m->d->t->devices.n; i++) {
		struct queue q = { .v = { .n = 0 } };
		struct scratch own;
		uint32_t ceiling;

		scratch_open(&own, m->a->work);
		collect(m, i, &q, &own.a);
		ceiling = find_ceiling(&q, &own.a);
		if (ceiling)
			block_launches(m, &q, ceiling);
		scratch_close(&own);
	}
}
