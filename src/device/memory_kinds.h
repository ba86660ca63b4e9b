/* SPDX-License-Identifier: Apache-2.0
 *
 * The use of memory over time by kind.
 */
#ifndef TFPROF_DEVICE_MEMORY_KINDS_H
#define TFPROF_DEVICE_MEMORY_KINDS_H

#include "device/memory_stacks.h"
#include "device/memory_use.h"

/* The use of a row during the replay. For each part of the time, the moment of its largest use and
 * its last moment are stored. */
struct kinds_row {
	int64_t level[MEMORY_KINDS], best[MEMORY_KINDS];
	int64_t sum, best_sum; /* sum of the levels, and the largest sum */
	int64_t best_at, at;   /* ticks */
	size_t part;
	bool any;
};

struct memory_kinds {
	const struct trace *t; /* trace with the ticks of the times; NULL: the times are
	                          nanoseconds */
	struct memory_use *out;
	struct arena *a;
	struct kinds_row *rows;
	size_t n_rows, first;  /* first: index in out->pools */
	int64_t start, length; /* the time that is divided into parts */
};

/* Returns the number of a kind in out->kinds. Kinds above the limit become "other". */
uint8_t memory_kinds_add(struct memory_use *out, struct str kind, struct arena *a);

/* Starts n empty rows, the first of which is `first`, for events from `start` to `end`. */
void memory_kinds_open(struct memory_kinds *k, size_t first, size_t n, int64_t start, int64_t end,
        struct arena *scratch);

void memory_kinds_change(struct memory_kinds *k, size_t row, uint8_t kind, int64_t bytes);

/* memory_kinds_before must be called before the changes of a row at a time, memory_kinds_after
 * after them. Times must not decrease. */
void memory_kinds_before(struct memory_kinds *k, size_t row, int64_t at);
void memory_kinds_after(struct memory_kinds *k, size_t row, int64_t at);

/* Stores the last part of each row. */
void memory_kinds_close(struct memory_kinds *k);

#endif
