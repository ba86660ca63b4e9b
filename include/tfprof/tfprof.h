/* SPDX-License-Identifier: Apache-2.0
 *
 * libtfprof: shows where a model's time, memory, parameters and float operations go. The only
 * public header: C99 and C++11 or newer.
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
 * put receives the answer: int put(void *file, const void *bytes, size_t n) { return fwrite(bytes,
 * 1, n, file) != n; }. Link with the output of pkg-config --libs tfprof (--static for libtfprof.a).
 *
 * Strings are a pointer and a length; the length TFP_Z means NUL-terminated. Names from profiles
 * are bytes, usually UTF-8. Memory behind returned pointers belongs to the session and is valid
 * until the next call on it (except tfp_cancel).
 *
 * Errors: functions return 0 or a TFP_E_ code; tfp_error then returns a finished sentence. A call
 * that fails leaves the session unchanged and usable. Exception: after TFP_E_MEMORY during loading
 * the session can only be closed; further calls fail and say so. Input is never trusted: lengths,
 * depths and offsets in files may have any value. The library never prints, ends the process, reads
 * the environment or installs a signal handler.
 *
 * Threads: different sessions may be used by different threads at the same time, one session by one
 * thread at a time. Only tfp_cancel may be called by any thread and from signal handlers. Printed
 * numbers do not depend on the locale.
 *
 * Callbacks must return, without an exception or a longjmp across the library. Inside a callback,
 * calls on the same session fail with TFP_E_FAILED, except tfp_cancel and tfp_close; other sessions
 * may be used.
 *
 * Structs begin with their size: set it to sizeof the struct and every unused field to 0. Later
 * versions add fields at the end; the fields that a smaller struct lacks are read as 0.
 */
#ifndef TFPROF_TFPROF_H
#define TFPROF_TFPROF_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(TFP_BUILD) /* while the library itself is built */
#define TFP_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define TFP_API __attribute__((visibility("default")))
#else
#define TFP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TFP_Z ((size_t)-1) /* as a length: the text ends at the NUL */

struct tfp_str {
	const char *data;
	size_t size; /* length in bytes, or TFP_Z */
};

enum {
	TFP_OK,
	TFP_E_INVALID_ARGUMENT, /* a command, an option, a value or a pattern is invalid */
	TFP_E_NOT_FOUND,        /* a file does not exist */
	TFP_E_PERMISSION,       /* refused by the system */
	TFP_E_DATA_LOSS,        /* bytes that cannot be parsed */
	TFP_E_UNIMPLEMENTED,    /* a known feature that this version lacks */
	TFP_E_RESOURCE,  /* a limit: disk full, too many files, a pattern that takes too long */
	TFP_E_IO,        /* reading or writing failed */
	TFP_E_CANCELLED, /* cancelled by tfp_cancel or by a callback */
	TFP_E_FAILED,    /* a valid request that cannot be fulfilled */
	TFP_E_STEP,  /* a step, call stacks or an output that this profile or view lacks; tfp_notes
	                has the sentence of the original profiler */
	TFP_E_MEMORY /* memory, or the session's limit of it, is exhausted */
};

/* tfp_version returns the library's version, "0.1.0", and tfp_code_name the name of a code,
 * "INVALID_ARGUMENT". Never NULL. */
TFP_API const char *tfp_version(void);
TFP_API const char *tfp_code_name(int code);

/* A library that libtfprof uses. */
struct tfp_library {
	size_t size;
	const char *name;    /* "zlib"; always valid */
	const char *feature; /* for pcre2: "JIT" or "no JIT"; otherwise "" */
	int available;       /* 0: not part of this build */
	char version[64];    /* "1.2.13"; "" if unknown */
};

/* Describes the i-th library. The caller sets out->size. Returns TFP_E_NOT_FOUND after the last
 * one. */
TFP_API int tfp_library(size_t i, struct tfp_library *out);

/* ---- sessions ---- */

struct tfp_session;

enum {
	TFP_KEEP_ATTRS = 1, /* keep node attributes, for tfp_write_profile; costs memory */
	TFP_RECOVER = 2 /* reads damaged binary inputs up to the damage, and recordings around it;
	                   tfp_notes then contains a warning */
};

