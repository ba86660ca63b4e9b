/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts CUPTI records into records of the recording format. No other file reads CUPTI's data.
 * Writer thread only.
 */
#ifndef TFPROF_COLLECT_DECODE_H
#define TFPROF_COLLECT_DECODE_H

#include "collect/ring.h"

/* Counts since the start. */
struct decode_counts {
	uint64_t records, timed, untimed, unknown;
	uint64_t kernels;      /* number of kernels, including launches of whole graphs */
	uint64_t uncorrelated; /* number of kernels without correlation */
	uint64_t running;      /* number of records of work without an end: it had not ended, or has
	                          no times */
	uint64_t devices;      /* number of device records */
	uint64_t unread;       /* number of buffers that could not be read to their end */
};

/* Called once per process, before all other functions. */
void decode_reset(void);
/* Begins a session of CUPTI. all_calls: also store calls that decode_wants does not want. */
void decode_use(bool all_calls);
/* Sets the offset of CUPTI's clock to CLOCK_REALTIME, ns. */
void decode_clock(int64_t ahead);
void decode_buffer(uint8_t *data, size_t valid);
/* Returns the earliest time of a call or operation since decode_earliest_begin, ns since 1970 by
 * CLOCK_REALTIME; UINT64_MAX if there was none. */
uint64_t decode_earliest(void);
void decode_earliest_begin(void);
/* Processes an entry of a thread's ring, for rings_drain. */
void decode_entry(void *unused, uint32_t tid, const struct ring_entry *);
/* True if calls of a runtime or driver function are recorded: it launches, copies, allocates, frees
 * or waits. */
bool decode_wants(const char *function);
/* Returns the length of a function name without the version suffix: cudaLaunchKernel_v7000. */
size_t decode_unversioned(const char *function);
/* Returns whether a function launches a kernel, a graph or neither. */
enum decode_launch { DECODE_OTHER, DECODE_KERNEL, DECODE_GRAPH };
enum decode_launch decode_launches(const char *function);
/* Clears the cache of kernel names after a module was unloaded. Any thread may call it. */
void decode_forget_names(void);
const struct decode_counts *decode_counts(void);

#endif
