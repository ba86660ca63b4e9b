/* SPDX-License-Identifier: Apache-2.0
 *
 * The noise floor of times: which differences between sides are too small to mean anything.
 */
#ifndef TFPROF_COMPARE_NOISE_H
#define TFPROF_COMPARE_NOISE_H

#include "compare/compare.h"

#define NOISE_MICROS 10   /* a smaller difference of a time is noise, */
#define NOISE_SHARE  0.01 /* and one that is a smaller share of the larger time */

struct noise_ask {
	const struct compare *c;
	uint32_t n;    /* numbers of a side; with steps, as many follow for each step */
	uint32_t runs; /* the number that counts executions; used with steps only */
	bool steps;    /* the sides have the numbers of steps: Welch's t-test decides */
	double level;  /* a difference with a smaller probability (two-sided) is not noise */
};

/* True if number k of entry i, a time, differs from the first side by noise only, or not at all.
 * An entry that a side lacks is not noise. Uses the fixed floor where steps cannot decide. */
bool noise_is(const struct noise_ask *ask, uint32_t i, uint32_t k, struct arena *scratch);

#endif
