/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations and releases of memory among the slices of a trace.
 */
#ifndef TFPROF_TRACE_ALLOCATION_H
#define TFPROF_TRACE_ALLOCATION_H

#include "trace/trace.h"

struct allocation {
	struct str device, allocator; /* p NULL: not known */
	bool freed;
	int64_t bytes; /* allocated or released; never negative; 0: not known */
	bool has_address;
	uint64_t address;
	/* Totals of the allocator, as the source says them; below 0: not known. */
	int64_t in_use, peak, reserved, capacity;
};

/* Returns the labels of all devices, in a. */
struct str *allocation_labels(const struct trace *t, struct arena *a);

/* Fills *out with an allocation or a release; false if the slice is neither. */
bool allocation_of(const struct trace *t, const struct slice *s, const struct str *labels,
        struct allocation *out);

#endif
