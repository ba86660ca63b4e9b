/* SPDX-License-Identifier: Apache-2.0
 *
 * libtfprof: where a TensorFlow model's time, memory, parameters and float operations go.
 * The only public header: C99 and C++11 or newer.
 *
 *   struct tfp_session *s;
 *   struct tfp_input graph = { .size = sizeof graph, .path = "graph.pbtxt", .path_size = TFP_Z };
 *   struct tfp_input step = { .size = sizeof step, .path = "run_meta_0", .path_size = TFP_Z };
 *   struct tfp_run run = { .size = sizeof run, .text = put, .text_user = stdout };
 *
 *   if (tfp_open(&s, NULL) || tfp_add(s, TFP_GRAPH, &graph) || tfp_add(s, TFP_STEP, &step) ||
 *       tfp_run_line(s, "scope -select micros -max_depth 3", TFP_Z, &run))
 *           puts(tfp_error(s, NULL));
 *   tfp_close(s);
 *
 * put takes the answer: int put(void *file, const void *bytes, size_t n) { return fwrite(bytes, 1,
 * n, file) != n; }. Link with what pkg-config --libs tfprof says (--static for libtfprof.a).
 *
 * Strings are a pointer and a length; TFP_Z as the length says that a NUL ends them. Names from
 * profiles are bytes, usually UTF-8. What a function returns a pointer to belongs to the session
 * and is valid until the next call on it (tfp_cancel excepted).
 *
 * Errors: 0 or a TFP_E_ code; tfp_error then has a finished sentence. A call that fails leaves the
 * session as it was, and usable; after TFP_E_MEMORY while something is added it may only be closed,
 * and says so. Everything is judged, nothing is trusted: lengths, depths and offsets in files may
 * be anything. Nothing here prints, ends the process, reads the environment or installs a signal
 * handler.
 *
 * Threads: different sessions may be used by different threads at the same time, one session by one
 * thread at a time. tfp_cancel alone may be called by any thread and from signal handlers. The
 * numbers that are printed are the same in every locale.
 *
 * Callbacks return, without an exception or a longjmp past the library. A call on the session that
 * calls them fails with TFP_E_FAILED; tfp_cancel and tfp_close may be called, and other sessions
 * used.
 *
 * Structs begin with their size: set it to sizeof the struct and everything unused to 0. Later
 * versions add fields at the end; a smaller struct than the library's is read as one of zeros
 * there.
 */
#ifndef TFPROF_TFPROF_H
#define TFPROF_TFPROF_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TFP_API __attribute__((visibility("default")))
#else
#define TFP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TFP_Z ((size_t)-1) /* as a length: up to the NUL */

struct tfp_str {
	const char *data;
	size_t size; /* or TFP_Z */
};

enum {
	TFP_OK,
	TFP_E_INVALID_ARGUMENT, /* a command, an option, a value, a pattern */
	TFP_E_NOT_FOUND,        /* a file */
	TFP_E_PERMISSION,       /* the system says no */
	TFP_E_DATA_LOSS,        /* bytes that cannot be parsed */
	TFP_E_UNIMPLEMENTED,    /* known, but not in this version */
	TFP_E_RESOURCE,  /* a limit: disk full, too many files, a pattern that takes too long */
	TFP_E_IO,        /* reading or writing failed half-way */
	TFP_E_CANCELLED, /* by tfp_cancel or by a callback */
	TFP_E_FAILED,    /* understood, but it cannot be done */
	TFP_E_STEP,      /* a step, call stacks or an output that this profile or view has not;
	                  * tfp_notes has the sentence of the original profiler */
	TFP_E_MEMORY     /* memory or the session's limit of it is at its end */
};

/* Version of the library, "0.1.0". The name of a code, "INVALID_ARGUMENT". Never NULL. */
TFP_API const char *tfp_version(void);
TFP_API const char *tfp_code_name(int code);

/* A library that libtfprof uses. */
struct tfp_library {
	size_t size;
	const char *name;    /* "zlib"; always valid */
	const char *feature; /* of pcre2: "JIT" or "no JIT"; else "" */
	int available;       /* 0: this build does without it */
	char version[64];    /* "1.2.13"; "" if it is not known */
};

/* Describes the i-th library; out->size is set by the caller. TFP_E_NOT_FOUND beyond the last one.
 */
TFP_API int tfp_library(size_t i, struct tfp_library *out);

/* ---- a session ---- */

struct tfp_session;

enum {
	TFP_KEEP_ATTRS = 1, /* keep node attributes, for tfp_write_profile; costs memory */
	TFP_RECOVER = 2     /* read damaged binary inputs up to the damage, spools around it;
	                     * tfp_notes warns */
};

