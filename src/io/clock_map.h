/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI's clock and the system's, by the readings in a recording. Where CUPTI's clock is not
 * CLOCK_REALTIME, times of calls and operations are mapped between the two readings around them, so
 * that an offset and a drift are undone. Times that come out are those of the system's clock as it
 * was at the first reading: setting it later changes none.
 */
#ifndef TFPROF_IO_CLOCK_MAP_H
#define TFPROF_IO_CLOCK_MAP_H

#include "base/vec.h"
#include "io/block_format.h"

struct clock_pair {
	uint64_t cupti, raw; /* raw: of CLOCK_MONOTONIC_RAW */
};

struct clock_map {
	VEC(struct clock_pair) pairs; /* ascending */
	uint64_t origin;              /* realtime - raw, of the first reading */
	bool apart;                   /* CUPTI's clock is another one than CLOCK_REALTIME */
	int64_t offset;               /* CUPTI's minus realtime, of the first reading; ns */
	uint64_t width; /* of the longest reading, ns; twice the error that it bounds */
	bool unbounded; /* a reading does not say how long it took */
};

/* Takes the next reading; one in which a clock does not advance is left out. */
void clock_map_add(struct clock_map *m, struct arena *a, const struct spool_clock *c);

/* A time of CUPTI's clock on the system's; 0 stays 0. There is a reading. */
uint64_t clock_map_time(const struct clock_map *m, uint64_t cupti);

/* "the clock of CUPTI was 3.000000 s ahead of the system's; ...", without a full stop. */
#define CLOCK_MAP_TEXT 192
void clock_map_text(char text[CLOCK_MAP_TEXT], const struct clock_map *m);

#endif
