/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: links device work to the call that launched it, by process and correlation, and to the
 * innermost op around that call on its thread. If no op contains the call, the op with the work's
 * external id counts, else the innermost annotation, module or frame around the call.
 */
#ifndef TFPROF_TRACE_LINK_H
#define TFPROF_TRACE_LINK_H

#include "trace/trace.h"

/* A call with a correlation. */
struct launch {
	int64_t start;
	uint32_t slice; /* number of its slice */
	uint32_t op;    /* number of the innermost op around it, or ID_NONE */
	uint32_t scope; /* number of the innermost slice of any other level around it, or ID_NONE */
};

struct trace_links {
	const struct trace *t;
	VEC(struct launch) launches;
	struct imap *by_correlation; /* by process; the last one is for tracks without a process */
	struct imap *by_external; /* ops by external id; made when a launch has no op around it */
	bool externals;
};

/* Walks all threads; out lives in a. */
void trace_link(const struct trace *t, struct trace_links *out, struct arena *a);

/* Returns the launch of device work, or NULL if the file has none. */
const struct launch *link_launch(const struct trace_links *l, const struct slice *work);

/* The number of the slice that device work with that launch, which may be NULL, is attributed to:
 * an op, else what contains the launch; ID_NONE if there is none. */
uint32_t link_op(
        const struct trace_links *l, const struct slice *work, const struct launch *launch);

#endif
