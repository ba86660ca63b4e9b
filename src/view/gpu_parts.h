/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of reading a recording for the commands about GPUs: calls, memory, ranges and sums.
 */
#ifndef TFPROF_VIEW_GPU_PARTS_H
#define TFPROF_VIEW_GPU_PARTS_H

#include "view/gpu_use.h"

/* ---- gpu calls ----
 *
 * Calls of the runtime and the driver: number, duration, and the part in which the host waited for
 * the GPU. A call waits while work of its process runs that was launched before it, if it is one of
 * these:
 *   a synchronisation;
 *   a copy or memset whose own work ended before it returned, or that reads or writes pageable
 *   memory: it waits until that end;
 *   an allocation, a release and the like, if no work launched before it was still running when it
 * returned.
 */

/* Returns the text of an id. */
typedef struct str gpu_name(const void *from, uint32_t id);

/* A call that may be inside another one: the driver's inside the runtime's. */
struct gpu_pending {
	uint64_t start, length;
	uint32_t call;
};

/* The calls of one process. */
struct gpu_call_feed {
	struct gpu_use *u;
	struct arena *scratch;
	uint32_t process;
	struct imap call_of; /* string id -> index in u->calls */
	uint32_t name, call; /* the last pair requested */
	VEC(uint8_t) traits; /* by index in u->calls */
	struct imap threads; /* tid -> pending */
	VEC(struct gpu_pending) pending;
};

void gpu_calls_begin(
        struct gpu_call_feed *f, struct gpu_use *u, uint32_t process, struct arena *scratch);
/* text_of(from, c->name) is the name of the call. */
void gpu_calls_take(
        struct gpu_call_feed *f, gpu_name *text_of, const void *from, const struct spool_api *c);
/* A copy or memset that has met its call. op->label: memory kinds of source and destination, 8 bits
 * each. */
void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l);
void gpu_calls_sync(struct gpu_call_feed *f, const struct spool_sync *s);
void gpu_calls_end(struct gpu_call_feed *f);

/* Fills the waits of all processes; their intervals are complete. */
void gpu_calls_block(struct gpu_use *u);

/* ---- gpu memory ----
 *
 * Allocations of a process: how much, and how much at once; copies by size and host memory.
 */

/* An allocation or a release. */
struct gpu_memory_event {
	uint64_t time, address;
	int64_t bytes;
	uint32_t part;
	uint8_t memory; /* CUpti_ActivityMemoryKind */
	bool freed;
};

/* State of one process. */
struct gpu_memory_feed {
	struct gpu_use *u;
	struct arena *scratch;
	VEC(struct gpu_memory_event) events;
};

void gpu_memory_begin(struct gpu_memory_feed *f, struct gpu_use *u, struct arena *scratch);
void gpu_memory_take(struct gpu_memory_feed *f, uint32_t part, const struct spool_memory *m);
/* Adds them up in the order of time: records of several threads come in any order. */
void gpu_memory_end(struct gpu_memory_feed *f);

/* Adds to the copies by memory and size. memory: kinds of source and destination, 8 bits each. */
void gpu_copies_take(
        struct gpu_use *u, enum gpu_way way, uint32_t memory, const struct recorded_op *op);

/* ---- gpu ranges ----
 *
 * Work by the ranges and the steps in which it was launched; the recording knows both.
 */

/* Adds an operation to its range and to its step. */
void gpu_ranges_take(struct gpu_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c);

/* Adds the ranges of the processes, and inner ranges to outer ones. */
void gpu_ranges_end(struct gpu_use *u);

/* ---- gpu sum ----
 *
 * Iterates over the intervals of each GPU, and sorts the results.
 */

/* Fills the devices, once all processes have been read. */
void gpu_sum(struct gpu_use *u);

#endif
