/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads recordings of GPU work: one file, or a folder with one file per process. recordings_open
 * surveys each file: metadata, clocks, open ranges per thread, and starts of steps.
 * recording_operations reads a file again and passes each operation to the caller, with the call
 * that launched it. The views, the tables of devices, the trace and the summary of `record` all use
 * this interface, so they agree on times, names, ranges, steps and GPU numbers.
 *
 *   recordings_open(&r, &set, &options, NULL, arena, &e)
 *   for each process p of r.v: recording_operations(&r, p, &reader)
 *   recordings_close(&r)
 */
#ifndef TFPROF_TRACE_RECORDINGS_H
#define TFPROF_TRACE_RECORDINGS_H

#include "base/note.h"
#include "io/recording_in.h"
#include "trace/trace.h"

/* ---- facts ----
 *
 * Metadata of a recording: its process, the number of records of each kind, losses and damage.
 */

#define RECORDING_NOTES_MAX 100 /* maximum number of notes per file */

/* Losses by reason. The reasons overlap: each missing kernel counts as work without a record, and
 * may count for a known reason as well. */
struct recording_losses {
	uint64_t n[SPOOL_LOST_WHY_N];
	uint32_t at_least; /* bit of each number that is a lower bound; 0: possibly nothing is
	                      missing */
};
_Static_assert(SPOOL_LOST_WHY_N <= 32, "a bit for each reason");

/* Returns the minimum number of missing pieces of device work. */
uint64_t recording_lost_work(const struct recording_losses *l);

/* Adds the losses of one recording to the losses of other recordings. */
void recording_losses_add(struct recording_losses *to, const struct recording_losses *l);
static inline bool recording_is_bound(const struct recording_losses *l, unsigned why)
{
	return l->at_least >> why & 1;
}

/* A graph whose nodes were recorded one by one. Several graphs may share an element. */
#define RECORDING_GRAPHS 64u
struct recording_graph {
	uint32_t graph;
	bool shared;
	uint64_t nodes;     /* number of nodes in all launches */
	uint64_t run, most; /* consecutive nodes of the current launch; the largest such number so
	                       far */
};

/* The last work of a stream, by correlation. Several streams may share an element. */
struct recording_stream {
	struct spool_where at;
	bool used, shared;
	uint32_t last, graph; /* graph of the last work; 0: it is not a node of a graph */
};

struct recording_facts {
	struct process_identity who;
	struct spool_fault fault;
	uint64_t size;            /* bytes read */
	uint64_t totals[SPOOL_N]; /* number of records of each kind */
	uint64_t summed[SPOOL_N]; /* number of operations that are recorded only as sums */
	struct recording_losses lost;
	uint64_t single;       /* number of kernels that were not launched by a graph */
	uint64_t graphs;       /* minimum number of graph launches with records */
	uint32_t graph_launch; /* correlation of the last graph launch */
	struct recording_graph graph[RECORDING_GRAPHS];
	struct recording_stream stream[RECORDING_GRAPHS];
	uint64_t launched; /* minimum number of kernels launched while recording */
	bool counted;      /* true: launches were counted until the end of the process */
	uint32_t count_flags;
	uint32_t exited;       /* 1 + status of waitpid; 0: unknown */
	uint64_t gaps, gap_ns; /* number and total length of the times without recording */
	bool ended;            /* true: the collector closed the file */
	bool compared;         /* true: all launches were compared with the recorded kernels */
	struct str tfprof;     /* version of the recorder; empty: unknown */
	int64_t cupti, driver; /* versions of CUPTI and of the driver, in their own encodings; 0:
	                          unknown */
	struct strs notes;
};

void recording_facts_init(struct recording_facts *f);

/* Processes a result of the decoder. Copies its texts to a. */
void recording_facts_take(struct recording_facts *f, struct arena *a, enum spool_event event,
        const struct spool_record *r, const struct spool_damage *d);

/* Compares the launch counts in the file (version 0: it has none) with its records. All records
 * must have been read. */
void recording_facts_count(struct recording_facts *f, const struct spool_count *c);

/* Appends how a process ended that did not close its recording: "was ended by signal 9", ... */
void recording_end_text(struct sb *b, const struct recording_facts *f);

