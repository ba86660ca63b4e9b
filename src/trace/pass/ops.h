/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the ops of a trace with their numbers by step. Assigns each slice of a thread or of device
 * work to an op, by a table with the rules of each source (ops.c), and adds up:
 *
 *   host self time      length of an op's slices without the ops directly inside
 *   device self time    device work that the op launched, or that has its name
 *
 * Device work without an op is below "(unattributed)", so no time is lost.
 */
#ifndef TFPROF_TRACE_OPS_H
#define TFPROF_TRACE_OPS_H

#include "flops/flops.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/serving.h"

#define OPS_UNATTRIBUTED "(unattributed)"
#define OPS_DEEPER       "(deeper)" /* op for levels whose paths would take too much memory */
#define OPS_HOST         "(host)" /* type of ops on threads if the grouping uses types of device work */
#define OPS_NO_PHASE     "(no phase)"
#define OPS_UNKNOWN_TYPE "Unknown"
#define OPS_CALL         "(call)" /* type of driver calls, which only TRACE_BY_CALLS makes ops */

/* Options for making ops: the slices that are levels of paths, and the node of device work. */
enum trace_by {
	TRACE_BY_PATH,         /* modules, annotations and ops, as the source nests them */
	TRACE_BY_MODULE,       /* modules of threads, compiled programs of devices */
	TRACE_BY_OP,           /* ops without modules and annotations; compiled ops of devices */
	TRACE_BY_ANNOTATION,   /* annotations of the user */
	TRACE_BY_SOURCE,       /* source lines */
	TRACE_BY_KERNEL,       /* like TRACE_BY_PATH, with the kernel's name as the last level and
	                          as the type */
	TRACE_BY_CATEGORY,     /* the compiler's categories of device work */
	TRACE_BY_FUNCTION,     /* functions of device work without namespaces and templates */
	TRACE_BY_PHASE,        /* like TRACE_BY_PATH, below the phase of the server's step */
	TRACE_BY_MODULE_CLASS, /* modules by their classes: Linear for Linear_0 and Linear_1 */
	TRACE_BY_PROVIDER,     /* ops below the execution provider that ran them */
	TRACE_BY_STACK,        /* like TRACE_BY_PATH, but one op per call stack: "aten::mm#12" */
	TRACE_BY_CALLS,        /* like TRACE_BY_STACK, with the name of the kernel or driver call
	                          as the last level */
	TRACE_BY_N
};

/* A line of a call stack. */
struct op_frame {
	uint32_t parent; /* outer frame, or ID_NONE */
	uint32_t text;   /* id in ops.strings: "file.py(12): f", "file.py:12:8", "$file.py:12 f" */
};

struct trace_op {
	uint32_t name, type; /* ids in ops.strings; the name is a path whose levels are separated by
	                        '/' */
	uint32_t category;   /* id in ops.strings: the compiler's category, or ID_NONE */
	uint32_t device;     /* device of its first device work, or ID_NONE */
	uint32_t frame;      /* innermost line of its first call stack, or ID_NONE */
	uint32_t parent;     /* the op that contains its calls (a lower index), or ID_NONE */
	uint64_t runs;       /* number of executions in all steps */
	int64_t flops, bytes_accessed; /* totals of all executions */
};

/* An op in a step; times are ticks. */
struct op_cell {
	uint32_t op, step;
	uint64_t host_runs;
	uint64_t replays;     /* executions in launches of graphs */
	uint64_t device_runs; /* executions seen only on devices: the most executions of one kernel
	                         in it; 0 if the op has any of the others in the step */
	uint64_t kernels;     /* number of slices of device work */
	int64_t host_self, host_total;
	int64_t device_self, device_total;
	int64_t bytes_accessed, flops;
	uint64_t uncounted; /* calls, or work without a call, whose float operations are unknown */
	uint64_t windowed;  /* calls of struct op_calls that are windowed */
	int64_t critical;   /* on the critical path of the step */
	int64_t host_start, device_start, start, end; /* first starts, last end */
};

