/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading: the table of inputs, one file, many steps and many workers in parallel. Files may be
 * compressed with gzip. Messages are the business of the readers.
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
	ROLE_PROFILE = 8, /* traces too: one file that holds everything */
	ROLE_BASELINE = 16,
	ROLE_SPOOL = 32,
	ROLE_CHECKPOINT = 64 /* opened by the session itself */
};

/* Names of a role: in documents, and in sentences. */
struct input_role {
	unsigned role;
	const char *id, *name;
};
const struct input_role *input_role(unsigned role);

/* How a format is read. */
enum {
	INPUT_TEXT_FIRST = 1, /* tries the text form before the binary one */
	INPUT_TWICE = 2,      /* the reader goes over the bytes twice */
	INPUT_MENDS = 4,      /* the reader notes damage of the text, and truncated gzip data */
	INPUT_BESIDE = 8,     /* may accompany a profile */
	INPUT_JOINS = 16,     /* accompanies a profile, whose reader reads it (src_options) */
	INPUT_ORIGINAL = 32   /* the original can read it */
};

struct ProtobufCMessageDescriptor;
struct trace_build;

/* A row of input.def. One of the three functions reads the format. */
struct input {
	const char *name, *records,
	        *groups; /* in sentences; groups: the records' own parts, or NULL */
	const char *help;
	unsigned becomes, flags;
	uint32_t ticks_per_us; /* unit of times in steps */
	int (*sniff)(struct str head,
	        struct str path); /* 0 no ... 100 certain; NULL: recognised by name */
	bool (*read)(struct src *s, struct ingest *to, struct arena *a, struct err *e);
	bool (*read_step)(struct src *s, struct batch *to, struct err *e);
	bool (*read_trace)(struct src *s, struct trace_build *to, struct arena *a, struct err *e);
	const struct ProtobufCMessageDescriptor *text; /* its text form; NULL: never text */
};
extern const struct input inputs[];
extern const size_t n_inputs;

/* Source of the bytes. */
struct input_from {
	struct str name;  /* path, "-" for standard input; of memory: a name for sentences */
	struct str bytes; /* contents, if memory is set */
	bool memory;
	bool recover; /* binary, and damaged: the part before the damage is loaded, with a warning
	               */
};

/* Progress in bytes of the files, before decompression; total 0: unknown. Returning false cancels
 * (ERR_CANCELLED). Called on any thread, but never on two at a time. A file may be read twice; done
 * never decreases. */
struct input_watch {
	bool (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* Loads a graph, an op log or a profile; on failure, nothing of it is kept. The error names the
 * file and the position of the fault, for the form (text or binary) that the file appears to have.
 * watch may be NULL. */
bool input_load(struct ingest *to, unsigned role, const struct input_from *from,
        const struct input_watch *watch, struct work *work, struct err *e);

/* Reads the file of a trace again that has only sums (trace.sums). Returns the trace with its
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
	bool (*folded)(void *user, size_t i); /* step i is in the model; false stops. May be NULL */
	void *user;
	const struct input_watch *watch; /* may be NULL */
};

/* Loads steps in parallel and folds them in order, up to the first faulty one. *folded is the
 * number of steps in the model. If folded() stops it, the result is true. */
bool input_load_steps(struct ingest *to, const struct input_steps *steps, size_t *folded,
        struct work *work, struct err *e);

/* The files of one worker: a profile, or a graph with its other files. */
struct input_worker {
	struct str name;                  /* name in messages */
	struct str profile, graph, oplog; /* paths; empty: none */
	const struct input_step *steps;
	size_t n_steps;
	uint32_t worker;            /* the worker of their steps */
	bool excluded_from_average; /* only the steps that the worker has not, and not for the
	                               average */
	bool recover; /* as in input_from, for the paths above; steps have their own */
};
struct input_workers {
	const struct input_worker *v;
	size_t n;
	unsigned threads;
	const struct input_watch *watch; /* may be NULL */
};

/* Loads workers in parallel, each into a model of its own, and merges them in order, up to the
 * first faulty one; *merged is the number of workers in the model. */
bool input_load_workers(struct ingest *to, const struct input_workers *workers, size_t *merged,
        struct work *work, struct err *e);

/* Returns the likely format of a file by its first unpacked bytes and its path, or NULL. */
const struct input *input_guess(struct str head, struct str path);

/* Returns the unsupported format that a file has by its first decompressed bytes and its path, or
 * NULL. */
struct unsupported_format;
const struct unsupported_format *input_unsupported(struct str head, struct str path);

/* Examines the file. An unsupported file has no role, and *foreign is its format, if known.
 * Standard input and pipes are not examined: they count as a file that holds everything. */
bool input_guess_file(struct str path, unsigned *role, const struct unsupported_format **foreign,
        struct work *work, struct err *e);
/* Examines bytes in memory. */
bool input_guess_bytes(const struct input_from *from, unsigned *role,
        const struct unsupported_format **foreign, struct work *work, struct err *e);

/* Returns the format that the content of a file shows; NULL if only its name does. */
const struct input *input_by_content(struct str path, struct work *work);

/* Chooses the profiles of a folder by their contents. Adds the files that have the same format as
 * the chosen files or, if no file is chosen, the files of the most frequent format. A note names
 * the profiles of other formats, which are left out. Changes nothing for folders of TensorBoard,
 * which have many files beside the traces; adds no files in folders of TensorFlow's profiles. Files
 * that join a trace are added to *joining if no file was chosen. */
void input_choose_files(struct arena *a, struct str folder, struct strs *chosen,
        struct strs *joining, struct notes *notes, struct work *work);

/* Returns the flags of the detected format; 0 if unknown. */
unsigned input_flags(struct str path, struct work *work);

/* True if the file is a trace. */
bool input_is_trace(struct str path, struct work *work);

/* ---- loading ----
 *
 * Shared by the table of inputs and the functions that load one file or many steps.
 */

/* True if the input is a regular file, which can be read twice. *size: its size; otherwise 0. */
bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size);

/* Returns the size of the input, before decompression; 0 if unknown. */
uint64_t input_size(struct arena *a, const struct input_from *from);

/* Returns the row of the format that best matches the content, among the formats with this role; by
 * default the first of them. */
const struct input *input_as(unsigned role, struct str head, struct str path);

/* Progress of a load, in bytes over all files. */
struct watched {
	pthread_mutex_t lock; /* protects the fields below */
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
	struct str format;  /* traces: the source; else empty */
	bool loaded;
	struct share share;
};

/* Reads the file into the model or the batch. On failure returns false and fills *e. */
bool input_load_file(struct load *l, struct err *e);

/* Adds the warning of a load, if any, to the notes, and the facts about the file to the model. */
void input_report(struct ingest *to, const struct load *l);

#endif
