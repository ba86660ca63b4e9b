/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocated memory of a process, in total and at the peak; copies by size and kind of host memory.
 */
#ifndef TFPROF_DEVICE_DEVICE_MEMORY_H
#define TFPROF_DEVICE_DEVICE_MEMORY_H

#include "device/device_use.h"

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

/* Adds a copy to the sums for its kind of host memory and its size. */
void gpu_copies_take(struct device_use *u, enum gpu_way way, enum gpu_host_memory host,
        const struct recorded_op *op);

#endif
