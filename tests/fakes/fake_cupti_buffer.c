/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of the fake CUPTI. As in the real one, a kernel has its record when it is launched and
 * its times when it has ended; a buffer with incomplete records stays here, full or not, until they
 * are complete or a flush is forced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cupti.h"

void *fake_alloc(void *old, size_t n)
{
	int kept = errno;
	void *p = realloc(old, n);

	if (!p)
		abort();
	errno = kept;
	return p;
}

/* Before 13.0 threads share buffers, from 13.0 on each has its own; unless FAKE_THREADS says so, a
 * few shards stand for both. */
struct shard *fake_shard(struct fake_client *c)
{
	static unsigned next;
	static __thread unsigned mine;

	if (!mine)
		mine = 1 + __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
	if (fake_option("FAKE_THREADS"))
		return &c->shard[mine % SHARDS];
	return &c->shard[(NEWER ? mine : fake_tid(c)) % SHARED];
}

/* Completes the records whose work has ended. */
static void settle(struct filling *f)
{
	uint64_t now = fake_now();
	unsigned left = 0;

	for (unsigned i = 0; i < f->n_pending; i++) {
		struct pending *p = &f->pending[i];

		if (p->end > now) {
			f->pending[left++] = *p;
			continue;
		}
		memcpy(p->record + p->start_at, &p->start, 8);
		memcpy(p->record + p->end_at, &p->end, 8);
	}
	f->n_pending = left;
}

int fake_has_buffers(struct fake_client *c)
{
	return GET(c->request) || GET(c->request_v2);
}

/* Another thread may finalize CUPTI at any moment: a callback is read once. */
static void request(struct fake_client *c, struct filling *f)
{
	requested_v2 *request_v2 = GET(c->request_v2);
	requested *request = GET(c->request);
	size_t most;

	if (request_v2)
		request_v2(&f->data, &f->size, &most, NULL);
	else if (request)
		request(&f->data, &f->size, &most);
}

static void complete(struct fake_client *c, uint8_t *p, size_t size, size_t valid)
{
	completed_v2 *complete_v2 = GET(c->complete_v2);
	completed *complete = GET(c->complete);

	if (complete_v2)
		complete_v2(p, size, valid, NULL);
	else if (complete)
		complete(NULL, 0, p, size, valid);
}

static void hand_over(struct fake_client *c, struct filling *f)
{
	uint8_t *p = f->client;
	size_t valid = f->used;

	if (f->data != p) {
		memcpy(p, f->data, valid);
		free(f->data);
	}

	if (fake_option_is("FAKE_END", "truncated") && valid > 20)
		valid -= 20;
	if (fake_option_is("FAKE_END", "empty"))
		valid = 0;
	if (fake_option_is("FAKE_END", "unknown") && f->size - valid >= 48) {
		memset(p + valid, 0, 48);
		p[valid] = 55;
		valid += 48;
	}
	complete(c, p, f->size, valid);
	free(f->pending);
	free(f);
}

/* Hands over the full buffers of a shard that may go; the one that is being filled too if `all`. */
static void give_back(struct shard *s, int forced, int all)
{
	struct filling **at = &s->full;

	while (*at) {
		struct filling *f = *at;

		settle(f);
		if (f->n_pending && !forced) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		hand_over(s->owner, f);
	}
	if (!all || !s->now)
		return;
	settle(s->now);
	if (s->now->n_pending && !forced)
		return;
	hand_over(s->owner, s->now);
	s->now = NULL;
}

uint8_t *fake_room(struct shard *s, size_t n)
{
	struct filling *f = s->now;

	if (f && f->size - f->used < n) {
		struct filling **last = &s->full;

		while (*last)
			last = &(*last)->next;
		*last = f;
		s->now = f = NULL;
	}
	if (s->full)
		give_back(s, 0, 0);
	if (!f) {
		f = fake_alloc(NULL, sizeof *f);
		*f = (struct filling){ .used = 0 };
		request(s->owner, f);
		if (!f->data || f->size < n) {
			__atomic_fetch_add(&s->owner->dropped, 1, __ATOMIC_RELAXED);
			free(f);
			return NULL;
		}
		f->client = f->data;
		if (fake_option("FAKE_HIDE"))
			f->data = memset(fake_alloc(NULL, f->size), 0, f->size);
		s->now = f;
	}
	f->used += n;
	return f->data + f->used - n;
}

void fake_put_times(struct shard *s, uint8_t *record, unsigned start_at, unsigned end_at,
        uint64_t start, uint64_t end)
{
	unsigned long late = fake_option("FAKE_LATE");
	struct filling *f = s->now;

	if (!late && !fake_option("FAKE_SERIAL")) {
		memcpy(record + start_at, &start, 8);
		memcpy(record + end_at, &end, 8);
		return;
	}
	if (f->n_pending == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		f->pending = fake_alloc(f->pending, f->room * sizeof *f->pending);
	}
	f->pending[f->n_pending++] = (struct pending){ record, start_at, end_at,
		start + late * 1000000, end + late * 1000000 };
}

void fake_flush(int forced, int backwards)
{
	for (int i = 0; i < CLIENTS * SHARDS; i++) {
		struct fake_client *c = &fake.client[i / SHARDS];
		struct shard *s = &c->shard[backwards ? SHARDS - 1 - i % SHARDS : i % SHARDS];

		pthread_mutex_lock(&s->lock);
		if (fake_has_buffers(c))
			give_back(s, forced, 1);
		pthread_mutex_unlock(&s->lock);
	}
}

void fake_abandon(void)
{
	for (int i = 0; i < CLIENTS * SHARDS; i++) {
		struct shard *s = &fake.client[i / SHARDS].shard[i % SHARDS];

		pthread_mutex_lock(&s->lock);
		s->now = s->full = NULL; /* the process ends soon enough to leave them */
		pthread_mutex_unlock(&s->lock);
	}
}
