/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of numbers for timelines, as bits: with the rank of each member (idset), or with a fast
 * search for the next member (bittree). Header only.
 */
#ifndef TFPROF_EXPORT_TIMELINE_SETS_H
#define TFPROF_EXPORT_TIMELINE_SETS_H

#include "base/arena.h"

/* ---- idset ----
 *
 * Sets of ids below a bound, as bits, that return each member's rank in ascending order: a column
 * by member costs little more than a bit per id. Header only.
 */

#define IDSET_WORD 64

struct idset {
	struct idset_word {
		uint64_t bits;
		uint32_t before; /* number of members in all earlier words */
	} * word;
	size_t n_words;
	uint32_t n;
};

/* Makes an empty set for ids below `bound`. */
static inline struct idset idset_new(struct arena *a, size_t bound)
{
	size_t n = bound / IDSET_WORD + 1;

	return (struct idset){ ARENA_ARRAY(a, n, struct idset_word), n, 0 };
}

static inline void idset_add(struct idset *s, uint32_t id)
{
	s->word[id / IDSET_WORD].bits |= (uint64_t)1 << id % IDSET_WORD;
}

/* Call once, after the last id was added and before the first idset_rank. */
static inline void idset_count(struct idset *s)
{
	for (size_t i = 0; i < s->n_words; i++) {
		s->word[i].before = s->n;
		s->n += (uint32_t)__builtin_popcountll(s->word[i].bits);
	}
}

static inline bool idset_has(const struct idset *s, uint32_t id)
{
	return s->word[id / IDSET_WORD].bits >> id % IDSET_WORD & 1;
}

/* Returns the rank of an id among the members, from 0; UINT32_MAX if it is not a member. */
static inline uint32_t idset_place(const struct idset *s, uint32_t id)
{
	const struct idset_word *w = &s->word[id / IDSET_WORD];
	uint64_t bit = (uint64_t)1 << id % IDSET_WORD;

	if (!(w->bits & bit))
		return UINT32_MAX;
	return w->before + (uint32_t)__builtin_popcountll(w->bits & (bit - 1));
}

/* ---- bittree ----
 *
 * Sets of numbers as bits, with higher levels of bits over the words below, so the next member is
 * found in a few steps however far away it is. Header only.
 */

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
