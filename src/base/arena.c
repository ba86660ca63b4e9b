/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas over malloc; large blocks are mapped, so that growing them moves pages, not bytes.
 * Under the address sanitizer every piece is followed by a red zone and what is dropped is
 * poisoned. Knows nothing of what is stored and of who catches an escape.
 */
#define _GNU_SOURCE 1
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vec.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)    ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n)  ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define ARENA_GAP       16
#define ARENA_ALIGN_MIN 8 /* the sanitizer's grain */
#define ARENA_MAP       SIZE_MAX
#else
#define POISON(p, n)    ((void)(p), (void)(n))
#define UNPOISON(p, n)  ((void)(p), (void)(n))
#define ARENA_GAP       0
#define ARENA_ALIGN_MIN 1
#define ARENA_MAP       ((size_t)1 << 20) /* larger blocks are mapped and need no clearing */
#endif

#define ARENA_ALIGN_MAX 16
#define ARENA_SHARE     8 /* a new ordinary block is at most this part of those there */
#define ARENA_PAGE      ((size_t)4096)
#define ARENA_HUGE      ((size_t)4 << 20) /* of blocks this large, large pages are asked for */
#define NO_PIECE        SIZE_MAX

/* The header of a block; its bytes follow. */
struct arena_block {
	struct arena_block *next, *prev; /* older; newer (big blocks only) */
	uint64_t serial;                 /* big blocks: when it was made */
	size_t size;                     /* bytes after the header */
	size_t used;                     /* of them handed out; of a big block: its one piece */
	size_t last;                     /* offset of the newest piece, or NO_PIECE */
	size_t dirty;                    /* from here on all bytes are zero */
	bool mapped;
};
#define HEADER ((sizeof(struct arena_block) + 63) / 64 * 64)

static char *block_data(struct arena_block *b)
{
	return (char *)b + HEADER;
}

/* Adds to what the account holds; false, and nothing added, beyond its limit. */
static bool account_take(struct account *c, size_t n)
{
	size_t now = atomic_fetch_add(&c->used, n) + n;
	size_t peak;

	if (c->limit && now > c->limit) {
		atomic_fetch_sub(&c->used, n);
		return false;
	}
	peak = atomic_load(&c->peak);
	while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now))
		;
	return true;
}

static void account_give(struct account *c, size_t n)
{
	atomic_fetch_sub(&c->used, n);
}

/* Fewer faults, and fewer entries for the processor to look up; or not. */
static void ask_huge(void *p, size_t size)
{
	if (size >= ARENA_HUGE)
		madvise(p, size, MADV_HUGEPAGE);
}

/* Header and size bytes, all zero (in test builds: to be zeroed when used), or NULL. */
static struct arena_block *block_get(size_t size, bool mapped)
{
	struct arena_block *b;

	if (mapped) {
		b = mmap(NULL, HEADER + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		        -1, 0);
		if (b == MAP_FAILED)
			return NULL;
		ask_huge(b, HEADER + size);
		return b;
	}
#ifdef TFPROF_TEST
	b = malloc(HEADER + size);
	if (b) {
		memset(b, 0x55, HEADER + size);
		memset(b, 0, sizeof *b);
		b->dirty = size;
	}
#else
	b = calloc(1, HEADER + size);
#endif
	return b;
}

/* A new block; does not return if there is none to have. */
static struct arena_block *block_new(struct arena *a, size_t size)
{
	bool mapped = size >= ARENA_MAP;
	struct arena_block *b;

	if (size > PTRDIFF_MAX - HEADER - ARENA_PAGE || work_stopped(a->work))
		work_escape(a->work);
	if (mapped)
		size = (HEADER + size + ARENA_PAGE - 1) / ARENA_PAGE * ARENA_PAGE - HEADER;
	if (!account_take(a->work->account, HEADER + size))
		work_escape(a->work);
	b = block_get(size, mapped);
	if (!b) {
		account_give(a->work->account, HEADER + size);
		work_escape(a->work);
	}
	b->size = size;
	b->last = NO_PIECE;
	b->mapped = mapped;
	POISON(block_data(b), size);
	return b;
}

static void block_free(struct arena *a, struct arena_block *b)
{
	account_give(a->work->account, HEADER + b->size);
	UNPOISON(block_data(b), b->size);
	if (b->mapped)
		munmap(b, HEADER + b->size);
	else
		free(b);
}

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

/* Ends the newest piece of a block at offset end: what follows it starts behind a red zone. */
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

/* A piece in a block of its own. */
static void *big_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = block_new(a, size);

	block_open(b, 0, size);
	b->used = size;
	b->serial = ++a->serial;
	b->next = a->big;
	if (b->next)
		b->next->prev = b;
	a->big = b;
	return block_data(b);
}

