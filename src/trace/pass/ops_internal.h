/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for ops: threads and devices (ops.c), which op a slice is (ops_name.c), forward ops of
 * gradients (ops_backward.c), call stacks (ops_stack.c), kernels (ops_kernels.c), the time of ops
 * on critical paths (ops_path.c), float operations (ops_flops.c) and windows of attention
 * (ops_window.c). ops_cell.c has the numbers of each step, ops_site.c the places that graphs were
 * captured at.
 */
#ifndef TFPROF_TRACE_OPS_INTERNAL_H
#define TFPROF_TRACE_OPS_INTERNAL_H

#include "trace/pass/link.h"
#include "trace/pass/nest.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/ops.h"
#include "trace/trace.h"

/* The slices of threads that are examined, and those that become levels of a path. */
struct ops_rule {
	uint32_t nested, levels; /* CATEGORY_BITs */
	uint32_t flat;           /* CATEGORY_BITs: the name of such a slice is its whole path */
	bool leaf;     /* true: device work is a level of its own, below the op that launched it */
	uint32_t gaps; /* CATEGORY_BITs: slices whose time is subtracted from the op around them,
	                  because another track has it */
};

/* The executions that a counter counts: of a kernel in a cell or step, or of a compiled op in a
 * step. */
enum runs_counted { RUNS_IN_CELL, RUNS_IN_STEP, RUNS_OF_OP, RUNS_COUNTED };

/* Caches the values that all device work of an event shares, unless a slice has arguments of its
 * own. Also caches the counters that the last slice used. */
struct event_work {
	uint32_t op;    /* 1 + op, if the op does not depend on the launch; 0: not known yet */
	uint32_t share; /* 1 + index in shares; 0: not known yet */
	struct event_count {
		uint32_t run; /* 1 + its key in finding.compiled; 0: not known yet */
		uint32_t at;  /* index in counts */
	} counts[RUNS_COUNTED];
	bool known; /* true: the fields below are set */
	bool compiled;
	bool states; /* true: the file states the float operations */
	int64_t flops, bytes_accessed;
};

/* A counter of executions of a compiled op or a kernel. */
struct run_count {
	uint64_t n;
	uint32_t in, next; /* in: the cell or the step; next: index of the counter that was used
	                      after this one, or of this counter itself */
};

/* An open slice of a thread, by depth. */
struct flops_level {
	uint32_t decides; /* 1 + the calls whose formula counts work launched in it; 0: none
	                   */
	unsigned counted; /* enum flops_class: the heaviest class among the counted ops inside it */
	bool gradient;    /* inside a step of a backward pass */
	bool checkpoint;  /* inside the gradient of a checkpoint */
	bool forward;     /* inside an op of a forward pass that a backward pass repeats */
	bool again;       /* the backward pass computes the work of this level again */
};

/* A call whose float operations depend on the shape of its output, which the next op may show. */
struct waiting_call {
	uint32_t calls; /* 1 + index; 0: no call waits */
	uint32_t cell, depth;
	unsigned tries;
	int64_t length; /* ticks on its thread */
	struct op_call call;
};

/* The op of a site, below the op that launched the graph last. */
struct site_op {
	bool known;
	uint32_t around, root, op; /* 1 + op, or 0 */
};

/* A part of the critical path of a step. */
struct path_part {
	int64_t start, ticks;
	uint32_t track, slice; /* ID_NONE: none */
	uint32_t step;
	uint32_t op;  /* 1 + op; 0: none */
	uint8_t kind; /* enum critical_kind */
};

/* Parts of a path, sorted in one order. */
struct path_parts {
	VEC(struct path_part) v;
};

/* The critical paths of all steps. */
struct ops_path {
	struct path_parts host; /* sorted by track and start */
	struct path_parts work; /* sorted by slice */
	struct path_parts rest; /* parts without a slice */
};

/* Executions of an op in a step, from all call stacks. */
struct op_runs {
	uint64_t host;   /* executions on threads and in launches of graphs */
	uint64_t device; /* number of executions of its most frequent kernel */
};

/* A counted call of attention over a paged cache. */
struct paged_call {
	uint32_t calls, cell; /* calls: 1 + index */
};

/* A kernel of paged attention. */
struct paged_kernel {
	uint32_t calls, step, name; /* calls: 1 + index; name: string id */
	int64_t time;
};

