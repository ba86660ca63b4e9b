/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks, the units arenas are built from: from malloc or, if large, mapped. A freed mapped block
 * is kept by the account for reuse, because clearing fresh pages is slow in the kernel. The cached
 * blocks are never larger than the used blocks, and are released before more memory is requested.
 */
#ifndef TFPROF_BASE_ARENA_INTERNAL_H
#define TFPROF_BASE_ARENA_INTERNAL_H

#include "base/arena.h"

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
#define BLOCK_MAP       SIZE_MAX
#else
#define POISON(p, n)    ((void)(p), (void)(n))
#define UNPOISON(p, n)  ((void)(p), (void)(n))
#define ARENA_GAP       0
#define ARENA_ALIGN_MIN 1
#define BLOCK_MAP       ((size_t)1 << 20) /* larger blocks are mapped and need no clearing */
#endif

/* Charges bytes that are not part of a block to the account. Returns false without charging if that
 * exceeds the limit. */
bool account_take(struct account *c, size_t n);
void account_give(struct account *c, size_t n);

/* Removes a guard from a list, if it is in the list. */
void guard_unlink(struct guard **at, const struct guard *g);

#define NO_PIECE SIZE_MAX

/* The header of a block; its bytes follow. */
struct arena_block {
	struct arena_block *next, *prev; /* next: older block; prev: newer block (big blocks
	                                    only) */
	uint64_t serial;                 /* serial number of a big block */
	size_t size;                     /* number of bytes after the header */
	size_t used;  /* number of bytes handed out; in a big block, the size of its only piece */
	size_t last;  /* offset of the newest piece, or NO_PIECE */
	size_t dirty; /* all bytes from this offset on are zero */
	bool mapped;
};
#define BLOCK_HEADER ((sizeof(struct arena_block) + 63) / 64 * 64)

static inline char *block_data(struct arena_block *b)
{
	return (char *)b + BLOCK_HEADER;
}

/* Returns an unused block of at least size bytes. Does not return if memory is exhausted. */
struct arena_block *block_new(struct work *w, size_t size);

/* Resizes a block to at least size bytes. Returns its new address; the caller updates pointers into
 * it. If memory is exhausted, the block stays unchanged, and the function does not return. */
struct arena_block *block_grow(struct work *w, struct arena_block *b, size_t size);

void block_free(struct work *w, struct arena_block *b);

#endif
