/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: compares the work of a trace with the peaks of its devices. A roof is the least time that a
 * device needs, for the float operations at their peak rate or for the bytes at the bandwidth of
 * the memory, whichever takes longer.
 */
#ifndef TFPROF_TRACE_PASS_ROOFLINE_H
#define TFPROF_TRACE_PASS_ROOFLINE_H

#include "flops/peak.h"
#include "trace/pass/flops_sums.h"

enum roof_by { ROOF_BY_OP, ROOF_BY_KERNEL, ROOF_BY_MODULE, ROOF_BY_PHASE };

/* Limits of a row at its roof. */
enum roof_bound {
	BOUND_UNKNOWN,
	BOUND_COMPUTE,
	BOUND_MEMORY,
	BOUND_LAUNCH, /* the host takes longer to launch the kernels */
	BOUNDS
};
extern const char *const roof_bounds[BOUNDS];

/* The calls of an op with the same shapes, a device function, a module or a phase. Unknown numbers
 * are -1. */
struct roof_row {
	struct str name;
	struct str shapes; /* shapes as the file states them; p is NULL if there are none */
	struct str type;   /* type of the op */
	enum number_type numbers;
	enum roof_bound bound;
	bool windowed;   /* flops and bytes are upper bounds: see struct op_calls */
	uint32_t device; /* of its first work, or ID_NONE: it has none */
	uint64_t calls, kernels;
	int64_t ns;       /* time of device work; without a device, time on threads */
	int64_t rated_ns; /* part of ns in calls whose numbers are known */
	int64_t flops, bytes, roof_ns;
};

/* Peaks of a device for numbers of one type; rates per second. */
struct roof_peak {
	uint32_t device;
	const char *name;
	const char *source;       /* source of the peaks in the table; NULL: the file or the user
	                             gave them, as the name says */
	enum number_type numbers; /* NUMBERS_OTHER: numbers of all types */
	double flops, bytes;
};

struct roofline_request {
	enum roof_by by;
	double peak_flops,
	        peak_bytes; /* per second; replace the peaks of the devices; 0: not given */
	const struct trace_ops
	        *calls; /* of a graph with times, in place of the calls of the trace */
};

struct roofline {
	struct trace_ops ops;
	const struct flops_coverage *coverage;
	VEC(struct roof_row) rows;   /* sorted by time in descending order */
	VEC(struct roof_peak) peaks; /* peaks of the rows */
	uint64_t halves;             /* number of ops without a rate, which begin or end an
	                                asynchronous op */
};

/* Compares the work of a trace with the peaks. links and steps belong to t; out lives in a. */
void roofline_find(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, const struct roofline_request *request,
        struct roofline *out, struct arena *a);

/* Returns the name of a row, followed by its shapes with several dimensions, if any: "aten::mm 4x5
 * 5x6"; in a. */
struct str roof_label(const struct roof_row *r, struct arena *a);

#endif
