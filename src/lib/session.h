/* SPDX-License-Identifier: Apache-2.0
 *
 * One loaded profile, its sticky options and its cached trees, used by the program and the library
 * alike. Every call that can fail returns false and leaves its sentence in s->error. The session
 * stays usable, except after exhaustion of memory during loading: then it can only be closed.
 */
#ifndef TFPROF_LIB_SESSION_H
#define TFPROF_LIB_SESSION_H

#include "checkpoint/ckpt.h"
#include "compare/side.h"
#include "export/table/trace_tables.h"
#include "model/input.h"
#include "model/read/read.h"
#include "why/why.h"

/* The trees of a model, each built at first use. */
struct forest {
	const struct model *m;
	struct tree trees[VK_N];
	bool built[VK_N];
	struct notes notes[VK_N]; /* notes of building each tree, stored with the trees */
};

/* The loaded trace, grouped by a criterion other than its paths. */
struct regrouped {
	enum by by;          /* BY_NONE: the model has not been made, unless path or memory is
	                        set */
	bool path;           /* true: its nodes include their time on the critical path */
	bool memory;         /* true: its nodes have the memory of snapshots */
	int64_t step;        /* for memory: id of the step; negative: the whole file */
	enum moment_kind at; /* for memory */
	int64_t at_ns;
	struct model model;
	struct notes notes; /* notes from making the model */
	struct forest forest;
};

struct table;
struct command;
struct jobs;
struct session {
	struct account account; /* charged by the session, unless it charges the account of another
	                           session */
	struct work work;
	struct arena model_arena;   /* arena of the model */
	struct arena ckpt_arena;    /* arena of the checkpoint */
	struct arena tree_arena;    /* arena of the trees; dropped when the model changes */
	struct arena regroup_arena; /* arena of the models that -by makes of a trace, with their
	                               trees */
	struct arena path_arena;    /* arena of `kept` */
	struct arena query_arena;   /* arena of one command: tallies, result, texts, error; reset by
	                               the next command */
	struct arena opts_arena[2]; /* arenas of the current sticky options, and of the next ones */
	unsigned opts_now;
	unsigned columns; /* columns of the output terminal; 0: none */
	unsigned width;   /* columns for which the user wants text; 0: those of the terminal */
	struct opts sticky;
	struct model model;
	struct ingest *ingest;
	struct ckpt *ckpt;    /* NULL: no checkpoint */
	struct forest forest; /* trees of the model */
	struct regrouped regrouped;
	struct kept_path *kept; /* the trace of the last command and its replay, stored for the next
	                           command (path_input.c); may be NULL */
	size_t built_notes;     /* number of notes of building trees among the notes below */
	bool loaded, sealed, broken;
	size_t changes;             /* number of changes of the model, its trees or the regrouped
	                               model */
	atomic_uint readers;        /* number of streams that read the model, during which nothing
	                               can be added */
	struct str baseline_words;  /* the arguments of baseline save; live in the query arena */
	bool bare_files;            /* true: files were given without flags, which the original does
	                               not support */
	int64_t assume_batch;       /* replaces unknown first dimensions; 0: no replacement */
	bool computes_flops;        /* true: the nodes have float operations that tfprof computed */
	bool recover;               /* true: reads damaged files up to the damage */
	struct src_options reading; /* user options for readers; texts outlive the session */
	bool arrays;     /* true: rows of documents are written as parallel arrays, for a page */
	bool cells;      /* true: tables are written as lines with cells, for a full screen */
	bool keeps_rows; /* true: commands that read their own words write typed cells (sheet.h) */
	bool profiled;   /* true: the nodes come from a ProfileProto */
	struct input_step *later; /* steps that are read on demand; live in the model arena */
	size_t n_later;
	struct input_worker *older; /* files that are read when a command selects a missing step */
	size_t n_older;
	struct jobs *jobs; /* list of jobs to which the session belongs (jobs.h), or NULL */
	unsigned threads;
	const struct command *more_commands; /* commands of the program (options.h), or NULL */
	int exit_status;          /* exit status of the program, set by commands that succeeded */
	int exit_signal;          /* signal by which the program ends; 0: it ends with
	                             exit_status */
	struct input_watch watch; /* progress of loading; optional */
	atomic_bool cancel;       /* any thread may set it to end the current call */
	const atomic_bool *parent_cancel; /* its setting ends the current call, too; optional */
	struct notes load_notes;          /* notes of loading; live in the model arena */
	unsigned notes_wanted;            /* NOTE_BIT bits of the notes that the last parsed command
	                                     prints */
	VEC(struct source) sources;       /* inputs; live in the model arena */
	struct recording_set recording;   /* the loaded recording; n is 0 if there is none */
	struct recording_options recording_options;
	const struct trace *recording_trace; /* the recording as a trace, made at first use; lives
	                                        in the tree arena */
	bool recording_later; /* true: only tables will be printed, and they read the recording */
	struct notes notes;   /* notes of the last call; live in the query arena */
	struct err error;     /* error of the last call; lives in the query arena */
	char exhausted[80];   /* sentence for exhausted memory, prepared in advance */
};

