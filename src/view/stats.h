/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics over steps as columns beside an answer (-stats).
 */
#ifndef TFPROF_VIEW_STATS_H
#define TFPROF_VIEW_STATS_H

#include "view/view.h"

/* Adds the columns that -stats asks for, over the chosen steps. Rows for each worker need those
 * over its own ones: stats_of_worker puts them into the columns. */
void stats_add(struct result *r);
void stats_of_worker(const struct result *r, uint32_t worker);

#endif
