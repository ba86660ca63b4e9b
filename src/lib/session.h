/* SPDX-License-Identifier: Apache-2.0
 *
 * One loaded profile, its sticky options and its cached trees. The program and the library both
 * work through it. Every call that can fail returns false and leaves its sentence in s->error; the
 * session stays usable, after exhaustion of memory while loading it can only be closed.
 */
#ifndef TFPROF_LIB_SESSION_H
#define TFPROF_LIB_SESSION_H

#include "checkpoint/ckpt.h"
#include "model/input.h"
#include "model/recording_lower.h"
#include "export/slices.h"
#include "export/trace_tables.h"
#include "compare/side.h"

/* The trees of a model, built at first use. */
struct forest {
	const struct model *m;
	struct tree trees[VK_N];
	bool built[VK_N];
	struct notes notes[VK_N]; /* of building each; with the trees */
};

/* The trace that is loaded, grouped by something else than its paths. */
struct regrouped {
	enum by by; /* BY_NONE: there is none */
	struct model model;
	struct notes notes; /* of making it */
	struct forest forest;
};

struct command;
struct jobs;
struct session {
	struct account account; /* charged by the session, unless it stands beside another */
	struct work work;
	struct arena model_arena;   /* the model */
	struct arena ckpt_arena;    /* the checkpoint */
	struct arena tree_arena;    /* trees; dropped when the model changes */
	struct arena regroup_arena; /* what -by makes of a trace, with its trees */
	struct arena
	        query_arena; /* one command: tallies, result, texts, error; reset by the next */
	struct arena opts_arena[2]; /* the sticky options live in one, the next ones are made in the
	                               other */
	unsigned opts_now;
	unsigned columns; /* of the terminal on which the answer goes; 0: none */
	struct opts sticky;
	struct model model;
	struct ingest *ingest;
	struct ckpt *ckpt;    /* NULL: none */
	struct forest forest; /* of the model */
	struct regrouped regrouped;
	size_t built_notes; /* how many of the notes below are such */
	bool loaded, sealed, broken;
	atomic_uint readers;      /* streams that read the model: nothing can be added */
	bool bare_files;          /* files were given without flags, which the original cannot */
	bool recover;             /* damaged files are read up to their damage */
	bool arrays;              /* rows of documents are written as parallel arrays: for a page */
	bool profiled;            /* nodes came from a ProfileProto */
	struct input_step *later; /* steps that are read when asked for; in the model arena */
	size_t n_later;
	struct input_worker
	        *older; /* files that are read when a step is asked for that is not there */
	size_t n_older;
	struct jobs *jobs; /* that it is one of, where several can be loaded (jobs.h); else NULL */
	unsigned threads;
	const struct command *more_commands; /* of the program (cmd.h), or NULL */
	int exit_status; /* of the program, where a command that did its work chooses one */
	struct input_watch watch; /* progress of loading; may be left empty */
	atomic_bool cancel;       /* set by anyone: the call in progress is to end */
	const atomic_bool
	        *parent_cancel;         /* that of the session for which this one works, or NULL */
	struct notes load_notes;        /* of loading; in the model arena */
	size_t load_said;               /* how many of them somebody has printed */
	VEC(struct source) sources;     /* what is loaded; in the model arena */
	struct recording_set recording; /* that is loaded, likewise; n is 0 if there is none */
	struct recording_options recording_options;
	struct notes notes; /* of the last call; in the query arena */
	struct err error;   /* of the last call; in the query arena */
	char exhausted[80]; /* the sentence for the end of memory, made beforehand */
};

/* limit: bytes the session may hold, 0 for none; one that is too small ends its first call. NULL if
 * there is no memory for the session. */
struct session *session_new(size_t limit);
/* One that charges the account of another, which outlives it, and has as many threads. */
struct session *session_new_beside(struct session *first);
/* One that works for another, which outlives it: its memory counts as that of the other. Has a
 * cancel flag of its own. */
struct session *session_new_part(struct session *whole);
void session_free(struct session *s);
void session_drop(void *session); /* the same, as work_guard wants it */

/* Bytes that the session may hold from now on, 0 for no limit. */
void session_limit(struct session *s, size_t limit);

/* For loading in another session: ends when a command of this one is cancelled. */
struct input_watch session_not_cancelled(struct session *s);

/* Runs f(s, ctx) at a recovery point, with an empty query arena: false if f returns false or memory
 * ends. All calls below are made inside it. */
bool session_guard(struct session *s, bool (*f)(struct session *s, void *ctx), void *ctx);

