/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of many numbers: histograms with quantiles, exact ranks, and tests of two series.
 */
#ifndef TFPROF_BASE_STATISTICS_H
#define TFPROF_BASE_STATISTICS_H

#include <stddef.h>

#include "base/arena.h"

/* ---- hist ---- Statistics of a series of numbers: exact count, sum, extremes and deviation;
 * quantiles with an error of at most 1/500. Up to HIST_FEW numbers are stored unchanged; more are
 * counted in cells, whose memory grows with the range of values. below 256: one counter per value;
 * above: 256 counters per doubling */

#define HIST_BITS  8
#define HIST_FEW   512 /* maximum number of numbers that are stored singly */
#define HIST_FIRST 4   /* initial room, in numbers */

struct hist {
	uint64_t n;
	int64_t sum, min, max; /* saturate at the limits of the type */
	double mean, squares;  /* running mean, and sum of squared distances from it */
	int64_t *few;          /* all numbers, up to HIST_FEW; NULL if there are more */
	uint64_t **octaves;    /* indexed by octave; NULL for empty octaves */
};

/* Adds a number. A negative number counts as 0. */
void hist_add(struct hist *h, struct arena *a, int64_t v);

/* Returns the smallest number that at least thousandths/1000 of all numbers do not exceed; 0 for an
 * empty series. */
int64_t hist_quantile(const struct hist *h, unsigned thousandths);

double hist_deviation(const struct hist *h); /* deviation of the whole population: divided by the
                                                count */

/* ---- rank ----
 *
 * The k-th smallest number of many series at once, exactly, in memory independent of the length of
 * a series. Each pass adds the same numbers again and fixes some more bits of each answer, from the
 * highest down.
 *
 *   pass 1: counts by the top bits -> the part that holds the k-th number
 *   pass 2: counts inside that part by the next bits -> ...   until no bits are left
 */

#define RANK_BITS_MIN 2 /* minimum number of bits that a pass fixes */
#define RANK_BITS_MAX 8
#define RANK_COUNTS   ((size_t)8 << 20) /* limit for the counters of a pass, bytes */

struct ranks {
	size_t n;       /* number of series */
	unsigned parts; /* number of ranks per series */
	unsigned bits;  /* bits fixed per pass */
	unsigned shift; /* number of bits below the bits of this pass */
	bool open;      /* true while another pass is needed */
	int64_t *least; /* indexed by series */
	uint64_t *base; /* indexed by series and part: bits found so far, above the least */
	uint32_t *left; /* indexed by series and part: rank, from 1, among the numbers with these
	                   bits */
	uint32_t *counters; /* indexed by series, part and value of the next bits */
	struct arena *a;
};

/* Opens the ranks. The caller must fill the field least before ranks_begin. */
void ranks_open(struct ranks *r, struct arena *a, size_t n);

/* Sets the ranks, counted from 1, to find in each series. span: the largest difference between two
 * numbers of one series. */
void ranks_begin(struct ranks *r, const uint32_t *wanted, unsigned parts, uint64_t span);

/* Counts a number that occurs `times` times. Each pass must add the same numbers. */
void ranks_add(struct ranks *r, size_t series, int64_t v, uint32_t times);

/* Ends a pass. r->open is true if another pass is needed. */
void ranks_end_pass(struct ranks *r);

static inline int64_t ranks_get(const struct ranks *r, size_t series, unsigned part)
{
	return (int64_t)((uint64_t)r->least[series] + r->base[series * r->parts + part]);
}

/* ---- welch ----
 *
 * One-sided Welch's t-test: the probability that the second sample exceeds the first by at least
 * this much if both have the same mean.
 */

struct sample {
	size_t n;
	double mean, variance; /* variance: unbiased; 0 if n < 2 */
};

struct sample sample_of(const double *v, size_t n);

/* Returns the probability, 0 .. 1; 1 if a sample has less than two values. If neither sample
 * varies, the result is 0 if the mean of b is larger, otherwise 1. */
double welch_above(const struct sample *a, const struct sample *b);

/* ---- shift ---- The distance of a second series y from a first series x: relative (y is like x
 * times 1 + by) or absolute (y is like x plus by). The test compares every value of y with every
 * value of x (Mann and Whitney's rank test), so a few outliers do not change its answer. If the
 * series are too short for ranks to reach the level, Welch's t-test decides; a single value decides
 * nothing. */

struct shift_values {
	double *v;
	size_t n;
};

enum shift_test { SHIFT_NONE, SHIFT_RANKS, SHIFT_WELCH };

/* The distribution of U for two sizes. */
struct shift_tail {
	size_t few, many;
	const double *tail;
};

/* The distributions that have been computed, shared by many tests. */
struct shift_tails {
	struct arena *a;
	VEC(struct shift_tail) v;
};

struct shift {
	struct shift_values x, y;
	bool relative;
	double level; /* two-sided probability of an error */
	enum shift_test test;
	bool constant;      /* true: no value differs from another value of its series */
	const double *tail; /* indexed by U; NULL: use the normal distribution */
};

/* Sorts the series, and chooses the test. The tails and the series must outlive s. */
void shift_open(struct shift *s, struct shift_values x, struct shift_values y, bool relative,
        double level, struct shift_tails *tails);

/* Returns the probability, one-sided, that y is this far above (below) x moved by `by`, if the
 * change is exactly `by`; 1 without a test. */
double shift_above(const struct shift *s, double by);
double shift_below(const struct shift *s, double by);

/* Returns the probability, two-sided, that series without a change differ this much. */
double shift_equal(const struct shift *s);

/* Sets the smallest and the largest change that the test does not reject at the level. They may be
 * infinite; -1 is the smallest relative change. Returns false without a test, or if the
 * ratio is undefined. */
bool shift_interval(const struct shift *s, double *low, double *high);

/* True if series of n and m values can be tested. A series of one value can be tested only against
 * a series of many values. */
bool shift_possible(size_t n, size_t m, double level);

/* Returns the minimum number of values of each series for which ranks can reach the level. */
size_t shift_least_steps(double level);

#endif
