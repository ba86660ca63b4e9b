/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice: checkers look at a model and report sentences (B§8). The reports are whole texts, so that
 * printing them and packing them into a message need no more than this.
 */
#ifndef TFPROF_VIEW_ADVISE_H
#define TFPROF_VIEW_ADVISE_H

#include "view/view.h"

/* The order in which they run and stand; quirk 25: the original's is that of a hash map. */
enum checker_id {
	CHECK_ACCELERATOR_UTILIZATION,
	CHECK_OPERATION,
	CHECK_EXPENSIVE_OPERATION,
	CHECK_HOTTEST, /* this and the next are extensions */
	CHECK_SLOWEST_STEP,
	CHECK_N
};

#define CHECK_BIT(id) (1u << (id))
#define CHECK_ALL     (CHECK_BIT(CHECK_HOTTEST) - 1) /* those of the original */
#define CHECK_OURS    (CHECK_BIT(CHECK_HOTTEST) | CHECK_BIT(CHECK_SLOWEST_STEP))

/* What a checker reads; trees are those that the session keeps anyway. */
struct advise {
	const struct model *m;
	struct arena *a;
	struct notes *notes;
	unsigned checkers; /* CHECK_BIT bits */
	const struct tree *(*tree)(void *user, enum vk kind);
	void *user;
	struct tally *tallies; /* of all views that it asks, once one was asked */
};

struct advice {
	bool asked[CHECK_N];
	struct strs reports[CHECK_N]; /* without a newline at their end */
};

/* The name in texts and messages. */
const char *advise_name(enum checker_id id);

/* The bit of the checker of that name, 0 if there is none. JobChecker has no code and no reports.
 */
unsigned advise_find(struct str name);

/* Runs the checkers asked for. */
bool advise_run(struct advise *ask, struct advice *out, struct err *e);

#endif
