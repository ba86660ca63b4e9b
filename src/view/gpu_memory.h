/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of a process: how much, and how much at once; copies by size and host memory.
 */
#ifndef TFPROF_VIEW_GPU_MEMORY_H
#define TFPROF_VIEW_GPU_MEMORY_H

#include "model/spool_join.h"
#include "view/gpu_use.h"

/* What is known of an address. */
struct gpu_held {
	int64_t bytes;     /* allocated and not freed */
	uint64_t freed_at; /* a release whose allocation has not come yet; 0: none */
	uint32_t part;
	enum gpu_memory_kind kind;
};

/* The allocations of one spool. */
struct gpu_memory_feed {
	struct gpu_use *u;
	struct arena *scratch;
	struct imap by_address; /* -> index in held */
	VEC(struct gpu_held) held;
};

void gpu_memory_begin(struct gpu_memory_feed *f, struct gpu_use *u, struct arena *scratch);
void gpu_memory_take(struct gpu_memory_feed *f, uint32_t part, const struct spool_memory *m);

/* Adds to the copies by memory and size. op->label: memory kinds of source and destination, 8 bits
 * each. */
void gpu_copies_take(struct gpu_use *u, enum gpu_way way, const struct op *op);

#endif
