/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging gates. The base is the first side, the new one the last. Where steps were loaded, a
 * change that lies within their spread does not break a gate: Welch's t-test, one-sided, says.
 * Knows no files: whoever asks makes the comparisons.
 */
#ifndef TFPROF_COMPARE_GATE_JUDGE_H
#define TFPROF_COMPARE_GATE_JUDGE_H

#include "compare/compare.h"
#include "compare/gate.h"

/* Compares the sides in a view. Value 0 of each side is the metric; with steps, value 1 is how
 * often a node ran, and two such values of each step follow. */
typedef bool gate_compare(void *user, const struct view_ops *view, enum metric_id metric,
        bool with_steps, struct compare *c);

struct gate_ask {
	gate_compare *compare; /* false: it has filled e */
	void *user;
	double level;  /* a change less likely than this is no noise */
	size_t steps;  /* of all sides */
	bool texts;    /* some side is a text: it has no steps, and no view but its own */
	struct err *e; /* for the sentence of whatever fails */
};

/* In a. False: ask->e is filled, and the result is not. */
bool gate_judge(
        const struct gate *g, const struct gate_ask *ask, struct arena *a, struct gate_result *to);

#endif