struct tfp_config {
	size_t size;
	unsigned flags;        /* TFP_KEEP_ATTRS, TFP_RECOVER */
	unsigned threads;      /* for steps added together; 0: as many as there are processors */
	uint64_t memory_limit; /* bytes that the session may hold; 0: no limit */
	/* Progress of adding: bytes read of bytes in all (0: not known), of one call. Not 0 ends
	 * the call with TFP_E_CANCELLED. On any thread, but not on two at a time. */
	int (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* config may be NULL. On failure *out is NULL and nothing has to be closed. */
TFP_API int tfp_open(struct tfp_session **out, const struct tfp_config *config);

/* NULL is fine. In a callback it cancels, and the session is gone when the call returns. */
TFP_API void tfp_close(struct tfp_session *s);

/* About the last call: its code, and its sentence ("" if it went well), which has no newline at its
 * end and always a NUL behind it. length may be NULL. A NULL session: that it could not be opened.
 */
TFP_API int tfp_error_code(const struct tfp_session *s);
TFP_API const char *tfp_error(const struct tfp_session *s, size_t *length);

/* What the last call remarked and went on: lines as the original prints them on standard error, or
 * "note: ..." with how often. "" if nothing. length may be NULL. */
TFP_API const char *tfp_notes(const struct tfp_session *s, size_t *length);

/* Ends the call that is in progress, soon, with TFP_E_CANCELLED; without one it does nothing.
 * Safe in signal handlers and on other threads. */
TFP_API void tfp_cancel(struct tfp_session *s);

/* ---- loading ---- */

enum {
	TFP_GRAPH = 1, /* GraphDef, binary or text, or in a MetaGraphDef or SavedModel: the model */
	TFP_STEP = 2,  /* RunMetadata, binary or text: times and memory of one step */
	TFP_OP_LOG = 4,  /* OpLogProto: float operations, types, call stacks */
	TFP_PROFILE = 8, /* ProfileProto: all of these */
	TFP_CHECKPOINT =
	        16,    /* values of tensors, for tensor_value: its path, as TensorFlow takes it */
	TFP_SPOOL = 32 /* recorded GPU work: the folder of a session, or one process's file of it */
};

/* A file, or memory that is the caller's and only read during the call. gzip is undone. */
struct tfp_input {
	size_t size;
	const char *path; /* "-": standard input. Of memory: its name in sentences, may be NULL */
	size_t path_size;
	const void *bytes; /* not NULL: memory, even if empty */
	size_t bytes_size;
	int64_t step; /* of TFP_STEP: its number, 0 or more */
	/* Of TFP_SPOOL: how to read it, as the program's flags about spools say it, without dashes:
	 * "step-nvtx=pytorch", "leaf=op", "keep-warmup". What was given to the recorder holds
	 * besides. */
	const struct tfp_str *how;
	size_t n_how;
};

/* Adds one of them; nothing is left of it when that fails. The first node of a name stays. A step
 * added a second time adds to its numbers. Steps need the graph before them, if there is one. */
TFP_API int tfp_add(struct tfp_session *s, int kind, const struct tfp_input *in);

/* Adds n steps, read by several threads and added in this order up to the first that is bad. added:
 * how many came in; may be NULL. Their structs stand size bytes of the first one apart. */
TFP_API int tfp_add_steps(
        struct tfp_session *s, const struct tfp_input *in, size_t n, size_t *added);

/* Adds what --profile_path of the program names: profiles, folders of ProfileContext or a
 * SavedModel, patterns ("job_*" "/profile_100"), lists with commas. A single file is as with
 * tfp_add. Several of them are workers of one model, with steps of their own, and have to be the
 * first that is added; option "by" makes columns of them. A folder is its newest profile; older
 * ones are read when option "step" names a step of theirs, and are never in the average. */
TFP_API int tfp_add_paths(struct tfp_session *s, const struct tfp_str *paths, size_t n);

/* The name of the i-th worker (a NUL behind it): that part of its path in which the paths differ.
 * NULL beyond the last; single files have none. */
TFP_API const char *tfp_worker(struct tfp_session *s, size_t i, size_t *length);

/* Share of the graph's nodes that ran, 0 to 1, as the original counts it. 0 without steps. */
TFP_API int tfp_coverage(struct tfp_session *s, double *coverage);

/* Number of steps; the first cap of their numbers, ascending, are put into steps (may be NULL). */
TFP_API size_t tfp_steps(const struct tfp_session *s, int64_t *steps, size_t cap);

/* The i-th device name seen (lower case, a NUL behind it), or NULL beyond the last. */
TFP_API const char *tfp_device(struct tfp_session *s, size_t i, size_t *length);

/* ---- options ---- */

enum {
	TFP_LENIENT = 1 /* let in -select and -order_by names that no metric has, as the original's
	                 * library does */
};

/* Sets an option ("min_micros", "show_name_regexes", ...; without dashes) for all later commands.
 * Lists take any number of values, none too, used as they are; the others just one, as it would be
 * typed. Defaults are those of the program (its help lists them). Units: -min_*micros microseconds,
 * -min_*bytes bytes, or as in "20ms", "10MB", "3k". */
TFP_API int tfp_set(struct tfp_session *s, const char *name, size_t name_size,
        const struct tfp_str *values, size_t n, unsigned flags);

/* All options as they were when the session was opened. */
TFP_API int tfp_reset(struct tfp_session *s);

/* ---- asking ---- */

/* Takes n bytes; not 0: enough, the call ends with TFP_E_CANCELLED. */
typedef int (*tfp_put)(void *user, const void *bytes, size_t n);

enum {
	TFP_BANNERS =
	        1 /* frame text with the options and headings, as the original's library does */
};

struct tfp_run {
	size_t size;
	unsigned flags; /* TFP_BANNERS */
	tfp_put text;   /* what the program would print on standard output. NULL: thrown away */
	void *text_user;
	/* The answer as a protobuf message: GraphNodeProto (scope, graph), MultiGraphNodeProto (op,
	 * code) or AdviceProto (advise), of package tensorflow.tfprof. Times are microseconds,
	 * sizes bytes. NULL: not made. Not called if the answer is the empty message. */
	tfp_put result;
	void *result_user;
	const struct tfp_str *checkers; /* of advise: those to run. NULL: all */
	size_t n_checkers;
};

/* Runs scope, graph, op, code or advise with the options set. Option "output" says where the answer
 * goes: "stdout" to text, "file:outfile=F", "timeline:outfile=F", "pprof:outfile=F" to files, which
 * are complete or not there, "none" nowhere; "csv", "json", "ndjson", "md" put rows to text, or
 * with
 * ":outfile=F" into a file (docs/schema). run may be NULL. */
TFP_API int tfp_run(
        struct tfp_session *s, const char *command, size_t command_size, const struct tfp_run *run);

/* Runs a line of the prompt: "op -select micros", "set -max_depth 3", "help", "" (the options). */
TFP_API int tfp_run_line(
        struct tfp_session *s, const char *line, size_t line_size, const struct tfp_run *run);

/* Writes all that is loaded as a ProfileProto: to a file, or if path is NULL to put. The session
 * has to be opened with TFP_KEEP_ATTRS for the attributes to be in it. */
TFP_API int tfp_write_profile(
        struct tfp_session *s, const char *path, size_t path_size, tfp_put put, void *user);

/* ---- Arrow ---- */

/* The structs of the Arrow C data and C stream interfaces, as their specification gives them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* What a stream has: a table or the answer of a command; just one of them is given. */
struct tfp_arrow {
	size_t size;
	struct tfp_str table;   /* a name that tfp_arrow_table gives: "nodes" */
	struct tfp_str command; /* a line of the prompt: "op -select micros", "kernels --top=0" */
	struct tfp_str run;     /* of tables: the name of the run; NULL: none */
	struct tfp_str worker; /* of tables: the name of the worker, unless the session has names */
	uint64_t rows;         /* of a batch at most; 0: 65,536 */
};

/* Makes a stream of record batches. Texts are dictionaries of 32-bit indices, and each batch has
 * its own. A table has the columns that tfp_arrow_table describes; the answer of a command has
 * those of -output csv, and options that were set count.
 *
 * The stream is the caller's, who releases it. It may outlive the session: what it needs is kept
 * until then. Nothing can be added to the session before the stream of a table is released; all
 * other calls work, also on other threads while the stream is read. What the stream keeps counts
 * against memory_limit, and so does a batch until it is handed out; from then on it is memory of
 * its own, which stays valid until the batch is released, by any thread. get_next returns errno:
 * ENOMEM at the end of memory, EIO for everything else; get_last_error has the sentence. */
TFP_API int tfp_arrow_stream(
        struct tfp_session *s, const struct tfp_arrow *what, struct ArrowArrayStream *out);

/* Describes the i-th table: its name (always valid) and its schema, which the caller releases;
 * either may be NULL. TFP_E_NOT_FOUND beyond the last one, TFP_E_MEMORY. */
TFP_API int tfp_arrow_table(size_t i, const char **name, struct ArrowSchema *out);

#ifdef __cplusplus
}
#endif

#endif
