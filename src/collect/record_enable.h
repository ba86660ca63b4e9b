/* SPDX-License-Identifier: Apache-2.0
 *
 * The enable flag: one word that every hook reads first and that decides whether hooks record. It
 * is in memory that is zeroed in a forked child, so hooks do nothing in a child, however it was
 * forked.
 */
#ifndef TFPROF_COLLECT_RECORD_ENABLE_H
#define TFPROF_COLLECT_RECORD_ENABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DOOR_CUPTI = 1, DOOR_NVTX = 2 };

struct door {
	_Atomic uint32_t open;  /* GATE_ bits */
	_Atomic uint32_t round; /* number of times that recording of ranges was enabled */
	_Atomic uint32_t ours;  /* 1 in the process that created it */
};
extern struct door *_Atomic record_enable_word;

/* Creates the flag for this process, with recording disabled; false if memory is exhausted. */
bool record_enable_make(void);
void record_enable_open(uint32_t bits);
void record_enable_close(uint32_t bits);
/* Clears the word in a forked child, if the kernel did not do this. */
void record_enable_forget(void);

/* True if this process created the word: false in a forked child. */
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

/* Returns the current round of range recording, from 1 on; 0: not recording. */
static inline uint32_t record_enable_round(void)
{
	struct door *g = atomic_load_explicit(&record_enable_word, memory_order_acquire);

	if (!g || !(atomic_load_explicit(&g->open, memory_order_acquire) & DOOR_NVTX))
		return 0;
	return atomic_load_explicit(&g->round, memory_order_relaxed);
}

#endif
