/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of arenas. Mapped blocks grow by remapping pages instead of copying bytes.
 */
#define _GNU_SOURCE 1
#include "base/arena_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define MOVED(p, n)                                                                                \
	__msan_unpoison((p), (n)) /* the sanitizer does not see mremap and keeps stale state */
#endif
#endif
#ifndef MOVED
#define MOVED(p, n) ((void)(p), (void)(n))
#endif

#define PAGE      ((size_t)4096)
#define HUGE_FROM ((size_t)4 << 20) /* from this block size on, large pages are requested */
#define SPARE_MAX 32                /* maximum number of blocks kept for reuse */

/* ---- blocks kept for reuse ---- */

static void spare_lock(struct account *c)
{
	while (atomic_flag_test_and_set_explicit(&c->spare_busy, memory_order_acquire))
		;
}

static void spare_unlock(struct account *c)
{
	atomic_flag_clear_explicit(&c->spare_busy, memory_order_release);
}

/* Removes the block at *at from the list. */
static struct arena_block *spare_unlink(struct account *c, struct arena_block **at)
{
	struct arena_block *b = *at;

	*at = b->next;
	c->spare_n--;
	atomic_fetch_sub(&c->spare_bytes, BLOCK_HEADER + b->size);
	return b;
}

/* Returns the smallest cached block that is large enough and at most half as large again, or
 * NULL. */
static struct arena_block *spare_take(struct account *c, size_t size)
{
	struct arena_block **best = NULL, *b = NULL;

	spare_lock(c);
	for (struct arena_block **at = &c->spare; *at; at = &(*at)->next)
		if ((*at)->size >= size && (*at)->size - size <= size / 2 &&
		        (!best || (*at)->size < (*best)->size))
			best = at;
	if (best)
		b = spare_unlink(c, best);
	spare_unlock(c);
	return b;
}

/* Releases cached blocks of at least size bytes, or all of them. */
static void spare_drop(struct account *c, size_t bytes)
{
	size_t gone = 0;

	while (gone < bytes && atomic_load(&c->spare_bytes)) {
		struct arena_block *b = NULL;
		spare_lock(c);
		if (c->spare)
			b = spare_unlink(c, &c->spare);
		spare_unlock(c);
		if (!b)
			return;
		gone += BLOCK_HEADER + b->size;
		munmap(b, BLOCK_HEADER + b->size);
	}
}

/* Caches a block for reuse. Returns false if enough blocks are cached already. */
static bool spare_put(struct account *c, struct arena_block *b)
{
	size_t bytes = BLOCK_HEADER + b->size;
	bool ok;

	spare_lock(c);
	ok = c->spare_n < SPARE_MAX &&
	     atomic_load(&c->spare_bytes) + bytes <= atomic_load(&c->used);
	if (ok) {
		b->next = c->spare;
		c->spare = b;
		c->spare_n++;
		atomic_fetch_add(&c->spare_bytes, bytes);
	}
	spare_unlock(c);
	return ok;
}

void account_close(struct account *c)
{
	if (!c->parent)
		spare_drop(c, SIZE_MAX);
}

/* ---- the account ---- */

/* Returns the account that is charged: the parent, if there is one. */
static struct account *charged(struct account *c)
{
	return c->parent ? c->parent : c;
}

/* Charges the account. Returns false without charging if that exceeds its limit. */
static bool take(struct account *c, size_t n)
{
	size_t now = atomic_fetch_add(&c->used, n) + n;
	size_t peak;

	if (c->limit && now > c->limit) {
		atomic_fetch_sub(&c->used, n);
		return false;
	}
	if (c->limit && now + atomic_load(&c->spare_bytes) > c->limit)
		spare_drop(c, SIZE_MAX);
	peak = atomic_load(&c->peak);
	while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now))
		;
	return true;
}

static void give(struct account *c, size_t n)
{
	atomic_fetch_sub(&c->used, n);
}

bool account_take(struct account *c, size_t n)
{
	return take(charged(c), n);
}

void account_give(struct account *c, size_t n)
{
	give(charged(c), n);
}

/* Returns the resident bytes of the process; 0 if the system does not report them, or if a
 * sanitizer holds most of them. */
static size_t resident(void)
{
	size_t pages = 0;
#if !defined ARENA_ASAN && !defined __SANITIZE_THREAD__
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128], *all;

	if (f && fgets(line, sizeof line, f)) {
		(void)strtoul(line, &all, 10);
		pages = strtoul(all, NULL, 10);
	}
	if (f)
		fclose(f);
#endif
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

