/* SPDX-License-Identifier: Apache-2.0
 *
 * Iterates over the intervals of each GPU, and sorts the results.
 */
#ifndef TFPROF_VIEW_GPU_SUM_H
#define TFPROF_VIEW_GPU_SUM_H

#include "view/gpu_use.h"

/* Fills the devices, once all processes have been read. */
void gpu_sum(struct gpu_use *u);

#endif