/* recording_kernels returns the number of kernels and graph launches, recording_copies the number
 * of copies and memsets. */
uint64_t recording_kernels(const struct recording_facts *f);
uint64_t recording_copies(const struct recording_facts *f);

/* Appends the losses, such as "12 records dropped by CUPTI, 3 bytes damaged". Appends nothing if
 * nothing was lost. */
void recording_lost_text(struct sb *b, const struct recording_losses *l, uint64_t damaged);

/* ---- recording join ----
 *
 * Joins operations to the calls that launched them, by correlation. Memory is proportional to the
 * number of unmatched records at a time, not to the number of records.
 */

struct recorded_op {
	enum spool_kind kind; /* kind of the operation: KERNEL, COPY, SET, GRAPH, MEMORY or SUM */
	uint64_t start, length;
	uint64_t bytes, address; /* for MEMORY; for SUM, bytes is the number of operations */
	uint32_t leaf;           /* index in recording_names.leaves */
	uint32_t label;          /* free for the reader */
	uint32_t device, stream, graph;
	uint64_t node; /* id of the graph node, or 0 */
	bool freed;
	bool between_host; /* for COPY: true if the copy is from host to host, without the GPU */
	bool pageable;     /* for COPY and SET: true if pageable host memory is used */
	uint32_t scope; /* ranges of a SUM, or of the creation of the graph node; or SCOPE_NONE */
};
struct recorded_call {
	uint64_t start, length;
	uint32_t scope, thread;
	uint32_t name;  /* string id in the file */
	bool graph;     /* true: the call launches a graph, which has many operations */
	bool announced; /* true: a node for the call itself has been added */
};

/* Returns the ranges that an operation belongs to: its own, otherwise those around its call. */
static inline uint32_t recorded_scope(const struct recorded_op *op, const struct recorded_call *l)
{
	return op->scope || !l ? op->scope : l->scope;
}

/* Calls `found` for each operation. l: the call, or NULL if the operation has none. */
struct join;
struct join *join_new(struct arena *a,
        void (*found)(void *user, const struct recorded_op *op, struct recorded_call *l),
        void *user);
void join_call(struct join *j, uint32_t correlation, const struct recorded_call *l);
void join_op(struct join *j, uint32_t correlation, const struct recorded_op *op);
void join_finish(struct join *j); /* passes on the remaining operations, without a call */

/* ---- files and options ---- */

struct recording_options {
	/* How steps are found. The first option that is given is used; without options, the marks
	 * in the recording are used. */
	struct str step_nvtx;   /* a pattern of range and mark names, or pytorch, optimizer, xla */
	struct str step_kernel; /* a pattern of kernel names */
	int64_t step_every;     /* ns; 0: not given */
	bool keep_warmup;       /* true: the time before the first step is step 0 */
	bool step_implied;      /* true: without other marks, ranges ProfilerStep#N are steps */
	bool by_op;             /* true: a node for each range, not for each kernel in it */
	bool tf_layout;         /* true: copies are on a device of their own, as TensorFlow records
	                           them */
	bool sum_ranks;         /* true: processes are executions of the same nodes */
	bool steps_by_time;     /* true: several jobs all use the times of the first job's steps */
	struct str process, job, gpu; /* read only this process, job or GPU; empty: all */
	struct str detail_steps;      /* steps of which every operation is stored, such as
	                                 "3-5,9" */
	bool recover;                 /* true: in damaged files, the intact parts are read */
};

/* The file of one process: a path, or an input that is already open. */
struct recording_file {
	struct str path;
	struct src *given; /* NULL: open the path */
};

struct recording_set {
	struct recording_file *v;
	size_t n, cap;
	struct str control, options; /* texts of files in the folder; empty if missing */
	uint64_t bytes;              /* total size of the files */
};

/* True if the path is a folder that holds recorded files. */
bool recording_is_folder(struct arena *a, struct str path);

/* Finds the files of a recording: a folder, or a single file. Also reads the auxiliary files of the
 * folder. */
bool recording_find(struct recording_set *s, struct arena *a, struct str path, struct err *e);

/* Checks the patterns and lists of the options. Fills *e if one of them is malformed. */
bool recording_options_check(const struct recording_options *o, struct arena *a, struct err *e);

