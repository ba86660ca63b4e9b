/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact percentiles of series in several passes. Differences from the least number are unsigned, so
 * the ends of the type are safe.
 */
#include "base/statistics.h"

#include <string.h>

void ranks_open(struct ranks *r, struct arena *a, size_t n)
{
	*r = (struct ranks){ .n = n, .a = a };
	r->least = ARENA_ARRAY(a, n, int64_t);
}

void ranks_begin(struct ranks *r, const uint32_t *wanted, unsigned parts, uint64_t span)
{
	size_t lists = r->n * parts * sizeof *r->counters;
	unsigned wide = span ? 64 - (unsigned)__builtin_clzll(span) : 0;

	r->parts = parts;
	r->base = ARENA_ARRAY(r->a, r->n * parts, uint64_t);
	r->left = ARENA_ARRAY(r->a, r->n * parts, uint32_t);
	for (size_t i = 0; i < r->n * parts; i++)
		r->left[i] = wanted[i % parts];
	r->bits = RANK_BITS_MIN;
	while (r->bits < RANK_BITS_MAX && lists << (r->bits + 1) <= RANK_COUNTS)
		r->bits++;
	r->open = wide > 0;
	if (!r->open)
		return;
	r->shift = (wide - 1) / r->bits * r->bits;
	r->counters = arena_array(r->a, lists, (size_t)1 << r->bits, _Alignof(uint32_t));
}

void ranks_add(struct ranks *r, size_t series, int64_t v, uint32_t times)
{
	uint64_t above = (uint64_t)v - (uint64_t)r->least[series];

	for (size_t i = series * r->parts; i < (series + 1) * r->parts; i++) {
		uint64_t at = (above - r->base[i]) >> r->shift;
		if (above >= r->base[i] && at >> r->bits == 0)
			r->counters[(i << r->bits) + at] += times;
	}
}

void ranks_end_pass(struct ranks *r)
{
	for (size_t i = 0; i < r->n * r->parts; i++) {
		uint32_t *c = r->counters + (i << r->bits);
		uint64_t at = 0;
		while (at >> r->bits == 0 && r->left[i] > c[at])
			r->left[i] -= c[at++];
		r->base[i] += at << r->shift;
	}
	r->open = r->shift > 0;
	if (!r->open)
		return;
	r->shift -= r->bits;
	memset(r->counters, 0, (r->n * r->parts * sizeof *r->counters) << r->bits);
}
