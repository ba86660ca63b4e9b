/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers as bits: words record which buffers are free, which were never mapped, and which CUPTI
 * holds. Finished buffers are pushed on a list that the writer takes as a whole, so no pointer is
 * compared after reuse.
 */
#include "collect/pool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/system.h"

#define BITS  64u
#define WORDS (POOL_BUFFERS / BITS)

struct set {
	_Atomic uint64_t word[WORDS];
};

static struct {
	struct set fresh; /* buffers that are not mapped yet */
	struct set free;  /* buffers that are mapped, cleared and not in use */
	struct set out;   /* buffers held by CUPTI */
	struct pool_buffer *_Atomic queue;
	size_t bytes;
	unsigned count;
	_Atomic size_t size; /* size of the next buffer */
	_Atomic bool is_short;
	struct pool_buffer buffer[POOL_BUFFERS];
} pool;

/* ---- sets --------------------------------------------------------------------------------------
 */
static void set_add(struct set *s, unsigned i)
{
	atomic_fetch_or(&s->word[i / BITS], (uint64_t)1 << i % BITS);
}

static void set_remove(struct set *s, unsigned i)
{
	atomic_fetch_and(&s->word[i / BITS], ~((uint64_t)1 << i % BITS));
}

/* Removes the first member; returns -1 if there is none. */
static int set_take(struct set *s)
{
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t w = atomic_load(&s->word[i]);

		while (w)
			if (atomic_compare_exchange_weak(&s->word[i], &w, w & (w - 1)))
				return (int)(i * BITS) + __builtin_ctzll(w);
	}
	return -1;
}

/* Returns the first member from i on; -1 if there is none. */
static int set_next(struct set *s, unsigned i)
{
	for (; i < POOL_BUFFERS; i = (i / BITS + 1) * BITS) {
		uint64_t w = atomic_load(&s->word[i / BITS]) >> i % BITS;

		if (w)
			return (int)i + __builtin_ctzll(w);
	}
	return -1;
}

/* ---- sizes -------------------------------------------------------------------------------------
 */
static size_t room_of(unsigned i)
{
	return i < POOL_LARGE ? pool.bytes : POOL_BYTES_SMALL;
}

/* Adapts the size to a returned buffer: it was too small if it filled quickly, and too large if it
 * was held for long. */
static void learn(const struct pool_buffer *b)
{
	uint64_t spent = process_ticks() - b->taken;
	size_t size = atomic_load_explicit(&pool.size, memory_order_relaxed);

	if (b->valid + RECORD_MAX > b->size && b->size >= size && spent < POOL_FILL_NS / 2)
		size *= 2;
	else if (b->size <= size && spent > POOL_FILL_NS * 2)
		size /= 2;
	if (size >= POOL_BYTES_LEAST && size <= pool.bytes)
		atomic_store_explicit(&pool.size, size, memory_order_relaxed);
}

/* Returns the number of bytes that CUPTI may use of buffer i. */
static size_t next_size(unsigned i)
{
	size_t size = atomic_load_explicit(&pool.size, memory_order_relaxed), room = room_of(i);

	if (size < POOL_BYTES_SMALL && pool_out() >= pool.count / POOL_CROWD)
		size = POOL_BYTES_SMALL;
	return size < room ? size : room;
}

/* ---- buffers -----------------------------------------------------------------------------------
 */
void pool_reset(unsigned count, size_t bytes)
{
	memset(&pool, 0, sizeof pool);
	pool.count = count < POOL_BUFFERS ? count : POOL_BUFFERS;
	for (unsigned i = 0; i < pool.count; i++)
		set_add(&pool.fresh, i);
	pool.bytes = bytes;
	atomic_store(&pool.size, POOL_BYTES_LEAST);
}

uint8_t *pool_take(size_t *size)
{
	int i = set_take(&pool.free);

	*size = 0;
	if (i < 0) {
		/* A forked child finds zeros, because its copy of CUPTI may continue to write into
		 * the buffers that it holds. */
		i = set_take(&pool.fresh);
		if (i < 0)
			return NULL;
		pool.buffer[i].data = memory_map(room_of((unsigned)i), MEMORY_WIPED_BY_FORK);
		if (!pool.buffer[i].data) {
			set_add(&pool.fresh, (unsigned)i);
			return NULL;
		}
	}
	*size = next_size((unsigned)i);
	pool.buffer[i].size = *size;
	pool.buffer[i].taken = process_ticks();
	set_add(&pool.out, (unsigned)i);
	return pool.buffer[i].data;
}

bool pool_put(uint8_t *data, size_t valid)
{
	for (int i = -1; (i = set_next(&pool.out, (unsigned)(i + 1))) >= 0;) {
		struct pool_buffer *b = &pool.buffer[i];

		if (b->data != data)
			continue;
		set_remove(&pool.out, (unsigned)i);
		b->valid = valid < b->size ? valid : b->size;
		learn(b);
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

	if (used > b->size)
		used = b->size;
	memset(b->data, 0, used);
	/* CUPTI may have written beyond the valid bytes as well: the kernel clears those pages if
	 * they were touched. */
	if (used < b->size && madvise(b->data + used, b->size - used, MADV_DONTNEED))
		memset(b->data + used, 0, b->size - used);
	set_add(&pool.free, (unsigned)(b - pool.buffer));
}

/* ---- buffers held by CUPTI ---------------------------------------------------------------------
 */
unsigned pool_out(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WORDS; i++)
		n += (unsigned)__builtin_popcountll(atomic_load(&pool.out.word[i]));
	return n;
}

/* Returns the number of bytes up to the last nonzero byte. CUPTI may write at the same time, so the
 * result is a snapshot. */
__attribute__((no_sanitize("thread"))) static size_t written_of(const struct pool_buffer *b)
{
	const volatile uint64_t *word = (const volatile uint64_t *)(const void *)b->data;
	size_t n = b->size / sizeof *word;

	while (n && !word[n - 1])
		n--;
	return n * sizeof *word;
}

size_t pool_written(void)
{
	size_t n = 0;

	for (int i = -1; (i = set_next(&pool.out, (unsigned)(i + 1))) >= 0;)
		n += written_of(&pool.buffer[i]);
	return n;
}

uint64_t pool_kept(uint64_t (*count)(uint8_t *data, size_t size))
{
	uint64_t n = 0;

	for (int i = -1; (i = set_next(&pool.out, (unsigned)(i + 1))) >= 0;) {
		struct pool_buffer *b = &pool.buffer[i];

		if (written_of(b))
			n += count(b->data, b->size);
	}
	return n;
}

void pool_was_short(void)
{
	atomic_store_explicit(&pool.is_short, true, memory_order_relaxed);
}

bool pool_were_short(void)
{
	return atomic_load_explicit(&pool.is_short, memory_order_relaxed);
}
