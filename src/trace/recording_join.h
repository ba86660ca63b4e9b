/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins operations to the calls that launched them, by correlation. Memory follows the disorder of
 * the records, not their number.
 */
#ifndef TFPROF_TRACE_RECORDING_JOIN_H
#define TFPROF_TRACE_RECORDING_JOIN_H

#include "base/arena.h"
#include "io/block_format.h"

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
