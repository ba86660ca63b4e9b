/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of device_use.h: lists, calls, memory, ranges and sums.
 */
#ifndef TFPROF_VIEW_DEVICE_PARTS_H
#define TFPROF_VIEW_DEVICE_PARTS_H

#include "device/device_use.h"

/* Initialises u for a trace that is not a recording. */
void device_use_init(struct device_use *u, const struct trace *t, struct arena *a);

/* Finds or adds the item with a name. name.p NULL: the name is lost. */
uint32_t gpu_list_index(struct device_use *u, struct gpu_list *list, struct str name);

/* Finds or adds the part for the work of a process on a GPU. gpu: NULL if it is not known. */
uint32_t device_part(
        struct device_use *u, uint32_t process, uint32_t local, const struct recorded_gpu *gpu);

/* Counts the launch configuration of a kernel. */
void device_add_shape(struct device_use *u, struct gpu_times *kernel, uint32_t part,
        const struct spool_kernel *k);

/* Adds copies to others. */
void gpu_copies_add(struct gpu_copies *c, const struct gpu_copies *more);

/* Converts a tick of the trace to the clock that u uses, ns. */
uint64_t device_time(const struct device_use *u, int64_t tick);

/* Returns the index of the process of a track. */
uint32_t device_process(const struct device_use *u, uint32_t track);

/* Returns the number of a device of the trace. */
uint32_t device_number(const struct device_use *u, uint32_t device);

/* ---- gpu calls ----
 *
 * Calls of the CUDA runtime and driver: number, duration, and the time in which the host waited for
 * the GPU. A call waits while work that its process launched before it runs, if the call is
 *
 *   a synchronisation;
 *   a copy or memset whose own work ended before the call returned, or that uses pageable
 *   memory (it waits until its own work ends); or
 *   an allocation, a release or similar, if no earlier work was still running when the call
 *   returned.
 */

/* Returns the text of an id. */
typedef struct str gpu_name(const void *from, uint32_t id);

/* A call that may be nested in another one: a driver call in a runtime call. */
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
	uint32_t name, call; /* last result */
	VEC(uint8_t) traits; /* by index in u->calls */
	struct imap threads; /* tid -> pending */
	VEC(struct gpu_pending) pending;
};

void gpu_calls_begin(
        struct gpu_call_feed *f, struct device_use *u, uint32_t process, struct arena *scratch);
/* text_of(from, c->name) is the name of the call. */
void gpu_calls_take(
        struct gpu_call_feed *f, gpu_name *text_of, const void *from, const struct spool_api *c);
/* Adds a copy or memset with its call. */
void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l);
void gpu_calls_end(struct gpu_call_feed *f);

/* Computes u->waits for all processes, after all calls have been added. */
void gpu_calls_block(struct device_use *u);

/* ---- gpu memory ----
 *
 * Allocated memory of a process, in total and at the peak; copies by size and kind of host memory.
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
/* Sorts the events by time and adds them up. Records of several threads are not in order. */
void gpu_memory_end(struct gpu_memory_feed *f);

/* Adds a copy, by kind of host memory and size. */
void gpu_copies_take(struct device_use *u, enum gpu_way way, enum gpu_host_memory host,
        const struct recorded_op *op);

/* ---- gpu ranges ----
 *
 * Sums of work per range and per step in which it was launched.
 */

/* Adds an operation to its range and to its step. */
void gpu_ranges_take(struct device_use *u, uint32_t process, const struct recorded_op *op,
        const struct recorded_call *c);

/* Adds an operation of ns to the scope of its range, or to SCOPE_NONE. */
void gpu_range_take(struct device_use *u, uint32_t scope, int64_t ns);

/* Adds the ranges of a thread of a trace. scope_of: indexed by launch; set to the scope of the
 * range around each call of the thread. */
void gpu_ranges_thread(struct device_use *u, uint32_t track, uint32_t *scope_of);

/* Adds an operation of ns to a step of a process. */
void gpu_step_take(struct device_use *u, uint32_t process, size_t step, int64_t ns);

/* Adds the ranges of all processes, and the totals of inner ranges to outer ranges. */
void gpu_ranges_end(struct device_use *u);

/* ---- idle ----
 *
 * One walk over the work of each device and the calls of its processes.
 */

/* Computes usage and devices after all processes have been read, and sorts the lists. */
void device_sum(struct device_use *u);

#endif
