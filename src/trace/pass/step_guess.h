/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: a guess at the steps of a trace without marks: calls that repeat.
 */
#ifndef TFPROF_TRACE_STEP_GUESS_H
#define TFPROF_TRACE_STEP_GUESS_H

#include "trace/trace.h"

/* The shortest sequence of calls that repeats on the busiest thread. It has at least three
 * repetitions, one directly after the other, with more than half of the calls of its level, of all
 * calls of the thread, and of the time of the trace. If the trace has optimizer steps, each
 * repetition has one. It may still be a part of a step, such as a layer. */
struct step_guess {
	size_t calls;         /* number of calls of a repetition; 0: nothing repeats */
	size_t times;         /* number of repetitions */
	uint32_t first, last; /* string ids: names of the first and the last call */
	int64_t period;       /* ticks: mean time between the starts of repetitions */
	int64_t *starts;      /* starts of the repetitions, then the end of the last repetition */
};

/* Finds the shortest repeated sequence. The array starts lives in a. */
struct step_guess step_guess_of(const struct trace *t, struct arena *a);

#endif
