/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins device work to the calls that launched it, by process and correlation, while both are read
 * in order of their starts. A first reading collects the correlations of calls and work. So the
 * second reading skips calls without work, and drops a launch after its last work. Memory is
 * proportional to the number of pending launches, plus 3 bits per correlation.
 */
#ifndef TFPROF_TRACE_LAUNCH_JOIN_H
#define TFPROF_TRACE_LAUNCH_JOIN_H

#include "trace/trace.h"

struct launch_join;
struct launch_join *launch_join_new(struct arena *a);

/* First reading: registers the correlations. */
void launch_join_expect_call(struct launch_join *j, uint32_t process, int64_t correlation);
void launch_join_expect_work(struct launch_join *j, uint32_t process, int64_t correlation);

/* The call of a launch. */
struct launched {
	int64_t start, end;
	uint32_t op;     /* 1 + index of the op that contains the call; 0: none */
	bool collective; /* true: that op is a collective */
};

/* Second reading: adds a call. Afterwards launch_join_waiting returns each work of this call that
 * was read before it. */
void launch_join_call(
        struct launch_join *j, uint32_t process, int64_t correlation, const struct launched *call);
bool launch_join_waiting(struct launch_join *j, struct slice *work);

enum launch_found {
	LAUNCH_NONE,  /* the file has no call for the work */
	LAUNCH_FOUND, /* *call has been filled */
	LAUNCH_LATER  /* the call starts later; the work is stored until the call is read */
};
enum launch_found launch_join_work(
        struct launch_join *j, uint32_t process, const struct slice *work, struct launched *call);

#endif
