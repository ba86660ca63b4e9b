/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: how long a step takes, in wall time, and how its time divides on each device.
 */
#ifndef TFPROF_TRACE_PASS_STEP_TIME_H
#define TFPROF_TRACE_PASS_STEP_TIME_H

#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

/* Wall time of the steps that count in averages (trace_step_counts), from their marks or guessed;
 * ns. Without marks the whole trace is one step. */
struct step_wall {
	bool marked;            /* false: the only step is the whole trace */
	bool guessed;           /* true: the steps are guessed, not marked */
	size_t steps, left_out; /* left_out: number of steps without device work */
	int64_t mean, median, shortest, longest;
	int64_t deviation; /* standard deviation of all steps */
};

/* Returns the wall time of the steps. a: scratch arena. */
struct step_wall step_time_of(const struct trace_steps *steps, struct arena *a);

/* Returns the sum of the lengths of the steps that count, ticks. */
int64_t step_time_sum(const struct trace_steps *steps);

/* Returns the step time, the mean of n steps whose lengths add up to `sum` ticks; ns. */
int64_t step_time_mean(const struct trace *t, int64_t sum, size_t n);

/* Returns the partition of an average step on a device: its window is step_time.mean. The usage
 * must have been found with these steps. */
struct usage_partition step_time_partition(
        const struct trace_steps *steps, const struct device_usage *device);

#endif
