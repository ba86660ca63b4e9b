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

/* Limit of a row at its roof. */
enum roof_bound {
	BOUND_UNKNOWN,
	BOUND_COMPUTE,
	BOUND_MEMORY,
	BOUND_LAUNCH, /* the host takes longer to launch the kernels */
	BOUNDS
};
extern const char *const roof_bounds[BOUNDS];

/* Calls of an op with the same shapes, a function of devices, a module or a phase. Numbers that are
 * not known are -1. */
struct roof_row {
	struct str name;
	struct str shapes; /* as in the file; p NULL: none */
	struct str type;   /* of the op */
	enum number_type numbers;
	enum roof_bound bound;
	bool windowed;   /* flops and bytes are upper bounds: see struct op_calls */
	uint32_t device; /* of its first work, or ID_NONE: it has none */
	uint64_t calls, kernels;
	int64_t ns;       /* device work; without a device, time on threads */
	int64_t rated_ns; /* of these, of calls whose numbers are known */
	int64_t flops, bytes, roof_ns;
};

/* Peaks of a device for numbers of a type; rates per second. */
struct roof_peak {
	uint32_t device;
	const char *name;
	const char *source;       /* NULL: the file or the user gave the peaks, as the name says */
	enum number_type numbers; /* NUMBERS_OTHER: of all types */
	double flops, bytes;
};

struct roofline_request {
	enum roof_by by;
	double peak_flops,
	        peak_bytes; /* per second, instead of those of the devices; 0: not given */
};

struct roofline {
	struct trace_ops ops;
	const struct flops_coverage *coverage;
	VEC(struct roof_row) rows;   /* the longest first */
	VEC(struct roof_peak) peaks; /* of the rows */
	uint64_t halves;             /* ops without a rate: they begin or end an asynchronous op */
};

/* links and steps belong to t; out lives in a. */
void roofline_find(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, const struct roofline_request *request,
        struct roofline *out, struct arena *a);

/* Returns the name, and the shapes with several dimensions, if there are some: "aten::mm 4x5 5x6";
 * in a. */
struct str roof_label(const struct roof_row *r, struct arena *a);

#endif
