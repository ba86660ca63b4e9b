/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the reader of Nsight Systems' exports: names, processes and threads.
 */
#ifndef TFPROF_TRACE_NSYS_INTERNAL_H
#define TFPROF_TRACE_NSYS_INTERNAL_H

#include "io/sqlite_in.h"
#include "trace/trace_build.h"

/* A range that does not end in the file. */
struct nsys_open {
	uint32_t track, event;
	int64_t start;
};

/* A range that is a step. */
struct nsys_step {
	uint32_t process, track, name; /* name: string id of the trace */
	int64_t start, length;         /* length -1: it does not end */
	int64_t number;                /* that its name ends with, or -1; later the step's */
	bool outermost;                /* it does not begin inside another one of its process */
};

struct pattern_list;
struct nsys {
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct err *e;
	struct sqlite_in *db;
	struct sqlite_rows *by_id; /* names by their numbers; NULL: all are in name_of */
	struct imap name_of;       /* number of a name -> string id of the trace */
	struct imap processes;     /* process part of a global id -> process */
	struct imap pids;          /* pid -> process: detects pids of several machines */
	struct imap threads;       /* global id of a thread -> track */
	struct intern streams;     /* bytes of a place -> index in stream_tracks */
	VEC(uint32_t) stream_tracks;
	struct intern kernels; /* bytes of a kernel's numbers -> index in kernel_events */
	VEC(uint32_t) kernel_events;
	struct imap gpus; /* pid << 32 | number in the process -> number of the GPU */
	VEC(struct nsys_open) open;
	struct pattern_list *step_pattern; /* of the user, or NULL */
	struct imap step_names;            /* string id of a range's name -> it is a step */
	VEC(struct nsys_step) steps;
	int64_t last;      /* the last end of a row */
	uint64_t rows;     /* that became slices */
	uint64_t timeless; /* rows without a start */
	uint64_t endless;  /* rows without an end, which are not ranges */
};

/* Returns the trace's string for a number of the file's strings; "(string N)" if it is missing. */
uint32_t nsys_name(struct nsys *x, int64_t id);

/* The process of a globalPid or globalTid. */
uint32_t nsys_process(struct nsys *x, int64_t global);
/* The track of a globalTid. */
uint32_t nsys_thread(struct nsys *x, int64_t global);

/* Reads the columns start and end of a row; false, and counted, if it has no start. */
bool nsys_times(struct nsys *x, struct sqlite_rows *r, unsigned start, unsigned end, int64_t *from,
        int64_t *length);

/* Reads the activity of threads: calls, overhead. */
void nsys_read_calls(struct nsys *x);
void nsys_read_overhead(struct nsys *x);
/* Reads ranges and marks. False (*e filled) if the pattern of steps is bad. */
bool nsys_read_ranges(struct nsys *x);
/* Adds the steps, and ends the ranges that are open. */
void nsys_close_ranges(struct nsys *x);

#endif
