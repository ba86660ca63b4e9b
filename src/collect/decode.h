/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts records of CUPTI into records of our format: the only place that reads CUPTI's data.
 * Writer thread only.
 */
#ifndef TFPROF_COLLECT_DECODE_H
#define TFPROF_COLLECT_DECODE_H

#include "collect/cupti_abi.h"
#include "collect/ring.h"

/* Counts since the start. */
struct decode_counts {
	uint64_t records, timed, untimed, unknown;
	uint64_t kernels;      /* including launches of whole graphs */
	uint64_t launches;     /* successful calls that launch kernels or graphs */
	uint64_t uncorrelated; /* kernels without correlation */
	/* Comparable counts: launches of single kernels, without launches inside other launches,
	 * and kernels outside of graphs. */
	uint64_t single_launches, single_kernels;
	uint64_t captures; /* launches may have been captured into a graph instead of executed */
};

/* Called once per process, before all other functions. */
void decode_reset(void);
/* Sets the CUPTI that fills the buffers; all_calls: also keeps calls that decode_wants does not
 * want. */
void decode_use(const struct cupti *, bool all_calls);
/* Sets the offset of CUPTI's clock to CLOCK_REALTIME, ns. */
void decode_clock(int64_t ahead);
void decode_buffer(uint8_t *data, size_t valid);
/* Returns the earliest time of a call or operation since decode_earliest_begin, ns since 1970 by
 * CLOCK_REALTIME; UINT64_MAX if there was none. */
uint64_t decode_earliest(void);
void decode_earliest_begin(void);
/* Handles an entry of a thread's ring, for rings_drain. */
void decode_entry(void *unused, uint32_t tid, const struct ring_entry *);
/* True if calls of a runtime or driver function are recorded: it launches, copies, allocates, frees
 * or waits. */
bool decode_wants(const char *function);
/* Clears the cache of kernel names after a module was unloaded. Any thread. */
void decode_forget_names(void);
const struct decode_counts *decode_counts(void);

#endif