struct tfp_config {
	size_t size;
	unsigned flags;        /* TFP_KEEP_ATTRS, TFP_RECOVER */
	unsigned threads;      /* for steps added together; 0: the number of processors */
	uint64_t memory_limit; /* bytes that the session may hold; 0: no limit */
	/* Progress of loading: bytes read and total bytes (0: unknown) of one call. A nonzero
	 * result ends the call with TFP_E_CANCELLED. May be called on any thread, but never on two
	 * at a time. */
	int (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* Opens a session. config may be NULL. On failure *out is NULL and nothing has to be closed. */
TFP_API int tfp_open(struct tfp_session **out, const struct tfp_config *config);

/* Closes a session; NULL is allowed. In a callback, cancels the current call, and the session is
 * freed when that call returns. */
TFP_API void tfp_close(struct tfp_session *s);

/* tfp_error_code returns the code of the last call, tfp_error its sentence. The sentence is ""
 * after success, has no newline at its end and is NUL-terminated. length may be NULL. For a NULL
 * session, both describe the failure to open one. */
TFP_API int tfp_error_code(const struct tfp_session *s);
TFP_API const char *tfp_error(const struct tfp_session *s, size_t *length);

/* Returns the file that the last error is about (NUL-terminated), or NULL if it is unknown. Sets
 * *offset to the byte in it at which the error was found, -1 if unknown. length and offset may be
 * NULL. */
TFP_API const char *tfp_error_file(const struct tfp_session *s, size_t *length, int64_t *offset);

/* Returns the notes of the last call: lines that the original prints on standard error, or "note:
 * ..." with a count. "" if there are none. length may be NULL. */
TFP_API const char *tfp_notes(const struct tfp_session *s, size_t *length);

/* Cancels the running call, which then soon fails with TFP_E_CANCELLED. No effect if no call is
 * running. Safe in signal handlers and on other threads. */
TFP_API void tfp_cancel(struct tfp_session *s);

/* ---- loading ---- */

enum {
	TFP_GRAPH = 1, /* GraphDef, binary or text, or in a MetaGraphDef or SavedModel: the model */
	TFP_STEP = 2,  /* RunMetadata, binary or text: times and memory of one step */
	TFP_OP_LOG = 4,  /* OpLogProto: float operations, types, call stacks */
	TFP_PROFILE = 8, /* ProfileProto: all of these */
	TFP_CHECKPOINT =
	        16, /* checkpoint with the values for tensor_value: its path, as for TensorFlow */
	TFP_RECORDING = 32,        /* GPU recording: its folder, or the file of one process */
	TFP_SPOOL = TFP_RECORDING, /* its former name */
	TFP_ANY = 64 /* any of these, or a trace of another program: recognised by its content */
};

/* A file, or memory owned by the caller and read only during the call. gzip-compressed input is
 * decompressed. */
struct tfp_input {
	size_t size;
	const char *path; /* "-": standard input; for memory: its name in sentences, may be NULL */
	size_t path_size;
	const void *bytes; /* if not NULL, the input is memory, even if it is empty */
	size_t bytes_size;
	int64_t step; /* for TFP_STEP: its number, 0 or more */
	/* For TFP_RECORDING: the program's flags for recordings, without dashes:
	 * "step-nvtx=pytorch", "leaf=op", "keep-warmup". Flags saved by the recorder also apply. */
	const struct tfp_str *how;
	size_t n_how;
};

/* Adds an input. On failure, nothing of it is added. If several nodes have the same name, the first
 * one is used. Adding a step twice adds up its numbers. A graph must be added before its steps. */
TFP_API int tfp_add(struct tfp_session *s, int kind, const struct tfp_input *in);

/* Adds n steps. Several threads read them; they are added in this order up to the first faulty
 * step. added: number of added steps; may be NULL. The array's stride is the size field of its
 * first element. */
TFP_API int tfp_add_steps(
        struct tfp_session *s, const struct tfp_input *in, size_t n, size_t *added);

/* Adds files of any format, as on the program's command line: the format of each file is recognised
 * by its content, and all files together form one profile: a graph with its run metadata and op
 * log, a trace, a folder of profiles, patterns. Nothing may have been added before. */
TFP_API int tfp_add_files(struct tfp_session *s, const struct tfp_str *paths, size_t n);

/* Adds inputs like the program's --profile_path: profiles, folders of ProfileContext or a
 * SavedModel, patterns ("job_*" "/profile_100"), lists with commas. A single file is added as by
 * tfp_add. Several inputs are workers of one model, each with its own steps, and must be added
 * first; option "by" gives each worker a column. A folder means its newest profile; older profiles
 * are read when option "step" names one of their steps, and never count in the average. */
TFP_API int tfp_add_paths(struct tfp_session *s, const struct tfp_str *paths, size_t n);

/* Returns the name of the i-th worker (NUL-terminated): the part in which the paths differ. NULL
 * after the last worker; a single file has no workers. */
TFP_API const char *tfp_worker(struct tfp_session *s, size_t i, size_t *length);

/* Sets the share of the nodes that ran in a step, 0 to 1. With run metadata, the share is counted
 * like in the original: of the nodes that the graph has, or that had run before. 0 without
 * steps. */
TFP_API int tfp_coverage(struct tfp_session *s, double *coverage);

/* Returns the number of steps; stores the first cap step numbers, ascending, in steps (may be
 * NULL). */
TFP_API size_t tfp_steps(const struct tfp_session *s, int64_t *steps, size_t cap);

/* Returns the i-th device name (lower case, NUL-terminated), or NULL after the last one. */
TFP_API const char *tfp_device(struct tfp_session *s, size_t i, size_t *length);

/* ---- options ---- */

enum {
	TFP_LENIENT = 1 /* accept unknown names in -select and -order_by, as the original's library
	                   does */
};

/* Sets an option ("min_micros", "show_name_regexes", ...; without dashes) for all later commands.
 * List options take any number of values, used literally; other options take one value, as typed on
 * the command line. Defaults are the program's (see its help). Units: -min_*micros is in
 * microseconds, -min_*bytes in bytes, unless a unit is given, as in "20ms", "10MB", "3k". */
TFP_API int tfp_set(struct tfp_session *s, const char *name, size_t name_size,
        const struct tfp_str *values, size_t n, unsigned flags);

/* Resets all options to their state at tfp_open. */
TFP_API int tfp_reset(struct tfp_session *s);

/* ---- queries ---- */

/* Receives n bytes. A nonzero result ends the call with TFP_E_CANCELLED. */
typedef int (*tfp_put)(void *user, const void *bytes, size_t n);

enum {
	TFP_BANNERS = 1 /* print options and headings around text, as the original's library does */
};

struct tfp_run {
	size_t size;
	unsigned flags; /* TFP_BANNERS */
	tfp_put text;   /* receives the program's standard output; NULL: the output is discarded */
	void *text_user;
	/* Receives the answer as a protobuf message: GraphNodeProto (scope, graph),
	 * MultiGraphNodeProto (op, code) or AdviceProto (advise), of package tensorflow.tfprof.
	 * Times are microseconds, sizes bytes. NULL: the message is not made. Not called for an
	 * empty message. */
	tfp_put result;
	void *result_user;
	const struct tfp_str *checkers; /* for advise: the checkers to run; NULL: all */
	size_t n_checkers;
	/* More words of the command line, used literally: options of the command and its arguments,
	 * such as "--top=5" and "kernel:gemm*0.5". */
	const struct tfp_str *words;
	size_t n_words;
	/* A second session for diff, which may not be used during the call, except by tfp_cancel.
	 * In the line, "left" is the session of the call, and "right" is this one: "diff left
	 * right@3". NULL: none. Not used by tfp_run and tfp_diff. */
	struct tfp_session *other;
};

/* Runs a command that reads a profile, such as scope or kernels, with the options that are set.
 * Option "output" chooses the destination: "stdout" is text; "file:outfile=F", "timeline:outfile=F"
 * and "pprof:outfile=F" are files, which are either complete or absent; "none" discards the answer;
 * "csv", "json", "ndjson" and "md" write rows to text or, with ":outfile=F", to a file
 * (docs/schema). run may be NULL. */
TFP_API int tfp_run(
        struct tfp_session *s, const char *command, size_t command_size, const struct tfp_run *run);

/* Runs a line of the prompt: "op -select micros", "set -max_depth 3", "diff a b", "help", ""
 * (prints the options). The commands quit, exit, load, use and list are not available, because each
 * input that a program compares has a session of its own. */
TFP_API int tfp_run_line(
        struct tfp_session *s, const char *line, size_t line_size, const struct tfp_run *run);

/* ---- rows ---- */

enum { TFP_TEXT, TFP_LIST, TFP_INTEGER, TFP_REAL, TFP_BOOL };

/* A column of an answer. Its name identifies its content: "path", "name", "parent", "total_ns",
 * "own_micros". */
struct tfp_column {
	size_t size;
	int type;         /* TFP_TEXT, ... */
	const char *name; /* NUL-terminated, as unit; valid until the rows are closed */
	const char *unit; /* such as "ns"; NULL: none. The unit does not scale the numbers */
};

/* A cell of a row. */
struct tfp_cell {
	int null;            /* 1: no value; then all other fields are 0 */
	int64_t integer;     /* value of a TFP_INTEGER, or of a TFP_BOOL: 0 or 1 */
	double real;         /* value of a TFP_REAL, TFP_INTEGER or TFP_BOOL */
	struct tfp_str text; /* value of a TFP_TEXT; not NUL-terminated */
	size_t n;            /* for a TFP_LIST: number of texts, for tfp_cell_text */
};

/* The rows of an answer, read one after the other. */
struct tfp_rows;

/* Runs a line of the prompt, as tfp_run_line does, with the words and the second session of run,
 * and keeps its rows: those of -output csv, under the options that are set. run may be NULL. The
 * rows belong to the caller, who closes them; they may outlive the session and may be read by
 * another thread.
 *
 * Commands with rows are the views, advise, diff, checkpoint, summary (its hottest nodes), and all
 * that print a table, such as top, why and what-if. The others fail with TFP_E_INVALID_ARGUMENT:
 * help, set, reset and baseline print text, report and convert write files.
 *
 * If a gate of diff fails or is inconclusive, if two checkpoints differ, or if --fail-on finds
 * something, the code is TFP_E_FAILED and *out has all rows. After any other failure *out is NULL.
 */
TFP_API int tfp_rows_open(struct tfp_session *s, const char *line, size_t line_size,
        const struct tfp_run *run, struct tfp_rows **out);
/* Closes rows; NULL is allowed. */
TFP_API void tfp_rows_close(struct tfp_rows *r);

/* Describes the i-th column. The caller sets out->size. Returns TFP_E_NOT_FOUND after the last
 * one. */
TFP_API int tfp_rows_column(const struct tfp_rows *r, size_t i, struct tfp_column *out);
/* Returns the number of the column with a name (NUL-terminated), or -1. */
TFP_API int tfp_rows_find(const struct tfp_rows *r, const char *name);

/* Moves to the next row; the first call moves to the first row. Returns its cells, one for each
 * column, valid until the next call. Returns NULL after the last row. */
TFP_API const struct tfp_cell *tfp_rows_next(struct tfp_rows *r);
/* Moves before the first row. */
TFP_API void tfp_rows_rewind(struct tfp_rows *r);
/* Returns the i-th text of a list. Its data is NULL after the last text. */
TFP_API struct tfp_str tfp_cell_text(const struct tfp_cell *list, size_t i);

/* Runs the program's diff on two sessions, which may be equal: the first side, named left, is s;
 * the second side, named right, is other. words: more words of that command, such as "-view=op",
 * "-output", "json". Words that begin with left or right replace that side: "left@3",
 * "right@slowest". The options set in s apply. other may not be used during the call, except by
 * tfp_cancel. If a gate fails, or is inconclusive without "--allow-inconclusive", the code is
 * TFP_E_FAILED and the text is complete. */
TFP_API int tfp_diff(struct tfp_session *s, struct tfp_session *other, const struct tfp_str *words,
        size_t n, const struct tfp_run *run);

/* Writes all loaded data as a ProfileProto, to a file or, if path is NULL, to put. The profile
 * contains node attributes only if the session was opened with TFP_KEEP_ATTRS. */
TFP_API int tfp_write_profile(
        struct tfp_session *s, const char *path, size_t path_size, tfp_put put, void *user);

/* ---- Arrow ---- */

/* The structs of the Arrow C data and C stream interfaces, from their specification. */
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

/* The content of a stream: a table or the answer of a command; exactly one of the two is set. */
struct tfp_arrow {
	size_t size;
	struct tfp_str table;   /* a name from tfp_arrow_table: "nodes" */
	struct tfp_str command; /* a line of the prompt: "op -select micros", "kernels --top=0" */
	struct tfp_str run;     /* for tables: name of the run; NULL: none */
	struct tfp_str worker;  /* for tables: name of the worker, unless the session has names */
	uint64_t rows;          /* maximum number of rows per batch; 0: 65,536 */
	const struct tfp_str *words; /* more words of the command, as in struct tfp_run */
	size_t n_words;
	struct tfp_session *other; /* a second session for diff, as in struct tfp_run */
};

/* Makes a stream of record batches. Texts are dictionaries with 32-bit indices, separate for each
 * batch. A table has the columns that tfp_arrow_table describes; the answer of a command has those
 * of -output csv, under the options that are set.
 *
 * The caller owns the stream and releases it. It may outlive the session, whose data is then kept.
 * While the stream of a table is open, nothing can be added to the session; all other calls work,
 * even on other threads while the stream is read. The stream's data counts against memory_limit,
 * and so does a batch until it is handed out; from then on the batch has memory of its own, valid
 * until any thread releases it. get_next returns errno: ENOMEM if memory is exhausted, EIO for
 * other failures; get_last_error returns the sentence. */
TFP_API int tfp_arrow_stream(
        struct tfp_session *s, const struct tfp_arrow *what, struct ArrowArrayStream *out);

/* Describes the i-th table: its name (always valid) and its schema, which the caller must release;
 * either may be NULL. Returns TFP_E_NOT_FOUND after the last table, or TFP_E_MEMORY. */
TFP_API int tfp_arrow_table(size_t i, const char **name, struct ArrowSchema *out);

#ifdef __cplusplus
}
#endif

#endif
