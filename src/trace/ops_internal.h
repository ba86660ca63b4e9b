/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for ops: threads and devices (ops.c), which op a slice is (ops_name.c), call stacks
 * (ops_stack.c), kernels (ops_kernels.c).
 */
#ifndef TFPROF_TRACE_OPS_INTERNAL_H
#define TFPROF_TRACE_OPS_INTERNAL_H

#include "trace/passes.h"
#include "trace/ops.h"
#include "trace/trace.h"

/* Which slices of threads are looked at, and which of them make levels of a path. */
struct ops_rule {
	uint32_t nested, levels; /* NEST_BITs */
	uint32_t flat;           /* NEST_BITs: the name of such a slice is its whole path */
	bool leaf;     /* device work is a level of its own, below the op that launched it */
	uint32_t gaps; /* NEST_BITs: subtracted from the op around, because another track has it */
};

/* Facts about the device work of an event that its slices share, unless their own arguments differ;
 * and where the last slice was counted. */
struct event_work {
	uint32_t op;    /* 1 + its op, if no launch decides; 0: not known yet */
	uint32_t share; /* 1 + share of a kernel */
	struct {
		uint32_t run;      /* 1 + its key in finding.compiled; 0: not known yet */
		uint32_t cell, at; /* 1 + cell; index of the count */
	} counts[2];
	bool known; /* the following are */
	bool compiled;
	int64_t flops, bytes_accessed;
};

struct finding {
	struct trace_ops *to;
	struct arena *a; /* scratch */
	const struct trace_links *links;
	const struct trace_steps *steps;
	enum trace_by by;
	struct ops_rule rule;
	struct sb path, longer;  /* names that are being made */
	struct imap by_name;     /* string id -> op */
	struct imap below;       /* op around + 1, event -> op */
	struct imap cell_of;     /* op, step -> cell */
	VEC(uint32_t) last_cell; /* by op: the cell found last */
	struct intern compiled;
	struct imap count_of; /* compiled op, cell -> count */
	VEC(uint64_t) counts;
	struct imap kernel_of; /* name, category, device -> row */
	struct imap share_of;  /* row, op -> share */
	VEC(struct kernel_share) shares;
	struct imap
	        module_of; /* process and sequence number of a forward op -> 1 + op of its module */
	bool backward;     /* some ops have numbers of forward ops */
	struct imap at_stack;    /* op, frame -> op with that call stack */
	VEC(uint32_t) base;      /* by op: the op that it is one call stack of, or itself */
	struct imap stack_of;    /* string id of a stack -> frame */
	bool frames;             /* the trace has frames on its threads */
	bool records;            /* slices have numbers of record functions */
	bool linked;             /* launching is known beforehand, without links */
	uint32_t launching;      /* if so: 1 + the op that launched the next work, 0: none */
	size_t n_events;         /* room of event_flops and work */
	size_t demangling;       /* bytes that demangling may still produce */
	int64_t *event_flops;    /* by event: 1 + float operations of a call, 0: not known yet */
	struct event_work *work; /* by event */
	uint32_t *host0;         /* by track: index of its first slice in op_of */
	uint32_t *op_of;         /* by slice of a thread: 1 + op, 0: none */
};

/* Finds or adds an op by its name; a new one gets that type. */
uint32_t ops_named(struct finding *x, struct str name, struct str type);
/* Finds or adds a cell and extends it by a slice; the pointer is valid until the next call. */
struct op_cell *ops_cell(struct finding *x, uint32_t op, uint32_t step, const struct slice *s);

/* Begins a search; results live in a. */
void ops_begin(struct finding *x, const struct trace *t, const struct trace_steps *steps,
        enum trace_by by, struct trace_ops *out, struct arena *a, struct arena *scratch);
/* Makes room for events that are new in the trace. */
void ops_know_events(struct finding *x);
/* Adds the closed slice of a thread, of which user is 1 + its op. */
void ops_close_host(struct finding *x, const struct nest_level *level);
/* Adds device work with its launch, which may be NULL, and returns its op. */
uint32_t ops_add_work(
        struct finding *x, const struct slice *s, int64_t self, const struct launch *launch);
void ops_end(struct finding *x);

/* The rule of a source. */
struct ops_rule ops_rule_of(enum trace_source source, enum trace_by by);
/* Returns the op of a slice of a thread; around: 1 + the op of the enclosing slice, 0: none. */
struct frame_walk;
uint32_t ops_of_slice(
        struct finding *x, uint32_t around, const struct slice *s, struct frame_walk *frames);
/* Returns the op that has the calls of an op from a frame, if there is one for each call stack. */
uint32_t ops_at_frame(struct finding *x, uint32_t op, uint32_t frame);
/* True for the execution of a compiled op on a thread. */
bool ops_is_compiled(const struct finding *x, const struct slice *s);
/* Finds out whether there are ops of backward passes, and modules for them. */
void ops_find_backward(struct finding *x);
/* True if a track has ops of a backward pass, which belong to modules of a forward pass. */
bool ops_is_backward(const struct finding *x, uint32_t track);
/* Returns 1 + the op around a slice that is opened: a backward op without a module is in the module
 * of its forward op. 0: none. */
uint32_t ops_around(struct finding *x, const struct nest *n, const struct nest_level *level);

/* Returns the op to which device work of the launch (or NULL) belongs. */
uint32_t ops_of_work(struct finding *x, const struct slice *s, const struct launch *launch);

/* Adds device work to the rows of kernels; the second function finds their ops and sorts them. */
void ops_add_kernel(struct finding *x, const struct slice *s, uint32_t op);
void ops_end_kernels(struct finding *x);

/* Frames of a track (slices of the category frame) that are open at a slice. */
struct frame_walk {
	struct slice_iter it;
	struct slice next;
	bool have;
	struct arena *a;
	VEC(struct slice) open;
	bool known; /* frame is the innermost open one, and all open ones contain it */
	uint32_t frame;
};
void frame_walk_init(struct frame_walk *w, const struct trace *t, uint32_t track, struct arena *a);

/* The innermost line of the call stack of a slice, or ID_NONE: from its arguments, else, where
 * frames is not NULL, the frames around it. Slices of one walk come in their order. */
uint32_t ops_frame_of(struct finding *x, struct frame_walk *frames, const struct slice *s);

/* Gives an op without a call stack that of a slice. */
void ops_set_frame(
        struct finding *x, uint32_t op, struct frame_walk *frames, const struct slice *s);

/* ---- work function ----
 *
 * The function of device work: a name that formats agree on. Nsight Systems, PyTorch and the
 * compilers write templates, casts, namespaces and kinds of memory differently.
 */

/* Returns the name of a kernel without result type, namespaces, templates and parameters; "Memcpy
 * DtoH" of a copy; "Memset" of a set. The name is valid as long as a and the given one. *budget: as
 * in demangle(). */
struct str work_function(
        struct str name, enum trace_category category, struct arena *a, size_t *budget);

#endif
