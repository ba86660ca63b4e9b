/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the results of the passes (ops, activity of devices and steps) while slices are read in
 * order of their starts, without storing the slices. Memory is proportional to the number of ops,
 * steps and open slices. For sources whose device work is on streams.
 *
 *   x = trace_sums_new(t, scratch)
 *   trace_sums_expect(x, track, call, correlation)   first reading: all calls and work
 *   trace_sums_begin(x)                              the trace has all tracks and steps
 *   trace_sums_add(x, slice)                         second reading: by start, longest first
 *   trace_sums_end(x, path)                          returns the value for trace.sums
 */
#ifndef TFPROF_TRACE_TRACE_SUMS_H
#define TFPROF_TRACE_TRACE_SUMS_H

#include "trace/trace.h"

struct slice_sums;
struct slice_sums *trace_sums_new(const struct trace *t, struct arena *scratch);
void trace_sums_expect(struct slice_sums *x, uint32_t track, bool call, int64_t correlation);
void trace_sums_begin(struct slice_sums *x);

/* Adds device work, a wait for an event, a call, a range or a step. Ignores the slice's own
 * arguments. */
void trace_sums_add(struct slice_sums *x, const struct slice *s);

/* The result lives as long as the trace. */
const struct trace_sums *trace_sums_end(struct slice_sums *x, struct str path);

#endif