void account_add_program(struct account *c)
{
	size_t all = resident(), ours = atomic_load(&c->used) + atomic_load(&c->spare_bytes);

	if (c->program || all <= ours)
		return;
	c->program = all - ours;
	atomic_fetch_add(&c->used, c->program);
}

/* Returns the size of a block in whole pages. */
static size_t in_pages(size_t size)
{
	return (BLOCK_HEADER + size + PAGE - 1) / PAGE * PAGE - BLOCK_HEADER;
}

/* ---- blocks ---- */

/* Requests large pages, which cause fewer page faults and fewer TLB misses. The kernel may ignore
 * the request. */
static void ask_huge(void *p, size_t size)
{
	if (size >= HUGE_FROM)
		madvise(p, size, MADV_HUGEPAGE);
}

/* Returns a header and size bytes, all zero (in test builds: zeroed when used), or NULL. */
static struct arena_block *get(struct account *c, size_t size, bool mapped)
{
	struct arena_block *b;

	if (mapped) {
		spare_drop(c, BLOCK_HEADER + size);
		b = mmap(NULL, BLOCK_HEADER + size, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (b == MAP_FAILED)
			return NULL;
		ask_huge(b, BLOCK_HEADER + size);
		return b;
	}
#ifdef TFPROF_TEST
	b = malloc(BLOCK_HEADER + size);
	if (b) {
		memset(b, 0x55, BLOCK_HEADER + size);
		memset(b, 0, sizeof *b);
		b->dirty = size;
	}
#else
	b = calloc(1, BLOCK_HEADER + size);
#endif
	return b;
}

struct arena_block *block_new(struct work *w, size_t size)
{
	struct account *c = charged(w->account);
	bool mapped = size >= BLOCK_MAP;
	struct arena_block *b;

	if (size > PTRDIFF_MAX - BLOCK_HEADER - PAGE || work_stopped(w))
		work_escape(w);
	if (mapped)
		size = in_pages(size);
	b = mapped ? spare_take(c, size) : NULL;
	if (b)
		size = b->size;
	if (!take(c, BLOCK_HEADER + size)) {
		if (b)
			munmap(b, BLOCK_HEADER + size);
		work_escape(w);
	}
	if (!b)
		b = get(c, size, mapped);
	if (!b) {
		give(c, BLOCK_HEADER + size);
		work_escape(w);
	}
	b->next = b->prev = NULL;
	b->size = size;
	b->used = 0;
	b->last = NO_PIECE;
	b->mapped = mapped;
	POISON(block_data(b), size);
	return b;
}

/* Resizes the block. Returns its new address, or NULL with nothing changed. */
static struct arena_block *resize(struct account *c, struct arena_block *b, size_t size)
{
	struct arena_block *r;

	if (b->mapped) {
		size_t had = BLOCK_HEADER + b->size;
		spare_drop(c, size - b->size);
		r = mremap(b, had, BLOCK_HEADER + size, MREMAP_MAYMOVE);
		if (r == MAP_FAILED)
			return NULL;
		MOVED(r, BLOCK_HEADER + size);
		if (had < HUGE_FROM)
			ask_huge(r, BLOCK_HEADER + size);
		return r;
	}
	if (size >= BLOCK_MAP) {
		r = get(c, size, true);
		if (!r)
			return NULL;
		memcpy(r, b, BLOCK_HEADER + b->used);
		r->dirty = b->used;
		r->mapped = true;
		free(b);
		return r;
	}
	UNPOISON(block_data(b), b->size);
	r = realloc(b, BLOCK_HEADER + size);
	if (!r)
		return NULL;
#ifdef TFPROF_TEST
	memset(block_data(r) + r->size, 0x55, size - r->size);
#endif
	r->dirty = size;
	return r;
}

struct arena_block *block_grow(struct work *w, struct arena_block *b, size_t size)
{
	struct account *c = charged(w->account);
	size_t had = b->size, want = size;

	if (size > PTRDIFF_MAX - BLOCK_HEADER - PAGE)
		work_escape(w);
	if (size >= BLOCK_MAP)
		want = in_pages(size);
	if (!take(c, want - had))
		work_escape(w);
	b = resize(c, b, want);
	if (!b) {
		give(c, want - had);
		work_escape(w);
	}
	b->size = want;
	return b;
}

void block_free(struct work *w, struct arena_block *b)
{
	struct account *c = charged(w->account);

	give(c, BLOCK_HEADER + b->size);
	UNPOISON(block_data(b), b->size);
	if (!b->mapped)
		free(b);
	else if (!spare_put(c, b))
		munmap(b, BLOCK_HEADER + b->size);
}
