/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads memory allocations and releases from the slices of a trace.
 */
#ifndef TFPROF_TRACE_ALLOCATION_H
#define TFPROF_TRACE_ALLOCATION_H

#include "trace/trace.h"

struct allocation {
	struct str device, allocator; /* p is NULL if unknown */
	bool freed;
	int64_t bytes; /* size of the allocation or release in bytes, never negative; 0: unknown */
	bool has_address;
	uint64_t address;
	/* Totals in bytes that the source recorded for the allocator; negative: unknown. */
	int64_t in_use, peak, reserved, capacity;
	double fragmentation; /* share of the free memory outside of the largest free block;
	                         negative: unknown */
};

/* Returns the labels of all devices; the array lives in a. */
struct str *allocation_labels(const struct trace *t, struct arena *a);
/* Returns the memory of the device with a label in bytes, or -1 if it is unknown. */
int64_t allocation_capacity(const struct trace *t, const struct str *labels, struct str device);

/* Fills *out with an allocation or a release. Returns false if the slice is neither. */
bool allocation_of(const struct trace *t, const struct slice *s, const struct str *labels,
        struct allocation *out);

#endif
