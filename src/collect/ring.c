/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings with one producer and one consumer each, on a list that only grows.
 */
#define _GNU_SOURCE
#include "collect/ring.h"

#include <errno.h>
#include <pthread.h>

#include "collect/record_enable.h"
#include "collect/system.h"

enum { RING_FREE, RING_OWNED, RING_LEFT };

static struct {
	struct ring *_Atomic first;
	_Atomic uint32_t count;
	_Atomic uint64_t lost; /* number of entries lost by threads without a ring */
	pthread_key_t key;
	bool has_key;
} rings;

/* Called when a thread ends. The writer empties its ring before another thread gets it. */
static void leave(void *ring)
{
	if (!record_enable_ours())
		return;
	threads_see();
	atomic_store(&((struct ring *)ring)->state, RING_LEFT);
}

bool rings_make(void)
{
	atomic_store(&rings.first, NULL);
	atomic_store(&rings.count, 0);
	atomic_store(&rings.lost, 0);
	/* A forked child starts over; the parent's key still holds a ring that no longer exists. */
	if (rings.has_key)
		pthread_key_delete(rings.key);
	rings.has_key = !pthread_key_create(&rings.key, leave);
	return rings.has_key;
}

/* Returns a ring released by its thread, or a new one; NULL if there are too many. */
static struct ring *find(void)
{
	struct ring *r;

	for (r = atomic_load(&rings.first); r; r = r->next) {
		uint32_t was = RING_FREE;

		if (atomic_compare_exchange_strong(&r->state, &was, RING_OWNED))
			return r;
	}
	if (atomic_fetch_add(&rings.count, 1) >= RINGS_MAX ||
	        !(r = memory_map(sizeof *r, MEMORY_GONE_BY_FORK))) {
		atomic_fetch_sub(&rings.count, 1);
		return NULL;
	}
	atomic_store(&r->state, RING_OWNED);
	r->next = atomic_load(&rings.first);
	while (!atomic_compare_exchange_weak(&rings.first, &r->next, r))
		;
	return r;
}

__attribute__((noinline)) static struct ring *get(void)
{
	int saved = errno;
	struct ring *r = find();

	if (r) {
		r->tid = threads_see();
		r->tail_seen = atomic_load(&r->tail);
		r->round = r->depth = 0;
		if (pthread_setspecific(rings.key, r)) {
			atomic_store(&r->state, RING_LEFT);
			r = NULL;
		}
	}
	if (!r)
		atomic_fetch_add_explicit(&rings.lost, 1, memory_order_relaxed);
	errno = saved;
	return r;
}

struct ring *ring_mine(void)
{
	struct ring *r = pthread_getspecific(rings.key);

	return r ? r : get();
}

/* Returns the number of entries that still fit. */
static uint32_t room(struct ring *r, uint32_t head)
{
	uint32_t used = head - r->tail_seen;

	if (used >= RING_ENTRIES / 2) {
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
		used = head - r->tail_seen;
		if (used >= RING_ENTRIES / 2)
			wake_writer();
	}
	return RING_ENTRIES - used;
}

void ring_put(struct ring *r, uint64_t time, uint64_t value, uint32_t name, uint16_t domain,
        enum ring_kind kind)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	/* Room is always reserved for the pops of open ranges. */
	uint32_t need = kind == RING_POP || kind == RING_END ? 1 : RING_DEPTH + 2;

	if (room(r, head) < need) {
		atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
		return;
	}
	r->entry[head % RING_ENTRIES] = (struct ring_entry){
		.time = time, .value = value, .name = name, .domain = domain, .kind = (uint8_t)kind
	};
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Ranges opened in an earlier round do not belong to this one. */
static void new_round(struct ring *r, uint32_t round)
{
	r->round = round;
	r->depth = 0;
	for (unsigned i = 0; i < RING_SKIPS; i++)
		r->skip[i] = 0;
}

bool ring_enter(struct ring *r, uint32_t round, uint16_t domain)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (r->round != round)
		new_round(r, round);
	if (r->depth < RING_DEPTH && room(r, head) >= RING_DEPTH + 2) {
		r->depth++;
		return true;
	}
	r->skip[domain % RING_SKIPS]++;
	atomic_fetch_add_explicit(
	        r->depth < RING_DEPTH ? &r->lost : &r->too_deep, 1, memory_order_relaxed);
	return false;
}

bool ring_leave(struct ring *r, uint32_t round, uint16_t domain)
{
	uint32_t *skip = &r->skip[domain % RING_SKIPS];

	if (r->round != round)
		new_round(r, round);
	if (*skip) {
		--*skip;
		return false;
	}
	if (!r->depth)
		return false; /* the push of this range was not recorded */
	r->depth--;
	return true;
}

void rings_drain(void (*take)(void *, uint32_t, const struct ring_entry *), void *user)
{
	for (struct ring *r = atomic_load(&rings.first); r; r = r->next) {
		/* Read before the entries: a thread that has left adds no more. */
		bool left = atomic_load(&r->state) == RING_LEFT;
		uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
		uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

		for (; tail != head; tail++)
			take(user, r->tid, &r->entry[tail % RING_ENTRIES]);
		atomic_store_explicit(&r->tail, tail, memory_order_release);
		if (left)
			atomic_store(&r->state, RING_FREE);
	}
}

uint64_t rings_lost(void)
{
	uint64_t n = atomic_load(&rings.lost);

	for (struct ring *r = atomic_load(&rings.first); r; r = r->next)
		n += atomic_load_explicit(&r->lost, memory_order_relaxed);
	return n;
}

uint64_t rings_too_deep(void)
{
	uint64_t n = 0;

	for (struct ring *r = atomic_load(&rings.first); r; r = r->next)
		n += atomic_load_explicit(&r->too_deep, memory_order_relaxed);
	return n;
}
