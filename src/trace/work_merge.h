/* SPDX-License-Identifier: Apache-2.0
 *
 * Device work of several tracks by start, and unions of intervals in that order.
 */
#ifndef TFPROF_TRACE_WORK_MERGE_H
#define TFPROF_TRACE_WORK_MERGE_H

#include "trace/trace.h"

/* A union of intervals that are added by start. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

/* A track: the next slice of work, and its successor. */
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

/* device: only its work; ID_NONE: of all devices. */
void work_merge_init(struct work_merge *m, const struct trace *t, uint32_t device, struct arena *a);

/* Returns the next slice, valid until the next call; NULL at the end. *contains: on a line of ops,
 * the next slice of its track is inside it. */
const struct slice *work_merge_next(struct work_merge *m, bool *contains);

#endif