/* Loading. The model is sealed when it is first asked something. */
bool session_load(struct session *s, unsigned role, const struct input_from *from);
bool session_load_steps(struct session *s, const struct input_step *v, size_t n,
        bool (*folded)(void *user, size_t i), void *user);

/* Spools of recorded GPU work; path: the file or the folder of a session where they were found. */
bool session_load_spools(struct session *s, struct str path, const struct recording_set *files,
        const struct recording_options *o);

/* Opens the checkpoint whose values tensor_value shows, instead of an earlier one. The nodes of
 * graphs that it has values of get the type _checkpoint_variables. */
bool session_checkpoint(struct session *s, struct str path);

/* Steps that a command reads when it asks for one of them; the average asks for all. File names are
 * copied. */
void session_load_later(struct session *s, const struct input_step *v, size_t n);

/* Loads workers, whose steps stay apart under these names. names NULL: those there are stay. */
bool session_load_workers(
        struct session *s, const struct strs *names, const struct input_worker *v, size_t n);

/* Workers' files that are read, all of them, when a step is asked for that the model has not; their
 * steps are never in the average. Paths are copied. */
bool session_keep_older(struct session *s, const struct input_worker *v, size_t n);

/* Reads what was left for later of the steps that the options choose; or all of it, older: and all
 * that was kept. */
bool session_need_steps(struct session *s, const struct opts *o);
bool session_need_all(struct session *s, bool older);

/* A command of a view with these options: its text to out, and its result as a message (an empty
 * one: nothing is put). message may be NULL. */
bool session_answer(struct session *s, const struct view_ops *v, const struct opts *o,
        struct sink *out, struct sink *message);

/* Returns the accounted entries of a view as a side of a comparison. Of the options only steps,
 * types and devices apply. */
struct side_ask {
	const struct view_ops *view;
	const struct opts *o;
	const enum value *values;
	uint32_t n;
	bool per_run;         /* recorded numbers are those of one run of each node */
	const int64_t *steps; /* behind the values come those of each of these steps */
	uint32_t n_steps;
};
/* In a; names are the model's and its trees'. */
bool session_side(struct session *s, const struct side_ask *ask, struct side *out, struct arena *a);

/* Everything that is loaded, as a ProfileProto in a file. Attributes are in it if they were kept.
 */
bool session_write_profile(struct session *s, struct str path);

/* Fails if there are several workers: a ProfileProto cannot hold them. */
bool session_one_worker(struct session *s);
/* Each step as a RunMetadata in <path>_<step>, the nodes as a GraphDef in <path>_graph.pb. */
bool session_write_runs(struct session *s, struct str path);
struct str session_run_graph(struct session *s, struct str path); /* that of the GraphDef */

/* Node attributes, labels and threads of what is loaded from now on are kept for it. */
void session_keep_attrs(struct session *s);

/* Begins a query of a view: loads the steps that q->o asks for, seals the model and fills in model,
 * arena, notes and tree. view_open comes next. */
bool session_query(struct session *s, const struct view_ops *v, struct query *q);
/* Returns where the answer of a view goes; VK_N: an answer of no view. */
struct emit session_emit(struct session *s, enum vk kind, struct sink *out);

/* The advice of the checkers (CHECK_BIT bits), in the query arena. */
bool session_advise(struct session *s, unsigned checkers, struct advice *out);

/* Puts it as rows, as the options' output wants them. */
bool session_put_advice(
        struct session *s, const struct advice *advice, const struct opts *o, struct sink *out);

/* A table of the trace that is loaded, at most top rows (0: all), as the options' output asks.
 * Fails if there is no trace, or several. */
bool session_trace_table(struct session *s, enum trace_table which, size_t top,
        const struct opts *o, struct sink *out);

/* The slices of the trace that is loaded, as a document. Fails like session_trace_table. */
bool session_slices(struct session *s, const struct slices_ask *ask, struct sink *out);

/* Fails if memory ended while something was loaded. */
bool session_usable(struct session *s);

/* Makes the model readable: s->model. */
bool session_seal(struct session *s);

/* Makes these options the ones that later commands begin with. */
void session_set(struct session *s, const struct opts *o);

/* Fills s->error anew. */
bool session_fail(struct session *s, enum status code, const char *f, ...)
        __attribute__((format(printf, 3, 4)));

/* Fails with the error of another session, which may be closed afterwards. */
static inline bool session_fail_as(struct session *s, const struct err *e)
{
	session_fail(s, e->code, "%.*s", STR(e->text));
	s->error.partial = e->partial;
	return false;
}

#endif