struct finding {
	struct trace_ops *to;
	struct arena *a; /* arena for scratch data */
	const struct trace_links *links;
	const struct trace_steps *steps;
	enum trace_by by;
	struct ops_rule rule;
	struct sb path, longer; /* buffers for names */
	uint64_t path_room;     /* remaining bytes for paths */
	struct imap by_name;    /* key: string id; value: op */
	struct imap below;      /* key: 1 + enclosing op, and event; value: op */
	struct imap cell_of;    /* key: op and step; value: cell */
	struct imap runs_at;    /* key: op without its call stack, and step; value: index in runs */
	VEC(uint32_t) runs_of;  /* indexed by cell: index in runs */
	VEC(struct op_runs) runs;
	VEC(uint32_t) last_cell; /* indexed by op: the cell that was found last */
	struct intern compiled;
	struct imap count_of; /* key: compiled op, and cell or step; value: index in counts */
	VEC(struct run_count) counts;
	struct imap kernel_of; /* key: name, category and device; value: row */
	struct imap share_of;  /* key: row and op; value: share */
	VEC(struct kernel_share) shares;
	struct serving_step *served; /* indexed by step: its annotation; NULL: the trace is not of a
	                                server */
	uint32_t root;               /* 1 + the op of the current phase; 0: none */
	uint8_t phase;               /* 1 + enum serving_phase of the current phase; 0: none */
	struct site_op *site_ops;    /* indexed by site */
	struct imap replayed;        /* set of launches with sites: pairs whose execution has been
	                                counted */
	uint32_t *site_decides;      /* indexed by site: `decides` as in flops_level */
	bool *site_counts;           /* indexed by site: true if no op inside counts the same
	                                operations */
	struct imap module_of;   /* key: process, and sequence number of a forward op; value: 1 +
	                            its module */
	bool backward;           /* true: some ops have sequence numbers of forward ops */
	struct imap at_stack;    /* key: op and frame; value: op with that call stack */
	VEC(uint32_t) base;      /* by op: the op without its call stack, or the op itself */
	struct imap stack_of;    /* key: string id of a stack; value: frame */
	bool frames;             /* true: threads have slices of the category frame */
	bool records;            /* true: slices have record function ids */
	bool linked;             /* true: the caller sets `launching`, and links are not used */
	uint32_t launching;      /* if `linked` is set: 1 + the op that launched the next work; 0:
	                            none */
	size_t n_events;         /* allocated elements of work */
	size_t demangling;       /* remaining budget of demangling, bytes */
	bool *gradients;         /* indexed by string: the name of a step of a backward pass; NULL:
	                            there is none */
	struct imap forward_of;  /* key: string id of an autograd function, process and sequence
	                            number; value: its event; empty if the trace has no gradient of
	                            a function */
	struct imap gradient_of; /* key: event of an autograd function, and string id of its
	                            gradient; value: 1 + index in calls */
	uint32_t *call_of;       /* indexed by event: 1 + index in calls; NULL if ops are not
	                            counted */
	bool keeps_uses;
	struct imap use_of; /* key: index in calls, and op; value: use */
	VEC(struct paged_kernel) paged;
	VEC(struct paged_call) paged_calls;
	uint32_t *decides; /* by slice of a thread: `decides` as in flops_level, or UNDECIDED with
	                      the slice's event */
	VEC(struct flops_level) levels;
	struct waiting_call waiting;
	struct imap row_of; /* key: string id of an op; value: rows */
	VEC(const struct op_row *) rows;
	struct ops_path *critical; /* may be NULL */
	size_t critical_at;      /* the first part of the path on this thread that has no op yet */
	struct event_work *work; /* indexed by event */
	uint32_t *host0;         /* indexed by track: index of its first slice in op_of */
	uint32_t *op_of;         /* indexed by slice of a thread: 1 + op; 0: none */
};

/* True if there is one op per call stack. */
static inline bool ops_have_stacks(const struct finding *x)
{
	return x->by == TRACE_BY_STACK || x->by == TRACE_BY_CALLS;
}

/* True for the op that represents the levels whose paths would take too much memory. */
bool ops_is_deeper(const struct finding *x, uint32_t op);

/* Finds or adds an op by name. type: used for a new op. */
uint32_t ops_named(struct finding *x, struct str name, struct str type);

