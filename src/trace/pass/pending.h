/* SPDX-License-Identifier: Apache-2.0
 *
 * Pending launches: calls whose device work has not been read, and device work whose call has not
 * been read. A hash table by key with linear probing, from which launches are removed when they are
 * matched, so memory is proportional to the number of pending launches. The two joins use it:
 * launch_join.h for sources whose records are sorted by start, and recording_join.c for recordings.
 */
#ifndef TFPROF_TRACE_PENDING_H
#define TFPROF_TRACE_PENDING_H

#include "base/arena.h"

/* The head of a launch. The caller's struct begins with this head. */
struct pending_launch {
	uint64_t key;         /* 0: the slot is free */
	uint32_t first, last; /* 1 + index of the oldest and newest waiting work; 0: none */
};

struct pending_table {
	struct arena *a;
	char *launches;
	size_t launch_size, n, slots;
	char *work;
	size_t work_size, work_cap;
	VEC(uint32_t) next; /* indexed by work: 1 + index of the next work of the list; 0: none */
	uint32_t free;      /* 1 + index of the first unused work */
};

/* Initialises a table. slots: a power of two. The sizes are the sizes of the caller's structs for a
 * launch and for a piece of work. */
void pending_init(struct pending_table *u, struct arena *a, size_t slots, size_t launch_size,
        size_t work_size);

/* Returns the launch with a key, or the free slot where it belongs. */
void *pending_find(const struct pending_table *u, uint64_t key);

/* Returns the launch in a slot. Its key is 0 if the slot is free. */
static inline void *pending_at(const struct pending_table *u, size_t slot)
{
	return u->launches + slot * u->launch_size;
}

/* True if half of the slots are used. pending_grow doubles the slots, which moves the launches. */
static inline bool pending_is_full(const struct pending_table *u)
{
	return 2 * u->n >= u->slots;
}
void pending_grow(struct pending_table *u);

/* Adds a launch without work in the free slot of its key. The table must not be full. */
void pending_add(struct pending_table *u, void *slot, uint64_t key);

/* Removes a launch that has no waiting work. Later launches may move. */
void pending_remove(struct pending_table *u, void *launch);

/* Copies work to the end of a launch's list. */
void pending_wait(struct pending_table *u, struct pending_launch *launch, const void *work);

/* Takes the oldest work off a launch's list. Returns false if there is none. */
bool pending_take(struct pending_table *u, struct pending_launch *launch, void *work);

#endif
