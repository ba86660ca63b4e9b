/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass/fail rules about a difference, for CI:
 *
 *   total.micros<+5%                      the root's total grows by less than 5 percent
 *   scope:loss/.*.bytes<+1MB              every node whose whole name matches
 *   op:Conv2D.accelerator_micros<=30ms    the new number itself
 *
 *   rule     = subject "." metric compare limit
 *   subject  = "total" | view ":" pattern
 *   compare  = "<" | "<=" | ">" | ">="
 *   limit    = [ "+" | "-" ] number [ unit | "%" ]     signed: a change, else the number itself
 */
#ifndef TFPROF_COMPARE_GATE_H
#define TFPROF_COMPARE_GATE_H

#include "compare/compare.h"

struct gate {
	struct str text;
	bool total; /* the root's total; view is then scope */
	enum vk view;
	struct str pattern;
	enum metric_id metric;
	bool less, equal; /* true for < and <=, false for > and >=; the limit itself passes */
	bool change;      /* the limit applies to the change */
	bool percent;     /* the change relative to the base */
	double share;     /* 0.05 */
	int64_t amount;   /* in base units */
};

/* A rule and its result. */
struct gate_result {
	struct str rule;
	bool holds;
	struct str text; /* one line: the numbers, the test used, the cause */
};

/* On failure, the error message contains the column. */
bool gate_parse(struct gate *g, struct str text, struct err *e);

/* True if these numbers satisfy the rule. */
bool gate_holds(const struct gate *g, int64_t base, int64_t now);

/* ---- gate judge ---- */

/* Evaluates gates. The base is the first side, the new one the last. If steps were loaded, a change
 * within their spread does not break a gate (Welch's t-test, one-sided). The caller makes the
 * comparisons. */

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
