/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of numbers: count, sum, extremes and deviation exactly, any quantile to a
 * five-hundredth of itself. A few numbers are kept as they are; of more there are counters, whose
 * memory grows with the decades seen.
 *
 *   below 256: one counter a value; above: 256 counters for each doubling
 */
#ifndef TFPROF_BASE_HIST_H
#define TFPROF_BASE_HIST_H

#include "base/arena.h"

#define HIST_BITS  8
#define HIST_FEW   512 /* numbers that are kept */
#define HIST_FIRST 4   /* for so many there is room at first */

struct hist {
	uint64_t n;
	int64_t sum, min, max; /* the sum stops at the end of its type */
	double mean, squares;  /* running mean, and squared distances from it */
	int64_t *few;          /* all numbers, up to HIST_FEW; then NULL */
	uint64_t **octaves;    /* by octave; NULL where there are none */
};

/* A negative number counts as 0. */
void hist_add(struct hist *h, struct arena *a, int64_t v);

/* The smallest number that so many thousandths of all do not exceed; 0 of none. */
int64_t hist_quantile(const struct hist *h, unsigned thousandths);

double hist_deviation(const struct hist *h); /* of all these numbers: divided by their count */

#endif
