/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the replay.
 */
#ifndef TFPROF_TRACE_PASS_REPLAY_INTERNAL_H
#define TFPROF_TRACE_PASS_REPLAY_INTERNAL_H

#include "trace/pass/replay.h"

/* Factors of the lengths of nodes and edges, from a set of changes. */
struct replay_factors {
	double host, launch, by_class[USAGE_CLASS_N];
	bool no_sync;
	double *kernels;                /* indexed by event; NULL: all are 1 */
	double *contexts;               /* indexed by context, for threads; NULL: all are 1 */
	double *launched;               /* indexed by context, for work launched in it */
	const struct replay_plan *plan; /* may be NULL */
};

/* Computes the factors of changes; in a. Fails if a pattern is malformed, or matches no name. */
bool replay_factors(const struct replay *x, const struct replay_change *changes, size_t n,
        struct replay_factors *out, struct arena *a, struct err *e);

/* Returns the factors of a plan. */
struct replay_factors replay_plan_factors(const struct replay_plan *plan);

/* Sets the times of a node from the times of its predecessors. */
void replay_node(const struct replay *x, const struct replay_factors *f, struct replay_run *out,
        uint32_t node);

/* Sets all times of a run. */
void replay_times(const struct replay *x, const struct replay_factors *f, struct replay_run *out);

/* Allocates the times of a run. */
void replay_begin(const struct replay *x, struct replay_run *out, struct arena *a);

/* Returns the mean of the chosen windows in the new times. Sets run->windows and run->ends. */
int64_t replay_measure(const struct replay *x, struct replay_run *run, struct arena *a);

/* The file and the line of a Python frame: "train.py(88): step", "$train.py:88 step". */
struct replay_line {
	struct str file;
	int64_t line;
};
bool replay_line_of(struct str name, struct replay_line *out);

#endif
