/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording as a trace: device work on streams, calls on threads, steps. Work carries the path of
 * the ranges around its call and its step, as recordings.h finds them.
 */
#ifndef TFPROF_TRACE_RECORDING_TRACE_H
#define TFPROF_TRACE_RECORDING_TRACE_H

#include "trace/recordings.h"
#include "trace/trace.h"

/* How a recording is read. */
struct recording_ask {
	uint64_t wants;                      /* arguments of work to keep (ARG_BIT) */
	const struct recording_watch *watch; /* or NULL */
	bool say;                            /* add notes about what is missing or odd */
};

/* Fills t, which is new, from the files. Remarks go to notes. Only ARG_BITS_ALL keeps calls and
 * correlations, which takes about 90 bytes for each kernel with its call until the passes are done;
 * otherwise a kernel takes about 8 bytes and its arguments, and ARG_LATENCY stands for its call. */
bool recording_trace(struct trace *t, const struct recording_set *files,
        const struct recording_options *o, const struct recording_ask *ask, struct notes *notes,
        struct err *e);

#endif
