/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over time: how much each allocator holds after every allocation and release, and what is
 * allocated at the moment of its largest use. From the allocations of a trace, else from the
 * memory records of a model's steps.
 */
#ifndef TFPROF_VIEW_MEMORY_USE_H
#define TFPROF_VIEW_MEMORY_USE_H

#include "metric/opts.h"
#include "model/model.h"
#include "trace/trace.h"

#define MEMORY_NO_STEP (-1)

/* Bytes in use from a time on. */
struct memory_moment {
	int64_t ns, bytes;
};

/* Memory that one op or node has allocated. */
struct memory_owner {
	struct str name; /* p NULL: not known */
	int64_t bytes;
	uint64_t buffers;
};

/* An allocator of a device; in a model, all memory of a device in one step. */
struct memory_pool {
	struct str device, allocator; /* p NULL: not known */
	int64_t step;                 /* of a model; MEMORY_NO_STEP: the whole trace */
	uint64_t allocations, frees;
	int64_t allocated;                /* sum of all allocations */
	int64_t peak, reserved, capacity; /* from the source; negative: unknown */
	VEC(struct memory_moment) use;    /* sorted by time; times are those of trace_ns */
	size_t most;                      /* index of the largest use; use may be empty */
	bool known_live; /* false: nothing is allocated, or releases have no addresses */
	VEC(struct memory_owner) live; /* at that moment, largest first */
};

struct memory_use {
	VEC(struct memory_pool) pools; /* by device as they first appear */
};

/* Fill *out, in a. Of a model, each device gets the selected step in which it used the most. */
void memory_use_trace(const struct trace *t, struct memory_use *out, struct arena *a);
void memory_use_model(
        const struct model *m, const struct opts *o, struct memory_use *out, struct arena *a);

/* Returns the bytes of a pool's live owners. */
int64_t memory_live_bytes(const struct memory_pool *p);

#endif