/* Pairs of the first and the last step. */
struct steps_list {
	int64_t *v;
	size_t n, cap;
};
/* Reads a list such as "3-5,9". */
bool steps_list_read(struct steps_list *to, struct arena *a, struct str text, struct err *e);

/* Receives the progress in bytes read; returns false to cancel. */
struct recording_watch {
	bool (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* ---- names ---- */

#define SCOPE_NONE 0u

/* A range inside other ranges: a path. */
struct recorded_scope {
	uint32_t parent;
	uint32_t part;   /* string id in names.parts */
	uint32_t depth;  /* number of components of the path */
	uint32_t size;   /* bytes of the path, with a slash for each component */
	struct str type; /* name of the innermost range as recorded, without its arguments */
};

/* Parsed name of a range. */
struct range_name {
	struct str label;  /* label in the recording */
	struct strs parts; /* components of the path; empty for ranges that are steps */
	struct str type;
	bool step;    /* true: matches --step-nvtx */
	bool mark;    /* true: begins like a step mark of tfprof */
	bool implied; /* true: a step if nothing else marks steps */
};

/* The names of an operation. */
struct leaf_name {
	struct str full;    /* with templates and parameters */
	struct str type;    /* without templates and parameters: at::native::copy_kernel */
	struct strs parts;  /* at, native, copy_kernel: valid parts of node names */
	bool step;          /* true: matches --step-kernel */
	bool communication; /* true: a kernel of a communication library */
};

struct recording_names {
	struct arena *a;
	size_t budget;                                /* remaining budget of demangling, bytes */
	struct pattern_list *step_nvtx, *step_kernel; /* NULL: not given */
	uint64_t too_long;                            /* number of names that were too long for the
	                                                 patterns */
	struct intern parts;
	struct imap child; /* key: parent << 32 | part; value: scope */
	VEC(struct recorded_scope) scopes;
	struct intern range_texts;
	VEC(struct range_name) ranges; /* indexed by id in range_texts */
	struct imap pushed;            /* key: scope << 32 | text; value: scope */
	struct intern leaf_texts;
	VEC(struct leaf_name) leaves; /* indexed by id in leaf_texts */
};

/* Initialises the names. Sets e if a pattern in o is malformed. */
bool names_init(struct recording_names *n, struct arena *a, const struct recording_options *o,
        struct err *e);
/* Returns the index in `ranges` for the name of a range. */
uint32_t names_range(struct recording_names *n, struct str text);
/* Returns the scope of a range directly below another scope. */
uint32_t names_push(struct recording_names *n, uint32_t scope, uint32_t range);
/* Returns the leaf for a text that does not come from a file, such as "GraphLaunch". */
uint32_t names_leaf(struct recording_names *n, struct str text);
/* Appends the path of a scope: "a/b/c". */
void names_put_scope(const struct recording_names *n, struct sb *b, uint32_t scope);

/* ---- processes ---- */

struct recorded_gpu {
	uint32_t id;          /* number of the GPU within the process */
	uint8_t identity[16]; /* UUID; all zeros if unknown */
	bool used;
	struct str name;     /* "NVIDIA H200"; empty: unknown */
	uint32_t capability; /* compute capability: 90 for 9.0; 0: unknown */
	uint32_t number;     /* number of the GPU over all processes */
	uint32_t shared;     /* number of processes that used it, stored in the first of these
	                        processes; 0 in the others */
};

/* True if the UUID is known. */
bool recorded_gpu_known(const struct recorded_gpu *g);

/* Returns the UUID without a prefix, 1a2b3c4d-...; in a. */
struct str recorded_gpu_uuid(struct arena *a, const struct recorded_gpu *g);

struct clock_at {
	uint64_t monotonic;
	int64_t offset; /* realtime clock minus monotonic clock, ns */
};

/* The open ranges of a thread over time: scopes[i] is valid from times[i] on. */
struct open_range {
	uint32_t domain, scope;
	uint32_t range; /* index in recording_names.ranges */
	uint32_t step;  /* 1 + index of its span in steps_nvtx or steps_implied, or 0 */
	uint64_t since; /* time when the range began, and when it last became the innermost range */
	uint64_t resumed, own;
};
struct recorded_thread {
	uint32_t tid;
	VEC(uint64_t) times;
	VEC(uint32_t) scopes;
	VEC(struct open_range) open;
	uint64_t too_deep; /* number of open ranges that are not stored */
	size_t cursor;     /* index of the last look-up */
	bool unsorted;
};

/* A graph node: its creation, or the node that it was copied from. */
struct recorded_node {
	uint64_t time, original; /* original: 0 of a creation */
	uint32_t tid;
};

/* A range that has ended. */
struct range_run {
	uint32_t scope, thread;
	uint64_t start, own; /* own: self time */
};

/* Number of entries into a scope and exits from it, and the time in it, ns. */
struct scope_use {
	uint64_t count;
	int64_t host;
};

/* A time at which a step may begin, or an interval. */
struct step_mark {
	uint64_t start, end; /* end 0: no end yet */
	struct str label;    /* label of the step; empty: none */
};
struct step_marks {
	struct step_mark *v;
	size_t n, cap;
};

struct recorded_process {
	const struct recording_file *file;
	struct str name; /* name of the file */
	struct recording_facts facts;
	struct str prefix; /* prefix of its nodes' names: "rank0/" or empty */
	VEC(struct recorded_gpu) gpus;
	unsigned gpus_used;
	uint32_t last_gpu; /* index in gpus of the device that was requested last */
	VEC(struct clock_at) clocks;
	bool jumped;       /* true: the clock was set */
	bool clocks_known; /* true: clock readings come from an earlier pass over the file, and
	                      correct the times */
	struct clock_map clock_map;
	int64_t jump; /* amount by which the clock was set, ns */
	/* Indexed by string id of the file: 1 + index in names; 0: not requested yet. */
	VEC(uint32_t) range_of;
	VEC(uint32_t) leaf_of;
	VEC(uint8_t) api_of;
	VEC(struct recorded_thread) threads;
	struct imap thread_of; /* key: thread id; value: index in threads */
	uint32_t last_thread;  /* index of the thread that was requested last */
	VEC(struct recorded_node) nodes;
	struct idmap created, copies; /* key: id of a graph node; value: index in nodes */
	VEC(struct range_run) runs;   /* filled if nodes are ranges */
	VEC(struct scope_use) scopes; /* indexed by scope, up to the last used scope */
	struct imap started_range;    /* key: id of an open START; value: 1 + index in steps_nvtx */
	/* Lists of times at which steps may begin. */
	struct step_marks steps_nvtx, steps_mark, steps_kernel, steps_signal, steps_profiler,
	        steps_implied;
	VEC(uint64_t) boundaries; /* starts of the chosen steps, ascending */
	VEC(uint64_t) ends;       /* if the profiler's calls mark them; else empty */
	VEC(struct str) labels;   /* labels of the boundaries; may be empty */
	size_t boundary;          /* index of the boundary that was found last */
	uint64_t every;           /* ns; length of each step */
	uint64_t first, last;     /* times of the first and the last call or operation */
	bool follows;             /* true: its steps come from another job */
	bool stepless;            /* true: nothing was launched in its steps, so they are ignored */
	bool unknown_strings;
	/* Numbers of operations, counted by the users of this interface. */
	uint64_t placed, untimed, unlaunched, outside;
	uint64_t created_work; /* work of graphs that is in the ranges of its nodes' creation */
	uint64_t created_ns;
};

/* Finds a GPU by its number in the process. Returns NULL if unknown. */
const struct recorded_gpu *recorded_gpu_find(const struct recorded_process *p, uint32_t id);

/* ---- all of them ---- */

struct recordings {
	const struct recording_set *files;
	const struct recording_options *o;
	struct arena *a;
	struct err *e;
	struct recording_names names;
	struct recorded_process *v; /* processes selected by the options, sorted by job, rank and
	                               age */
	size_t n;
	uint64_t done, total; /* bytes that have been read, and bytes to read, for progress */
	uint64_t origin;      /* first time in any process */
	const struct recording_watch *watch;
};

/* Reads all files until their steps are known. watch may be NULL; everything lives in a. */
bool recordings_open(struct recordings *r, const struct recording_set *files,
        const struct recording_options *o, const struct recording_watch *watch, struct arena *a,
        struct err *e);

/* Closes the patterns after the last pass. Returns false if matching failed for one of them. */
bool recordings_close(struct recordings *r);

/* Reads a whole file for its metadata; a growing file is read up to its current end. Texts live in
 * a. Returns false if the file cannot be read or is not a recording. */
bool recording_summary(
        struct arena *a, struct str path, struct recording_facts *out, struct err *e);

/* Appends a warning about each damaged file. */
void recordings_say_damage(const struct recordings *r, struct notes *to);

/* Appends notes about missing or inconsistent data. Must be called after the operations are
 * counted. summed: operations were only added up by node and step. */
void recordings_say(const struct recordings *r, bool summed, struct notes *to);

/* Sets the programs that wrote the recordings, and counts unused data. Must be called after the
 * operations are counted. */
void recordings_describe(const struct recordings *r, struct src_facts *facts);

/* ---- operations ---- */

struct recording_feed;

struct recording_reader {
	/* Receives a record with times on the system's clock; may be NULL. op: the operation of the
	 * record, before it is joined with its call (NULL for other records). The callback may set
	 * its label. */
	void (*record)(void *user, const struct recording_feed *f, const struct spool_record *r,
	        struct recorded_op *op);
	/* Receives an operation with the call that launched it, or with NULL. */
	void (*operation)(void *user, const struct recorded_op *op, struct recorded_call *c);
	void *user;
	bool by_launch; /* work of graphs stays in the ranges around its launch, even if those in
	                   which its nodes were created are known */
};
bool recording_operations(
        struct recordings *r, struct recorded_process *p, const struct recording_reader *to);

/* Returns a string of the file, or a replacement for a lost string. Valid only while the file is
 * read. */
struct str recording_string(const struct recording_feed *f, uint32_t id);

/* Limit for device numbers, which are small; CUPTI never writes larger ones. */
#define GPUS_MAX 1024u
static inline uint32_t recording_device(uint32_t id)
{
	return id < GPUS_MAX ? id : GPUS_MAX - 1;
}

/* Returns the process's job in characters that names of devices and nodes may contain; a
 * placeholder if there is no job. */
struct str recording_job(struct arena *a, const struct recorded_process *p, struct str none);

/* ---- steps ---- */

#define STEP_WARMUP (-1)
#define STEPS_MAX   100000 /* maximum per session; later work belongs to the last */

/* Returns the step at a time, or STEP_WARMUP. */
int64_t recording_step(const struct recordings *r, struct recorded_process *p, uint64_t time);

/* True if the starts of the process's steps are marked. */
bool recording_has_steps(const struct recorded_process *p);

/* Removes all steps of the process: all of its work becomes step 0. */
void recording_forget_steps(struct recorded_process *p);

/* ---- as a trace ----
 *
 * Makes a trace of a recording: device work on streams, calls on threads, steps. Work has the path
 * of the ranges around its call and its step as arguments.
 */

/* A second reader that receives the same records as the trace, so that the files are read only
 * once. */
struct recording_follower {
	struct recordings *all; /* opened and closed by recording_trace, in the trace's arena */
	struct recording_reader to;
	/* Called at the start and the end of each process. process: its index in `all`; made: its
	 * index in the trace; user: to.user. */
	void (*begin)(void *user, uint32_t process, uint32_t made);
	void (*end)(void *user);
};

struct trace_build;

/* Options of recording_trace. */
struct recording_request {
	uint64_t wants;                        /* arguments of work to keep: ARG_BITs */
	const struct recording_watch *watch;   /* may be NULL */
	bool say;                              /* true: add notes about missing or implausible
	                                          data */
	const struct recording_follower *also; /* may be NULL */
	const struct graph_source *graphs;     /* location of the captures of graphs, or NULL */
	/* graph_join; called at the end if there are graphs */
	bool (*join)(const struct graph_source *graphs, struct trace_build *b, struct arena *a,
	        struct err *e);
};

/* Fills t, an empty trace, from the files. Calls and correlations are kept only with ARG_BITS_ALL
 * and take about 90 bytes per kernel until the passes are done. Otherwise a kernel takes about 8
 * bytes plus its arguments, and ARG_LATENCY and ARG_CALL_LENGTH replace its call. */
bool recording_trace(struct trace *t, const struct recording_set *files,
        const struct recording_options *o, const struct recording_request *request,
        struct notes *notes, struct err *e);

#endif
