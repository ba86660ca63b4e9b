/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies the process of a recording: process, program, rank and job from its facts. Groups
 * processes: the processes of one job, and one number for each GPU, whatever number each process
 * uses for it.
 */
#ifndef TFPROF_IO_PROCESS_IDENTITY_H
#define TFPROF_IO_PROCESS_IDENTITY_H

#include "base/str.h"
#include "io/block_format.h"

struct process_identity {
	struct str host, program; /* program: last component of argv[0] or of exe */
	struct str named;         /* the job before jobs of different launchers were separated */
	struct str job;           /* empty: unknown */
	int64_t pid, parent;      /* 0: unknown */
	int64_t rank;             /* -1: unknown */
	uint64_t started;         /* ns since 1970 */
	unsigned job_from, rank_from; /* rows in the tables of variables; 0: none yet */
};

void process_identity_init(struct process_identity *w);

/* Takes a fact, if it is one of these keys; texts are copied to a. */
void process_identity_take(
        struct process_identity *w, struct arena *a, const struct spool_info *fact);

/* Separates jobs that have the same name or none: if a rank occurs twice, the processes of each
 * launcher are a job, named "7-p4711" or "p4711" after the launcher's pid. */
void process_identity_jobs(struct process_identity *const *v, size_t n, struct arena *a);

/* A GPU as one process sees it. */
struct spool_gpu {
	uint8_t uuid[16]; /* zeros: unknown; the GPU is then identified by host and id */
	struct str host;
	uint32_t id;     /* the process's own number */
	uint32_t number; /* number among all GPUs: the result */
};

/* Numbers the GPUs: with the processes' own numbers where they agree, otherwise in the order of
 * hosts and of the highest number any process uses. */
void process_identity_gpus(struct spool_gpu *v, size_t n, struct arena *a);

#endif
