/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of device_use.h: lists, calls, memory, ranges and sums.
 */
#ifndef TFPROF_VIEW_DEVICE_PARTS_H
#define TFPROF_VIEW_DEVICE_PARTS_H

#include "view/device_use.h"

/* Without a recording: nothing was done. */
void device_use_init(struct device_use *u, const struct trace *t, struct arena *a);

/* Finds or adds the item with that name; p NULL is a lost name. */
uint32_t gpu_list_index(struct device_use *u, struct gpu_list *list, struct str name);

/* Returns the time of a tick on the clock of all times of u. */
uint64_t device_time(const struct device_use *u, int64_t tick);

/* Returns the index of the process of a track. */
uint32_t device_process(const struct device_use *u, uint32_t track);

/* Returns the number of a device of the trace. */
uint32_t device_number(const struct device_use *u, uint32_t device);

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
	struct device_use *u;
	struct arena *scratch;
	uint32_t process;
	struct imap call_of; /* string id -> index in u->calls */
	uint32_t name, call; /* the last pair requested */
	VEC(uint8_t) traits; /* by index in u->calls */
	struct imap threads; /* tid -> pending */
	VEC(struct gpu_pending) pending;
};

void gpu_calls_begin(
        struct gpu_call_feed *f, struct device_use *u, uint32_t process, struct arena *scratch);
/* text_of(from, c->name) is the name of the call. */
void gpu_calls_take(
        struct gpu_call_feed *f, gpu_name *text_of, const void *from, const struct spool_api *c);
/* A copy or memset that has met its call. */
void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l);
void gpu_calls_sync(struct gpu_call_feed *f, const struct spool_sync *s);
void gpu_calls_end(struct gpu_call_feed *f);

/* Fills the waits of all processes; their intervals are complete. */
void gpu_calls_block(struct device_use *u);

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
	struct device_use *u;
	struct arena *scratch;
	VEC(struct gpu_memory_event) events;
};

void gpu_memory_begin(struct gpu_memory_feed *f, struct device_use *u, struct arena *scratch);
void gpu_memory_take(struct gpu_memory_feed *f, uint32_t part, const struct spool_memory *m);
/* Adds them up in the order of time: records of several threads come in any order. */
void gpu_memory_end(struct gpu_memory_feed *f);

/* Adds to the copies by memory and size. memory: kinds of source and destination, 8 bits each. */
void gpu_copies_take(
        struct device_use *u, enum gpu_way way, uint32_t memory, const struct recorded_op *op);

/* ---- gpu ranges ----
 *
 * Work by the ranges and the steps in which it was launched; the recording knows both.
 */

/* Adds an operation to its range and to its step. */
void gpu_ranges_take(struct device_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c);

/* Adds the ranges of the processes, and inner ranges to outer ones. */
void gpu_ranges_end(struct device_use *u);

/* ---- idle ----
 *
 * One walk over the work of each device, with the calls of its processes.
 */

/* Fills usage and devices, once all processes have been read, and sorts the lists. */
void device_sum(struct device_use *u);

#endif
