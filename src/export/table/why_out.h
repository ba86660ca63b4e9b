/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of `why`: a verdict, its causes with evidence, and what could not be judged; as text,
 * Markdown and a document (docs/schema/why.json).
 */
#ifndef TFPROF_EXPORT_WHY_OUT_H
#define TFPROF_EXPORT_WHY_OUT_H

#include "export/out.h"
#include "trace/pass/serving.h"
#include "why/why.h"

#define WHY_PLACES        3  /* maximum number of places per cause, unless one cause is requested */
#define WHY_PLAIN_COLUMNS 80 /* line width if the output is not a terminal */

/* The verdict about the chosen steps of one phase of a server. */
struct why_phase {
	enum serving_phase phase;
	size_t steps;
	int64_t wall; /* mean step time, ns */
	const struct why *why;
};

struct why_page {
	const struct why *x;
	struct str of;    /* "step 3", "the mean of 6 steps", "the whole trace" */
	bool marked;      /* true: the source marks steps */
	int64_t wall;     /* ns: the step time; without marks, the length of the whole trace */
	struct str steps; /* the value of -step, which printed commands repeat; p is NULL if not
	                     given */
	const struct table *host; /* times of operation types, for a trace without device work; or
	                             NULL */
	size_t top;               /* maximum number of causes; 0: all */
	enum why_id cause;        /* show only this cause, in full; WHY_IDS: all causes */
	const struct why_phase *phases; /* in the order of enum serving_phase */
	size_t n_phases;                /* 0 unless steps of several phases are chosen */
};

bool why_write(const struct why_page *p, const struct opts *o, unsigned columns, struct emit *to,
        struct err *e);

/* Returns the verdict as one sentence; in a. */
struct str why_verdict(const struct why *x, struct arena *a);

/* Returns the id of the verdict: the id of the first cause, "none" or "unknown". */
struct str why_verdict_id(const struct why *x);

#endif
