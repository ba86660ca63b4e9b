/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of a trace by op and by family, the device work that they cover, and the rest by
 * reason.
 */
#ifndef TFPROF_TRACE_PASS_FLOPS_SUMS_H
#define TFPROF_TRACE_PASS_FLOPS_SUMS_H

#include "trace/pass/ops.h"

/* The calls of one op that are counted, or that lack the same data. */
struct flops_row {
	struct str name; /* name of the op; p NULL: work that no op launched */
	enum flops_formula formula;
	enum flops_lack lack;
	unsigned input;
	bool windowed; /* as of struct op_calls */
	uint64_t calls;
	uint64_t missing; /* of counted rows and families: calls of the same op or family that lack
	                     data */
	int64_t flops, recomputed, bytes, device; /* device: ticks */
	int64_t stated;                           /* float operations that the file states */
};

struct flops_sums {
	const struct trace_ops *ops;
	struct flops_row *rows;
	size_t n;
	int64_t flops, recomputed, bytes, stated;
	int64_t paged;      /* of attention over a paged cache, which counts no window */
	int64_t windowed;   /* of calls that are probably limited to a window */
	int64_t known, all; /* ticks of device work */
	uint64_t inferred;  /* calls whose output shape comes from the next op */
	struct flops_row families[FAMILIES];
};

/* Adds up the calls. The rows live in a. */
void flops_sums_find(struct flops_sums *x, const struct trace_ops *ops, struct arena *a);

/* Returns the family of a row; FAMILY_NONE if its op has no formula. */
enum flops_family flops_row_family(const struct flops_row *r);

/* The share of the device time for which float operations are known, and the largest rest. */
#define UNCOUNTED_SHOWN 3
struct flops_coverage {
	bool counts; /* the trace has calls that could be counted */
	int64_t known_ns, all_ns;
	struct str windowed; /* the first op whose calls are windowed; empty: none */
	size_t uncounted;    /* rows that are not counted, of which the first are shown */
	struct uncounted {
		struct str op; /* "(no op)": work that no op launched */
		enum flops_lack lack;
		int64_t ns;
	} shown[UNCOUNTED_SHOWN];
};
/* The names live in a. */
struct flops_coverage *flops_coverage_of(const struct flops_sums *x, struct arena *a);
struct flops_coverage *flops_coverage_copy(const struct flops_coverage *x, struct arena *a);

/* Returns the rows that are not counted, the most device time first; *n: their number. Calls
 * without device work are left out, unless no call of the file has any. */
const struct flops_row *flops_sums_unknown(const struct flops_sums *x, size_t *n, struct arena *a);

#endif
