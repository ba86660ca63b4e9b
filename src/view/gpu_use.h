/* SPDX-License-Identifier: Apache-2.0
 *
 * What the GPUs of a recording did: one pass over each spool, then one walk over the intervals of
 * each GPU. Of an operation about six bytes are kept; all else is sums. A GPU is known by its UUID,
 * so that one that several processes share is one. Knows nothing of output.
 */
#ifndef TFPROF_VIEW_GPU_USE_H
#define TFPROF_VIEW_GPU_USE_H

#include "base/err.h"
#include "base/hist.h"
#include "base/map.h"
#include "io/block_fault.h"
#include "io/process_identity.h"
#include "view/spans.h"

enum gpu_class { GPU_KERNEL, GPU_COPY, GPU_SET, GPU_CLASS_N };

enum gpu_way { WAY_HTOD, WAY_DTOH, WAY_DTOD, WAY_PTOP, WAY_HTOH, WAY_SET, WAY_OTHER, WAY_N };
extern const char *const gpu_ways[WAY_N]; /* "HtoD", ... */

#define GPU_SYNCS 5 /* kinds of CUpti_ActivitySynchronizationType */

/* Durations of one thing, ns. Of what --max-size turned into sums only count, total and extremes
 * are known: they are in summed and not in h. */
struct gpu_times {
	struct str name;
	struct str mangled; /* of kernels: as the compiler has it */
	struct hist h;
	uint64_t summed;
	int64_t summed_ns, summed_min, summed_max;
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

/* One process on one GPU. */
struct gpu_part {
	uint32_t process;
	uint32_t local; /* number of the GPU in that process */
	uint8_t uuid[16];
	bool known; /* uuid and the next are */
	struct str name;
	struct spans spans;
	struct gpu_copies ways[WAY_N];
	uint64_t kernels;
	int64_t busy; /* of this process alone */
};

struct gpu_device {
	uint8_t uuid[16];
	bool known;
	struct str name;
	uint32_t number; /* over all processes, as in the views */
	VEC(uint32_t) parts;
	uint64_t kernels;
	int64_t from, to; /* the first beginning and the last end; ns since 1970 */
	int64_t busy, busy_kernels, busy_copies;
	int64_t overlap; /* a copy and a kernel at once */
	int64_t shared;  /* two processes or more at once */
	struct hist gaps;
	struct gpu_copies ways[WAY_N];
};

struct gpu_process {
	struct str file;
	struct process_identity who;
	struct spool_fault fault;
	bool ended;
};

struct gpu_use {
	struct arena *a;
	struct intern names;
	VEC(struct gpu_process) processes;
	VEC(struct gpu_part) parts;
	VEC(struct gpu_device) devices;    /* filled by gpu_use_end, in the order they are shown */
	struct gpu_list kernels;           /* by total after gpu_use_end; likewise the next */
	struct gpu_list waits;             /* calls in which the host waited */
	struct gpu_times syncs[GPU_SYNCS]; /* the same as CUPTI tells it, where asked to */
	uint64_t summed;                   /* operations of which only sums are known */
	uint64_t untimed;                  /* operations without times */
	uint64_t lost[SPOOL_LOST_WHY_N], damaged;
	uint64_t gaps; /* times in which a process did not record */
	int64_t gap_ns;
	struct strs notes;
};

void gpu_use_init(struct gpu_use *u, struct arena *a);

/* Adds a spool, whatever is wrong with it. False if it cannot be read. */
bool gpu_use_add(struct gpu_use *u, struct str path, struct err *e);

/* Adds up the GPUs and sorts. */
void gpu_use_end(struct gpu_use *u);

#endif
