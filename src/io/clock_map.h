/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps CUPTI's clock to the system's clock, by the clock readings in a recording. If CUPTI's clock
 * is not CLOCK_REALTIME, times of calls and operations are interpolated between the readings around
 * them, which removes offset and drift. Mapped times are on the system's clock as of the first
 * reading; later changes of that clock have no effect.
 */
#ifndef TFPROF_IO_CLOCK_MAP_H
#define TFPROF_IO_CLOCK_MAP_H

#include "base/vec.h"
#include "io/block_format.h"

struct clock_pair {
	uint64_t cupti, raw; /* raw: CLOCK_MONOTONIC_RAW */
};

struct clock_map {
	VEC(struct clock_pair) pairs; /* ascending */
	uint64_t origin;              /* realtime - raw, at the first reading */
	bool apart;                   /* CUPTI's clock differs from CLOCK_REALTIME */
	int64_t offset;               /* CUPTI's clock minus realtime at the first reading, ns */
	uint64_t width; /* duration of the longest reading, ns; the error is at most half of it */
	bool unbounded; /* a reading does not give its duration */
};

/* Adds the next reading; a reading in which a clock does not advance is dropped. */
void clock_map_add(struct clock_map *m, struct arena *a, const struct spool_clock *c);

/* Converts a time of CUPTI's clock to the system's clock; 0 stays 0. At least one reading must
 * exist. */
uint64_t clock_map_time(const struct clock_map *m, uint64_t cupti);

/* Writes a sentence without full stop: "the clock of CUPTI was 3.000000 s ahead of the system's;
 * ...". */
#define CLOCK_MAP_TEXT 192
void clock_map_text(char text[CLOCK_MAP_TEXT], const struct clock_map *m);

#endif
