/* SPDX-License-Identifier: Apache-2.0
 *
 * Device work of several tracks in the order of its starts, and unions of intervals that come in
 * that order.
 */
#ifndef TFPROF_TRACE_WORK_MERGE_H
#define TFPROF_TRACE_WORK_MERGE_H

#include "trace/trace.h"

/* A union of intervals that come in the order of their starts. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

/* A track: the next slice of work, and the one after it. */
struct work_cursor {
	struct slice_iter it;
	struct slice now, after;
	bool have, have_after;
};

struct work_merge {
	const struct trace *t;
	struct work_cursor *v; /* a heap by start, then by track */
	size_t n;
	bool begun;
};

/* device: of that one alone; ID_NONE: of all. */
void work_merge_init(struct work_merge *m, const struct trace *t, uint32_t device, struct arena *a);

/* The next slice; valid until the next call. *contains: on a line of ops, the next slice of its
 * track is inside it. NULL at the end. */
const struct slice *work_merge_next(struct work_merge *m, bool *contains);

#endif
