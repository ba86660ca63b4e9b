/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations and releases of a trace or a profile. They are gathered first; then each pool is
 * replayed by time. A release belongs to the place of the allocation at its address; without an
 * address, to its own.
 *
 * The rows of a pool add up to the bytes in use at the moment: what the file allocates, what was
 * allocated before its first event, and a difference to the totals of the source.
 */
#ifndef TFPROF_DEVICE_MEMORY_EVENTS_H
#define TFPROF_DEVICE_MEMORY_EVENTS_H

#include "base/map.h"
#include "device/memory_steps.h"
#include "device/memory_use.h"

/* Where something was allocated: ids in memory_gathering.names, or ID_NONE. The last two are known
 * only for MEMORY_BY_SITE. */
struct memory_place {
	uint32_t op, module, line;
	uint32_t type; /* of the op */
	uint32_t site; /* as in struct memory_owner */
};
#define MEMORY_NO_PLACE ((struct memory_place){ ID_NONE, ID_NONE, ID_NONE, ID_NONE, ID_NONE })

struct memory_event {
	int64_t ns;
	int64_t bytes;        /* size of the allocation; negative: a release; 0: unknown */
	int64_t in_use;       /* total bytes after the event, from the source; negative: unknown */
	int64_t reserved;     /* bytes reserved after the event; negative: unknown */
	double fragmentation; /* value after the event; negative: unknown */
	int64_t until;        /* end of the op around an allocation, or INT64_MIN */
	uint64_t address;
	uint64_t buffers;  /* number of allocations that the event represents; 0: one */
	uint32_t place;    /* id in memory_gathering.places, or ID_NONE */
	uint32_t replaces; /* event whose memory this event reuses, or ID_NONE */
	uint8_t rule;      /* rule that decided the kind */
	bool freed, has_address;
	bool only_total;  /* true: neither an allocation nor a release */
	bool released;    /* true: an allocation whose release is in the file, or whose memory was
	                     reused */
	bool unmatched;   /* true: a release without its allocation in the file */
	bool freed_twice; /* true: a release of memory that was already released */
};

struct memory_events {
	VEC(struct memory_event) v;
	bool blind; /* true: releases do not name their allocation */
};

struct memory_gathering {
	struct memory_use *out;
	const struct memory_request *request;
	struct arena *a, *scratch;
	size_t first;                     /* index of the first pool in out->pools */
	VEC(struct memory_events) events; /* indexed by pool, from the first one on */
	struct intern keys;               /* key: worker, device and allocator; value: pool */
	struct intern names;              /* strings in a */
	struct intern places;             /* places as bytes of struct memory_place */
	struct memory_steps steps;        /* requested steps; times in nanoseconds */
	bool reserved_counts;             /* true: reserved memory is in use by programs */
	bool sums_only; /* true: events are changes of the bytes of a kind, and do not name an
	                   allocation */
};

void memory_gather_begin(struct memory_gathering *g, const struct memory_request *request,
        struct memory_use *out, struct arena *a, struct arena *scratch);

/* Returns the number of a pool. The member p of the names may be NULL. */
uint32_t memory_gather_pool(
        struct memory_gathering *g, struct str worker, struct str device, struct str allocator);
struct memory_pool *memory_gathered_pool(const struct memory_gathering *g, uint32_t pool);

/* Returns the id of a place. */
uint32_t memory_gather_place(struct memory_gathering *g, const struct memory_place *p);

void memory_gather_event(struct memory_gathering *g, uint32_t pool, const struct memory_event *e);

/* Replays all pools, which fills the use over time, the counts and the live sets. */
void memory_gather_end(struct memory_gathering *g);

#endif
