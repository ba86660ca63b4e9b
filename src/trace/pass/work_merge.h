/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges the device work of several tracks by start.
 */
#ifndef TFPROF_TRACE_WORK_MERGE_H
#define TFPROF_TRACE_WORK_MERGE_H

#include "trace/trace.h"

/* A track: its next slice of work, and the one after it. */
struct work_cursor {
	struct slice_iter it;
	struct slice now, after;
	bool have, have_after;
	bool waits; /* true: waits for events are returned, too */
};

struct work_merge {
	const struct trace *t;
	struct work_cursor *v; /* a heap, ordered by start and track */
	size_t n;
	bool begun;
};

/* device: merge only the work of this device; ID_NONE: of all devices. waits: also return slices
 * that mark a stream's wait for an event. */
void work_merge_init(
        struct work_merge *m, const struct trace *t, uint32_t device, bool waits, struct arena *a);

/* Returns the next slice, valid until the next call; NULL at the end. Sets *contains if the slice
 * is on a line of ops and contains the next slice of its track. */
const struct slice *work_merge_next(struct work_merge *m, bool *contains);

#endif
