/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of devices in a trace or a recording, added up for the command devices. One walk over
 * the trace (trace/passes.h) gives busy and idle times, gaps, latencies and kernels; only calls
 * that may wait are kept beside the trace. A recording is read once, for its trace and for the sums
 * that only recordings have. A GPU is identified by its UUID, so that a GPU shared by several
 * processes is one. Independent of output.
 */
#ifndef TFPROF_VIEW_DEVICE_USE_H
#define TFPROF_VIEW_DEVICE_USE_H

#include "base/statistics.h"
#include "trace/recordings.h"
#include "trace/passes.h"

/* ---- spans ----
 *
 * Many intervals of time, stored in about eight bytes each, and one iteration over all of them in
 * the order of their starts. They are added almost in that order; batches are sorted and packed.
 *
 *   run: first start, then for each interval the distance from the previous start,
 *        length << SPAN_BITS | class, and the tag, as varints
 */

#define SPAN_BITS  3         /* bits of a class */
#define SPAN_BATCH (1 << 17) /* intervals sorted per batch */

struct span {
	uint64_t start, length;
	uint64_t tag;   /* any number of the caller */
	unsigned class; /* below 1 << SPAN_BITS */
};

struct spans {
	VEC(struct span) batch; /* in the scratch arena */
	VEC(struct str) runs;
	uint64_t n;
};

/* Adds an interval. A full batch is packed into a; the next one begins in scratch. */
void spans_add(struct spans *s, struct arena *a, struct arena *scratch, struct span x);

/* Packs the last batch. The scratch arena may be reset afterwards. */
void spans_end(struct spans *s, struct arena *a);

/* An iteration over several of them. */
struct span_walk {
	struct arena *a;
	VEC(struct span_cursor) heap; /* a heap, earliest start on top */
};
void span_walk_begin(struct span_walk *w, struct arena *a);
void span_walk_add(struct span_walk *w, const struct spans *s, unsigned owner);

/* Returns the next interval and its owner; false at the end. */
bool span_walk_next(struct span_walk *w, struct span *x, unsigned *owner);

/* ---- gpu shape ----
 *
 * How kernels were launched: grid, block, registers and shared memory, and the occupancy that these
 * allow.
 */

#define GPU_SHAPES 8 /* distinct shapes of a kernel */

struct gpu_shape {
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	uint32_t part; /* the process and GPU of the first launch */
	uint64_t count;
};

struct gpu_shapes {
	struct gpu_shape v[GPU_SHAPES];
	unsigned n;
	uint64_t others; /* launches in further shapes */
};

void gpu_shapes_add(struct gpu_shapes *s, const struct spool_kernel *k, uint32_t part);

/* The shape with the most launches. */
const struct gpu_shape *gpu_shapes_first(const struct gpu_shapes *s);

/* The share of a multiprocessor's warps that the shape allows to be resident, in thousandths; -1:
 * not known for that compute capability (90 for 9.0), or the shape cannot run there. */
int gpu_occupancy(const struct gpu_shape *s, uint32_t capability);

/* ---- device use ---- */

/* Classes of intervals on the host. The tag of a call is its index << CALL_BITS | call flags. */
enum host_class {
	HOST_CALL, /* a call that may wait for the GPU */
	HOST_SYNC  /* a synchronisation, as CUPTI records it */
};
enum { CALL_SYNCHRONIZES = 1, CALL_WAITED = 2, CALL_BITS = 2 };

enum gpu_way { WAY_HTOD, WAY_DTOH, WAY_DTOD, WAY_PTOP, WAY_HTOH, WAY_SET, WAY_OTHER, WAY_N };
extern const char *const gpu_ways[WAY_N]; /* "HtoD", ... */

#define GPU_SYNCS 5 /* kinds of CUpti_ActivitySynchronizationType */

/* Durations of one item, ns. For operations that --max-size summed, only count, total and extremes
 * are known: they are in summed and not in h. */
struct gpu_times {
	struct str name;
	struct hist h;
	uint64_t summed;
	int64_t summed_ns, summed_min, summed_max;
	int64_t blocking;          /* of calls: the time in which the host waited for the GPU */
	struct gpu_shapes *shapes; /* of kernels, or NULL */
};
/* Things by name. */
struct gpu_list {
	struct gpu_times *v;
	size_t n, cap;
	struct imap at; /* id of the name -> index */
};
uint64_t gpu_count(const struct gpu_times *t);
int64_t gpu_total(const struct gpu_times *t);
int64_t gpu_min(const struct gpu_times *t);
int64_t gpu_max(const struct gpu_times *t);

struct gpu_copies {
	uint64_t count;
	int64_t bytes, ns;
};

/* Why a GPU was idle, ns. */
struct gpu_idle {
	int64_t host; /* the process that launched next had not called yet and did other things */
	int64_t latency; /* the call had begun and its work had not */
	int64_t waiting; /* before that call the process was in one that waits for the GPU */
	int64_t unknown; /* the call is not recorded */
};

/* Kind of host memory of a copy. */
enum gpu_host_memory { HOST_PAGEABLE, HOST_PINNED, HOST_NONE, HOST_MEMORY_N };
extern const char *const gpu_host_memories[HOST_MEMORY_N];
/* Copies by size: up to 4 KiB, 64 KiB, 1 MiB, 16 MiB, above. */
enum { GPU_SIZES = 5 };
extern const char *const gpu_sizes[GPU_SIZES];

