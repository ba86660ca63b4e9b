/* SPDX-License-Identifier: Apache-2.0
 *
 * Radix sort, lowest digit first; digits that are the same everywhere cost nothing. Short lists are
 * sorted by insertion.
 */
#include "out/keysort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)
#define SHORT      48

struct pairs {
	uint64_t *keys;
	uint32_t *ids;
};

static void insertion(uint64_t *keys, uint32_t *ids, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		uint32_t id = ids[i];
		size_t at = i;
		for (; at > 0 && keys[at - 1] > key; at--) {
			keys[at] = keys[at - 1];
			ids[at] = ids[at - 1];
		}
		keys[at] = key;
		ids[at] = id;
	}
}

/* The bits in which keys differ; 0 also if they are in order already. */
static uint64_t varying(const uint64_t *keys, size_t n)
{
	uint64_t bits = 0;
	bool sorted = true;

	for (size_t i = 1; i < n; i++) {
		bits |= keys[i] ^ keys[0];
		sorted &= keys[i - 1] <= keys[i];
	}
	return sorted ? 0 : bits;
}

/* One pass: from is distributed to `to` by the digit at shift. */
static void distribute(struct pairs from, struct pairs to, size_t n, unsigned shift, size_t *count)
{
	size_t at = 0;

	memset(count, 0, DIGITS * sizeof *count);
	for (size_t i = 0; i < n; i++)
		count[from.keys[i] >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t had = count[d];
		count[d] = at;
		at += had;
	}
	for (size_t i = 0; i < n; i++) {
		size_t place = count[from.keys[i] >> shift & (DIGITS - 1)]++;
		to.keys[place] = from.keys[i];
		to.ids[place] = from.ids[i];
	}
}

void keysort(struct arena *a, uint64_t *keys, uint32_t *ids, size_t n)
{
	struct arena_mark mark = arena_mark(a);
	uint64_t bits;

	if (n <= SHORT) {
		insertion(keys, ids, n);
		return;
	}
	bits = varying(keys, n);
	if (!bits)
		return;
	size_t *count = ARENA_ARRAY(a, DIGITS, size_t);
	struct pairs from = { keys, ids };
	struct pairs to = { ARENA_ARRAY(a, n, uint64_t), ARENA_ARRAY(a, n, uint32_t) };
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		distribute(from, to, n, shift, count);
		struct pairs t = from;
		from = to;
		to = t;
	}
	if (from.keys != keys) {
		memcpy(keys, from.keys, n * sizeof *keys);
		memcpy(ids, from.ids, n * sizeof *ids);
	}
	arena_reset(a, mark);
}
