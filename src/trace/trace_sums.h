/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds the slices of a trace up while they come by start, without keeping them: ops, activity of
 * devices and of steps, as the passes find them in a trace that has its slices. Memory follows the
 * number of ops, steps and open slices. For sources whose device work is on streams.
 *
 *   x = trace_sums_new(t, scratch)
 *   trace_sums_expect(x, track, call, correlation)     first reading: of all calls and work
 *   trace_sums_begin(x)                                all tracks and steps are in the trace
 *   trace_sums_add(x, slice)                           second reading, by start; longest first
 *   trace_sums_end(x, path)                            fills what trace.sums is to be
 */
#ifndef TFPROF_TRACE_TRACE_SUMS_H
#define TFPROF_TRACE_TRACE_SUMS_H

#include "trace/trace.h"

struct slice_sums;
struct slice_sums *trace_sums_new(const struct trace *t, struct arena *scratch);
void trace_sums_expect(struct slice_sums *x, uint32_t track, bool call, int64_t correlation);
void trace_sums_begin(struct slice_sums *x);

/* Adds work, a call, a range or a step. Arguments of the slice itself are not looked at. */
void trace_sums_add(struct slice_sums *x, const struct slice *s);

/* The result lives as long as the trace. */
const struct trace_sums *trace_sums_end(struct slice_sums *x, struct str path);

#endif
