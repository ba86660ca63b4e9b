/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that turn spools into a model share. Each spool is gone over twice: the survey
 * (spool_survey.c) finds facts, ranges and steps; then operations are joined to the calls that
 * launched them (spool_join.c) and placed (spool_place.c): summed by node and step, or kept singly.
 * Names are worked out in spool_names.c, steps in spool_steps.c; spool_emit.c says the result.
 */
#ifndef TFPROF_MODEL_SPOOLS_INTERNAL_H
#define TFPROF_MODEL_SPOOLS_INTERNAL_H

#include "base/pattern.h"
#include "io/block_fault.h"
#include "io/clock_map.h"
#include "io/process_identity.h"
#include "model/spool_join.h"
#include "model/spools.h"

/* ---- names ---- */

#define SCOPE_NONE 0u

/* A range within ranges: a path. */
struct scope {
	uint32_t parent;
	uint32_t part;   /* string of names.parts */
	uint32_t depth;  /* components up to here */
	uint32_t size;   /* and bytes, with a slash each */
	struct str type; /* what the innermost range is called, as recorded but for its arguments */
};

/* Parsed name of a range. */
struct range_name {
	struct strs parts; /* of the path: none for those that are steps */
	struct str type;
	bool step; /* matches --step-nvtx */
	bool mark; /* is one of our own step marks */
};

/* Names of an operation. */
struct leaf_name {
	struct str full;   /* with templates and parameters */
	struct str type;   /* without: at::native::copy_kernel */
	struct strs parts; /* at, native, copy_kernel: fit for names of nodes */
	bool step;         /* matches --step-kernel */
};

struct names {
	struct arena *a;
	size_t budget;                                /* of demangling */
	struct pattern_list *step_nvtx, *step_kernel; /* NULL: not given */
	uint64_t too_long;                            /* names that were not matched with them */
	struct intern parts;
	struct imap child; /* parent << 32 | part -> scope */
	VEC(struct scope) scopes;
	struct intern range_texts;
	VEC(struct range_name) ranges; /* by text */
	struct imap pushed;            /* scope << 32 | text -> scope */
	struct intern leaf_texts;
	VEC(struct leaf_name) leaves; /* by text */
};

bool names_init(struct names *n, struct arena *a, const struct spools_opts *o, struct err *e);
/* After the last look-up: closes the patterns; false if one gave up. If reading fails before, they
 * are closed with their arena. */
bool names_end(struct names *n, struct err *e);
uint32_t names_range(struct names *n, struct str text);
uint32_t names_push(struct names *n, uint32_t scope, uint32_t range);
uint32_t names_leaf(struct names *n, struct str text);
/* Appends "a/b/c". */
void names_put_scope(const struct names *n, struct sb *b, uint32_t scope);

/* ---- processes ---- */

struct gpu_seen {
	uint32_t id;          /* as the process numbers it */
	uint8_t identity[16]; /* UUID; zeros: unknown */
	bool used;
	uint32_t number; /* over all processes */
	uint32_t shared; /* processes that used it; said of the first that did, else 0 */
};

struct clock_at {
	uint64_t monotonic;
	int64_t offset; /* realtime - monotonic */
};

/* Ranges that are open on a thread, and what was open when: scopes[i] from times[i] on. */
struct open_range {
	uint32_t domain, scope;
	uint32_t range; /* of names */
	uint32_t step;  /* 1 + index of its span in steps_nvtx, or 0 */
	uint64_t since; /* when it began, and when it last was the innermost */
	uint64_t resumed, own;
};
struct thread {
	uint32_t tid;
	VEC(uint64_t) times;
	VEC(uint32_t) scopes;
	VEC(struct open_range) open;
	uint64_t too_deep; /* open ones that are not kept */
	size_t cursor;     /* of the last look-up */
	bool unsorted;
};

/* A range that has ended. */
struct range_run {
	uint32_t scope, thread;
	uint64_t start, own; /* time in it but in none within it */
};

struct span_of_time {
	uint64_t start, end; /* end 0: open */
};

