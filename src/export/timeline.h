/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the timelines: the trace file, streamed to the file and never held in memory.
 */
#ifndef TFPROF_EXPORT_TIMELINE_H
#define TFPROF_EXPORT_TIMELINE_H

#include "export/timeline_sets.h"
#include "export/out.h"
#include "base/arena.h"

struct trace_writer {
	struct sink *file;
	struct str path;
	struct sb text; /* for composed names */
	bool quiet;     /* says nothing about the file */
	bool first;     /* the innermost list is still empty */
};

bool trace_open(struct trace_writer *t, const struct query *q, struct err *e);
/* Begins a trace in exactly this file. */
bool trace_open_at(struct trace_writer *t, struct arena *a, struct str path, struct err *e);
/* Renames the file to its path and reports it. */
bool trace_close(struct trace_writer *t, struct emit *to, struct err *e);

/* A row of the timeline, shown as a process. */
void trace_process(struct trace_writer *t, struct str name, int64_t pid);

/* A box. op: writes the name as "op" too. */
struct region {
	int64_t pid, tid, start, length;
	struct str name;
	bool op;
};
void trace_region(struct trace_writer *t, const struct region *r);

/* One end of an arrow. */
struct flow_end {
	int64_t id, pid, tid, at;
	struct str source; /* name of the source node */
	bool start;
};
void trace_flow(struct trace_writer *t, const struct flow_end *f);

/* A counter: begin, its values in byte order of their keys, end. */
void trace_counter(struct trace_writer *t);
void trace_counter_text(struct trace_writer *t, struct str key, struct str value);
void trace_counter_number(struct trace_writer *t, struct str key, int64_t value);
void trace_counter_end(struct trace_writer *t, struct str name, int64_t pid, int64_t at);

/* Converts times of a step to microseconds of the trace. */
static inline int64_t timeline_us(const struct step *s, int64_t ticks)
{
	return num_add(s->base_us, step_us(s, ticks));
}

/* ---- graph ---- */

/* Memory of accelerators (timeline_mem.c). Each device has two rows, from pid on. Order of calls:
 * rows are named, cells read, counters written. */
struct trace_mem {
	const struct model *m;
	const struct step *s;
	struct arena *a;
	const uint32_t *cell; /* drawn cells, in shown order; until they are read */
	uint32_t n_cells;
	uint32_t *device; /* model devices other than CPUs, by name */
	uint32_t n_devices;
	uint32_t *of;         /* by model device: 1 + index in device, or 0 */
	uint32_t *at, *named; /* cells of device i by name: named[at[i]] .. named[at[i + 1]] */
	struct points {       /* by device: bytes in use for which counters are written, by time */
		VEC(int64_t) time, bytes;
		int64_t most;       /* number of all recorded values */
		size_t allocations; /* allocations recorded with them */
	} * points;
};
void trace_mem_init(
        struct trace_mem *x, const struct result *r, const uint32_t *cell, uint32_t n_cells);
void trace_mem_rows(const struct trace_mem *x, struct trace_writer *t, int64_t pid);
/* cells: the nodes of the step. */
void trace_mem_read(struct trace_mem *x, const struct idset *cells);
void trace_mem_counters(
        const struct trace_mem *x, struct trace_writer *t, int64_t pid, struct sink *say);

/* Entry points for out.c. */
bool timeline_tree(const struct result *r, struct emit *to, struct err *e);   /* scope, code */
bool timeline_graph(const struct result *r, struct emit *to, struct err *e);  /* of one step */
bool timeline_tracks(const struct result *r, struct emit *to, struct err *e); /* of a trace */

/* ---- lanes ---- */

/* Assigns overlapping intervals to lanes: each gets the first lane that is free. */

/* Zero-initialised except for the arena: no lanes yet. */
struct lanes {
	struct arena *a;
	int64_t *free; /* [2 * cap], a tree: the time when each lane becomes free, lane i at cap + i
	                */
	size_t cap, n;
};

/* Returns the first lane that is free at start, or a new one, and occupies it until end. Lengths
 * may be 0; starts ascend. */
size_t lanes_take(struct lanes *l, int64_t start, int64_t end);

#endif
