/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies the process of a recorded file: process, program, rank and job from its facts. Groups
 * processes: which belong to one job, and one number for each GPU, whatever number each process
 * uses for it.
 */
#ifndef TFPROF_IO_PROCESS_IDENTITY_H
#define TFPROF_IO_PROCESS_IDENTITY_H

#include "base/str.h"
#include "io/block_format.h"

struct process_identity {
	struct str host, program;     /* program: argv[0]'s last part, or of exe */
	struct str named;             /* the job before launchers were told apart */
	struct str job;               /* empty: none is known */
	int64_t pid, parent;          /* 0: unknown */
	int64_t rank;                 /* -1: unknown */
	uint64_t started;             /* ns since 1970 */
	unsigned job_from, rank_from; /* places in the tables of variables; 0: none yet */
};

void process_identity_init(struct process_identity *w);

/* Takes a fact, if it is one of these; texts are copied to a. */
void process_identity_take(
        struct process_identity *w, struct arena *a, const struct spool_info *fact);

/* Tells jobs apart that have the same name or none: where a rank is there twice, the processes of
 * each launcher are a job, "7-p4711" or "p4711" by its pid. */
void process_identity_jobs(struct process_identity *const *v, size_t n, struct arena *a);

/* A GPU as one process knows it. */
struct spool_gpu {
	uint8_t uuid[16]; /* zeros: unknown; then it is the host's of that id */
	struct str host;
	uint32_t id;     /* as the process numbers it */
	uint32_t number; /* over all of them: the result */
};

/* Numbers GPUs: as the processes do where they agree, else in the order of hosts and of the highest
 * number that a process has for it. */
void process_identity_gpus(struct spool_gpu *v, size_t n, struct arena *a);

#endif