/* Creates a session. limit: bytes that the session may hold; 0 for no limit; if it is too small,
 * the first call fails. Returns NULL if memory is exhausted. */
struct session *session_new(size_t limit);
/* Creates a session that charges the account of another session, which must outlive it, and has the
 * same number of threads. */
struct session *session_new_sharing(struct session *first);
/* Creates a session that is a part of another one. The other session must outlive it, and is
 * charged for its memory. It has its own cancel flag. */
struct session *session_new_part(struct session *whole);
void session_free(struct session *s);
void session_drop(void *session); /* session_close in the form that work_guard expects */

/* Sets the number of bytes that the session may hold from now on; 0 for no limit. */
void session_limit(struct session *s, size_t limit);

/* True if only memory snapshots are loaded. */
bool session_has_snapshots(const struct session *s);
/* True if the options select or order by numbers of the live set. */
bool session_wants_memory(const struct opts *o);
/* Fails if the loaded files cannot have allocations and the metric counts them. */
bool session_has_metric(struct session *s, enum metric_id m);

/* Returns a watch for loading in another session: it reports true when a command of s is
 * cancelled. */
struct input_watch session_not_cancelled(struct session *s);

/* Fails if -at selects a moment that the loaded files lack. */
bool session_has_moment(struct session *s, const struct opts *o);

/* Message for files without allocations. */
#define NO_ALLOCATIONS                                                                             \
	"the files contain no allocations that tfprof reads\nhint: these files do: PyTorch "       \
	"traces with profile_memory=True and memory snapshots, XSpaces of GPUs, TensorFlow's "     \
	"run metadata, heap profiles (pprof), recordings of 'tfprof record' with --level=full"

/* Fails if the files do not reach the moment of -at. length: time from their first entry to the
 * last one, ns; ooms: number of out-of-memory errors. */
bool session_check_moment(struct session *s, const struct moment *at, int64_t length, size_t ooms);

/* Runs f(s, ctx) at a recovery point with an empty query arena. Returns false if f returns false or
 * memory is exhausted. All functions below must be called inside it. */
bool session_guard(struct session *s, bool (*f)(struct session *s, void *ctx), void *ctx);

/* Loads an input. The model is sealed at the first query. */
bool session_load(struct session *s, unsigned role, const struct input_from *from);
/* True if the session has loaded an input with a role. */
bool session_has_source(const struct session *s, unsigned role);
bool session_load_steps(struct session *s, const struct input_step *v, size_t n,
        bool (*folded)(void *user, size_t i), void *user);

/* Loads recordings of GPU work. path: the file or session folder in which they were found. */
bool session_load_spools(struct session *s, struct str path, const struct recording_set *files,
        const struct recording_options *o);

/* Opens the checkpoint whose values tensor_value shows, replacing an earlier checkpoint. Nodes of
 * graphs with values in it get the type _checkpoint_variables. */
bool session_checkpoint(struct session *s, struct str path);

/* Sets steps that are read when a command selects one of them; the average needs all of them.
 * Copies file names. */