/* Memory of one kind, of one process on one GPU. */
enum gpu_memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_OTHER, MEMORY_KIND_N };
extern const char *const gpu_memory_kinds[MEMORY_KIND_N];
struct gpu_memory {
	uint64_t allocations, frees;
	int64_t bytes;      /* allocated in all */
	int64_t live, peak; /* at the end, and the most at once */
};

/* One process on one GPU. */
struct gpu_part {
	uint32_t process;
	uint32_t local;                 /* number of the GPU in that process */
	uint32_t number;                /* over all processes */
	const struct recorded_gpu *gpu; /* NULL: not known */
	struct gpu_copies ways[WAY_N];
	struct gpu_memory memory[MEMORY_KIND_N];
	uint64_t kernels;
	int64_t busy; /* of this process alone */
};

struct gpu_device {
	const struct recorded_gpu *gpu; /* as its first process knows it, or NULL */
	uint32_t number;                /* over all processes, as in the views */
	VEC(uint32_t) parts;
	uint64_t kernels;
	struct device_usage usage; /* zeros: nothing on it has a time */
	uint64_t from, to;         /* the first start and the last end, of the trace's clock; ns */
	int64_t shared;            /* two processes or more at once */
	struct hist gaps;
	struct gpu_idle idle;
	struct hist latency; /* from a call to the start of its work */
	struct gpu_copies ways[WAY_N];
};

/* A CUDA graph of a process. */
struct gpu_graph {
	uint32_t process, number;
	uint64_t launches, nodes; /* nodes that ran, where they were recorded */
	int64_t ns;               /* sum of the nodes, or of the graphs as a whole */
};

/* A path of ranges: a scope of the recording. */
struct gpu_range {
	uint64_t count; /* how often it was entered and left */
	int64_t host;   /* time in it, ns */
	int64_t device; /* time of work launched in it and in no range inside it; ns */
	int64_t total;  /* including ranges inside it */
	uint64_t operations;
};

/* A step of a process. */
struct gpu_step {
	int64_t device; /* of work that was launched in it, ns */
	uint64_t operations;
};

/* Overhead of profiling, as CUPTI reports it. */
#define GPU_OVERHEADS 16
struct gpu_overhead {
	uint32_t kind; /* CUpti_ActivityOverheadKind */
	struct hist h;
};
const char *gpu_overhead_name(uint32_t kind);

struct gpu_process {
	struct recorded_process *from;
	struct spans host;          /* calls that may wait, and synchronisations */
	VEC(struct gpu_step) steps; /* by number */
};

struct device_use {
	struct arena *a;
	const struct trace *t;
	const struct trace_links *links; /* NULL: work has its latency */
	struct trace_usage usage;
	int64_t first;         /* the first time of the trace, ns, */
	uint64_t base;         /* and that time on the clock of all times here */
	bool unique;           /* devices have numbers of their own */
	struct recordings all; /* of other traces: only processes */
	struct intern names;
	VEC(struct gpu_process) processes;
	VEC(uint32_t) process_of; /* by process of the trace: index in processes */
	VEC(struct gpu_part) parts;
	VEC(struct gpu_device) devices; /* in the order they are shown */
	VEC(uint32_t) kernel_of;        /* by leaf of the names: 1 + index in kernels */
	struct gpu_list kernels;        /* by total at the end; likewise the next */
	struct gpu_list calls; /* of the runtime and the driver, except calls inside others */
	struct gpu_list waits; /* by call: the times in which the host waited for the GPU */
	struct gpu_copies copies[WAY_N][HOST_MEMORY_N][GPU_SIZES];
	VEC(struct gpu_graph) graphs;
	VEC(struct gpu_range) ranges; /* by scope; a scope comes after the one around it */
	struct gpu_overhead overheads[GPU_OVERHEADS]; /* the last one holds all further kinds */
	unsigned n_overheads;
	struct gpu_times syncs[GPU_SYNCS]; /* as CUPTI reports it, if requested */
	uint64_t summed;                   /* operations of which only sums are known */
	uint64_t untimed;                  /* operations without times */
	uint64_t lost[SPOOL_LOST_WHY_N], damaged;
	uint64_t gaps; /* times in which a process did not record */
	int64_t gap_ns;
};

/* Options of device_use_read. */
struct device_ask {
	const struct recording_watch *watch; /* or NULL */
	bool say;                            /* add notes about what is missing or odd */
};

/* Reads the recordings, and makes their trace. files and o outlive u; everything lives in a. */
bool device_use_read(struct device_use *u, const struct recording_set *files,
        const struct recording_options *o, const struct device_ask *ask, struct arena *a,
        struct notes *notes, struct err *e);

/* Adds up the work and the calls of a trace. It lacks what only recordings have: launch
 * configurations, ranges, steps, CUDA graphs, memory and overhead. */
void device_use_trace(struct device_use *u, const struct trace *t, const struct trace_links *links,
        struct arena *a);

/* Returns the facts of the file of a process. */
static inline const struct recording_facts *gpu_facts(const struct device_use *u, uint32_t process)
{
	return &u->processes.v[process].from->facts;
}

#endif
