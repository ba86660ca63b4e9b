/* SPDX-License-Identifier: Apache-2.0
 *
 * Links device work to the call that launched it, by process and correlation, and to the innermost
 * op that contains the call on its thread. If no op contains the call, the work belongs to the op
 * with its external id, otherwise to the innermost annotation, module or frame that contains the
 * call.
 */
#ifndef TFPROF_TRACE_LINK_H
#define TFPROF_TRACE_LINK_H

#include "trace/trace.h"

/* A call with a correlation. */
#define LAUNCH_LENGTH_MAX ((UINT32_C(1) << 31) - 1)
struct launch {
	int64_t start;
	uint32_t slice;          /* number of the slice of the call */
	uint32_t op;             /* number of the innermost op that contains the call, or ID_NONE */
	uint32_t scope;          /* number of the innermost annotation, module or frame that
	                            contains the call, or ID_NONE */
	uint32_t collective : 1; /* 1 if the op is a collective */
	uint32_t length : 31;    /* length of the call, ticks; LAUNCH_LENGTH_MAX: that or more */
};

struct trace_links {
	const struct trace *t;
	VEC(struct launch) launches;  /* by track, then by start */
	struct idmap *by_correlation; /* indexed by process; the last element is for tracks without
	                                 a process */
	struct idmap *by_external;    /* built only if a launch is outside of all ops */
	bool externals;
};

/* Finds the launches of all threads. The result lives in a. */
void trace_link(const struct trace *t, struct trace_links *out, struct arena *a);

/* Returns the end of a call, ticks. */
int64_t launch_end(const struct trace_links *l, const struct launch *launch);

/* Returns the launch of device work, or NULL if unknown. */
const struct launch *link_launch(const struct trace_links *l, const struct slice *work);

/* Returns the number of the slice to which device work is attributed: an op, otherwise the scope of
 * the launch; or ID_NONE. launch may be NULL. */
uint32_t link_op(
        const struct trace_links *l, const struct slice *work, const struct launch *launch);

#endif
