/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers: asked of the client, filled, and given back, or not.
 */
#define _GNU_SOURCE
#include "cupti.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

static _Thread_local unsigned my_shard, my_id;

static unsigned shard(void)
{
	static _Atomic unsigned threads;

	if (!habit("threads"))
		return 0;
	if (!my_shard)
		my_shard = 1 + threads++;
	return my_shard % SHARDS;
}

uint32_t thread_id(void)
{
	if (!my_id)
		my_id = (unsigned)gettid();
	return my_id;
}

/* ---- giving back ---- */

static void drop_buffer(struct buffer *b)
{
	if (b->own != b->client)
		free(b->own);
	free(b->open);
	free(b);
}

/* The kernels of a buffer of which the client sees no times, as they have not ended. */
static unsigned unended(const struct buffer *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < b->n_open; i++)
		n += b->open[i].kernel && !losses_ended(b->open[i].stream, b->open[i].work);
	return n;
}

/* Without times: start 0, end 0. */
static void clear_times(struct buffer *b)
{
	for (size_t i = 0; i < b->n_open; i++)
		if (!losses_ended(b->open[i].stream, b->open[i].work))
			memset(b->own + b->open[i].at + 16, 0, 24);
}

static void give(struct activity *a, struct buffer *b)
{
	static _Atomic uint64_t given;
	struct client *to = habit("newest") && a->client ? a->client : b->owner;

	if ((habit("keep") && ++given % habit("keep") == 0) ||
	        (habit("keepfrom") && losses_truth()[FLUSHES] >= habit("keepfrom")))
		return; /* the client's memory stays with CUPTI */
	TRUE_COUNT(UNENDED, unended(b));
	clear_times(b);
	if (b->own != b->client)
		memcpy(b->client, b->own, b->used);
	TRUE_COUNT(to->first ? GIVEN : STOLEN, b->kernels);
	TRUE_COUNT(RETURNED, b->owner->first && to->first ? b->records : 0);
	readable(b->client, b->size);
	if (to->complete2)
		to->complete2(b->client, b->size, b->used, NULL);
	else
		to->complete(NULL, 0, b->client, b->size, b->used);
	drop_buffer(b);
}

static void give_all(struct activity *a, struct buffer *b)
{
	for (struct buffer *next; b; b = next) {
		next = b->next;
		give(a, b);
	}
}

/* True if all work in a buffer has ended; the last is the most likely not to have. */
static int all_ended(const struct buffer *b)
{
	for (size_t i = b->n_open; i-- > 0;)
		if (!losses_ended(b->open[i].stream, b->open[i].work))
			return 0;
	return 1;
}

/* Takes full buffers without unfinished work out of the list; forced: all. Locked. */
static struct buffer *take(struct activity *a, int forced)
{
	struct buffer *out = NULL, **end = &out;

	for (struct buffer **at = &a->full, *b; (b = *at);) {
		if (!forced && !all_ended(b)) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		b->next = NULL;
		*end = b;
		end = &b->next;
	}
	a->full_end = &a->full;
	while (*a->full_end)
		a->full_end = &(*a->full_end)->next;
	return out;
}

/* Ends the filling of a buffer. Locked. */
static void fill_up(struct activity *a, unsigned i)
{
	struct buffer *b = a->now[i];

	a->now[i] = NULL;
	if (!b)
		return;
	b->next = NULL;
	*a->full_end = b;
	a->full_end = &b->next;
}

/* ---- filling ---- */

static pthread_cond_t work_for_worker = PTHREAD_COND_INITIALIZER;

/* The buffer of a thread, with room for a record; NULL: the client has none. Locked. */
static struct buffer *room(struct activity *a, size_t size)
{
	struct buffer **now = &a->now[shard()], *b = *now;
	uint8_t *memory = NULL;
	size_t bytes = 0, most = 0;

	if (b && b->size - b->used >= size)
		return b;
	fill_up(a, shard());
	pthread_cond_signal(&work_for_worker);
	if (!a->client)
		return NULL;
	if (a->client->request2)
		a->client->request2(&memory, &bytes, &most, NULL);
	else
		a->client->request(&memory, &bytes, &most);
	if (!memory || bytes < size)
		return NULL;
	b = need(calloc(1, sizeof *b));
	*b = (struct buffer){ .owner = a->client, .client = memory, .own = memory, .size = bytes };
	if (habit("hide"))
		b->own = need(calloc(1, bytes));
	return *now = b;
}

