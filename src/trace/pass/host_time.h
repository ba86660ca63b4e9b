/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: what each thread did at each time. The time of a thread is cut into tiles, as
 * into the nodes of pass/depend. In a tile, the same slices are open; in a gap, none is.
 *
 *   open slices  | frame          |        |
 *                |    | op   |    |        |
 *                |    | |call|    |        |
 *   tiles        | 1  |2| 3 | 4   |  gap   |
 *
 * A thread can wait for another one of its process; then the tile names that thread:
 *   in a tile that contains a whole burst of another thread, during the burst;
 *   in a gap, for the thread with a tile that contains the whole burst after the gap; otherwise
 *   until the last burst of another thread that ends in the gap.
 * A burst is a run of tiles between two gaps in which device work was launched.
 */
#ifndef TFPROF_TRACE_PASS_HOST_TIME_H
#define TFPROF_TRACE_PASS_HOST_TIME_H

#include "trace/pass/depend.h"

/* The slices that are open in a tile. Tiles with the same open slices share one struct. */
struct host_activity {
	/* The innermost event of each kind, or ID_NONE. step: the mark of a step. loader: the
	 * outermost event of a wait for the data loader. line: the innermost frame with a source
	 * line. */
	uint32_t op, frame, line, call, step, loader;
	uint8_t class; /* enum depend_class of the innermost slice */
};

/* A long trace has a tile or two for each slice of a thread, so a tile is small. */
struct host_tile {
	int64_t start;
	uint32_t activity; /* index of its activity; HOST_GAP in a gap */
	uint32_t other;    /* track of the thread that this thread waits for, or ID_NONE */
};
#define HOST_GAP 0

struct host_thread {
	VEC(struct host_tile)
	tiles; /* each tile ends where the next one starts; the last tile is a gap */
};

struct host_time {
	const struct trace *t;
	struct host_thread *threads; /* indexed by track; empty for tracks that are not threads */
	VEC(struct host_activity) activities; /* the first one, of gaps, has no events */
	bool frames;                          /* true: at least one thread has Python frames */
};

/* Finds the tiles of all threads. The result lives in a. */
void host_time_find(const struct trace *t, const struct trace_links *links, struct host_time *out,
        struct arena *a);

static inline bool host_tile_is_gap(const struct host_tile *x)
{
	return x->activity == HOST_GAP;
}
const struct host_activity *host_time_activity(
        const struct host_time *h, const struct host_tile *x);
/* Returns the last tile of a thread that starts at or before a time, or NULL. */
const struct host_tile *host_time_at(const struct host_thread *h, int64_t at);
/* Returns the end of a tile, ticks; INT64_MAX for the last tile. */
int64_t host_time_end(const struct host_thread *h, const struct host_tile *x);

/* Receives a part of the time of a thread. `from` is not before the start of the tile. */
typedef void host_part(
        void *user, uint32_t track, const struct host_tile *tile, int64_t from, int64_t to);

/* Passes on the time of a thread from `from` to `to`, in order and without gaps. Where the thread
 * waits for another thread, passes on the time of that other thread. */
void host_time_walk(const struct host_time *h, uint32_t track, int64_t from, int64_t to,
        host_part *part, void *user);

#endif
