/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums about the work of devices in a trace or a recording, for the command devices. One walk over
 * the trace (trace/pass/usage.h) computes busy and idle times, gaps, latencies and kernels; in
 * addition to the trace, only calls that may wait are stored. A recording is read once, both for
 * its trace and for the sums that only recordings have. GPUs are identified by UUID, so several
 * processes can share a GPU. Independent of the output format.
 */
#ifndef TFPROF_VIEW_DEVICE_USE_H
#define TFPROF_VIEW_DEVICE_USE_H

#include "base/statistics.h"
#include "trace/read/recording/recordings.h"
#include "trace/pass/idle_place.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

/* ---- spans ----
 *
 * Stores many time intervals in about eight bytes each, and iterates over them in order of their
 * starts. Batches of intervals are sorted and packed, so nearly sorted input packs best.
 *
 *   run: first start, then for each interval the distance from the previous start,
 *        the length, and the tag, as varints
 */

#define SPAN_BATCH (1 << 17) /* intervals sorted per batch */

struct span {
	uint64_t start, length;
	uint64_t tag; /* set by the caller */
};

struct spans {
	VEC(struct span) batch; /* unpacked intervals, in scratch memory */
	VEC(struct str) runs;
	uint64_t n;
};

/* Adds an interval. A full batch is packed into a; the next one begins in scratch. */
void spans_add(struct spans *s, struct arena *a, struct arena *scratch, struct span x);

/* Packs the last batch. The scratch arena may be reset afterwards. */
void spans_end(struct spans *s, struct arena *a);

/* Iterates over several spans, merged by start. */
struct span_walk {
	struct arena *a;
	VEC(struct span_cursor) heap; /* a heap, earliest start on top */
};
void span_walk_begin(struct span_walk *w, struct arena *a);
void span_walk_add(struct span_walk *w, const struct spans *s, unsigned owner);

/* Returns the next interval and its owner, or false at the end. */
bool span_walk_next(struct span_walk *w, struct span *x, unsigned *owner);

/* ---- gpu shape ----
 *
 * Launch configurations of kernels: grid, block, registers and shared memory, and the resulting
 * occupancy.
 */

#define GPU_SHAPES 8 /* distinct shapes of a kernel */

struct gpu_shape {
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	uint32_t part; /* process and GPU of the first launch */
	uint64_t count;
};

struct gpu_shapes {
	struct gpu_shape v[GPU_SHAPES];
	unsigned n;
	uint64_t others; /* number of launches with other shapes */
};

void gpu_shapes_add(struct gpu_shapes *s, const struct spool_kernel *k, uint32_t part);

/* Returns the shape with the most launches. */
const struct gpu_shape *gpu_shapes_first(const struct gpu_shapes *s);

/* Returns the theoretical occupancy of a shape, in thousandths; -1 if the compute capability (90
 * for 9.0) is unknown or cannot run the shape. */
int gpu_occupancy(const struct gpu_shape *s, uint32_t capability);

/* ---- device use ---- */

/* The tag of a call is its index << CALL_BITS | call flags. */
enum { CALL_SYNCHRONIZES = 1, CALL_WAITED = 2, CALL_BITS = 2 };

enum gpu_way { WAY_HTOD, WAY_DTOH, WAY_DTOD, WAY_PTOP, WAY_HTOH, WAY_SET, WAY_OTHER, WAY_N };
extern const char *const gpu_ways[WAY_N]; /* texts for output: "HtoD", ... */

#define GPU_SYNCS 5 /* kinds of CUpti_ActivitySynchronizationType */

/* Durations of one item, ns. Operations that the recorder summed (--max-size) are not in h: only
 * their count, total, minimum and maximum are known (the members summed*). */
struct gpu_times {
	struct str name;
	struct hist h;
	uint64_t summed;
	int64_t summed_ns, summed_min, summed_max;
	int64_t blocking;          /* for calls: time in which the host waited for the GPU */
	struct gpu_shapes *shapes; /* for kernels: launch configurations, or NULL */
};
/* A list of items with names. */
struct gpu_list {
	struct gpu_times *v;
	size_t n, cap;
	struct imap at; /* key: id of the name; value: index */
};
uint64_t gpu_count(const struct gpu_times *t);
int64_t gpu_total(const struct gpu_times *t);
int64_t gpu_min(const struct gpu_times *t);
int64_t gpu_max(const struct gpu_times *t);

struct gpu_copies {
	uint64_t count;
	int64_t bytes, ns;
};

/* Kinds of host memory that a copy uses. */
enum gpu_host_memory { HOST_PAGEABLE, HOST_PINNED, HOST_NONE, HOST_MEMORY_N };
extern const char *const gpu_host_memories[HOST_MEMORY_N];
/* Size classes of copies: up to 4 KiB, 64 KiB, 1 MiB, 16 MiB, and above. */
enum { GPU_SIZES = 5 };
extern const char *const gpu_sizes[GPU_SIZES];

/* Kinds of memory that a process allocates on a GPU. */
enum gpu_memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_OTHER, MEMORY_KIND_N };
extern const char *const gpu_memory_kinds[MEMORY_KIND_N];
struct gpu_memory {
	uint64_t allocations, frees;
	int64_t bytes;      /* sum of all allocations */
	int64_t live, peak; /* bytes allocated at the end, and at most */
};

