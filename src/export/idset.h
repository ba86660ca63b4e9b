/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of ids below a bound, as bits, that return each member's rank in ascending order: a column
 * by member costs little more than a bit per id. Header only.
 */
#ifndef TFPROF_EXPORT_IDSET_H
#define TFPROF_EXPORT_IDSET_H

#include "base/arena.h"

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

#endif
