/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of CUPTI into records of the spool: the only place that reads what CUPTI wrote. Writer
 * thread only.
 */
#ifndef TFPROF_COLLECT_DECODE_H
#define TFPROF_COLLECT_DECODE_H

#include "collect/cupti_open.h"
#include "collect/ring.h"

/* What has come so far. */
struct decode_counts {
	uint64_t records, timed, untimed, unknown;
	uint64_t kernels;      /* and launches of whole graphs */
	uint64_t launches;     /* calls that launch kernels or graphs and succeeded */
	uint64_t uncorrelated; /* kernels with no correlation */
	/* Counts that can be compared: launches of single kernels, those inside of others left out,
	 * and the kernels that are not of graphs. */
	uint64_t single_launches, single_kernels;
	uint64_t captures; /* launches may have been captured instead of run */
};

/* Once a process, before all others. */
void decode_reset(void);
/* Which CUPTI the buffers come from; all_calls: those that decode_wants does not want are kept too.
 */
void decode_use(const struct cupti *, bool all_calls);
/* Sets by how much CUPTI's clock is ahead of CLOCK_REALTIME, ns. */
void decode_clock(int64_t ahead);
void decode_buffer(uint8_t *data, size_t valid);
/* Returns the earliest time of a call or operation since decode_earliest_begin, ns since 1970 by
 * CLOCK_REALTIME; UINT64_MAX if there was none. */
uint64_t decode_earliest(void);
void decode_earliest_begin(void);
/* An entry of a thread's ring, for rings_drain. */
void decode_entry(void *unused, uint32_t tid, const struct ring_entry *);
/* Whether a function of the runtime or driver is worth a record: it launches, copies, allocates,
 * frees, waits. */
bool decode_wants(const char *function);
/* Names of kernels may have moved: after a module was unloaded. Any thread. */
void decode_forget_names(void);
const struct decode_counts *decode_counts(void);

#endif
