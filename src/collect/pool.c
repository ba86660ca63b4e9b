/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers as bits: one word says which are free, one which were never mapped. Finished ones are
 * pushed on a list that the writer takes as a whole, so no pointer is compared after it was reused.
 */
#include "collect/pool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/memory.h"

static struct {
	_Atomic uint64_t fresh; /* not yet mapped */
	_Atomic uint64_t free;  /* mapped, cleared, not in use */
	_Atomic uint64_t out;   /* in CUPTI's hands */
	struct pool_buffer *_Atomic queue;
	size_t bytes;
	struct pool_buffer buffer[POOL_BUFFERS];
} pool;

void pool_reset(unsigned count, size_t bytes)
{
	if (count > POOL_BUFFERS)
		count = POOL_BUFFERS;
	atomic_store(&pool.fresh, count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1);
	atomic_store(&pool.free, 0);
	atomic_store(&pool.out, 0);
	atomic_store(&pool.queue, NULL);
	pool.bytes = bytes;
	memset(pool.buffer, 0, sizeof pool.buffer);
}

size_t pool_bytes(void)
{
	return pool.bytes;
}

/* Takes one bit out of a word; -1 if none is set. */
static int take_bit(_Atomic uint64_t *word)
{
	uint64_t w = atomic_load(word);

	while (w)
		if (atomic_compare_exchange_weak(word, &w, w & (w - 1)))
			return __builtin_ctzll(w);
	return -1;
}

uint8_t *pool_take(void)
{
	int i = take_bit(&pool.free);

	if (i < 0) {
		/* A forked child finds zeros: its copy of CUPTI may go on writing into what it has.
		 */
		i = take_bit(&pool.fresh);
		if (i < 0)
			return NULL;
		pool.buffer[i].data = memory_map(pool.bytes, MEMORY_WIPED_BY_FORK);
		if (!pool.buffer[i].data) {
			atomic_fetch_or(&pool.fresh, (uint64_t)1 << i);
			return NULL;
		}
	}
	atomic_fetch_or(&pool.out, (uint64_t)1 << i);
	return pool.buffer[i].data;
}

bool pool_put(uint8_t *data, size_t valid)
{
	uint64_t out = atomic_load(&pool.out);

	for (; out; out &= out - 1) {
		struct pool_buffer *b = &pool.buffer[__builtin_ctzll(out)];

		if (b->data != data)
			continue;
		atomic_fetch_and(&pool.out, ~(out & (0 - out)));
		b->valid = valid < pool.bytes ? valid : pool.bytes;
		b->next = atomic_load(&pool.queue);
		while (!atomic_compare_exchange_weak(&pool.queue, &b->next, b))
			;
		return true;
	}
	return false;
}

struct pool_buffer *pool_drain(void)
{
	struct pool_buffer *b = atomic_exchange(&pool.queue, NULL), *first = NULL;

	while (b) {
		struct pool_buffer *next = b->next;

		b->next = first;
		first = b;
		b = next;
	}
	return first;
}

void pool_give(struct pool_buffer *b)
{
	size_t page = 4096, used = (b->valid + page - 1) / page * page;

	if (used > pool.bytes)
		used = pool.bytes;
	memset(b->data, 0, used);
	/* Behind what is valid CUPTI may have written too: the system clears that, if it was
	 * touched. */
	if (used < pool.bytes && madvise(b->data + used, pool.bytes - used, MADV_DONTNEED))
		memset(b->data + used, 0, pool.bytes - used);
	atomic_fetch_or(&pool.free, (uint64_t)1 << (b - pool.buffer));
}
