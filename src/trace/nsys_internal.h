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
	uint32_t event;
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
	struct {
		bool known;
		int64_t global;
		uint32_t track;
	} last_thread;         /* found last */
	struct intern streams; /* bytes of a place -> index in stream_tracks */
	VEC(uint32_t) stream_tracks;
	int64_t last_place[3]; /* found last, if there are streams */
	uint32_t last_stream;  /* its index */
	struct intern kernels; /* bytes of a kernel's numbers -> index in kernel_events */
	VEC(uint32_t) kernel_events;
	struct imap gpus;     /* pid << 32 | number in the process -> number of the GPU */
	struct imap calls;    /* number of a call's name -> event */
	struct imap graphs;   /* number -> event */
	struct imap domains;  /* number -> string id */
	struct nsys_sum *sum; /* of slices that are added up, or NULL */
	int64_t bytes;        /* of the next slice, for sums; 0: none */
	VEC(struct nsys_open) open;
	uint64_t open_ranges;
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

/* Adds a slice with the arguments set before, or adds it up without them. */
void nsys_put(struct nsys *x, uint32_t track, uint32_t event, int64_t start, int64_t length,
        int64_t correlation);

/* ---- tables ---- */

enum nsys_kind {
	NSYS_CALLS,      /* of CUDA, on threads: may launch work */
	NSYS_WORK,       /* of devices */
	NSYS_RANGES,     /* of NVTX */
	NSYS_ON_THREADS, /* no op and no work: sums leave them out */
	NSYS_ON_STREAMS  /* likewise */
};

struct nsys_table {
	const char *name;
	enum nsys_kind kind;
	const char *const *columns; /* start and end first; NULL at the end */
	unsigned surveyed, summed; /* numbers of the first columns that sums need in each reading */
	void (*take)(struct nsys *x, struct sqlite_rows *r, unsigned which); /* takes a row */
	unsigned which;
};
extern const struct nsys_table nsys_tables[];
extern const size_t nsys_n_tables;
unsigned nsys_count_columns(const char *const *columns);

extern const char *const nsys_call_columns[],
        *const nsys_overhead_columns[], *const nsys_kernel_columns[],
                                                *const nsys_copy_columns[],
                                                        *const nsys_graph_columns[],
                                                                *const nsys_sync_columns[],
                                                                        *const nsys_range_columns[];
void nsys_take_call(struct nsys *x, struct sqlite_rows *r, unsigned cuda);
void nsys_take_overhead(struct nsys *x, struct sqlite_rows *r, unsigned which);
void nsys_take_kernel(struct nsys *x, struct sqlite_rows *r, unsigned which);
void nsys_take_copy(struct nsys *x, struct sqlite_rows *r, unsigned set);
void nsys_take_graph(struct nsys *x, struct sqlite_rows *r, unsigned which);
void nsys_take_sync(struct nsys *x, struct sqlite_rows *r, unsigned which);
void nsys_take_range(struct nsys *x, struct sqlite_rows *r, unsigned which);

/* The first columns of all device work. */
#define NSYS_WORK_COLUMNS "start", "end", "deviceId", "streamId", "correlationId", "globalPid"
enum { WORK_START, WORK_END, WORK_DEVICE, WORK_STREAM, WORK_CORRELATION, WORK_PROCESS, WORK_N };

/* The stream of a row of work. */
uint32_t nsys_stream(struct nsys *x, struct sqlite_rows *r);
void nsys_read_gpus(struct nsys *x); /* a process numbers the GPUs that it sees */
void nsys_describe_gpus(struct nsys *x);

/* ---- ranges ---- */

/* First reading of a row with a start: finds its track and length, and keeps it if it is a step.
 * False if it is neither a range nor a mark. */
bool nsys_survey_range(struct nsys *x, struct sqlite_rows *r, uint32_t *track, int64_t *length);
/* Adds the steps as slices; then their events are known. */
void nsys_put_steps(struct nsys *x);
/* Ends the ranges that are open. */
void nsys_close_ranges(struct nsys *x);
/* The length of a range that does not end. */
int64_t nsys_until_last(const struct nsys *x, int64_t start);

/* ---- sums ---- */

#define NSYS_KEPT_MOST ((uint64_t)64 << 20) /* bytes of a file whose slices are kept */

/* Adds all slices up, in two readings. False if their order does not allow it: then nothing but
 * processes and tracks has been added. */
bool nsys_sum_read(struct nsys *x);
void nsys_sum_take(struct nsys *x, uint32_t track, uint32_t event, int64_t start, int64_t length,
        int64_t correlation);

#endif
