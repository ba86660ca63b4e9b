/* SPDX-License-Identifier: Apache-2.0
 *
 * Work by the ranges and the steps in which it was launched; the recording knows both.
 */
#ifndef TFPROF_VIEW_GPU_RANGES_H
#define TFPROF_VIEW_GPU_RANGES_H

#include "view/gpu_use.h"

/* Adds an operation to its range and to its step. */
void gpu_ranges_take(struct gpu_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c);

/* Adds the ranges of the processes, and inner ranges to outer ones. */
void gpu_ranges_end(struct gpu_use *u);

#endif
