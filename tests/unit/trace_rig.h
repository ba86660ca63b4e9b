/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces for unit tests: one process, a thread, a device with two streams and a line.
 */
#ifndef TFPROF_TESTS_TRACE_RIG_H
#define TFPROF_TESTS_TRACE_RIG_H

#include "trace/trace_build.h"

struct trace_rig {
	struct trace *t;
	struct trace_build *b;
	struct notes notes;
	uint32_t thread, stream[2], line;
};

/* a and scratch are different arenas. */
struct trace_rig trace_rig_open(struct arena *a, struct arena *scratch, enum trace_source source);

/* Appends a slice with an event of that category and name. */
void trace_rig_slice(struct trace_rig *r, uint32_t track, enum trace_category category,
        const char *name, int64_t start, int64_t length, int64_t correlation);

#endif
