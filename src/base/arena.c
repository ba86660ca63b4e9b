/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas built from blocks. Under the address sanitizer, a red zone follows every allocation, and
 * dropped memory is poisoned. Independent of the stored data and of the recovery points.
 */
#include "base/arena.h"

#include <assert.h>
#include <string.h>

#include "base/arena_internal.h"

#define ARENA_ALIGN_MAX 16
#define ARENA_SHARE     8 /* a new ordinary block is at most this fraction of the existing ones */

/* Hands out the bytes [from, to) of a block, zeroed. */
static void block_open(struct arena_block *b, size_t from, size_t to)
{
	char *p = block_data(b) + from;

	UNPOISON(p, to - from);
	if (from < b->dirty)
		memset(p, 0, (to < b->dirty ? to : b->dirty) - from);
	if (b->dirty < to)
		b->dirty = to;
}

/* Ends the newest piece of a block at offset end; the next piece starts after a red zone. */
static void block_end(struct arena_block *b, size_t end)
{
#ifdef ARENA_ASAN
	end = (end + ARENA_GAP + ARENA_ALIGN_MIN - 1) & ~(size_t)(ARENA_ALIGN_MIN - 1);
#endif
	b->used = end < b->size ? end : b->size;
}

void arena_init(struct arena *a, struct work *w)
{
	*a = (struct arena){ .work = w };
}

/* Allocates a piece in a block of its own. */
static void *big_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = block_new(a->work, size);

	block_open(b, 0, size);
	b->used = size;
	b->serial = ++a->serial;
	b->next = a->big;
	if (b->next)
		b->next->prev = b;
	a->big = b;
	return block_data(b);
}

/* Makes an ordinary block the newest one. */
static struct arena_block *head_new(struct arena *a)
{
	size_t size = ARENA_BLOCK;
	struct arena_block *b;

	while (size < ARENA_BLOCK_MAX && size < a->ordinary / ARENA_SHARE / 2)
		size *= 2;
	b = block_new(a->work, size - BLOCK_HEADER);
	b->next = a->head;
	a->head = b;
	a->ordinary += b->size;
	return b;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	struct arena_block *b = a->head;
	size_t at;

	assert(align && align <= ARENA_ALIGN_MAX && !(align & (align - 1)));
	if (size > ARENA_BIG)
		return big_alloc(a, size);
	if (align < ARENA_ALIGN_MIN)
		align = ARENA_ALIGN_MIN;
	if (!size)
		size = 1; /* two pieces never share an address */
	at = b ? (b->used + align - 1) & ~(align - 1) : 0;
	if (!b || at > b->size || size > b->size - at) {
		b = head_new(a);
		at = 0;
	}
	block_open(b, at, at + size);
	b->last = at;
	block_end(b, at + size);
	return block_data(b) + at;
}

void *arena_array(struct arena *a, size_t n, size_t size, size_t align)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		work_escape(a->work);
	return arena_alloc(a, total, align);
}

static void *big_grow(struct arena *a, struct arena_block *b, size_t size)
{
	if (size > b->size) {
		b = block_grow(a->work, b, size);
		*(b->prev ? &b->prev->next : &a->big) = b;
		if (b->next)
			b->next->prev = b;
	}
	block_open(b, b->used, size);
	b->used = size;
	return block_data(b);
}

void *arena_grow(struct arena *a, void *p, size_t old, size_t size)
{
	struct arena_block *b = a->head;
	size_t at;
	void *q;

	assert(p || !old);
	if (size <= old && p)
		return p;
	if (old > ARENA_BIG)
		return big_grow(a, (struct arena_block *)(void *)((char *)p - BLOCK_HEADER), size);
	if (p && b && b->last != NO_PIECE && (char *)p == block_data(b) + b->last &&
	        size <= ARENA_BIG && size <= b->size - b->last) {
		at = b->last;
		block_open(b, at + old, at + size);
		block_end(b, at + size);
		return p;
	}
	q = arena_alloc(a, size, ARENA_ALIGN_MAX);
	if (old)
		memcpy(q, p, old);
	POISON(p, old);
	return q;
}

char *arena_copy(struct arena *a, const void *p, size_t n)
{
	char *q = arena_alloc(a, n, 1);

	if (n)
		memcpy(q, p, n);
	return q;
}

struct arena_mark arena_mark(const struct arena *a)
{
	return (struct arena_mark){ a->head, a->serial, a->head ? a->head->used : 0 };
}

/* Takes back all bytes that a block handed out from offset `used` on. */
static void block_reset(struct arena_block *b, size_t used)
{
	assert(used <= b->used);
	POISON(block_data(b) + used, b->size - used);
	b->used = used;
	b->last = NO_PIECE;
}

/* Drops the guards that were registered after a serial number. */
static void drop_guards(struct arena *a, uint64_t after)
{
	struct guard *g;

	while ((g = a->guards) && g->serial > after) {
		a->guards = g->next;
		g->drop(g->what);
	}
}

void arena_reset(struct arena *a, struct arena_mark m)
{
	struct arena_block *b;

	drop_guards(a, m.serial);
	while ((b = a->big) && b->serial > m.serial) {
		a->big = b->next;
		if (b->next)
			b->next->prev = NULL;
		block_free(a->work, b);
	}
	/* A mark of an empty arena refers to the oldest block. */
	while ((b = a->head) && b != m.head && (m.head || b->next)) {
		a->head = b->next;
		a->ordinary -= b->size;
		block_free(a->work, b);
	}
	if (b)
		block_reset(b, m.used);
}

void arena_clear(struct arena *a)
{
	arena_reset(a, (struct arena_mark){ NULL, 0, 0 });
}

void arena_free(struct arena *a)
{
	arena_clear(a);
	if (a->head)
		block_free(a->work, a->head);
	a->head = NULL;
	a->ordinary = 0;
}

void arena_guard(struct arena *a, struct guard *g, void (*drop)(void *), void *what)
{
	*g = (struct guard){ a->guards, drop, what, ++a->serial };
	a->guards = g;
}

void arena_unguard(struct arena *a, struct guard *g)
{
	guard_unlink(&a->guards, g);
}

void arena_close(struct arena *a)
{
	drop_guards(a, 0);
}

void arena_check(struct arena *a)
{
	uint64_t before = a->serial + 1;

	for (const struct guard *g = a->guards; g; g = g->next) {
		assert(g->drop && g->serial < before);
		before = g->serial;
	}
	(void)before;
}

static void drop_scratch(void *what)
{
	arena_free(what);
}

void scratch_open(struct scratch *s, struct work *w)
{
	arena_init(&s->a, w);
	work_guard(w, &s->guard, drop_scratch, &s->a);
}

void scratch_close(struct scratch *s)
{
	work_unguard(s->a.work, &s->guard);
	arena_free(&s->a);
}

void *vec_grow(struct arena *a, void *v, size_t *cap, size_t need, size_t size)
{
	size_t to = *cap < 8 ? 8 : *cap;
	size_t bytes;

	if (need <= *cap)
		work_escape(a->work);
	if (to == *cap)
		to += *cap > ((size_t)1 << 22) / size ? *cap / 2 : *cap;
	if (to < need)
		to = need;
	if (__builtin_mul_overflow(to, size, &bytes))
		work_escape(a->work);
	v = arena_grow(a, v, *cap * size, bytes);
	*cap = to;
	return v;
}
