/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice: checkers read a model and produce sentences. The reports are complete texts, for
 * printing or for a message.
 */
#ifndef TFPROF_VIEW_ADVISE_H
#define TFPROF_VIEW_ADVISE_H

#include "view/view.h"

/* In the order of execution and output; Quirk 25: the original uses the order of a hash map. */
enum checker_id {
	CHECK_ACCELERATOR_UTILIZATION,
	CHECK_OPERATION,
	CHECK_EXPENSIVE_OPERATION,
	CHECK_INPUT_PIPELINE, /* this checker and the following are extensions */
	CHECK_HOTTEST,
	CHECK_SLOWEST_STEP,
	CHECK_N
};

#define CHECK_BIT(id) (1u << (id))
#define CHECK_ALL     (CHECK_BIT(CHECK_INPUT_PIPELINE) - 1) /* the checkers of the original */
#define CHECK_OURS                                                                                 \
	(CHECK_BIT(CHECK_HOTTEST) | CHECK_BIT(CHECK_INPUT_PIPELINE) | CHECK_BIT(CHECK_SLOWEST_STEP))

/* Input of a checker; the trees belong to the session. */
struct recording_set;
struct recording_options;

struct advise {
	const struct model *m;
	const struct recording_set *recording; /* NULL: the model is not from a recording */
	const struct recording_options *recording_options;
	struct arena *a;
	struct notes *notes;
	unsigned checkers; /* CHECK_BIT bits */
	uint32_t rows; /* number of scopes, nodes and differences that tfprof's checkers name; 0:
	                  ADVISE_ROWS */
	bool no_zeros; /* true: leaves out rows without time, which the original prints */
	const struct tree *(*tree)(void *user, enum vk kind);
	void *user;
	struct tally *tallies; /* notes of all views that the checkers run, once one has run */
};

struct advice {
	bool asked[CHECK_N];
	struct strs reports[CHECK_N]; /* texts without a trailing newline */
};

/* Returns the name of a checker in texts and messages. */
const char *advise_name(enum checker_id id);

/* Returns the bit of a checker by name; 0 if unknown. JobChecker has no code and no reports. */
unsigned advise_find(struct str name);

/* Runs the requested checkers. */
bool advise_run(struct advise *ask, struct advice *out, struct err *e);

/* ---- internal ---- The checkers that the original lacks. They name the most expensive entries,
 * and the causes of a slow step. */

#define ADVISE_ROWS 5 /* number of scopes, nodes and differences that these checkers name */

/* Names the scopes with the largest totals, from the answer of the scope view, and the nodes with
 * the largest own times. */
void advise_hottest(struct advise *ask, const struct result *r, struct strs *reports);

/* Appends a share in percent, in brackets. Appends nothing if `all` is 0. */
void advise_put_share(struct sb *b, int64_t part, int64_t all);

/* Adds up the op types, from the answer of the op view, that read and decode inputs. */
void advise_inputs(struct advise *ask, const struct result *r, struct strs *reports);

/* Names the slowest step and the nodes that took longer in it than in the median step. */
void advise_slowest(struct advise *ask, struct strs *reports);

#endif