/* Writes a record into a buffer. Locked. */
static void write_record(
        struct activity *a, const void *record, size_t size, const struct open_record *what)
{
	struct buffer *b = room(a, size);

	if (!b) {
		/* A client that has left has no records. */
		int first = a == &shared || (a->client && a->client->first);

		a->dropped++;
		TRUE_COUNT(DROPPED, first);
		TRUE_COUNT(DROPPED_KERNELS, what->kernel && first);
		return;
	}
	memcpy(b->own + b->used, record, size);
	if (what->kernel) {
		if (b->n_open == b->room) {
			b->room = b->room ? 2 * b->room : 64;
			b->open = need(realloc(b->open, b->room * sizeof *b->open));
		}
		b->open[b->n_open] = *what;
		b->open[b->n_open++].at = b->used;
		b->kernels++;
	}
	b->used += size;
	b->records++;
	TRUE_COUNT(WRITTEN, b->owner->first);
}

/* Writes the records whose work has ended since, or the first of them. Locked. */
static void write_ended(struct activity *a, int first)
{
	struct pending **at = &a->pending, *p;

	for (int n = 0; (p = *at) && !(first && n);) {
		if (!losses_ended(p->what.stream, p->what.work)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		write_record(a, p->record, p->size, &p->what);
		free(p);
		n++;
	}
	if (!*at)
		a->pending_end = at;
}

void put(struct activity *a, const void *record, size_t size, struct open_record what)
{
	struct buffer *full = NULL, *last;
	int before = errno;

	pthread_mutex_lock(&a->lock);
	last = a->now[shard()];
	for (struct pending *p; (p = a->pending) && losses_ended(p->what.stream, p->what.work);)
		write_ended(a, 1);
	if (habit("pend") && what.kernel && !losses_ended(what.stream, what.work)) {
		struct pending *p = need(calloc(1, sizeof *p));

		memcpy(p->record, record, size);
		p->size = size;
		p->what = what;
		*a->pending_end = p;
		a->pending_end = &p->next;
	} else {
		write_record(a, record, size, &what);
	}
	if (!habit("worker") && a->now[shard()] != last)
		full = take(a, 0);
	pthread_mutex_unlock(&a->lock);
	give_all(a, full);
	errno = before;
}

/* ---- flushing ---- */

int flush(struct activity *a, int forced)
{
	struct buffer *list;

	pthread_mutex_lock(&a->lock);
	write_ended(a, 0);
	for (struct pending *p; forced && (p = a->pending); free(p)) {
		a->pending = p->next;
		TRUE_COUNT(UNENDED, 1);
	}
	if (!a->pending)
		a->pending_end = &a->pending;
	for (unsigned i = 0; i < SHARDS; i++)
		if (a->now[i] && (forced || all_ended(a->now[i])))
			fill_up(a, i);
	list = take(a, forced);
	pthread_mutex_unlock(&a->lock);
	give_all(a, list);
	return OK;
}

void abandon(struct activity *a)
{
	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < SHARDS; i++)
		fill_up(a, i);
	for (struct buffer *b = take(a, 1), *next; b; b = next) {
		next = b->next;
		drop_buffer(b);
	}
	for (struct pending *p; (p = a->pending); free(p))
		a->pending = p->next;
	a->pending_end = &a->pending;
	pthread_mutex_unlock(&a->lock);
}

/* ---- CUPTI's thread ---- */

static void *worker(void *unused)
{
	(void)unused;
	for (;;) {
		struct buffer *list;

		pthread_mutex_lock(&shared.lock);
		while (!(list = down ? NULL : take(&shared, 0)))
			pthread_cond_wait(&work_for_worker, &shared.lock);
		pthread_mutex_unlock(&shared.lock);
		give_all(&shared, list);
	}
	return NULL;
}

void start_worker(void)
{
	static _Atomic int started;
	pthread_t t;

	if (habit("worker") && !several && !started++ && !pthread_create(&t, NULL, worker, NULL))
		pthread_detach(t);
}