/* ---- the pass ----
 *
 * A consumer: stored slices (trace_find_ops) and the rows of large Nsight Systems exports
 * (trace_sums.c) feed it. Threads: ops_open_host and ops_close_host, in the order of a nest;
 * devices: ops_add_work, after the launching op if the feed has stored slices.
 */

/* Begins a search. The results live in a. */
void ops_begin(struct finding *x, const struct trace *t, const struct trace_steps *steps,
        enum trace_by by, struct trace_ops *out, struct arena *a, struct arena *scratch);
/* Finds the functions of autograd whose gradients are in the trace (ops_backward.c). */
void ops_find_functions(struct finding *x);
/* Finds the event of the function whose gradient a slice is. Returns false if there is none. */
bool ops_find_function(const struct finding *x, const struct slice *gradient, uint32_t *event);

/* Extends the arrays that are indexed by event, after events were added to the trace. */
void ops_know_events(struct finding *x);
struct frame_walk;
/* Opens a slice of a thread: finds its op and sets level->user to 1 + the op. frames: the frames of
 * the slice's track, or NULL. */
void ops_open_host(struct finding *x, const struct nest *n, struct nest_level *level,
        struct frame_walk *frames);
/* Closes a slice of a thread, and adds its times to its op. */
void ops_close_host(struct finding *x, const struct nest_level *level);
/* Adds device work, and returns its op. launch may be NULL. */
uint32_t ops_add_work(
        struct finding *x, const struct slice *s, int64_t self, const struct launch *launch);
void ops_end(struct finding *x);

/* Finds or adds the cell of an op in a step, and extends the cell's times to include a slice. Valid
 * until the next call. */
struct op_cell *ops_cell(struct finding *x, uint32_t op, uint32_t step, const struct slice *s);
/* Returns the executions of the op and step of a cell; valid until the next cell is added. */
struct op_runs *ops_runs_of(struct finding *x, const struct op_cell *c);

/* ---- time on the critical path (ops_path.c) ---- */

/* Finds the paths of all steps. */
void ops_find_path(struct finding *x);
/* Begins with the parts of the path on a thread. */
void ops_path_thread(struct finding *x, uint32_t track);
/* Assigns the next parts on the thread that start before a time to the slice that is open until
 * then; NULL: no slice is open. */
void ops_path_host(
        struct finding *x, uint32_t track, const struct nest_level *level, int64_t until);
/* Assigns the parts of the path in a piece of device work to its op. */
void ops_path_work(struct finding *x, const struct slice *s, uint32_t op);
/* Adds the remaining parts to the cells of their ops. */
void ops_end_path(struct finding *x);

/* Returns the naming rule of a source. */
struct ops_rule ops_rule_of(enum trace_source source, enum trace_by by);
/* Sets the op around the outermost levels of a step, if ops are grouped by phase. */
void ops_set_root(struct finding *x, uint32_t step);
/* Returns the op of a slice of a thread. around: 1 + the op of the enclosing slice; 0: none. */
uint32_t ops_of_slice(
        struct finding *x, uint32_t around, const struct slice *s, struct frame_walk *frames);
/* True if a slice is the execution of a compiled op on a thread. */
bool ops_is_compiled(const struct finding *x, const struct slice *s);
/* Finds the ops of backward passes, and the modules of their forward ops. */
void ops_find_backward(struct finding *x);
/* True if a track has ops of a backward pass. */
bool ops_is_backward(const struct finding *x, uint32_t track);
/* True for an op of a forward or backward pass. Sets *number to its sequence number, and *backward.
 */
bool ops_has_number(const struct trace *t, const struct slice *s, int64_t *number, bool *backward);
/* Finds out whether a level is work that a backward pass computes again. around: NULL at depth 0.
 */
void ops_find_again(const struct finding *x, const struct slice *s,
        const struct flops_level *around, struct flops_level *level);
/* Returns 1 + the op that contains a slice when the slice is opened; 0: none. A backward op outside
 * of all modules is contained in the module of its forward op. */
uint32_t ops_around(struct finding *x, const struct nest *n, const struct nest_level *level);

/* Returns 1 + the op of the slice of a thread that launched device work; 0: none. */
uint32_t ops_launching(struct finding *x, const struct slice *s, const struct launch *launch);
/* Returns the op to which device work belongs. launch may be NULL. */
uint32_t ops_of_work(struct finding *x, const struct slice *s, const struct launch *launch);