struct process {
	const struct spools_file *file;
	struct str name; /* of the file */
	/* Facts. */
	struct process_identity who;
	struct str prefix; /* of its nodes: "rank0/" or nothing */
	VEC(struct gpu_seen) gpus;
	unsigned gpus_used;
	uint32_t last_gpu; /* of gpus, the last one asked for */
	VEC(struct clock_at) clocks;
	bool jumped;       /* the clock was set */
	bool clocks_known; /* from an earlier reading of the file: times are corrected by them */
	struct clock_map clock_map;
	int64_t jump; /* by how much, ns */
	/* By string id of the file: 1 + index in names, 0: not asked yet. */
	VEC(uint32_t) range_of;
	VEC(uint32_t) leaf_of;
	VEC(uint8_t) api_of;
	VEC(struct thread) threads;
	struct imap thread_of;      /* tid -> index */
	uint32_t last_thread;       /* index of the last one asked for */
	VEC(struct range_run) runs; /* if nodes are ranges */
	struct imap started_range;  /* id of an open START -> 1 + index in steps_nvtx */
	/* Where steps may begin. */
	VEC(struct span_of_time) steps_nvtx;
	VEC(uint64_t) steps_mark;
	VEC(uint64_t) steps_kernel;
	VEC(uint64_t) steps_signal;
	VEC(struct span_of_time) steps_profiler;
	VEC(uint64_t) boundaries; /* those that count, ascending */
	VEC(uint64_t) ends;       /* of the profiler's, else empty */
	size_t boundary;          /* last one found */
	uint64_t every;           /* ns: steps are of this length */
	uint64_t first, last;     /* time of the first call or operation, of the last */
	bool follows;             /* its steps are those of another job */
	bool stepless;            /* nothing was launched in its steps: as if it had none */
	/* Counts of what is present and what is missing. */
	uint64_t totals[SPOOL_N];
	uint64_t lost[SPOOL_LOST_WHY_N];
	uint64_t gaps, gap_ns;
	bool unknown_strings;
	struct spool_fault fault;
	struct strs notes;
	bool ended;
	/* Operations; counted while placing. */
	uint64_t placed, untimed, unlaunched, outside;
};

/* One reading of a file, times made continuous. */
struct feed {
	struct reading_spools *r;
	struct process *p;
	struct block_decoder *get;
	struct src *s;
	size_t epoch; /* clock readings so far */
	bool own;     /* the src is ours to close */
	struct scratch scratch;
};
struct reading_spools;
bool feed_open(struct feed *f, struct reading_spools *r, struct process *p);
enum spool_event feed_next(struct feed *f, struct spool_record *r, struct spool_damage *d);
void feed_close(struct feed *f);

/* ---- the whole reading ---- */

struct reading_spools {
	struct ingest *to;
	const struct spools *files;
	const struct spools_opts *o;
	struct arena *a;
	struct err *e;
	struct names names;
	struct imap label_of; /* hash of what it says -> label */
	struct strs labels;
	struct process *v;
	size_t n;
	uint64_t done, total; /* bytes read and to be read, for progress */
	uint64_t origin;      /* first time of all processes */
	struct place *place;
	const struct spools_watch *watch;
};

/* Which processes count, in order, with their prefixes, GPUs and jobs; false if none does. */
bool processes_arrange(struct reading_spools *r);
/* Its job in letters that names of devices and nodes may have; none: what to say if it has none. */
struct str process_job(struct arena *a, const struct process *p, struct str none);

/* Goes over the file and fills p. */
bool survey_process(struct reading_spools *r, struct process *p);

/* Numbers of devices are small; what is larger was not written by CUPTI. */
#define GPUS_MAX 1024u
static inline uint32_t process_device(uint32_t id)
{
	return id < GPUS_MAX ? id : GPUS_MAX - 1;
}

struct str process_string(const struct feed *f, struct process *p, uint32_t id);

/* ---- steps ---- */

#define STEP_WARMUP (-1)
#define STEPS_MAX   100000 /* steps of a session; later ones count as the last */

