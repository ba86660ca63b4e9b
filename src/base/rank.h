/* SPDX-License-Identifier: Apache-2.0
 *
 * The k-th smallest number of many series at once, exactly, in memory independent of the length of
 * a series. Each pass adds the same numbers again and fixes some more bits of each answer, from the
 * highest down.
 *
 *   pass 1: counts by the top bits -> the part that holds the k-th number
 *   pass 2: counts inside that part by the next bits -> ...   until no bits are left
 */
#ifndef TFPROF_BASE_RANK_H
#define TFPROF_BASE_RANK_H

#include "base/arena.h"

#define RANK_BITS_MIN 2 /* least number of bits that a pass fixes */
#define RANK_BITS_MAX 8
#define RANK_COUNTS   ((size_t)8 << 20) /* bytes of counters up to which a pass uses more bits */

struct ranks {
	size_t n;       /* series */
	unsigned parts; /* ranks asked for in each series */
	unsigned bits;  /* bits fixed per pass */
	unsigned shift; /* bits below those of this pass */
	bool open;      /* true while another pass is needed */
	int64_t *least; /* by series */
	uint64_t *base; /* by series and part: bits found so far, above the least */
	uint32_t *left; /* by series and part: rank, from 1, among the numbers with these bits */
	uint32_t *counters; /* by series, part and value of the next bits */
	struct arena *a;
};

/* The caller fills the field least before ranks_begin. */
void ranks_open(struct ranks *r, struct arena *a, size_t n);

/* Sets the ranks, from 1, to find in each series. span: the largest difference between two numbers
 * of one series. */
void ranks_begin(struct ranks *r, const uint32_t *wanted, unsigned parts, uint64_t span);

/* Counts a number that occurs `times` times. Each pass must add the same numbers. */
void ranks_add(struct ranks *r, size_t series, int64_t v, uint32_t times);

/* Ends a pass; r->open is true if another one is needed. */
void ranks_end_pass(struct ranks *r);

static inline int64_t ranks_get(const struct ranks *r, size_t series, unsigned part)
{
	return (int64_t)((uint64_t)r->least[series] + r->base[series * r->parts + part]);
}

#endif
