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
	struct str name;            /* name of the op; p is NULL for work that no op launched */
	enum flops_formula formula; /* that of the calls with the most float operations */
	int64_t most;               /* float operations of these calls */
	enum flops_lack lack;
	unsigned input;
	bool windowed; /* same meaning as in struct op_calls */
	uint64_t calls;
	uint64_t missing; /* for counted rows and families: calls of the same op or family that lack
	                     data */
	int64_t flops, recomputed, bytes, device; /* device: ticks */
	int64_t stated;                           /* float operations that the file states */
};

struct flops_sums {
	const struct trace_ops *ops;
	struct flops_row *rows;
	size_t n;
	int64_t flops, recomputed, bytes, stated;
	int64_t paged;      /* float operations of attention over a paged cache, whose windows are
	                       not counted */
	int64_t windowed;   /* float operations of calls that are probably limited to a window */
	int64_t known, all; /* ticks of device work: with known float operations, and in total */
	uint64_t inferred;  /* calls whose output shape comes from the next op */
	struct flops_row families[FAMILIES];
};

/* Adds up the float operations of the calls. The rows live in a. */
void flops_sums_find(struct flops_sums *x, const struct trace_ops *ops, struct arena *a);

/* Returns the family of a row; FAMILY_NONE if its op has no formula. */
enum flops_family flops_row_family(const struct flops_row *r);

/* The share of the device time for which float operations are known, and the largest rows without
 * them. */
#define UNCOUNTED_SHOWN 3
struct flops_coverage {
	bool counts;   /* true: the trace has calls that could be counted */
	bool computes; /* true: calls with float operations are counted */
	int64_t known_ns, all_ns;
	struct str windowed; /* the first op whose calls are windowed; empty: none */
	size_t uncounted;    /* rows that are not counted, of which the first are shown */
	struct uncounted {
		struct str op; /* "(no op)": work that no op launched */
		enum flops_lack lack;
		int64_t ns;
	} shown[UNCOUNTED_SHOWN];
};
/* Returns the coverage of the device time. The names live in a. */
struct flops_coverage *flops_coverage_of(const struct flops_sums *x, struct arena *a);
struct flops_coverage *flops_coverage_copy(const struct flops_coverage *x, struct arena *a);

/* Returns the rows that are not counted, sorted by descending device time, and sets *n to their
 * number. Leaves out calls without device work, unless no call of the file has any. */
const struct flops_row *flops_sums_unknown(const struct flops_sums *x, size_t *n, struct arena *a);

#endif
