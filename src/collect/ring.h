/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of ranges, in one ring per thread: the thread alone writes it, the writer thread empties
 * it. When a thread has ended, its ring is emptied once more and reused.
 */
#ifndef TFPROF_COLLECT_RING_H
#define TFPROF_COLLECT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/names.h"

#define RING_ENTRIES 4096u /* a power of two */
#define RING_DEPTH   128u  /* open ranges per thread; deeper ones are dropped */
#define RING_MEMO    64u   /* messages cached by address per thread; a power of two */
#define RING_SKIPS   16u   /* dropped ranges are counted by domain modulo this number */
#define RINGS_MAX    512u

enum ring_kind {
	RING_PUSH,
	RING_POP,
	RING_START,
	RING_END,
	RING_MARK,
	RING_THREAD,
	RING_NODE, /* a graph node was created */
	RING_COPY  /* a graph node was copied */
};

struct ring_entry {
	uint64_t time;   /* time from ticks_now; copy: id of the node that was copied */
	uint64_t value;  /* start, end, node, copy: an id; thread: number of the thread */
	uint32_t name;   /* names_number; 0 for pop and end */
	uint16_t domain; /* number of the domain; 0: the default domain */
	uint8_t kind;
};

struct ring {
	/* Fields used by the thread. */
	_Alignas(64) _Atomic uint32_t head;
	uint32_t tail_seen;
	uint32_t round, depth;
	uint32_t skip[RING_SKIPS]; /* number of pops to drop, because their pushes were dropped */
	struct {
		const char *at;
		struct name *name;
	} memo[RING_MEMO];
	/* Fields used by the writer. */
	_Alignas(64) _Atomic uint32_t tail;
	/* Fields used by both. */
	_Atomic uint32_t state;
	uint32_t tid;
	_Atomic uint64_t lost, too_deep;
	struct ring *next;
	struct ring_entry entry[RING_ENTRIES];
};

/* Called once per process, before all other functions. Returns false if memory or keys are
 * exhausted. */
bool rings_make(void);
/* Returns the ring of the calling thread, created if needed; NULL if there are too many. */
struct ring *ring_mine(void);
/* Adds an entry. A full ring drops the entry and counts it. Wakes the writer when the ring is half
 * full. */
void ring_put(struct ring *, uint64_t time, uint64_t value, uint32_t name, uint16_t domain,
        enum ring_kind);
/* Begins or ends a nested range. Returns false if the range must be dropped. */
bool ring_enter(struct ring *, uint32_t round, uint16_t domain);
bool ring_leave(struct ring *, uint32_t round, uint16_t domain);

/* Calls `take` for each entry of each ring. Writer thread only. */
void rings_drain(void (*take)(void *, uint32_t tid, const struct ring_entry *), void *user);
/* Returns the number of entries lost so far, and of ranges dropped as too deep. */
uint64_t rings_lost(void);
uint64_t rings_too_deep(void);

#endif
