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
	struct imap label_of; /* key: hash of the content; value: label */
	struct strs labels;
	struct place *place;
	struct recorded_path *path; /* may be NULL */
};

/* State of a process whose recording is being read. */
struct lowering_process {
	struct recording_lowering *r;
	struct recorded_process *p;
};

/* ---- labels ---- */

/* labels_kernel, labels_copy and labels_set return the label of an operation; 0 if labels are not
 * needed. */
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
	uint32_t spans; /* number of single operations */
	uint32_t items; /* 1 + the last of its memory items; 0: none */
	int64_t requested, live, peak;
	int64_t critical; /* time on the critical path */
	int64_t kernels;  /* recordings have no float operations of kernels */
};
struct single { /* a span that is stored */
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

/* The destinations of a process's operations on one device. */
struct placed_device {
	uint32_t process, gpu;
	struct str prefix;
	uint32_t device, all, copies; /* devices of the model */
	struct imap streams;          /* key: stream; value: device of the model */
	struct imap nodes;            /* key: scope << 32 | leaf; value: node */
};

#define PLACE_RECENT 1024
struct recent { /* a node that was looked up */
	uint64_t key;
	uint32_t unit, node; /* 1 + unit */
};

struct place {
	struct arena *a;
	struct sb path; /* path of the node under construction */
	struct recent recent[PLACE_RECENT];
	bool keep_all;            /* true: there are few enough operations to store each */
	uint32_t streams;         /* number of streams with devices of their own */
	struct steps_list detail; /* steps whose operations are stored singly */
	VEC(struct placed_device) units;
	VEC(struct made_node) nodes;
	VEC(struct full_name) fulls;
	struct imap node_of; /* key: string id of the model; value: node */
	struct imap cell_of; /* key: step << 32 | node; value: cell */
	VEC(struct cell) cells;
	VEC(struct single) singles;
	VEC(struct span_annotation) said; /* indexed by single, if run metadata may be written */
	VEC(struct piece) pieces;
	struct imap held; /* key: address; value: 1 + index in holds */
	VEC(struct hold) holds;
	uint32_t last_unit;
	uint32_t graph_leaf; /* 1 + leaf of graph launches; 0: not created yet */
	uint64_t summed;     /* number of times that were only added up */
};

bool place_begin(struct recording_lowering *r);
/* Places one operation. call: the call that launched it, or NULL. */
void place_op(struct recording_lowering *r, struct recorded_process *p,
        const struct recorded_op *op, struct recorded_call *l);
/* Places executions of ranges, if nodes are ranges. */
void place_ranges(struct recording_lowering *r, struct recorded_process *p);
/* Assigns the parts of the critical path outside of all operations, calls and ranges to nodes that
 * have the names of their kinds. */
void place_rest(struct recording_lowering *r);

/* ---- the critical path ----
 *
 * The segments of the path are in slices of the trace that recording_trace makes of the same
 * recording. A slice is found again by its process, its thread or stream, and its start.
 */

/* The position of a slice. Slices of one thread that start at the same time have one position. */
struct part_place {
	bool known, device;
	uint32_t process;
	int64_t gpu, line;     /* gpu: number, for work; line: thread or stream */
	int64_t start, length; /* ns after the origin; length: for work, otherwise 0 */
};

/* A segment of a path. */
struct recorded_part {
	struct part_place at;
	int64_t ticks, step, start;
	enum critical_kind kind;
	bool given; /* true: assigned to a node */
};

struct recorded_parts {
	struct recorded_part *v;
	size_t n, cap;
};

struct recorded_path {
	const struct trace *t;
	const struct trace_steps *steps;
	struct arena *a;
	struct recorded_parts parts; /* sorted by place */
};

/* Finds the paths of all steps of the trace. */
struct recorded_path *path_find(const struct trace *t, struct arena *a);
/* path_of_op returns the parts in an operation of a process (given by its index), path_of_host the
 * parts in slices that start on a thread at a time: calls and ranges. */
struct recorded_parts path_of_op(struct recorded_path *x, uint32_t process,
        const struct recorded_process *p, const struct recorded_op *op);
struct recorded_parts path_of_host(
        struct recorded_path *x, uint32_t process, uint32_t thread, uint64_t start);

/* Adds all placed operations to the model. */
void emit_model(struct recording_lowering *r);

#endif
