/* SPDX-License-Identifier: Apache-2.0
 *
 * The times in which threads could run but had no CPU, from the switches that the scheduler of the
 * system recorded. Such a time begins when a running thread is preempted or a sleeping one wakes
 * up, and ends when the thread gets a CPU.
 */
#ifndef TFPROF_TRACE_READ_THREAD_SWITCHES_H
#define TFPROF_TRACE_READ_THREAD_SWITCHES_H

#include "trace/trace_build.h"

struct thread_switch {
	int64_t at; /* ticks */
	uint32_t track;
	bool runs;  /* true: the thread gets a CPU; false: it loses its CPU or wakes up */
	bool ready; /* true: the thread could run, but has no CPU */
};

struct thread_switches {
	VEC(struct thread_switch) v;
};

/* Adds the times to the trace as slices, and marks the trace as containing them. Reorders the
 * switches. a: scratch arena. */
void thread_switches_put(struct thread_switches *x, struct trace_build *b, struct arena *a);

#endif
