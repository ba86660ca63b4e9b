/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules about a difference, for machines that build and test:
 *
 *   total.micros<+5%                      the root's total grows by less than 5 percent
 *   scope:loss/.*.bytes<+1MB              that of every node whose whole name matches
 *   op:Conv2D.accelerator_micros<=30ms    the new number itself
 *
 *   rule     = subject "." metric compare limit
 *   subject  = "total" | view ":" pattern
 *   compare  = "<" | "<=" | ">" | ">="
 *   limit    = [ "+" | "-" ] number [ unit | "%" ]     signed: a change, else the number itself
 */
#ifndef TFPROF_COMPARE_GATE_H
#define TFPROF_COMPARE_GATE_H

#include "metric/opts.h"

struct gate {
	struct str text;
	bool total; /* of the root; view is scope then */
	enum vk view;
	struct str pattern;
	enum metric_id metric;
	bool less, equal; /* < and <=, else > and >=; with the limit itself */
	bool change;      /* the limit is one of the change */
	bool percent;     /* ... relative to the base */
	double share;     /* 0.05 */
	int64_t amount;   /* in base units */
};

/* A rule and how it was found. */
struct gate_result {
	struct str rule;
	bool holds;
	struct str text; /* one line: what was compared, by which test, what caused it */
};

/* False with a sentence that says at which column. */
bool gate_parse(struct gate *g, struct str text, struct err *e);

/* Does the rule hold for these numbers? */
bool gate_holds(const struct gate *g, int64_t base, int64_t now);

#endif
