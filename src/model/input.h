/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading: the table of inputs, one file, many steps and many workers in parallel. Files may be
 * compressed with gzip. The readers interpret the messages.
 */
#ifndef TFPROF_MODEL_INPUT_H
#define TFPROF_MODEL_INPUT_H

#include <pthread.h>

#include "model/read/read.h"

/* Results of loading a file. */
enum {
	ROLE_GRAPH = 1,
	ROLE_STEP = 2,
	ROLE_OPLOG = 4,
	ROLE_PROFILE = 8, /* including traces: one file that contains everything */
	ROLE_BASELINE = 16,
	ROLE_SPOOL = 32,
	ROLE_CHECKPOINT = 64 /* opened by the session */
};

/* Names of a role, for documents and for sentences. */
struct input_role {
	unsigned role;
	const char *id, *name;
};
const struct input_role *input_role(unsigned role);

/* Flags that control the reading of a format. */
enum {
	INPUT_TEXT_FIRST = 1, /* tries the text form before the binary one */
	INPUT_TWICE = 2,      /* the reader reads the bytes twice */
	INPUT_MENDS = 4,      /* the reader reports damage of the text, and truncated gzip data */
	INPUT_BESIDE = 8,     /* may accompany a profile */
	INPUT_JOINS = 16,     /* accompanies a profile; the profile's reader reads it
	                         (src_options) */
	INPUT_ORIGINAL = 32   /* the original can read it */
};

struct ProtobufCMessageDescriptor;
struct trace_build;

/* A row of input.def. One of the three functions reads the format. */
struct input {
	const char *name, *records, *groups; /* for sentences; groups: parts of records, or NULL */
	const char *help;
	unsigned becomes, flags;
	uint32_t ticks_per_us; /* unit of the times in steps */
	int (*sniff)(struct str head,
	        struct str path); /* 0 (no) to 100 (certain); NULL: recognised by name */
	bool (*read)(struct src *s, struct ingest *to, struct arena *a, struct err *e);
	bool (*read_step)(struct src *s, struct batch *to, struct err *e);
	bool (*read_trace)(struct src *s, struct trace_build *to, struct arena *a, struct err *e);
	const struct ProtobufCMessageDescriptor *text; /* descriptor of its text form; NULL: the
	                                                  format has no text form */
};
extern const struct input inputs[];
extern const size_t n_inputs;

/* The source of the bytes. */
struct input_from {
	struct str name;  /* path, or "-" for standard input; for memory, a name for sentences */
	struct str bytes; /* contents, if memory is set */
	bool memory;
	bool recover; /* true: if a binary file is damaged, the part before the damage is loaded,
	                 with a warning */
};

/* Progress in bytes of the files, before decompression; total is 0 if unknown. Returning false
 * cancels the load (ERR_CANCELLED). Called on any thread, but never on two threads at a time. A
 * file may be read twice; done never decreases. */