/* Device work of one name and category on a device; times are ticks. */
struct kernel_row {
	uint32_t name; /* string id of the trace */
	enum trace_category category;
	uint32_t device;
	uint32_t op;     /* index in ops: the op with most of the row's time */
	uint32_t ops;    /* number of ops with a part of its time */
	uint32_t common; /* index in strings: the path of the op; if there are several, the levels
	                    that their paths have in common and the number of ops */
	uint8_t phase;   /* 1 + enum serving_phase, if rows are divided by phase; 0: none */
	bool has_op;     /* used during construction */
	uint64_t count;
	int64_t total, min, max;
};

/* The calls of an op with the same inputs. */
struct op_calls {
	uint32_t event;  /* index in the events of the trace; it has the name and the inputs */
	struct str name; /* name of the op: the name of the event, or the op type */
	struct str list; /* list of the calls that make up the op; empty: the op is one call */
	struct str node; /* name of the node, for a node of a graph or a layer of an engine */
	enum flops_formula formula; /* FORMULAS: the table has no formula for the op */
	enum flops_lack lack;       /* equal for all calls of this op */
	unsigned input;             /* index of the input that lacks data */
	bool from_file;             /* the formula lacks data: the number is the one in the file */
	struct flops one;           /* float operations and bytes of one call, computed from its
	                               inputs */
	uint64_t calls, unknown;    /* numbers of counted calls, and of calls that lack data */
	bool windowed;     /* paged attention, probably limited to a window in some layers */
	uint64_t inferred; /* number of counted calls whose output shape comes from the next op */
	int64_t flops, recomputed, bytes; /* sums over the counted calls */
	int64_t stated;                   /* float operations that the file states for the calls */
	int64_t device;                   /* ticks of the device work that the formula covers */
	uint32_t on;                      /* device of the first piece of this work, or ID_NONE */
};

/* Float operations of a step in matrix products, by the types of the factors. */
struct step_products {
	int64_t all[NUMBER_TYPES];
	int64_t again[NUMBER_TYPES]; /* the recomputed part of these operations */
};

/* The calls of a struct op_calls that one op made, and the device work of these calls that belongs
 * to the op.
 */
struct op_use {
	uint32_t calls, op;  /* indices in calls and ops */
	uint32_t device;     /* device of the first work, or ID_NONE */
	uint64_t n, unknown; /* numbers of counted calls, and of calls that lack data */
	uint64_t kernels;
	int64_t host, work; /* ticks: length of the calls, and device work */
};

struct trace_ops {
	const struct trace *t;
	struct arena *a;
	struct intern strings; /* names, types, and lines of stacks */
	VEC(struct trace_op) ops;
	VEC(struct op_cell) cells; /* in order of first appearance */
	VEC(struct kernel_row)
	kernels;                  /* of the chosen steps; longest total first, then by name
	                             and device */
	struct intern frames;     /* bytes of struct op_frame */
	struct imap op_of_record; /* key: number of a record function; value: op */
	VEC(struct op_calls) calls;
	struct step_products *products; /* indexed by step; NULL: ops are not counted */
	VEC(struct op_use) uses;        /* filled only by trace_find_uses */
	int64_t moved_time;  /* ticks of copies, memsets and communication, which have no float
	                        operations, and which are not in calls */
	int64_t opless_time; /* ticks of other work that no op launched according to the file */
	uint64_t idle_nodes; /* nodes of a graph with float operations, without an execution in the
	                        steps, which are not in calls */
	int64_t idle_flops;  /* float operations of one execution of each of these nodes */
	bool deeper;         /* true: some levels are in OPS_DEEPER */
	uint64_t overlaps;   /* number of thread slices that overlap others without being nested */
	uint64_t unlinked;   /* number of slices of device work without an op in the file */
	int64_t unlinked_time;
};

/* Finds the ops of a trace. links and steps belong to t; out lives in a. */
void trace_find_ops(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a);
/* Finds the ops like trace_find_ops, and also fills out->uses. */
void trace_find_uses(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a);

/* Finds the ops like trace_find_ops, and also adds up the time of each op on the critical paths of
 * the steps. Parts of a path outside of all ops become ops named after their kind: "(launch
 * latency)". */
void trace_find_path_ops(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, enum trace_by by, struct trace_ops *out, struct arena *a);

static inline struct op_frame ops_frame(const struct trace_ops *o, uint32_t frame)
{
	struct op_frame f;

	memcpy(&f, o->frames.strings[frame].p, sizeof f);
	return f;
}

#endif
