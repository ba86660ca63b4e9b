/* SPDX-License-Identifier: Apache-2.0
 *
 * The float operations of a trace as text and as data (docs/schema/flops.json): by family, by op,
 * and the ops that are not counted, with the reason.
 */
#ifndef TFPROF_EXPORT_FLOPS_OUT_H
#define TFPROF_EXPORT_FLOPS_OUT_H

#include "export/out.h"
#include "trace/pass/ops.h"

/* top: rows of each table in text; 0: all. columns: width of the terminal; 0: names stay whole. */
bool flops_write(const struct trace_ops *ops, size_t steps, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e);

/* Writes the formula of each call of an op with its numbers, the most float operations first. False
 * if no call has the op. */
bool flops_explain(
        const struct trace_ops *ops, struct str op, size_t top, struct sink *to, struct arena *a);

#endif
