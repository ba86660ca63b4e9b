/* SPDX-License-Identifier: Apache-2.0
 *
 * The float operations of a trace as text and as data (docs/schema/flops.json): by family, by op,
 * and the ops that are not counted, with the reason.
 */
#ifndef TFPROF_EXPORT_FLOPS_OUT_H
#define TFPROF_EXPORT_FLOPS_OUT_H

#include "export/out.h"
#include "flops/peak.h"
#include "trace/pass/ops.h"

/* The share of the peak rate that the model used. */
struct flops_rate {
	const struct peak *peak; /* NULL if unknown, or if there are devices of several kinds */
	double given;            /* peak for all types, given by the user; 0: use the peak of the
	                            device */
	struct str model;        /* name of the device; empty: the trace has no device work */
	size_t devices;          /* number of devices with work */
	const struct trace_steps *steps;
	size_t n;     /* number of steps; 1 if the file does not mark steps */
	bool partial; /* true: print the share whatever the coverage is */
};

/* The float operations of one of several traces. */
struct flops_rank {
	struct str name; /* name of the worker */
	struct trace_ops ops;
	struct flops_rate rate;
};

/* Writes MFU and HFU of each of several traces (docs/schema/flops-ranks.json), the mean and the
 * worst value. */
bool flops_write_ranks(const struct flops_rank *v, size_t n, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e);

/* Writes the answer. top: maximum number of rows of each table in text; 0: all. columns: width of
 * the terminal; 0: names stay whole. */
bool flops_write(const struct trace_ops *ops, const struct flops_rate *rate, size_t top,
        const struct opts *o, unsigned columns, struct emit *to, struct err *e);

/* Writes the formula of each call of an op with its numbers, most float operations first. Returns
 * false if no call has the op. columns: width of the terminal, or 0. */
bool flops_explain(const struct trace_ops *ops, struct str op, size_t top, unsigned columns,
        struct sink *to, struct arena *a);

#endif
