/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of a recording: its process, the number of records of each kind, losses and damage.
 */
#ifndef TFPROF_TRACE_RECORDING_FACTS_H
#define TFPROF_TRACE_RECORDING_FACTS_H

#include "base/arena.h"
#include "io/block_format.h"
#include "io/recording_in.h"

#define RECORDING_NOTES_MAX 100 /* notes of a file that are kept */

struct recording_facts {
	struct process_identity who;
	struct spool_fault fault;
	uint64_t size;            /* bytes read */
	uint64_t totals[SPOOL_N]; /* records */
	uint64_t summed[SPOOL_N]; /* operations that only sums know */
	uint64_t lost[SPOOL_LOST_WHY_N];
	uint64_t gaps, gap_ns; /* times in which nothing was recorded */
	bool ended;            /* the collector closed it */
	bool compared;         /* it compared all launches with the kernels that came */
	struct strs notes;
};

void recording_facts_init(struct recording_facts *f);

/* Takes a result of the decoder; texts are copied to a. */
void recording_facts_take(struct recording_facts *f, struct arena *a, enum spool_event event,
        const struct spool_record *r, const struct spool_damage *d);

/* Kernels and launches of graphs; copies and memsets. */
uint64_t recording_kernels(const struct recording_facts *f);
uint64_t recording_copies(const struct recording_facts *f);

/* Appends losses with reasons, such as "12 records dropped by CUPTI, 3 bytes damaged"; nothing if
 * nothing was lost. */
void recording_lost_text(struct sb *b, const uint64_t lost[SPOOL_LOST_WHY_N], uint64_t damaged);

/* ---- recording join ----
 *
 * Joins operations to the calls that launched them, by correlation. Memory follows the disorder of
 * the records, not their number.
 */

struct recorded_op {
	enum spool_kind kind; /* KERNEL, COPY, SET, GRAPH, MEMORY, SUM */
	uint64_t start, length;
	uint64_t bytes, address; /* MEMORY; SUM: bytes is how many there were */
	uint32_t leaf;           /* of names */
	uint32_t label;          /* the reader's */
	uint32_t device, stream, graph;
	bool freed;
	uint32_t scope; /* SUM */
	uint32_t next;  /* while it waits */
};
struct recorded_call {
	uint64_t start, length;
	uint32_t scope, thread;
	uint32_t name;  /* string of the file */
	bool graph;     /* launches a graph: many operations */
	bool announced; /* its own node has been placed */
};

/* Hands each operation to `found`; l is NULL where there was no call. */
struct join;
struct join *join_new(struct arena *a,
        void (*found)(void *user, const struct recorded_op *op, struct recorded_call *l),
        void *user);
void join_call(struct join *j, uint32_t correlation, const struct recorded_call *l);
void join_op(struct join *j, uint32_t correlation, const struct recorded_op *op);
void join_finish(struct join *j); /* the remaining ones have no call */

#endif
