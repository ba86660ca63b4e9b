/* SPDX-License-Identifier: Apache-2.0
 *
 * The checkers that the original lacks. They name what costs most, and what made a step slow.
 */
#ifndef TFPROF_VIEW_ADVISE_INTERNAL_H
#define TFPROF_VIEW_ADVISE_INTERNAL_H

#include "view/advise.h"

#define ADVISE_ROWS 5 /* scopes, nodes and differences that these checkers name */

/* Names the scopes with the largest totals, from the answer of the scope view, and the nodes with
 * the largest own times. */
void advise_hottest(struct advise *ask, const struct result *r, struct strs *reports);

/* Names the slowest step and the nodes that took longer in it than in the median step. */
void advise_slowest(struct advise *ask, struct strs *reports);

#endif
