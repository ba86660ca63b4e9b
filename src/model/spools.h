/* SPDX-License-Identifier: Apache-2.0
 *
 * Spools of recorded GPU work as a model: one file, or all of a session's folder. What was launched
 * becomes nodes, the ranges around it their path, what came between two marks a step; times are in
 * nanoseconds. Everything here is decided when a spool is read, so a recording can be read anew.
 */
#ifndef TFPROF_MODEL_SPOOLS_H
#define TFPROF_MODEL_SPOOLS_H

#include "io/src.h"
#include "model/ingest.h"

struct spools_opts {
	/* Where steps begin; the first that is given counts, then what the recording holds. */
	struct str step_nvtx;   /* a pattern of range and mark names, or pytorch, optimizer, xla */
	struct str step_kernel; /* a pattern of names of kernels */
	int64_t step_every;     /* ns; 0: not given */
	bool keep_warmup;       /* what came before the first step is step 0 */
	bool by_op;             /* a node for each range, not for each kernel in it */
	bool tf_layout;         /* copies on a device of their own, as TensorFlow records them */
	bool sum_ranks;         /* processes are executions of the same nodes */
	bool steps_by_time;     /* of several jobs: a step is when the first job was in it */
	struct str process, job, gpu; /* only this one; empty: all */
	struct str detail_steps;      /* "3-5,9": every operation of these is kept */
	bool recover;                 /* damaged spools are read around the damage */
};

/* One process's spool: a path, or an input that is open already. */
struct spools_file {
	struct str path;
	struct src *given; /* NULL: path */
};

struct spools {
	struct spools_file *v;
	size_t n, cap;
	struct str control, options; /* of the folder; empty if it has none */
	uint64_t bytes;              /* of all of them */
};

/* Is the path a folder that holds spools? */
bool spools_is_folder(struct arena *a, struct str path);

/* Lists a folder, or takes the path as one recorded file, and reads the files beside it. */
bool spools_find(struct spools *s, struct arena *a, struct str path, struct err *e);

/* Can these options be meant? */
bool spools_check(const struct spools_opts *o, struct arena *a, struct err *e);

/* Progress in bytes read; false cancels. */
struct spools_watch {
	bool (*progress)(void *user, uint64_t done, uint64_t total);
	void *user;
};

/* Says all of it to `to`, between ingest_begin and ingest_commit. a: scratch. watch may be NULL. */
bool spools_read(struct ingest *to, const struct spools *s, const struct spools_opts *o,
        const struct spools_watch *watch, struct arena *a, struct err *e);

#endif
