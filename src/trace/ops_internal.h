/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for ops, and call stacks (ops_stack.c).
 */
#ifndef TFPROF_TRACE_OPS_INTERNAL_H
#define TFPROF_TRACE_OPS_INTERNAL_H

#include "trace/nest.h"
#include "trace/ops.h"

struct ops_rule {
	uint32_t levels; /* NEST_BITs */
	bool flat;       /* the name of a slice is its whole path */
	bool leaf;       /* device work is a level of its own, below the op that launched it */
	uint32_t gaps;   /* NEST_BITs: time off the op around, in which another track has its own */
};
extern const struct ops_rule ops_rules[];

struct finding {
	struct trace_ops *to;
	struct arena *a; /* scratch */
	const struct trace_links *links;
	const struct trace_steps *steps;
	struct sb path;
	struct imap by_name; /* string id -> op */
	struct imap below;   /* op around + 1, event -> op */
	struct imap cell_of; /* op, step -> cell */
	struct intern compiled;
	struct imap count_of; /* compiled op, cell -> count */
	VEC(uint64_t) counts;
	struct imap kernel_of; /* name, category, device -> row */
	struct imap share_of;  /* row, op -> share */
	VEC(struct kernel_share) shares;
	struct imap stack_of; /* string id of a stack -> frame */
	uint32_t *host0;      /* by track: where its slices begin in op_of */
	uint32_t *op_of;      /* by slice of a thread: 1 + op, 0: none */
};

/* Finds or adds an op by its name; a new one has that type. */
uint32_t ops_named(struct finding *x, struct str name, struct str type);
/* Finds or adds a cell and extends it over a slice; the pointer is valid until the next call. */
struct op_cell *ops_cell(struct finding *x, uint32_t op, uint32_t step, const struct slice *s);

/* Adds device work to the rows of kernels; the end finds their ops and sorts them. */
void ops_add_kernel(struct finding *x, const struct slice *s, uint32_t op);
void ops_end_kernels(struct finding *x);

/* Frames of a track (slices of the category frame) that are open at a slice. */
struct frame_walk {
	struct slice_iter it;
	struct slice next;
	bool have;
	struct arena *a;
	VEC(struct slice) open;
};
void frame_walk_init(struct frame_walk *w, const struct trace *t, uint32_t track, struct arena *a);

/* Gives an op without a call stack that of a slice: from its arguments, else, where frames is not
 * NULL, the frames around it. Slices of one walk come in their order. */
void ops_set_frame(
        struct finding *x, uint32_t op, struct frame_walk *frames, const struct slice *s);

#endif