/* Makes an ordinary block the newest. */
static struct arena_block *head_new(struct arena *a)
{
	size_t size = ARENA_BLOCK;
	struct arena_block *b = a->spare;

	a->spare = NULL;
	while (!b && size < ARENA_BLOCK_MAX && size < a->ordinary / ARENA_SHARE / 2)
		size *= 2;
	if (!b)
		b = block_new(a, size - HEADER);
	b->next = a->head;
	a->head = b;
	a->ordinary += b->size;
	return b;
}

/* Takes the newest ordinary block out. */
static void head_drop(struct arena *a)
{
	struct arena_block *b = a->head;

	a->head = b->next;
	a->ordinary -= b->size;
	if (!b->mapped || a->spare) {
		block_free(a, b);
		return;
	}
	POISON(block_data(b), b->size);
	b->used = 0;
	b->last = NO_PIECE;
	a->spare = b;
}

static void drop_spare(struct arena *a)
{
	if (a->spare)
		block_free(a, a->spare);
	a->spare = NULL;
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
		size = 1; /* so that no two pieces share an address */
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

/* Resizes a big block; returns it at its new place, unlinked neighbours still pointing to the old
 * one, or NULL with nothing changed. */
static struct arena_block *big_resize(struct arena_block *b, size_t size)
{
	struct arena_block *r;

	if (b->mapped) {
		size_t had = HEADER + b->size;
		r = mremap(b, had, HEADER + size, MREMAP_MAYMOVE);
		if (r == MAP_FAILED)
			return NULL;
		if (had < ARENA_HUGE)
			ask_huge(r, HEADER + size);
		return r;
	}
	if (size >= ARENA_MAP) {
		r = block_get(size, true);
		if (!r)
			return NULL;
		memcpy(r, b, HEADER + b->used);
		r->mapped = true;
		free(b);
		return r;
	}
	UNPOISON(block_data(b), b->size);
	r = realloc(b, HEADER + size);
	if (!r)
		return NULL;
#ifdef TFPROF_TEST
	memset(block_data(r) + r->size, 0x55, size - r->size);
#endif
	r->dirty = size;
	return r;
}

static void *big_grow(struct arena *a, struct arena_block *b, size_t size)
{
	size_t had = b->size, want = size;
	struct arena_block *r = b;

	if (size > PTRDIFF_MAX - HEADER - ARENA_PAGE)
		work_escape(a->work);
	if (size > had) {
		if (size >= ARENA_MAP)
			want = (HEADER + size + ARENA_PAGE - 1) / ARENA_PAGE * ARENA_PAGE - HEADER;
		if (!account_take(a->work->account, want - had))
			work_escape(a->work);
		r = big_resize(b, want);
		if (!r) {
			account_give(a->work->account, want - had);
			work_escape(a->work);
		}
		r->size = want;
		*(r->prev ? &r->prev->next : &a->big) = r;
		if (r->next)
			r->next->prev = r;
	}
	block_open(r, r->used, size);
	r->used = size;
	return block_data(r);
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
		return big_grow(a, (struct arena_block *)(void *)((char *)p - HEADER), size);
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

/* Takes back what a block handed out from offset used on. */
static void block_reset(struct arena_block *b, size_t used)
{
	assert(used <= b->used);
	POISON(block_data(b) + used, b->size - used);
	b->used = used;
	b->last = NO_PIECE;
}

void arena_reset(struct arena *a, struct arena_mark m)
{
	struct arena_block *b;

	while ((b = a->big) && b->serial > m.serial) {
		a->big = b->next;
		if (b->next)
			b->next->prev = NULL;
		block_free(a, b);
	}
	/* A mark of an empty arena keeps the oldest block. */
	while ((b = a->head) && b != m.head && (m.head || b->next))
		head_drop(a);
	if (b)
		block_reset(b, m.used);
}

void arena_clear(struct arena *a)
{
	arena_reset(a, (struct arena_mark){ NULL, 0, 0 });
	drop_spare(a);
}

void arena_free(struct arena *a)
{
	arena_clear(a);
	if (a->head)
		block_free(a, a->head);
	a->head = NULL;
	a->ordinary = 0;
}

void work_escape(struct work *w)
{
	struct guard *g;

	while ((g = w->guards)) {
		w->guards = g->next;
		g->drop(g->what);
	}
	longjmp(w->escape, 1);
}

void work_guard(struct work *w, struct guard *g, void (*drop)(void *), void *what)
{
	*g = (struct guard){ w->guards, drop, what };
	w->guards = g;
}

void work_unguard(struct work *w, struct guard *g)
{
	for (struct guard **at = &w->guards; *at; at = &(*at)->next) {
		if (*at == g) {
			*at = g->next;
			return;
		}
	}
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
