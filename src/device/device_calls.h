/* SPDX-License-Identifier: Apache-2.0
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
#ifndef TFPROF_DEVICE_DEVICE_CALLS_H
#define TFPROF_DEVICE_DEVICE_CALLS_H

#include "device/device_use.h"

/* Returns the text for the id of a name. */
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
	struct imap call_of; /* key: string id; value: index in u->calls */
	uint32_t name, call; /* result of the last look-up */
	VEC(uint8_t) traits; /* indexed like u->calls */
	struct imap threads; /* key: thread id; value: index in pending */
	VEC(struct gpu_pending) pending;
};

void gpu_calls_begin(
        struct gpu_call_feed *f, struct device_use *u, uint32_t process, struct arena *scratch);
/* Adds a call. text_of(from, c->name) is the name of the call. */
void gpu_calls_take(
        struct gpu_call_feed *f, gpu_name *text_of, const void *from, const struct spool_api *c);
/* Adds a copy or memset together with its call. */
void gpu_calls_transfer(
        struct gpu_call_feed *f, const struct recorded_op *op, struct recorded_call *l);
void gpu_calls_end(struct gpu_call_feed *f);

/* Computes u->waits for all processes, after all calls have been added. */
void gpu_calls_block(struct device_use *u);

#endif
