/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a memory snapshot in which the largest use is searched.
 */
#ifndef TFPROF_DEVICE_MEMORY_STEPS_H
#define TFPROF_DEVICE_MEMORY_STEPS_H

#include "device/memory_use.h"

/* The time of a step, both ends included; ticks. */
struct memory_interval {
	int64_t start, end;
};

struct memory_steps {
	VEC(struct memory_interval) v; /* sorted, and without overlaps; empty: the whole file */
	int64_t id;                    /* id of the only step, or MEMORY_NO_STEP */
	size_t next;                   /* index of the first step that has not begun */
};

/* Finds the steps that the option -step selects; o is NULL for the whole file. Returns false if the
 * trace has none of them. */
bool memory_steps_choose(
        const struct trace *t, const struct opts *o, struct memory_steps *out, struct arena *a);

void memory_steps_rewind(struct memory_steps *s);

/* True if a step begins at or before a time. Times must not decrease until the next rewind. */
bool memory_steps_begin(struct memory_steps *s, int64_t at);

/* True if the time is in the latest step that has begun, or if the whole file counts. */
bool memory_steps_contain(const struct memory_steps *s, int64_t at);

/* Sets p->most to the index of the largest use in the steps, including the use at the start of each
 * step. */
void memory_steps_find_most(
        const struct memory_steps *s, const struct trace *t, struct memory_pool *p);

#endif
