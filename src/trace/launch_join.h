/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the call that launched each piece of device work, by process and correlation, while calls
 * and work come by start. A first reading announces the correlations of both, so a call without
 * work is never kept, and a launch only until its last work has come: memory follows the number of
 * launches under way, besides 3 bits per correlation.
 */
#ifndef TFPROF_TRACE_LAUNCH_JOIN_H
#define TFPROF_TRACE_LAUNCH_JOIN_H

#include "trace/trace.h"

struct launch_join;
struct launch_join *launch_join_new(struct arena *a);

/* First reading. */
void launch_join_expect_call(struct launch_join *j, uint32_t process, int64_t correlation);
void launch_join_expect_work(struct launch_join *j, uint32_t process, int64_t correlation);

/* The call of a launch. */
struct launched {
	int64_t start;
	uint32_t op; /* 1 + the op around the call; 0: none */
};

/* Second reading: takes a call. Then launch_join_waiting returns the work that came before it. */
void launch_join_call(
        struct launch_join *j, uint32_t process, int64_t correlation, const struct launched *call);
bool launch_join_waiting(struct launch_join *j, struct slice *work);

enum launch_found {
	LAUNCH_NONE,  /* the file has no call for the work */
	LAUNCH_FOUND, /* *call is filled */
	LAUNCH_LATER  /* the call starts after the work, which is kept until then */
};
enum launch_found launch_join_work(
        struct launch_join *j, uint32_t process, const struct slice *work, struct launched *call);

#endif
