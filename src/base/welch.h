/* SPDX-License-Identifier: Apache-2.0
 *
 * Welch's t-test, one-sided: how likely is it that the second sample lies so much above the first
 * when both come from the same mean?
 */
#ifndef TFPROF_BASE_WELCH_H
#define TFPROF_BASE_WELCH_H

#include <stddef.h>

struct sample {
	size_t n;
	double mean, variance; /* unbiased; 0 where n < 2 */
};

struct sample sample_of(const double *v, size_t n);

/* The probability, 0 .. 1. A sample of one value is taken to vary as the other does; if neither has
 * two values, or nothing varies at all, it is 0 or 1 by the means alone. */
double welch_above(const struct sample *a, const struct sample *b);

#endif
