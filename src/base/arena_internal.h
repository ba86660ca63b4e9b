/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks, of which arenas are made: from malloc, or, if large, mapped. A mapped block that is freed
 * waits with the account for its next use, as the kernel takes long to clear fresh pages; what
 * waits is never more than what is in use, and goes before more is asked for. Knows no arena.
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

/* Adds bytes that are no block to what the account holds; false, and nothing added, beyond the
 * limit. */
bool account_take(struct account *c, size_t n);
void account_give(struct account *c, size_t n);

#define NO_PIECE SIZE_MAX

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
#define BLOCK_HEADER ((sizeof(struct arena_block) + 63) / 64 * 64)

static inline char *block_data(struct arena_block *b)
{
	return (char *)b + BLOCK_HEADER;
}

/* A block of at least so many bytes, none of them used; does not return if there is none to have.
 */
struct arena_block *block_new(struct work *w, size_t size);

/* The block with at least so many bytes, at its new place; pointers to it are the caller's
 * business. Does not return, and leaves it as it was, if there are none to have. */
struct arena_block *block_grow(struct work *w, struct arena_block *b, size_t size);

void block_free(struct work *w, struct arena_block *b);

#endif
