/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch execution traces (torch.profiler.ExecutionTraceObserver, Chakra): every operator
 * call with its inputs and outputs, without times. The file is an object with the list "nodes":
 *
 *   {"id": 6, "name": "aten::mm", "ctrl_deps": 3,                     the call around it
 *    "inputs": {"values": [[4,5,0,6,4,"cpu"]], "shapes": [[2,3]], "types": ["Tensor(float)"]},
 *    "outputs": {...}, "attrs": [{"name": "rf_id", "value": 2}, {"name": "scope", "value": 0}]}
 *
 * Older files have "parent", "rf_id", "scope", and "input_shapes" beside "inputs". The first number
 * of a tensor is its id. rf_id is the "Record function id" of the same call in a Kineto trace.
 */
#ifndef TFPROF_TRACE_EXECUTION_TRACE_H
#define TFPROF_TRACE_EXECUTION_TRACE_H

#include "base/map.h"
#include "base/note.h"
#include "io/src.h"

/* A call of an operator, or an annotation of the user. */
struct et_call {
	int64_t id, around;    /* id of the call; around: id of the call that contains it */
	int64_t record;        /* number of the record function; 0: none */
	struct str name, path; /* path: names of the calls around it, with "#2" after a repeated
	                          name */
	struct str shapes, dtypes, values; /* inputs, as in ARG_SHAPES and related arguments;
	                                      JSON */
	struct str output_shapes;          /* JSON */
	bool annotation;
	uint32_t producer0, n_producers; /* range in producers: the calls whose outputs this call
	                                    reads */
};

struct execution_trace {
	struct arena *a;
	struct str schema;
	VEC(struct et_call) calls; /* in the order in which they began */
	VEC(uint32_t) producers;   /* indexes of calls; a call may occur several times */
	struct imap by_record;     /* key: record; value: index of a call */
	uint64_t markers;          /* number of nodes for processes, threads and steps, which are
	                              not calls */
};

/* Reads the file into a. Adds a note if the file ends after its calls but before its end. Returns
 * false (*e filled) on failure. */
bool execution_trace_read(struct execution_trace **out, struct src *s, struct notes *notes,
        struct arena *a, struct err *e);

/* Identifies the process that wrote a file; -1: unknown. */
struct run_process {
	int64_t rank, pid;
};

/* Returns the number after the last "rank" in a path ("rank3", "rank_3", "RANK-3"), or -1. */
int64_t run_rank_in_path(struct str path);

/* Identifies the process of an execution trace: takes the rank from the path, the process id from
 * the file. */
struct run_process run_process_of_calls(struct str path, struct work *work);

/* Identifies the process of a Kineto trace: takes the rank from the file, otherwise from the path;
 * the process id from the first op with a record function id. */
struct run_process run_process_of_trace(struct str path, struct work *work);

/* Returns the rank that the header of a Kineto trace states, or -1. */
int64_t run_rank_in_header(struct str path, struct work *work);

/* Returns the call of a record function, or NULL. */
const struct et_call *execution_trace_call(const struct execution_trace *x, int64_t record);

#endif
