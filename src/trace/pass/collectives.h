/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: finds problems of collectives in the Flight Recorder dumps of a job, one dump for each
 * rank. Calls of a process group with the same sequence number belong together:
 *
 *   group 0     rank 0   ... 6 7 8*      8 has no end
 *               rank 1   ... 6 7 8*
 *               rank 2   ... 6 7         rank 2 has not called 8
 *
 * The recorder keeps only the last entries, so a rank whose earliest entry has a larger number
 * counts as having called the collective. The operations of a coalesced collective share a number
 * and are matched by their order.
 */
#ifndef TFPROF_TRACE_PASS_COLLECTIVES_H
#define TFPROF_TRACE_PASS_COLLECTIVES_H

#include "trace/trace.h"

#define PROBLEM(id, name, text) PROBLEM_##id,
enum collective_problem_kind {
#include "trace/pass/collective_problem.def"
	PROBLEM_N
};
#undef PROBLEM
extern const struct str collective_problem_names[PROBLEM_N];
extern const char *const collective_problem_texts[PROBLEM_N];

enum call_state { CALL_SCHEDULED, CALL_STARTED, CALL_TIMED_OUT, CALL_ENDED, CALL_COMPLETED };
extern const char *const call_states[];

/* A call of a rank. The texts are copies of texts in the dump. */
struct collective_call {
	uint32_t rank, group; /* indexes of the rank and the group */
	int64_t seq, record;  /* sequence number in the group, and record id in the dump */
	int64_t created;      /* ns since 1970 */
	bool p2p;
	enum call_state state;
	struct str name; /* name without the library: "all_reduce" */
	struct str input_sizes, input_types, output_sizes, output_types;
	struct str line; /* p is NULL if unknown */
};

struct collective_member {
	int64_t number;   /* number of the rank */
	uint32_t rank;    /* index; ID_NONE: the rank has no dump */
	int64_t from, to; /* sequence numbers of the first and the last collective in its dump; to
	                     is -1 if there is none */
};

struct collective_group {
	struct str name, description;
	VEC(struct collective_member) members; /* sorted as the group lists them */
	bool known;        /* true: the dumps list the members; false: they are inferred from the
	                      calls */
	uint32_t dumps;    /* members with a dump */
	int64_t completed; /* the last collective that all members have ended; -1: none */
	int64_t all, any;  /* the last collective that all members called, and that any member
	                      called; -1: none */
	uint64_t problems;
};

struct collective_problem {
	enum collective_problem_kind kind;
	uint32_t group;
	int64_t seq, last; /* sequence numbers of the first and the last of consecutive collectives
	                      with this problem */
	int64_t at;        /* time of the first call, ns since 1970 */
	struct str op;
	struct str ranks;  /* the ranks that differ, are missing, or have not ended */
	struct str others; /* the ranks that called the collective without this problem */
	struct str detail; /* what differs, or the last call of the missing rank */
	struct str line;
};

struct collectives {
	VEC(int64_t) ranks; /* rank numbers, ascending */
	VEC(struct collective_group) groups;
	VEC(struct collective_call) calls;       /* sorted by group, number, rank and record */
	VEC(struct collective_problem) problems; /* sorted by time; PROBLEM_RUNNING last */
	uint64_t twice;   /* entries that occur in two dumps of the same rank */
	uint64_t unnamed; /* dumps without a rank in their name; they get the next numbers */
};

/* Finds the collectives and their problems in the dumps. The result lives in a. */
void collectives_find(
        const struct trace *const *dumps, size_t n, struct collectives *out, struct arena *a);

/* True if a call has ended, with or without success. */
static inline bool call_has_ended(const struct collective_call *c)
{
	return c->state >= CALL_TIMED_OUT;
}

#endif