void session_load_later(struct session *s, const struct input_step *v, size_t n);

/* Loads workers. Their steps are stored separately under the given names. If names is NULL, keeps
 * the current names. */
bool session_load_workers(
        struct session *s, const struct strs *names, const struct input_worker *v, size_t n);

/* Sets workers' files that are read, all together, when a command selects a step that the model
 * lacks; their steps are never in the average. Paths are copied. */
bool session_keep_older(struct session *s, const struct input_worker *v, size_t n);

/* Reads the deferred steps that the options select, or all steps. older: also the older files. */
bool session_need_steps(struct session *s, const struct opts *o);
bool session_need_all(struct session *s, bool older);
/* Sets the step that the options choose by its time, and notes its number. */
bool session_rank_step(struct session *s, struct opts *o);
/* Assigns a type to nodes of the model. */
bool session_add_type(struct session *s, const uint32_t *nodes, size_t n, struct str type);
/* Finds the trainable variables of a graph without an op log, if the options account them. The
 * model is sealed before and after. */
bool session_need_types(struct session *s, const struct opts *o);
/* Adds a note if only float operations are selected and the inputs cannot have any. */
void session_note_flops(struct session *s, const struct opts *o);
/* Counts the float operations of a graph without an op log, if the options select them. The model
 * is sealed before and after. */
bool session_need_flops(struct session *s, const struct opts *o);

/* Runs a view command with these options: writes its text to out, and its result as a message
 * (nothing for an empty result). message may be NULL. */
bool session_answer(struct session *s, const struct view_ops *v, const struct opts *o,
        struct sink *out, struct sink *message);

/* The result of a view command, for a caller that shows parts of it. */
struct view_answer {
	struct opts columns; /* the options, with the columns of the result */
	struct query q;
	struct result r;
};
/* Runs a view command with these options. *x lives in the arena a, as its contents do, and can be
 * used until s->changes changes. */
bool session_show(struct session *s, const struct view_ops *v, const struct opts *o,
        struct arena *a, struct view_answer *x);

/* Writes all loaded data as a ProfileProto file, with the attributes if they were stored. */
bool session_write_profile(struct session *s, struct str path);

/* Fails if there are several workers, because a ProfileProto cannot contain them. */
bool session_one_worker(struct session *s);

/* Stores node attributes, labels and threads of all inputs loaded from now on. */
void session_keep_attrs(struct session *s);

/* Begins a query of a view: loads the steps that q->o selects, seals the model, and fills in model,
 * arena, notes and tree. view_open must be called next. */
bool session_query(struct session *s, const struct view_ops *v, struct query *q);
/* Returns the destination of a view's answer; VK_N: an answer that does not belong to a view. */
struct emit session_emit(struct session *s, enum vk kind, struct sink *out);
/* Returns the destination of an answer of a view of the model to which these trees belong. */
struct emit session_emit_of(
        struct session *s, const struct forest *f, enum vk kind, struct sink *out);

/* Returns the advice of the checkers (CHECK_BIT bits), in the query arena. top: number of entries
 * in each list; 0: all; negative: the default. */
bool session_advise(struct session *s, unsigned checkers, int64_t top, struct advice *out);

/* Finds the operation types with the most host time, as summary lists them; *out is NULL if the
 * input has none. */
bool session_host_ops(struct session *s, const struct opts *o, const struct table **out);

/* Returns the loaded recording as a trace with the wanted arguments (ARG_BIT), or NULL. A trace
 * with all arguments is made at first use and stored; any other trace lives until the next
 * query. */
const struct trace *session_recording_trace(struct session *s, uint64_t wants);

/* Collects the loaded traces, or makes the trace of the loaded recording. devices: for the tables
 * of `devices`. */
bool session_find_traces(struct session *s, uint64_t wants, bool devices, struct worker_traces *to);

/* Adds a note if averages over all steps of the loaded traces include steps without device work,
 * which steps and why leave out. */
void session_note_averages(struct session *s, const struct opts *o);

/* True if nodes have float operations, or some that are not known. */
bool session_has_flops(const struct session *s);

