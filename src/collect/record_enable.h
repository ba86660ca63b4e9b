/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether hooks record: one word that every hook reads first. It lies in memory that a forked child
 * finds zeroed, so that in a child nothing of ours does anything, however it was forked.
 */
#ifndef TFPROF_COLLECT_RECORD_ENABLE_H
#define TFPROF_COLLECT_RECORD_ENABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DOOR_CUPTI = 1, DOOR_NVTX = 2 };

struct door {
	_Atomic uint32_t open;  /* GATE_ bits */
	_Atomic uint32_t round; /* counts the times that DOOR_NVTX was opened */
	_Atomic uint32_t ours;  /* 1 in the process that made it */
};
extern struct door *_Atomic record_enable_word;

/* Makes the word, all closed, for this process; false if there is no memory. */
bool record_enable_make(void);
void record_enable_open(uint32_t bits);
void record_enable_close(uint32_t bits);
/* For the child of a fork, where the kernel did not wipe the word. */
void record_enable_forget(void);

/* Whether this process made the word: false in a forked child. */
static inline bool record_enable_ours(void)
{
	struct door *g = atomic_load_explicit(&record_enable_word, memory_order_acquire);

	return g && atomic_load_explicit(&g->ours, memory_order_relaxed);
}

static inline bool record_enable_is_open(uint32_t bit)
{
	struct door *g = atomic_load_explicit(&record_enable_word, memory_order_acquire);

	return g && atomic_load_explicit(&g->open, memory_order_acquire) & bit;
}

/* The round of ranges that is recorded now, from 1 on; 0: none is. */
static inline uint32_t record_enable_round(void)
{
	struct door *g = atomic_load_explicit(&record_enable_word, memory_order_acquire);

	if (!g || !(atomic_load_explicit(&g->open, memory_order_acquire) & DOOR_NVTX))
		return 0;
	return atomic_load_explicit(&g->round, memory_order_relaxed);
}

#endif
