/* SPDX-License-Identifier: Apache-2.0
 *
 * Welch's t-test, one-sided: the probability that the second sample lies this far above the first
 * if both have the same mean.
 */
#ifndef TFPROF_BASE_WELCH_H
#define TFPROF_BASE_WELCH_H

#include <stddef.h>

struct sample {
	size_t n;
	double mean, variance; /* unbiased; 0 if n < 2 */
};

struct sample sample_of(const double *v, size_t n);

/* Returns the probability, 0 .. 1. A sample of one value is assumed to vary as the other does; if
 * neither has two values, or nothing varies, the result is 0 or 1 by the means alone. */
double welch_above(const struct sample *a, const struct sample *b);

#endif
