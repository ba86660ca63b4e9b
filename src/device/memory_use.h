/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over time: the bytes of each allocator after every allocation and release, and the
 * allocations at the moment of the largest use. The data comes from the allocations of a trace,
 * otherwise from the memory records of a model's steps.
 */
#ifndef TFPROF_VIEW_MEMORY_USE_H
#define TFPROF_VIEW_MEMORY_USE_H

#include "metric/opts.h"
#include "model/model.h"
#include "trace/trace.h"

#define MEMORY_NO_STEP (-1)

struct ingest;

/* Bytes in use from a time on. */
struct memory_moment {
	int64_t ns, bytes;
};

/* Bytes in use by kind from a time on; a number for each of memory_use.kinds. */
#define MEMORY_KINDS 16
struct memory_by_kind {
	int64_t ns;
	int64_t bytes[MEMORY_KINDS];
};

/* A frame of Python and the call stack around it. */
struct memory_site {
	uint32_t parent; /* in memory_use.sites, or ID_NONE */
	struct str text; /* of the frame */
};

/* Memory allocated by one op or node; in a snapshot, by one line, op, kind or size class. */
struct memory_owner {
	struct str name; /* in all texts, p is NULL if the value is unknown */
	struct str module, line, kind, rule, size;
	int64_t bytes;
	uint64_t buffers;
	uint32_t pool; /* in a snapshot: number of the device's pool */
	/* Of MEMORY_BY_SITE. */
	struct str type; /* of the op; not in a snapshot */
	uint32_t site;   /* call stack: in a snapshot, a site of the trace; in another trace, one of
	                  * memory_use.sites; in a model, a frame; ID_NONE: no call stack */
	int64_t allocated;
	uint64_t allocations;
};

/* Ways to group the live set. */
enum memory_by {
	MEMORY_BY_AUTO,
	MEMORY_BY_LINE,
	MEMORY_BY_OP,
	MEMORY_BY_KIND,
	MEMORY_BY_SIZE,
	MEMORY_BY_MODULE,
	MEMORY_BY_SITE /* by op and call stack, for the views; not a choice of the option */
};
struct memory_request {
	bool over_time;    /* true: compute the use over time by kind */
	bool diff;         /* true: compare the live sets of two snapshots */
	enum memory_by by; /* grouping of the live set */
	struct moment at;  /* moment of the live set */
	const struct opts
	        *steps;  /* the steps that -step selects, for the peak; NULL: the whole file */
	bool one_worker; /* of a model: only this one's steps */
	uint32_t worker;
};

/* The live set of a pool at one moment: its largest rows. */
struct memory_moment_row {
	uint32_t owner; /* in memory_pool.moment_owners */
	int64_t bytes;
	uint64_t buffers;
};
struct memory_live_at {
	int64_t ns, bytes; /* in use */
	size_t first, n;   /* in memory_pool.moment_rows, the largest first */
	uint64_t all;      /* rows, also those that are left out */
};

/* An allocation that failed for lack of memory. */
struct memory_oom {
	struct str worker, device;
	int64_t ns;                                     /* time after the first entry */
	int64_t requested, device_free, in_use, unused; /* negative: unknown */
};

/* The memory of one allocator of a device; in a model, all memory of a device in one step. */
struct memory_pool {
	struct str worker;            /* p is NULL if only one worker is loaded */
	struct str device, allocator; /* p is NULL if the name is unknown */
	int64_t step;                 /* step of a model; MEMORY_NO_STEP: the whole trace */
	uint64_t allocations, frees;
	int64_t allocated;                /* sum of all allocations */
	int64_t peak, reserved, capacity; /* numbers of the source; negative: unknown */
	VEC(struct memory_moment) use;    /* sorted by time; times are results of trace_ns */
	size_t most;                      /* index of the largest use; use may be empty */
	bool known_live;                  /* false: the file does not state the use at the moment */
	VEC(struct memory_owner) live;    /* at the moment, largest first; add up to moment_live */
	bool program;      /* true: memory that the compiler assigned to a program; without times */
	bool only_sums;    /* true: the source has sums, but no single allocations */
	bool has_state;    /* true: the following state at the requested moment is known */
	bool whole_device; /* true: the sum of a device's pools, which follow */
	VEC(struct memory_by_kind)
	by_kind; /* use over time; of each part of the time, the largest and the
	          * last use */
	VEC(struct memory_live_at)
	live_at; /* the live set over time: of each part of the time, at its largest use */
	VEC(struct memory_moment_row) moment_rows;
	VEC(struct memory_owner) moment_owners; /* without bytes and buffers */
	int64_t moment_live;                    /* in use */
	int64_t unused;                         /* reserved and not in use; negative: unknown */
	int64_t waiting;      /* part of moment_live: freed, but another stream may still use it;
	                       * negative: unknown */
	int64_t before;       /* part of moment_live: allocated before the first entry */
	int64_t largest_free; /* largest free block at the end, bytes; negative: unknown */
	double fragmentation; /* share of the free memory outside of its largest block: at the
	                       * moment; in a snapshot, at the end; negative: unknown */
	int64_t past_use;     /* part of moment_live: its last use is before the moment; negative:
	                       * unknown */
	uint64_t never_freed; /* number of allocations */
	int64_t never_freed_bytes;
	uint64_t double_frees,
	        lost_frees; /* frees without an allocation; allocations without an earlier free */
};