/* The part of a GPU's work that belongs to one process. */
struct gpu_part {
	uint32_t process;
	uint32_t local;                 /* number of the GPU within this process */
	uint32_t number;                /* number of the GPU over all processes */
	const struct recorded_gpu *gpu; /* NULL: unknown */
	struct gpu_copies ways[WAY_N];
	struct gpu_memory memory[MEMORY_KIND_N];
	uint64_t kernels;
	int64_t busy; /* time of the union of this process's work, ns */
};

struct gpu_device {
	const struct recorded_gpu *gpu; /* taken from the first process that used the GPU; may be
	                                   NULL */
	uint32_t number;                /* number over all processes, as in the views */
	VEC(uint32_t) parts;
	uint64_t kernels;
	struct device_usage usage; /* zero if no work has times */
	uint64_t from, to;         /* first start and last end, ns */
	int64_t shared;            /* time in which several processes used the GPU */
	struct hist gaps;
	struct hist latency; /* times from a call to the start of its work */
	struct gpu_copies ways[WAY_N];
};

/* A CUDA graph of a process. */
struct gpu_graph {
	uint32_t process, number;
	uint64_t launches, nodes; /* nodes: number of executed nodes, if they are recorded */
	int64_t ns;               /* total time of the nodes, or of whole graphs */
};

/* A path of ranges: a scope of the recording. */
struct gpu_range {
	uint64_t count; /* number of times the range was entered */
	int64_t host;   /* host time in the range, ns */
	int64_t device; /* time of work launched directly in the range, ns */
	int64_t total;  /* device time including inner ranges, ns */
	uint64_t operations;
};

/* A step of a process. */
struct gpu_step {
	int64_t device; /* time of work launched in the step, ns */
	uint64_t operations;
};

/* Overhead of profiling that CUPTI reports. */
#define GPU_OVERHEADS 16
struct gpu_overhead {
	uint32_t kind; /* CUpti_ActivityOverheadKind */
	struct hist h;
};
const char *gpu_overhead_name(uint32_t kind);

struct gpu_process {
	struct recorded_process *from;
	struct spans host;          /* calls that may wait */
	VEC(struct gpu_step) steps; /* sorted by number */
};

struct device_use {
	struct arena *a;
	const struct trace *t;
	const struct trace_links *links; /* NULL: work has ARG_LATENCY instead */
	bool of_step; /* only usage and idle are set, of one step (device_use_step) */
	struct trace_usage usage;
	struct trace_steps steps;
	struct idle_report idle; /* empty without links */
	int64_t first;           /* earliest time of the trace, ns */
	uint64_t base;           /* `first` on the clock of this struct */
	bool unique;             /* true: device numbers of the source are unique */
	struct recordings all;   /* contains only processes for traces that are not recordings */
	struct intern names;
	VEC(struct gpu_process) processes;
	VEC(uint32_t) process_of; /* indexed by process of the trace: index in processes */
	VEC(struct gpu_part) parts;
	VEC(struct gpu_device) devices; /* in the order in which they are shown */
	VEC(uint32_t) kernel_of;        /* indexed by leaf of the names: 1 + index in kernels */
	struct gpu_list kernels;        /* sorted by total time at the end, like calls and waits */
	struct gpu_list calls; /* runtime and driver calls that are not nested in other calls */
	struct gpu_list waits; /* for each call: time in which the host waited for the GPU */
	struct gpu_copies copies[WAY_N][HOST_MEMORY_N][GPU_SIZES];
	VEC(struct gpu_graph) graphs;
	VEC(struct gpu_range) ranges; /* indexed by scope; inner scopes follow outer scopes */
	struct gpu_overhead overheads[GPU_OVERHEADS]; /* the last element counts all other kinds */
	unsigned n_overheads;
	struct gpu_times syncs[GPU_SYNCS]; /* numbers that CUPTI reports, if they were requested */
	uint64_t summed;                   /* number of operations that were recorded only as
	                                      sums */
	uint64_t untimed;                  /* number of operations without times */
	struct recording_losses lost;
	uint64_t damaged;
	int64_t uncompared; /* number of processes for which missing launches cannot be excluded */
	uint64_t gaps;      /* number of intervals in which a process did not record */
	int64_t gap_ns;
};

/* Options of device_use_read. */
struct device_request {
	const struct recording_watch *watch; /* may be NULL */
	bool say;                            /* true: add notes about missing or implausible data */
};

/* Reads the recordings, and makes their trace in a. files and o must outlive u. */
bool device_use_read(struct device_use *u, const struct recording_set *files,
        const struct recording_options *o, const struct device_request *request, struct arena *a,
        struct notes *notes, struct err *e);

/* Adds up the work and the calls of a trace. Does not set the fields for ranges, memory and
 * overhead, which only recordings have. links and steps live as long as u. */
void device_use_trace(struct device_use *u, const struct trace_links *links,
        const struct trace_steps *steps, struct arena *a);

/* Finds the usage and the idle causes of the devices in a step; step: its index. steps live as long
 * as u. */
void device_use_step(struct device_use *u, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t step, struct arena *a);

/* Returns the metadata of the recording of a process. */
static inline const struct recording_facts *gpu_facts(const struct device_use *u, uint32_t process)
{
	return &u->processes.v[process].from->facts;
}

/* Returns the number of a device of the trace. */
uint32_t device_number(const struct device_use *u, uint32_t device);

#endif
