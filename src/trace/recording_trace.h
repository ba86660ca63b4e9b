/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording as a trace: device work on streams, calls on threads, steps. Work carries the path of
 * the ranges around its call and its step, as recordings.h finds them.
 */
#ifndef TFPROF_TRACE_RECORDING_TRACE_H
#define TFPROF_TRACE_RECORDING_TRACE_H

#include "trace/recordings.h"
#include "trace/trace.h"

/* Fills t, which is new, from the files. Remarks go to notes. Takes about 90 bytes for each kernel
 * with its call until the passes are done. */
bool recording_trace(struct trace *t, const struct recording_set *files,
        const struct recording_options *o, struct notes *notes, struct err *e);

#endif
