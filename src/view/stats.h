/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics over steps as columns beside an answer (-stats).
 */
#ifndef TFPROF_VIEW_STATS_H
#define TFPROF_VIEW_STATS_H

#include "view/view.h"

/* Adds the columns that -stats requests, over the selected steps. With rows per worker,
 * stats_of_worker replaces their numbers by those of one worker. */
void stats_add(struct result *r);
void stats_of_worker(const struct result *r, uint32_t worker);

/* ---- step numbers ---- */

/* One number of the shown entries in single steps, own and total. Selection and order are those of
 * the answer. A step costs as much as the nodes that ran in it, and never more than a pass over all
 * nodes; memory does not depend on the number of steps. */

/* A place is an entry that takes part in totals: a kept one or, with -account_displayed_op_only, a
 * shown one. Parents precede their children. */
struct step_numbers {
	const struct query *q;
	enum value value;
	uint32_t n;
	uint32_t *kept;       /* by place */
	uint32_t *parent;     /* by place; ID_NONE: none */
	uint32_t *depth;      /* by place: number of ancestors */
	uint32_t *shown;      /* by place: the shown entry, or ID_NONE */
	bool root_apart;      /* totals exclude the own number of place 0 */
	uint32_t *place_of;   /* by node; ID_NONE: not counted */
	int64_t *own, *total; /* by place; 0 between steps */
	bool *marked;
	uint32_t *touched, n_touched; /* places with numbers, without duplicates */
};

void step_numbers_open(struct step_numbers *x, const struct result *r, struct arena *a);

/* Calls f for the shown entries whose own or total number is not 0 in the step. */
void step_numbers_each(struct step_numbers *x, const struct step *s,
        void (*f)(void *user, uint32_t shown, int64_t own, int64_t total), void *user);

#endif
