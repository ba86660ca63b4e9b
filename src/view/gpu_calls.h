/* SPDX-License-Identifier: Apache-2.0
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
#ifndef TFPROF_VIEW_GPU_CALLS_H
#define TFPROF_VIEW_GPU_CALLS_H

#include "view/gpu_use.h"

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
void gpu_calls_take(
        struct gpu_call_feed *f, const struct recording_feed *from, const struct spool_api *c);
/* A copy or memset that has met its call. op->label: memory kinds of source and destination, 8 bits
 * each. */
void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l);
void gpu_calls_sync(struct gpu_call_feed *f, const struct spool_sync *s);
void gpu_calls_end(struct gpu_call_feed *f);

/* Fills the waits of all processes; their intervals are complete. */
void gpu_calls_block(struct gpu_use *u);

#endif
