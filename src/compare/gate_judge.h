/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluates gates. The base is the first side, the new one the last. If steps were loaded, a change
 * within their spread does not break a gate (Welch's t-test, one-sided). Knows no files: the caller
 * makes the comparisons.
 */
#ifndef TFPROF_COMPARE_GATE_JUDGE_H
#define TFPROF_COMPARE_GATE_JUDGE_H

#include "compare/compare.h"
#include "compare/gate.h"

/* Compares the sides in a view. Value 0 of each side is the metric; with steps, value 1 is the
 * number of executions of a node, and two such values follow for each step. */
typedef bool gate_compare(void *user, const struct view_ops *view, enum metric_id metric,
        bool with_steps, struct compare *c);

struct gate_ask {
	gate_compare *compare; /* false: e is filled */
	void *user;
	double level;  /* a change with a smaller probability is not noise */
	size_t steps;  /* steps of all sides */
	bool texts;    /* a side is a printed report: it has no steps, and one view only */
	struct err *e; /* filled on failure */
};

/* Result in a. Returns false and fills ask->e on failure; the result is then invalid. */
bool gate_judge(
        const struct gate *g, const struct gate_ask *ask, struct arena *a, struct gate_result *to);

#endif