struct input_watch {
	bool (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* Loads a graph, an op log or a profile. On failure, the model is unchanged. The error names the
 * file and the position of the fault, for the form (text or binary) that the file appears to have.
 * watch may be NULL. */
bool input_load(struct ingest *to, unsigned role, const struct input_from *from,
        const struct input_watch *watch, struct work *work, struct err *e);

/* Reads the file of a trace that has only sums (trace.sums) again. Returns the trace with its
 * slices, in a, or NULL on failure. watch may be NULL. */
struct trace;
struct src_options;
const struct trace *input_slices(const struct trace *of, const struct src_options *options,
        const struct input_watch *watch, struct arena *a, struct err *e);

struct input_step {
	struct input_from from;
	int64_t step;
};
struct input_steps {
	const struct input_step *v;
	size_t n;
	unsigned threads;
	bool (*folded)(void *user, size_t i); /* called when step i is in the model; returns false
	                                         to stop; may be NULL */
	void *user;
	const struct input_watch *watch; /* may be NULL */
};

/* Loads steps in parallel, and folds them in order, up to the first faulty step. Sets *folded to
 * the number of steps in the model. If folded() stops the load, the result is true. */
bool input_load_steps(struct ingest *to, const struct input_steps *steps, size_t *folded,
        struct work *work, struct err *e);

/* The files of one worker: a profile, or a graph with its other files. */
struct input_worker {
	struct str name;                  /* name in messages */
	struct str profile, graph, oplog; /* paths; empty if there is none */
	const struct input_step *steps;
	size_t n_steps;
	uint32_t worker;            /* worker to which their steps belong */
	bool excluded_from_average; /* true: only steps that the worker lacks are added, and they do
	                               not count in the average */
	bool recover; /* as in input_from, for the paths above; steps have their own flag */
};
struct input_workers {
	const struct input_worker *v;
	size_t n;
	unsigned threads;
	const struct input_watch *watch; /* may be NULL */
};

/* Loads workers in parallel, each into a model of its own, and merges them in order, up to the
 * first faulty worker. Sets *merged to the number of workers in the model. */
bool input_load_workers(struct ingest *to, const struct input_workers *workers, size_t *merged,
        struct work *work, struct err *e);

/* Returns the likely format of a file, determined by its first unpacked bytes and its path, or
 * NULL. */
const struct input *input_guess(struct str head, struct str path);

/* Returns the unsupported format of a file, determined by its first decompressed bytes and its
 * path, or NULL. */
struct unsupported_format;
const struct unsupported_format *input_unsupported(struct str head, struct str path);

/* Examines the file. An unsupported file has no role; *foreign is its format, if known. Does not
 * examine standard input and pipes: they count as a file that contains everything. */
bool input_guess_file(struct str path, unsigned *role, const struct unsupported_format **foreign,
        struct work *work, struct err *e);
/* Examines bytes in memory. */
bool input_guess_bytes(const struct input_from *from, unsigned *role,
        const struct unsupported_format **foreign, struct work *work, struct err *e);

/* Returns the format that the content of a file shows; NULL if only the file's name shows it. */
const struct input *input_by_content(struct str path, struct work *work);

/* Chooses the profiles of a folder by their contents. Adds the files with the same format as the
 * chosen files or, if no file is chosen, the files of the most frequent format. A note names the
 * profiles of other formats, which are left out. Changes nothing for folders of TensorBoard, which
 * have many files beside the traces, and adds no files in folders of TensorFlow profiles. If no
 * file was chosen, adds the files that join a trace to *joining. */
void input_choose_files(struct arena *a, struct str folder, struct strs *chosen,
        struct strs *joining, struct notes *notes, struct work *work);

/* Returns the flags of the detected format; 0 if unknown. */
unsigned input_flags(struct str path, struct work *work);

/* True if the original can read the format with this name. */
bool input_is_original(struct str format);
/* True if the file is a trace. */
bool input_is_trace(struct str path, struct work *work);

/* ---- loading ----
 *
 * Shared by the table of inputs and the functions that load one file or many steps.
 */

/* True if the input is a regular file, which can be read twice. Sets *size to its size, or to 0. */
bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size);

/* Returns the size of the input, before decompression; 0 if unknown. */
uint64_t input_size(struct arena *a, const struct input_from *from);

/* Returns the row of the format that best matches the content, among the formats with this role; by
 * default, the first such row. */
const struct input *input_as(unsigned role, struct str head, struct str path);

/* Progress of a load, in bytes over all files. */
struct watched {
	pthread_mutex_t lock; /* protects the following fields */
	const struct input_watch *watch;
	uint64_t done, total;
	bool cancelled;
};

/* Progress of one file. */
struct share {
	struct watched *all;
	uint64_t done;
};

/* Loads one file into the model, or, if `to` is NULL, into a batch. */
struct load {
	unsigned role;
	const struct input *in; /* set after the first bytes are read */
	const struct input_from *from;
	struct arena *a; /* memory of the file */
	struct ingest *to;
	const struct model *m;
	int64_t step;
	struct batch *batch;
	struct src *s;
	struct str head;    /* first bytes of the file */
	struct str warning; /* warning about lost data */
	struct str format;  /* for traces: the source; otherwise empty */
	bool loaded;
	struct share share;
};

/* Reads the file into the model or the batch. On failure returns false and fills *e. */
bool input_load_file(struct load *l, struct err *e);

/* Adds the warning of a load, if any, to the notes, and the facts about the file to the model. */
void input_report(struct ingest *to, const struct load *l);

#endif
