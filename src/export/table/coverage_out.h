/* SPDX-License-Identifier: Apache-2.0
 *
 * The share of the device time for which float operations are known, and the largest rest. Every
 * answer with float operations of a trace has them.
 */
#ifndef TFPROF_EXPORT_COVERAGE_OUT_H
#define TFPROF_EXPORT_COVERAGE_OUT_H

#include "export/data/document.h"
#include "trace/pass/flops_sums.h"

/* Appends "known for 91.2% of the device time", and whether all of this time is of work without
 * float operations. Appends nothing if the trace has no device work. */
void coverage_put_share(struct sb *b, const struct flops_coverage *x);
/* Appends the same, and the most of the rest: "; not counted: aten::_fused_adamw_ 8.7% (no shape in
 * the file)"; then the op whose float operations are an upper bound. */
void coverage_put_known(struct sb *b, const struct flops_coverage *x);

/* Appends why the float operations of an op are an upper bound, without a newline. */
void coverage_put_window(struct sb *b, struct str op);

/* Writes these facts as lines for the beginning of an answer. */
void coverage_put(struct sb *b, const struct flops_coverage *x);

/* Writes the members device_ns, covered_ns and coverage. */
void coverage_members(struct document *d, const struct flops_coverage *x);

/* Writes a member with the share, from 0 to 1. */
void coverage_member(struct document *d, const char *key, double v);

#endif