/* Adds up for which share of the device time of the loaded traces, or of a graph with times and
 * float operations, the float operations are known. */
struct flops_coverage session_coverage(struct session *s);

/* Returns the loaded traces, or the trace of the loaded recording; NULL if none is loaded. */
const struct model_trace *session_traces(struct session *s, size_t *n);

/* Returns the loaded trace or recording; of several, the one of the worker that -worker_regexes
 * selects. Returns NULL if there is none, or if several are left. o: NULL if the command does not
 * have the option. */
const struct trace *session_one_trace(struct session *s, const struct opts *o);

/* Writes the slices of the loaded trace as a JSON document. Fails if there is none. */
bool session_slices(struct session *s, const struct slices_request *request, struct sink *out);

/* Fails if memory was exhausted during loading. */
bool session_usable(struct session *s);

/* Makes the model readable: s->model. */
bool session_seal(struct session *s);
/* Reads the slices of traces that stored only sums when they were loaded. */
bool session_need_slices(struct session *s);

/* True if the critical path is known, because only traces, or one recording, are loaded. */
bool session_has_path(const struct session *s);
/* Begins a query: from now on a cancelled call ends at once, because the model no longer
 * changes. */
void session_begin_query(struct session *s);
/* Sets the model and the tree that answer a view's query with its options (-by). */
bool session_group(struct session *s, const struct view_ops *v, struct query *q);
/* Begins the queries of peek, as session_query does: a query of scope, with the kernels of a trace
 * below the ops that launched them, and a query of code on the same model. code->tree is NULL if
 * the inputs have no call stacks. */
bool session_query_calls(struct session *s, struct query *scope, struct query *code);
/* Returns the metric for inputs with memory but without times: live bytes for memory snapshots,
 * bytes for heap profiles; otherwise M_NONE. */
enum metric_id session_memory_metric(const struct session *s);
/* Returns the metric that orders nodes if the user names none: time, the metric of memory, or
 * params if no step is loaded. */
enum metric_id session_main_metric(const struct session *s);
/* Returns the tree of a view of the session `user`; built at first use. */
const struct tree *session_tree(void *user, enum vk kind);

/* Makes these options the defaults of later commands. */
void session_set(struct session *s, const struct opts *o);

/* Replaces s->error. */
bool session_fail(struct session *s, enum status code, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Fails like session_fail with a finished sentence, which is copied. */
bool session_fail_text(struct session *s, enum status code, struct str text);

/* Fails with the error of another session, which may be closed afterwards. */
static inline bool session_fail_as(struct session *s, const struct err *e)
{
	s->error = (struct err){ .a = &s->query_arena };
	err_copy(&s->error, e);
	s->error.partial = e->partial;
	s->error.a = e->a ? s->error.a : NULL; /* NULL if memory is exhausted */
	return false;
}

/* ---- summary ----
 *
 * The page that the command summary prints, and the program before its prompt.
 */

/* Prints the page as text. prompt: suggest commands for the prompt instead of a shell. Does not
 * read deferred files. Must be called inside a session_guard. */
bool summary_write(struct session *s, bool prompt, struct sink *out);

/* ---- sources ----
 *
 * Resolves --profile_path: one file, a folder of profiles, or several of either, each of which is a
 * worker. Finds the files; session.h loads them.
 */

struct sources {
	struct strs paths;              /* files and folders in the order in which they were
	                                   found */
	struct strs calls;              /* execution traces in the folders */
	struct strs names;              /* names of the workers; empty for one file */
	VEC(struct input_worker) now;   /* one per path */
	VEC(struct input_worker) later; /* files for missing steps, in order of trial */
};

/* Finds the files that words name: paths, patterns, lists. Strings live in the query arena. */
bool sources_find(struct session *s, const struct strs *words, struct sources *out);

/* Joins each execution trace to the trace of the same process. Adds a note about execution traces
 * without such a trace. */
void sources_join(struct session *s, const struct sources *src, const struct strs *calls);

/* Loads the files. lazy: the run metadata of a single folder is read when a command selects a
 * step. */
bool sources_load(struct session *s, const struct sources *src, bool lazy);

#endif