/* Finds which sites count their float operations. */
void ops_find_site_flops(struct finding *x);
/* Adds the float operations of one execution of a site to a cell, if the site counts its
 * operations. */
void ops_count_site(struct finding *x, uint32_t site, uint32_t cell);
/* Adds device work of a graph to the calls that cover it, as ops_cover_work does for other work. */
void ops_cover_site(
        struct finding *x, const struct slice *s, int64_t self, uint32_t site, uint32_t op);

/* Stores the time of a kernel if its calls are attention over a paged cache. op: the op to whose
 * cell the kernel was just added. */
void ops_take_paged(struct finding *x, uint32_t calls, const struct slice *s, uint32_t op);
/* Marks the calls that are probably limited to a window. */
void ops_find_windows(struct finding *x);

/* ---- sites ----
 *
 * Work of graphs, which belongs to the place where it was captured (trace.sites).
 */

/* Returns a slice with the name and the arguments that all slices of a site share. */
struct slice ops_site_slice(const struct trace *t, uint32_t site);
/* True if a site becomes a level of paths. */
bool ops_site_is_level(const struct finding *x, uint32_t site);
/* True if a level around a site belongs to the site's path. If the site is in a module, levels
 * outside all modules belong to the program that captured the graph. */
static inline bool ops_site_belongs(const struct trace *t, uint32_t level, uint32_t site)
{
	return t->sites.v[level].in_module || !t->sites.v[site].in_module;
}
/* Returns the op of a site. around: 1 + the op that launched the graph; 0: none. */
uint32_t ops_of_site(struct finding *x, uint32_t site, uint32_t around);

/* ops_add_kernel adds device work to the rows of kernels; ops_end_kernels determines the op of each
 * kernel and sorts the rows. */
void ops_add_kernel(struct finding *x, const struct slice *s, uint32_t op);
void ops_end_kernels(struct finding *x);

/* Walks the frames (slices of the category frame) of a track along with its other slices. */
struct frame_walk {
	struct slice_iter it;
	struct slice next;
	bool have;
	struct arena *a;
	VEC(struct slice) open;
	bool known; /* true: `frame` is the innermost open frame, and the frames nest properly */
	uint32_t frame;
};
void frame_walk_init(struct frame_walk *w, const struct trace *t, uint32_t track, struct arena *a);

/* Returns the innermost frame of a slice's call stack, or ID_NONE. Takes the frame from the slice's
 * arguments, otherwise from the enclosing frames, unless frames is NULL. The slices of a walk must
 * be passed in track order. */
uint32_t ops_frame_of(struct finding *x, struct frame_walk *frames, const struct slice *s);

/* Returns the innermost frame of the call stack of a site, or ID_NONE. */
uint32_t ops_frame_of_site(struct finding *x, uint32_t site);

/* Sets the call stack of an op from a slice, unless the op already has one. */
void ops_set_frame(
        struct finding *x, uint32_t op, struct frame_walk *frames, const struct slice *s);

/* ---- float operations (ops_flops.c) ---- */

static inline size_t ops_host_index(const struct finding *x, uint32_t track, uint32_t slice)
{
	return x->host0[track] + slice - x->to->t->tracks.v[track].first;
}

/* True if the file has the inputs of op calls: PyTorch traces, and ranges of
 * torch.autograd.profiler.emit_nvtx(record_shapes=True). */
static inline bool ops_have_inputs(const struct trace *t)
{
	return t->source == TRACE_KINETO ||
	       (t->source == TRACE_NSYS && t->keys & ARG_BIT(ARG_SHAPES));
}

void ops_add_flops(struct finding *x, struct op_cell *c, int64_t flops);
/* ops_open_flops and ops_close_flops process the begin and the end of a slice of a thread. cell:
 * the cell of its op and step. */
void ops_open_flops(struct finding *x, const struct nest_level *level);
void ops_close_flops(struct finding *x, const struct nest_level *level, uint32_t cell);
/* Counts n executions of device work for which the file lists calls. Returns their float
 * operations: those that the file states, otherwise the counted ones. */
int64_t ops_count_work(struct finding *x, const struct slice *s, struct op_cell *cell, int64_t n,
        const struct event_work *facts);
/* Adds device work to the calls that cover it. launching: number of the slice that launched it, or
 * ID_NONE; op: the op that it belongs to. */
void ops_cover_work(
        struct finding *x, const struct slice *s, int64_t self, uint32_t launching, uint32_t op);

#endif
