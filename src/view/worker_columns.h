/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns for workers beside an answer (-by worker, -max_workers): which is the slowest, how far
 * they are apart, and each by itself.
 */
#ifndef TFPROF_VIEW_WORKER_COLUMNS_H
#define TFPROF_VIEW_WORKER_COLUMNS_H

#include "view/view.h"

/* Adds them to the result's, behind those that it has. */
void worker_columns_add(struct result *r);

#endif