/* Bytes of an owner in two snapshots. */
struct memory_change {
	struct str device, allocator;
	struct memory_owner owner;
	int64_t first, second;
};

/* A segment of a device at the end of a snapshot: memory that the allocator got in one piece. */
#define MEMORY_SEGMENTS      400 /* maximum number that is stored: the largest ones */
#define MEMORY_SEGMENT_PARTS 64
struct memory_segment {
	struct str worker, device, allocator;
	uint64_t address;
	int64_t bytes, used;
	int64_t largest_free; /* largest free block, bytes */
	uint64_t blocks;
	int64_t parts[MEMORY_SEGMENT_PARTS]; /* bytes in use in each of the equal parts */
};

/* A device of a rank's snapshot. */
struct memory_rank {
	struct str worker, device;
	int64_t peak;               /* bytes in use */
	int64_t reserved, capacity; /* negative: unknown */
	int64_t over;               /* peak minus the median peak of all ranks */
	struct memory_owner most;   /* the owner whose live bytes exceed the median over all ranks
	                               most */
	int64_t most_over;          /* bytes above that median; 0: no owner exceeds it */
};

struct memory_use {
	VEC(struct memory_pool) pools; /* in order of first appearance, until memory_sort_pools */
	bool several;                  /* true: there are several workers */
	struct str worker;             /* the worker whose pools are being added */
	bool by_kind;                  /* true: live contains only kinds */
	bool names_paths;              /* true: the name of an op contains its modules */
	VEC(struct memory_site) sites; /* if the live set is wanted by call stack */
	VEC(struct str) kinds;         /* at most MEMORY_KINDS */
	bool lacks_step;               /* true: a trace has none of the requested steps */
	int64_t length;                /* time from the first entry of a pool to its last one, ns:
	                                  the longest one */
	VEC(struct memory_oom) ooms;
	VEC(struct memory_segment) segments; /* if the use over time is requested: largest first */
	uint64_t segments_left_out;
	VEC(struct memory_change) changes; /* largest first */
	VEC(struct memory_rank) ranks;     /* nearest to its limit first; empty for one worker */
	uint64_t wrong_blocks;             /* number of blocks in use at the end that the entries
	                                      free */
	uint64_t lost_blocks; /* number of allocations that are never freed, but have no block at
	                         the end */
};

/* Sorts the owners of a pool, the largest first, and drops those without bytes and allocations. */
void memory_sort_live(struct memory_pool *p, struct arena *scratch);

/* Returns the largest use of a pool, or its use at the moment if the peak is unknown. */
int64_t memory_pool_peak(const struct memory_pool *p);

/* Sorts the pools of each worker, largest peak first. If a device has a row of its own, its pools
 * follow this row. */
void memory_sort_pools(struct memory_use *use, struct arena *a);

/* Returns the position where a part of a segment begins; for MEMORY_SEGMENT_PARTS, the end of the
 * segment. */
int64_t memory_segment_part(const struct memory_segment *s, unsigned part);

/* Adds a block of a segment. used: true if the block is allocated. */
void memory_add_block(struct memory_segment *s, uint64_t address, int64_t bytes, bool used);

/* Sorts the segments, the largest first, and keeps MEMORY_SEGMENTS. */
void memory_sort_segments(struct memory_use *use, struct arena *a);

/* Adds the pools of a PyTorch memory snapshot to *out, in a. */
void memory_use_snapshot(const struct trace *t, const struct memory_request *request,
        struct memory_use *out, struct arena *a);

/* A source for memory_lower: a trace, or the steps of a model's worker. */
struct memory_source {
	const struct trace *t; /* may be NULL */
	const struct model *m;
	uint32_t worker;
};

/* Adds the memory of a source to a model with one step: live bytes at the peak of each pool, or at
 * the moment that -at selects, as residual bytes, all allocations as bytes and runs. If -step
 * selects a step, those are the numbers of this step; the other steps are empty. Nodes are call
 * stacks or else, below their device and pool if there are several, paths: of the lines of the
 * user's program in a snapshot, of modules and ops in other traces, names of nodes in a model.
 * Called between ingest_begin and ingest_commit. Adds the number of pools and of out-of-memory
 * errors to *found. */
struct memory_found {
	size_t pools, ooms;
	int64_t length; /* the longest one, like memory_use.length */
};
void memory_lower(const struct memory_source *from, const struct opts *o, bool stacks,
        struct ingest *to, struct memory_found *found, struct arena *scratch);

/* Fills use->changes by comparing the pools of the first worker with the pools of the second. */
void memory_compare(struct memory_use *use, struct arena *a);

/* Fills use->ranks: first the ranks with a known limit, nearest to the limit first, then the
 * others, largest reservation first. */
void memory_compare_ranks(struct memory_use *use, struct arena *a);

/* Add the pools to *out, in a. In a model, each device is shown in that selected step in which it
 * used the most memory. memory_use_trace accepts any trace, also a snapshot. */
void memory_use_trace(const struct trace *t, const struct memory_request *request,
        struct memory_use *out, struct arena *a);
void memory_use_model(const struct model *m, const struct memory_request *request,
        const struct opts *o, struct memory_use *out, struct arena *a);

/* Returns the value that contains the bytes in use of a heap profile, which is a pprof profile of
 * bytes without times. Returns V_NONE for other models. */
enum value memory_heap_value(const struct model *m);

/* Returns the size class of an allocation, and its name. */
unsigned memory_size_class_of(int64_t bytes);
struct str memory_size_class(unsigned size_class);

#endif
