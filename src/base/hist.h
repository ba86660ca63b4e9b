/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of a series of numbers: exact count, sum, extremes and deviation; quantiles with an
 * error of at most 1/500. Few numbers are kept as they are; more are counted in cells, whose memory
 * grows with the range of values.
 *
 *   below 256: one counter per value; above: 256 counters per doubling
 */
#ifndef TFPROF_BASE_HIST_H
#define TFPROF_BASE_HIST_H

#include "base/arena.h"

#define HIST_BITS  8
#define HIST_FEW   512 /* numbers that are kept singly */
#define HIST_FIRST 4   /* initial room, in numbers */

struct hist {
	uint64_t n;
	int64_t sum, min, max; /* stops at the end of its type */
	double mean, squares;  /* running mean; sum of squared distances from it */
	int64_t *few;          /* all numbers, up to HIST_FEW; afterwards NULL */
	uint64_t **octaves;    /* by octave; NULL for empty octaves */
};

/* A negative number counts as 0. */
void hist_add(struct hist *h, struct arena *a, int64_t v);

/* Returns the smallest number that at least thousandths/1000 of all numbers do not exceed; 0 for an
 * empty series. */
int64_t hist_quantile(const struct hist *h, unsigned thousandths);

double hist_deviation(const struct hist *h); /* of the whole population: divided by the count */

#endif
