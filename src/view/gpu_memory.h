/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of a process: how much, and how much at once; copies by size and host memory.
 */
#ifndef TFPROF_VIEW_GPU_MEMORY_H
#define TFPROF_VIEW_GPU_MEMORY_H

#include "view/gpu_use.h"

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

#endif
