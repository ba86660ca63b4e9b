/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass/fail rules about a difference, for CI:
 *
 *   total.micros<+5%                      the root's total grows by less than 5 percent
 *   scope:loss/.*.bytes<+1MB              every node whose whole name matches
 *   op:Conv2D.accelerator_micros<=30ms    the new number itself
 *
 *   step_time<+5%                         a number of a step of a trace
 *   input_pipeline<=1ms                   the time that a step would be shorter without a cause
 *   phase:decode.step_time<+5%            a number of the steps of a phase of a server
 *   op:Conv2D.micros<30%                  a share of the root's total
 *   idle_share<10%                        a share of the step time, times the devices
 *
 *   rule     = ( subject "." metric | [ "phase:" phase "." ] number ) compare limit
 *   subject  = "total" | view ":" pattern
 *   compare  = "<" | "<=" | ">" | ">="
 *   limit    = [ "+" | "-" ] number [ unit | "%" ]     signed: a change, else the number itself,
 *                                                      with % its share of the whole
 */
#ifndef TFPROF_COMPARE_GATE_H
#define TFPROF_COMPARE_GATE_H

#include "compare/compare.h"

/* Numbers of a step. The number for a cause is STEP_CAUSES plus the cause (enum why_id). */
#define STEP_NUMBER(id, metric) STEP_##id,
enum step_number {
#include "compare/step_number.def"
	STEP_CAUSES,
	STEP_NONE = -1 /* the rule is about a number of nodes */
};
#undef STEP_NUMBER

struct gate {
	struct str text;
	int number; /* a number of the whole run: enum step_number, or STEP_CAUSES + cause */
	int phase;  /* the steps that the number describes: enum serving_phase; -1: all steps */
	bool total; /* true: the root's total; view is then scope */
	enum vk view;
	struct str pattern;
	enum metric_id metric;
	bool less, equal; /* less: true for < and <=, false for > and >=; equal: true if the limit
	                     itself passes */
	bool change;      /* true: the limit applies to the change */
	bool percent;     /* the limit is a change in percent of the base or, without change, a
	                     share of the whole */
	bool share_named; /* the number was given with "_share" after its name */
	double share;     /* limit as a share, such as 0.05 */
	int64_t amount;   /* limit in base units */
};

enum gate_verdict { GATE_HOLDS, GATE_FAILS, GATE_INCONCLUSIVE };

/* A rule and its result. */
struct gate_result {
	struct str rule;
	enum gate_verdict verdict;
	struct str text; /* one line: the numbers, the applied test, the cause */
	/* Data of the entry that decided, if its steps were tested; otherwise steps[0] is 0.
	 * Changes are shares if the limit is a percentage, otherwise in base units. */
	size_t steps[2];
	double low, high; /* the changes that the steps do not exclude; may be infinite */
	double detects;   /* the smallest change that these steps can detect; may be infinite */
	size_t needed;    /* number of steps of each side that would decide; 0: decided, or
	                     unknown */
};

/* Returns "holds", "fails" or "inconclusive". */
const char *gate_verdict_name(enum gate_verdict verdict);

/* Parses a rule. On failure, the error message contains the column. */
bool gate_parse(struct gate *g, struct str text, struct err *e);

/* True if the rule limits a share of the whole. Of a number of a step, the whole is the root's
 * total, and the number that of the entry below the root. */
static inline bool gate_is_share(const struct gate *g)
{
	return g->percent && !g->change;
}

/* True if these numbers, in parts of 1 / parts, satisfy the rule. whole: of `now`, for shares. */
bool gate_holds(const struct gate *g, int64_t parts, int64_t base, int64_t now, int64_t whole);

/* ---- gate judge ---- */

/* Evaluates gates. The base is the first side, the new side is the last. The caller makes the
 * comparisons. The following are judged by the numbers alone: a limit on the number itself, a
 * number that does not vary between steps, and a node that only one side has. A change of a time is
 * judged by its steps: the test that finds noise (difference.h) gives the interval of changes that
 * the steps do not exclude. The gate holds if the interval and the average are within the limit,
 * fails if both are beyond it, and is inconclusive otherwise. So it holds only if a change as large
 * as the limit would have been noticed. If a rule has several subjects, it fails only at a level
 * that is divided by their number, so that many noisy nodes do not fail a gate by chance. */

/* Compares the sides in a view, or numbers of steps (the gate's number). Value 0 of each side is
 * the metric. With steps, value 1 is the number of executions of a node, and two such values follow
 * for each step. Sets *lack to the reason why a side does not have the number; p is NULL if all
 * sides have it. */
typedef bool gate_compare(void *user, const struct view_ops *view, const struct gate *g,
        bool with_steps, struct compare *c, struct str *lack);

struct gate_request {
	gate_compare *compare; /* returns false and fills e on failure */
	void *user;
	double level;  /* two-sided probability of an error */
	size_t steps;  /* number of steps of all sides */
	bool texts;    /* true: a side is a printed report, which has no steps and only one view */
	struct err *e; /* filled on failure */
};

/* Judges a gate. The result lives in a. Returns false and fills request->e on failure; the result
 * is then invalid. */
bool gate_judge(const struct gate *g, const struct gate_request *request, struct arena *a,
        struct gate_result *to);

#endif
