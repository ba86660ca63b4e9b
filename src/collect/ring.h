/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread says about its ranges: a ring of its own for each thread, written by it alone and
 * emptied by the writer thread. When the thread is gone, its ring is emptied once more and goes to
 * the next one.
 */
#ifndef TFPROF_COLLECT_RING_H
#define TFPROF_COLLECT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/names.h"

#define RING_ENTRIES 4096u /* a power of two */
#define RING_DEPTH   128u  /* ranges that a thread has open at once; deeper ones are left out */
#define RING_MEMO    64u   /* messages that a thread remembers by their address; a power of two */
#define RING_SKIPS   16u   /* domains modulo this count what is left out apart */
#define RINGS_MOST   512u

enum ring_kind { RING_PUSH, RING_POP, RING_START, RING_END, RING_MARK, RING_THREAD };

struct ring_entry {
	uint64_t time;   /* ticks_now */
	uint64_t value;  /* start and end: which range; thread: its number */
	uint32_t name;   /* names_number; of pop and end: 0 */
	uint16_t domain; /* number of the domain, 0: the default one */
	uint8_t kind;
};

struct ring {
	/* The thread's own. */
	_Alignas(64) _Atomic uint32_t head;
	uint32_t tail_seen;
	uint32_t round, depth;
	uint32_t skip[RING_SKIPS]; /* pops to leave out, as their pushes were */
	struct {
		const char *at;
		struct name *name;
	} memo[RING_MEMO];
	/* The writer's. */
	_Alignas(64) _Atomic uint32_t tail;
	/* Both. */
	_Atomic uint32_t state;
	uint32_t tid;
	_Atomic uint64_t lost, too_deep;
	struct ring *next;
	struct ring_entry entry[RING_ENTRIES];
};

/* Once a process, before any other; false if there is no memory or no key. */
bool rings_make(void);
/* The ring of the calling thread, made at need; NULL: there are too many. */
struct ring *ring_mine(void);
/* Puts an entry; full rings lose it and count it. Wakes the writer when half full. */
void ring_put(struct ring *, uint64_t time, uint64_t value, uint32_t name, uint16_t domain,
        enum ring_kind);
/* Begins or ends a range that nests: false if it is to be left out. */
bool ring_enter(struct ring *, uint32_t round, uint16_t domain);
bool ring_leave(struct ring *, uint32_t round, uint16_t domain);

/* For the writer: calls take for each entry of each ring. */
void rings_drain(void (*take)(void *, uint32_t tid, const struct ring_entry *), void *user);
/* Entries that were lost so far, and ranges left out as too deep. */
uint64_t rings_lost(void);
uint64_t rings_too_deep(void);

#endif