/* Decides where the steps of the process begin. */
void steps_decide(struct reading_spools *r, struct process *p);
/* Gives the steps of the first process that has some to those of other jobs, by time. */
void steps_follow(struct reading_spools *r);
/* Makes everything of the process step 0. */
void steps_forget(struct process *p);
/* The step of a moment, or STEP_WARMUP. */
int64_t steps_of(const struct reading_spools *r, struct process *p, uint64_t time);

/* ---- labels ---- */

/* Labels of operations; 0 where nobody will see them. */
uint32_t labels_kernel(struct reading_spools *r, uint32_t leaf, const struct spool_kernel *k);
uint32_t labels_copy(struct reading_spools *r, uint32_t leaf, const struct spool_copy *c);
uint32_t labels_set(struct reading_spools *r, uint32_t leaf, const struct spool_set *s);
/* Returns the name of one node as a string of the model, 1 and up. */
uint32_t labels_of_node(struct reading_spools *r, uint32_t label, struct str node);

/* Reads the operations of a process through a join. anchors: only to find steps_kernel. */
bool place_process(struct reading_spools *r, struct process *p, bool anchors);

/* ---- sums and single operations ---- */

struct cell {
	uint32_t node;
	int64_t step;
	int64_t runs, start, end;
	int64_t cpu_start, cpu_length, acc_start, acc_length;
	uint32_t spans; /* single ones */
	uint32_t items; /* 1 + the last of its memory items, 0: none */
	int64_t requested, live, peak;
};
struct single { /* a span that is kept */
	uint32_t cell, device;
	uint8_t kind;
	int64_t start, length;
};
struct piece { /* an allocation, or its end */
	uint32_t next;
	int64_t time, bytes;
};
struct made_node {
	uint32_t name; /* string of the model */
	struct str type;
	uint32_t scope, unit;
	uint32_t full; /* 1 + the last of its full names */
	int64_t last_step;
	uint32_t last_cell;
};
struct hold { /* memory that was allocated and is not freed */
	uint32_t cell;
	int64_t bytes;
};
struct full_name {
	uint32_t next, leaf;
};

/* Where a process's operations on one device go. */
struct unit {
	uint32_t process, gpu;
	struct str prefix;
	uint32_t device, all, copies; /* model devices */
	struct imap streams;          /* stream -> model device */
	struct imap nodes;            /* scope << 32 | leaf -> node */
};

struct steps_list { /* pairs: the first and the last */
	int64_t *v;
	size_t n, cap;
};

#define PLACE_RECENT 1024
struct recent { /* a node that was found */
	uint64_t key;
	uint32_t unit, node; /* 1 + unit */
};

struct place {
	struct arena *a;
	struct sb path; /* of the node that is made */
	struct recent recent[PLACE_RECENT];
	bool keep_all;            /* few enough operations to keep each */
	uint32_t streams;         /* that have devices of their own */
	struct steps_list detail; /* steps of which operations are kept singly */
	VEC(struct unit) units;
	VEC(struct made_node) nodes;
	VEC(struct full_name) fulls;
	struct imap node_of; /* string id of the model -> node */
	struct imap cell_of; /* step << 32 | node -> cell */
	VEC(struct cell) cells;
	VEC(struct single) singles;
	VEC(struct span_annotation)
	said; /* of each of them, if run metadata may be written; its label is
	       * one of ours */
	VEC(struct piece) pieces;
	struct imap held; /* address -> 1 + index in holds */
	VEC(struct hold) holds;
	uint32_t last_unit;
	uint32_t graph_leaf; /* 1 + that of the launch of a graph */
	uint64_t summed;     /* times that were only added up */
};

bool place_detail(struct steps_list *to, struct arena *a, struct str text, struct err *e);
bool place_begin(struct reading_spools *r);
/* One operation, with the call that launched it or NULL. */
void place_op(struct reading_spools *r, struct process *p, const struct op *op, struct launch *l);
/* Executions of ranges, where nodes are ranges. */
void place_ranges(struct reading_spools *r, struct process *p);

/* Says all that was placed. */
void emit_model(struct reading_spools *r);
/* Counts of what was lost, left out or odd. */
void notes_say(struct reading_spools *r);

#endif
