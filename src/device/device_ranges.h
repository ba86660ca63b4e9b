/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of work per range and per step in which it was launched.
 */
#ifndef TFPROF_DEVICE_DEVICE_RANGES_H
#define TFPROF_DEVICE_DEVICE_RANGES_H

#include "device/device_use.h"

/* Adds an operation to its range and to its step. */
void gpu_ranges_take(struct device_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c);

/* Adds an operation that took `ns` to the scope of its range, or to SCOPE_NONE. */
void gpu_range_take(struct device_use *u, uint32_t scope, int64_t ns);

/* Adds the ranges of a thread of a trace. scope_of: indexed by launch; set to the scope of the
 * range around each call of the thread. */
void gpu_ranges_thread(struct device_use *u, uint32_t track, uint32_t *scope_of);

/* Adds an operation that took `ns` to a step of a process. */
void gpu_step_take(struct device_use *u, uint32_t process, size_t step, int64_t ns);

/* Adds the ranges of all processes, and the totals of inner ranges to outer ranges. */
void gpu_ranges_end(struct device_use *u);

#endif
