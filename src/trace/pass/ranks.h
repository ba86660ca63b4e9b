/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: several ranks of one job, in one trace with several processes or in one trace each.
 * Collectives connect the ranks: a collective ends on all of its members at nearly the same
 * moment, some time after the last member has arrived. So clocks can be aligned by collectives, and
 * in a replay, the other ranks wait longer for a rank that arrives later.
 *
 *   rank 0   | compute |  waits for rank 1 ...  | transfer |
 *   rank 1   | compute ........................ | transfer |
 *                       ^ arrival                 ^ last arrival
 *
 * Members of a collective are work of the same process group and collective (or the same kernel),
 * and have the same place among these in the same step. If ranks have different numbers of such
 * members, none of them is matched. Sends and receives are not collectives.
 */
#ifndef TFPROF_TRACE_PASS_RANKS_H
#define TFPROF_TRACE_PASS_RANKS_H

#include "trace/pass/replay.h"

/* A process with device work, and the processes that edges connect with it; or a whole trace
 * without device work. Times are ticks. */
struct job_rank {
	uint32_t replay;  /* index of its trace */
	uint32_t process; /* index of its process with device work; ID_NONE: several, or unknown */
	int64_t number;   /* rank in the job, or -1 */
	uint32_t *order;  /* nodes of the rank, each after the sources of its edges */
	size_t n;
	bool aligned;
	int64_t offset; /* offset to the clock of the first rank */
	int64_t host,
	        device; /* length of its nodes on threads, and on devices without communication */
	int64_t late;   /* sum of its delays behind the median member */
};

/* Work of a rank that is a part of a collective. */
struct rank_member {
	uint32_t rank, node, collective;
	int64_t lag; /* ticks from the last arrival to the end of the work */
};

/* Members first to first + n of one collective. */
struct rank_collective {
	uint32_t first, n;
};

struct rank_group {
	const struct replay *const *replays;
	size_t n_replays;
	VEC(struct job_rank) ranks;
	VEC(struct rank_member) members;
	VEC(struct rank_collective) collectives;
	uint32_t **member_of;          /* indexed by replay and node: 1 + the member; 0: none */
	uint64_t unmatched;            /* number of pieces of communication outside of all
	                                  collectives */
	int64_t spread;                /* ticks: median deviation of the ends of collectives */
	int64_t waiting, transferring; /* ticks of all members, before and after last arrivals */
};

/* Finds the ranks of the replays, and their collectives. All traces must have the same ticks per
 * microsecond; otherwise nothing is matched. The result lives in a; the replays belong to the
 * caller. */
void rank_group_open(
        const struct replay *const *replays, size_t n, struct rank_group *out, struct arena *a);

/* Replays all ranks together. plans, runs: arrays with an element for each replay. A length that
 * the plan gives to a member limits its transfer, not its wait. The runs live in a. */
void rank_group_run(const struct rank_group *x, const struct replay_plan *plans,
        struct replay_run *runs, struct arena *a);

/* Returns the rank that a trace states, or -1. */
int64_t rank_number(const struct trace *t);

/* The meaning of several files. auto: ranks of one job if there are more than two files, or they
 * state different ranks; otherwise two runs. */
enum files_as { FILES_AS_AUTO, FILES_AS_RANKS, FILES_AS_RUNS };

/* True if n files are runs to compare. ranks: the rank that each file states, or -1. */
bool files_are_runs(enum files_as as, size_t n, const int64_t *ranks);

/* Returns the label of a rank, "rank 3" or "process 4711"; in a. */
struct str rank_label(const struct rank_group *x, const struct job_rank *r, struct arena *a);

#endif
