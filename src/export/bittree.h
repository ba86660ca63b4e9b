/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of numbers as bits, with higher levels of bits over the words below, so the next member is
 * found in a few steps however far away it is. Header only.
 */
#ifndef TFPROF_EXPORT_BITTREE_H
#define TFPROF_EXPORT_BITTREE_H

#include "base/arena.h"

#define BITTREE_LEVELS 6 /* 64^6 bits, more than ever needed */
#define BITTREE_WORD   64

/* Every level has one word more than its bits need, so searches may start at the end. */
struct bittree {
	uint64_t *level[BITTREE_LEVELS]; /* a bit of level i + 1 is set if any bit of that word of
	                                    level i is set */
};

/* Makes an empty set with room for n bits. */
static inline void bittree_init(struct bittree *b, size_t n, struct arena *a)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		n = n / BITTREE_WORD + 1;
		b->level[i] = ARENA_ARRAY(a, n, uint64_t);
	}
}

static inline void bittree_set(struct bittree *b, size_t at)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		uint64_t *word = &b->level[i][at / BITTREE_WORD], had = *word;
		*word |= (uint64_t)1 << at % BITTREE_WORD;
		if (had)
			return;
		at /= BITTREE_WORD;
	}
}

static inline void bittree_clear(struct bittree *b, size_t at)
{
	for (int i = 0; i < BITTREE_LEVELS; i++) {
		uint64_t *word = &b->level[i][at / BITTREE_WORD];
		*word &= ~((uint64_t)1 << at % BITTREE_WORD);
		if (*word)
			return;
		at /= BITTREE_WORD;
	}
}

/* Returns the first bit set from `at` on, or SIZE_MAX. */
static inline size_t bittree_next(const struct bittree *b, size_t at)
{
	int i = 0;

	for (; i < BITTREE_LEVELS; i++) {
		uint64_t word = b->level[i][at / BITTREE_WORD] >> at % BITTREE_WORD;
		if (word) {
			at += (size_t)__builtin_ctzll(word);
			break;
		}
		at = at / BITTREE_WORD + 1;
	}
	if (i == BITTREE_LEVELS)
		return SIZE_MAX;
	while (i-- > 0)
		at = at * BITTREE_WORD + (size_t)__builtin_ctzll(b->level[i][at]);
	return at;
}

#endif
