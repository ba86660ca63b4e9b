/* SPDX-License-Identifier: Apache-2.0
 *
 * Explains why a step of one run takes longer than a step of another. The critical path covers the
 * windows of both runs without gaps. Its segments, summed by cause or kind and by name, are the
 * parts of a mean step, and the differences of the parts add up to the difference of the steps.
 *
 * A segment of a thread has the cause that owns its time, otherwise the cause that owns the
 * time before the next launch. A segment of a device has the first cause whose remedy at least
 * halves it. The latency of launches is launch_bound.
 */
#ifndef TFPROF_WHY_RUN_DIFFERENCE_H
#define TFPROF_WHY_RUN_DIFFERENCE_H

#include "why/why.h"

enum { RUN_LEFT, RUN_RIGHT, RUNS_N };

/* Time on the critical path of a mean step, in each run; 0: none. */
struct run_part {
	enum why_id cause; /* WHY_IDS: no cause */
	enum critical_kind kind;
	struct str name; /* name of the op, kernel, call or range; empty: no name, or a sum of
	                    parts */
	int64_t ns[RUNS_N];
};

/* Time that a cause saves in each run, if it is reported in one of them. */
struct run_cause {
	enum why_id id;
	bool judged[RUNS_N];
	int64_t ns[RUNS_N];
};

/* Runs that have a smaller share of their device time in common probably do different work. Of 253
 * pairs of files of different programs, 244 have less than 0.2; runs of one program have more than
 * 0.8. */
#define RUN_COMMON_LEAST 0.2

struct run_difference {
	const struct why *runs[RUNS_N];
	double common;              /* share of the device time that both runs have in common */
	int64_t ns[RUNS_N];         /* length of the mean step; the parts add up to it */
	VEC(struct run_part) parts; /* sorted by difference, largest first */
	VEC(struct run_part) sums;  /* by cause, otherwise by kind; largest difference first */
	VEC(struct run_cause) causes;
};

/* Compares two runs, each with one trace. The result lives in a. */
void run_difference_find(const struct why *left, const struct why *right,
        struct run_difference *out, struct arena *a);

/* Returns the share of the device time that two runs have in common: the sum of the smaller of both
 * shares of each kernel, or of each op that launches kernels, whichever is larger. */
double run_common_share(const struct why_scene *runs, struct arena *a);

#endif
