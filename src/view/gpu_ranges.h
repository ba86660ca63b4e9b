/* SPDX-License-Identifier: Apache-2.0
 *
 * Work by the ranges and the steps in which it was launched. A recording with ranges is read twice:
 * first its ranges, then its operations and their calls.
 */
#ifndef TFPROF_VIEW_GPU_RANGES_H
#define TFPROF_VIEW_GPU_RANGES_H

#include "io/block_decode.h"
#include "view/gpu_use.h"

/* A range that is open on a thread. */
struct gpu_open_range {
	uint32_t domain, range;
	uint64_t since;
};

/* Which range was the innermost: ranges[i] from times[i] on. */
struct gpu_range_thread {
	VEC(uint64_t) times;
	VEC(uint32_t) ranges;
	VEC(struct gpu_open_range) open;
	uint64_t too_deep; /* open ones that are not kept */
	size_t cursor;     /* of the last look-up */
	bool unsorted;
};

/* The ranges of one recording. */
struct gpu_range_feed {
	struct gpu_use *u;
	struct arena *scratch;
	struct block_decoder *g;
	uint32_t process;
	struct imap thread_of; /* tid -> index */
	VEC(struct gpu_range_thread) threads;
	VEC(uint64_t) step_starts; /* of the steps of this process, which are from first_step on */
	size_t first_step;
};

void gpu_ranges_begin(struct gpu_range_feed *f);
void gpu_ranges_take(struct gpu_range_feed *f, const struct spool_range *x);
void gpu_ranges_mark(struct gpu_range_feed *f, const struct spool_mark *m);

/* Reads the recording again, if it has ranges or steps. */
bool gpu_ranges_attribute(struct gpu_range_feed *f, struct str path, struct err *e);

/* Adds the ranges inside to those around them. */
void gpu_ranges_end(struct gpu_use *u);

#endif
