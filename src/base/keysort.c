/* SPDX-License-Identifier: Apache-2.0
 *
 * Radix sort, lowest digit first; digits that are equal everywhere cost nothing. Only ids move, and
 * the next keys are prefetched. Short lists use insertion sort.
 */
#include "base/sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)
#define SHORT      48
#define AHEAD      16

static void insertion(uint32_t *ids, size_t n, const int64_t *key)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t id = ids[i];
		size_t at = i;
		for (; at > 0 && key[ids[at - 1]] > key[id]; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

/* Returns the bits in which keys differ; also 0 if the keys are already in order. */
static uint64_t varying(const uint32_t *ids, size_t n, const int64_t *key)
{
	uint64_t bits = 0;
	bool sorted = true;

	for (size_t i = 1; i < n; i++) {
		bits |= (uint64_t)(key[ids[i]] ^ key[ids[0]]);
		sorted &= key[ids[i - 1]] <= key[ids[i]];
	}
	return sorted ? 0 : bits;
}

/* Returns a digit of a key, mapped so that digits have the order of keys. */
static size_t digit(int64_t key, unsigned shift)
{
	return ((uint64_t)key ^ (uint64_t)1 << 63) >> shift & (DIGITS - 1);
}

/* Performs one pass: distributes the ids from `from` to `to` by the digit at shift. */
static void distribute(
        const uint32_t *from, uint32_t *to, size_t n, const int64_t *key, unsigned shift)
{
	size_t count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(&key[from[i + AHEAD < n ? i + AHEAD : i]]);
		count[digit(key[from[i]], shift)]++;
	}
	for (size_t d = 0; d < DIGITS; d++) {
		size_t had = count[d];
		count[d] = at;
		at += had;
	}
	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(&key[from[i + AHEAD < n ? i + AHEAD : i]]);
		to[count[digit(key[from[i]], shift)]++] = from[i];
	}
}

void keysort(struct arena *a, uint32_t *ids, size_t n, const int64_t *key)
{
	struct arena_mark mark = arena_mark(a);
	uint32_t *from = ids, *to;
	uint64_t bits;

	if (n <= SHORT) {
		insertion(ids, n, key);
		return;
	}
	bits = varying(ids, n, key);
	if (!bits)
		return;
	to = ARENA_ARRAY(a, n, uint32_t);
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		distribute(from, to, n, key, shift);
		uint32_t *t = from;
		from = to;
		to = t;
	}
	if (from != ids)
		memcpy(ids, from, n * sizeof *ids);
	arena_reset(a, mark);
}

uint32_t *keysort_new(struct arena *a, size_t n, const int64_t *key)
{
	uint32_t *ids = ARENA_ARRAY(a, n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	keysort(a, ids, n, key);
	return ids;
}
