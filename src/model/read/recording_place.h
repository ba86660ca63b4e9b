/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that turn recordings into a model: operations are placed (recording_place.c),
 * which means summed by node and step, or kept singly; recording_emit.c adds the result to the
 * model.
 */
#ifndef TFPROF_MODEL_RECORDING_PLACE_H
#define TFPROF_MODEL_RECORDING_PLACE_H

#include "model/ingest.h"
#include "trace/pass/critical.h"
#include "trace/read/recording/recordings.h"

struct recording_lowering {
	struct recordings all;
	struct ingest *to;
	struct arena *a;
	struct imap label_of; /* hash of its content -> label */
	struct strs labels;
	struct place *place;
	struct recorded_path *path; /* or NULL */
};

/* A process whose recording is being read. */
struct lowering_process {
	struct recording_lowering *r;
	struct recorded_process *p;
};

/* ---- labels ---- */

/* Labels of operations; 0 if they are not needed. */
uint32_t labels_kernel(struct recording_lowering *r, uint32_t leaf, const struct spool_kernel *k);
uint32_t labels_copy(struct recording_lowering *r, uint32_t leaf, const struct spool_copy *c);
uint32_t labels_set(struct recording_lowering *r, uint32_t leaf, const struct spool_set *s);
/* Returns the name of one node as a string of the model, 1 and up. */
uint32_t labels_of_node(struct recording_lowering *r, uint32_t label, struct str node);

/* ---- sums and single operations ---- */

struct cell {
	uint32_t node;
	int64_t step;
	int64_t runs, start, end;
	int64_t cpu_start, cpu_length, acc_start, acc_length;
	uint32_t spans; /* single ones */
	uint32_t items; /* 1 + the last of its memory items, 0: none */
	int64_t requested, live, peak;
	int64_t critical; /* on the critical path */
	int64_t kernels;  /* recordings have no float operations of kernels */
};
struct single { /* a span that is kept */
	uint32_t cell, device;
	uint8_t kind;
	int64_t start, length;
};
struct piece { /* an allocation, or its end */
	uint32_t next;
	int64_t time, bytes;
};
struct made_node {
	uint32_t name; /* string of the model */
	struct str type;
	uint32_t scope, unit;
	uint32_t full; /* 1 + the last of its full names */
	int64_t last_step;
	uint32_t last_cell;
};
struct hold { /* memory that was allocated and is not freed */
	uint32_t cell;
	int64_t bytes;
};
struct full_name {
	uint32_t next, leaf;
};

/* Where a process's operations on one device go. */
struct placed_device {
	uint32_t process, gpu;
	struct str prefix;
	uint32_t device, all, copies; /* model devices */
	struct imap streams;          /* stream -> model device */
	struct imap nodes;            /* scope << 32 | leaf -> node */
};

#define PLACE_RECENT 1024
struct recent { /* a node that was found */
	uint64_t key;
	uint32_t unit, node; /* 1 + unit */
};

struct place {
	struct arena *a;
	struct sb path; /* of the node that is made */
	struct recent recent[PLACE_RECENT];
	bool keep_all;            /* few enough operations to keep each */
	uint32_t streams;         /* number of streams with devices of their own */
	struct steps_list detail; /* steps of which operations are kept singly */
	VEC(struct placed_device) units;
	VEC(struct made_node) nodes;
	VEC(struct full_name) fulls;
	struct imap node_of; /* string id of the model -> node */
	struct imap cell_of; /* step << 32 | node -> cell */
	VEC(struct cell) cells;
	VEC(struct single) singles;
	VEC(struct span_annotation) said; /* by single, if run metadata may be written */
	VEC(struct piece) pieces;
	struct imap held; /* address -> 1 + index in holds */
	VEC(struct hold) holds;
	uint32_t last_unit;
	uint32_t graph_leaf; /* 1 + leaf of graph launches; 0: not made yet */
	uint64_t summed;     /* times that were only added up */
};

bool place_begin(struct recording_lowering *r);
/* One operation, with the call that launched it or NULL. */
void place_op(struct recording_lowering *r, struct recorded_process *p,
        const struct recorded_op *op, struct recorded_call *l);
/* Executions of ranges, where nodes are ranges. */
void place_ranges(struct recording_lowering *r, struct recorded_process *p);
/* Gives the parts of the critical path that are in no operation, call or range to nodes with the
 * names of their kinds. */
void place_rest(struct recording_lowering *r);

/* ---- the critical path ----
 *
 * The segments of the path are in slices of the trace that recording_trace makes of the same
 * recording. A slice is found again by its process, its thread or stream, and its start.
 */

/* Where a slice is. Slices of one thread that start at the same time are one place. */
struct part_place {
	bool known, device;
	uint32_t process;
	int64_t gpu, line;     /* gpu: number, of work; line: thread or stream */
	int64_t start, length; /* ns after the origin; length: of work, else 0 */
};

/* A segment of a path. */
struct recorded_part {
	struct part_place at;
	int64_t ticks, step, start;
	enum critical_kind kind;
	bool given; /* to a node */
};

struct recorded_parts {
	struct recorded_part *v;
	size_t n, cap;
};

struct recorded_path {
	const struct trace *t;
	const struct trace_steps *steps;
	struct arena *a;
	struct recorded_parts parts; /* by place */
};

/* Finds the paths of all steps of the trace. */
struct recorded_path *path_find(const struct trace *t, struct arena *a);
/* Return the parts that are in an operation of a process (its index), and in the slices that start
 * on a thread at a time: calls and ranges. */
struct recorded_parts path_of_op(struct recorded_path *x, uint32_t process,
        const struct recorded_process *p, const struct recorded_op *op);
struct recorded_parts path_of_host(
        struct recorded_path *x, uint32_t process, uint32_t thread, uint64_t start);

/* Adds all placed operations to the model. */
void emit_model(struct recording_lowering *r);

#endif
