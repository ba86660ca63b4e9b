/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the reader of Nsight Systems exports: the file (read_nsys.c), what rows
 * refer to (nsys_names.c), rows (nsys_rows.c, nsys_ranges.c), switches of threads (nsys_sched.c),
 * sums instead of slices (nsys_sum.c).
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
	int64_t start, length;         /* length -1: the range has no end */
	int64_t number; /* number at the end of the name, or -1; later replaced by the number of the
	                   step */
	bool outermost; /* true: no other step range of the process contains its start */
	bool served;    /* true: a step of an LLM server; never outermost */
	uint32_t event;
};

/* A call that recorded a CUDA event. Records are sorted by process, event and correlation. */
struct nsys_record {
	int64_t process; /* globalPid */
	int64_t event, correlation, stream;
};

struct pattern_list;
struct nsys {
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct err *e;
	struct sqlite_in *db;
	struct sqlite_rows *by_id; /* names by number; NULL: all are in name_of */
	struct imap name_of;       /* key: number of a name; value: string id of the trace */
	struct imap processes;     /* key: process part of a global id; value: process */
	struct imap pids;          /* key: pid; value: process; detects pids of several machines */
	struct imap threads;       /* key: global id of a thread; value: track */
	struct {
		bool known;
		int64_t global;
		uint32_t track;
	} last_thread;         /* the thread that was found last */
	struct intern streams; /* key: bytes of a place; value: index in stream_tracks */
	VEC(uint32_t) stream_tracks;
	struct imap work_streams; /* key: process and number of a stream with work; value: 1 + its
	                             track; 0: on several devices */
	struct imap work_devices; /* key: process; value: 1 + number of its only device with work;
	                             0: several devices */
	int64_t last_place[3];    /* the place that was found last, if there are streams */
	uint32_t last_stream;     /* index of the stream at last_place */
	struct intern kernels;    /* key: bytes of a kernel's numbers; value: index in
	                             kernel_events */
	VEC(uint32_t) kernel_events;
	struct imap gpus;    /* key: pid << 32 | device id in the process; value: device id on the
	                        machine */
	struct imap calls;   /* key: name id of a call; value: event */
	struct imap graphs;  /* key: graph id; value: event */
	struct imap domains; /* key: domain id; value: string id */
	VEC(struct nsys_record) records;
	struct nsys_sum *sum; /* sums; NULL if slices are kept */
	/* Takes a slice with the current arguments, and stores it in the trace or adds it to the
	 * sums. */
	void (*put)(struct nsys *x, uint32_t track, uint32_t event, int64_t start, int64_t length,
	        int64_t correlation);
	int64_t bytes; /* number of bytes that the next slice copies, for sums; 0: none */
	VEC(struct nsys_open) open;
	uint64_t open_ranges;
	uint64_t served_ranges; /* of an LLM server, not used as steps because of `summing` */
	bool summing;           /* true: only sums will be kept, so that device work does not set
	                           the times of steps */
	struct pattern_list *step_pattern; /* pattern of the user, or NULL */
	struct imap step_names; /* key: string id of a range name; value: true if such a range is a
	                           step */
	VEC(struct nsys_step) steps;
	int64_t last;      /* latest end of all rows */
	uint64_t rows;     /* number of rows that became slices */
	uint64_t timeless; /* number of rows without a start */
	uint64_t endless;  /* number of rows without an end, except ranges */
	bool switches;     /* true: the thread switches have been read */
};

/* Prepares nsys_name. Must be called before it. */
void nsys_open_names(struct nsys *x);
/* Returns the string id of the name with an id in the file's string table, or of "(string N)" if
 * the id is missing. */
uint32_t nsys_name(struct nsys *x, int64_t id);

/* Returns the process of a globalPid or globalTid. */
uint32_t nsys_process(struct nsys *x, int64_t global);
/* Returns the track of a globalTid. */
uint32_t nsys_thread(struct nsys *x, int64_t global);
/* Names the processes and threads that have slices. */
void nsys_name_processes(struct nsys *x);

/* Reads the columns start and end of a row. Counts a row without a start, and returns false for
 * it. */
bool nsys_times(struct nsys *x, struct sqlite_rows *r, unsigned start, unsigned end, int64_t *from,
        int64_t *length);

/* ---- tables ---- */

enum nsys_kind {
	NSYS_CALLS,      /* CUDA API calls, on threads; may launch work */
	NSYS_WORK,       /* device work */
	NSYS_RANGES,     /* NVTX ranges and marks */
	NSYS_ON_THREADS, /* other slices on threads; not added to the sums */
	NSYS_ON_STREAMS  /* synchronisation on streams */
};

struct nsys_table {
	const char *name;
	enum nsys_kind kind;
	const char *const *columns; /* columns to read, start and end first; NULL at the end */
	unsigned surveyed, summed;  /* number of first columns that sums need in the first and the
	                               second reading */
	void (*take)(struct nsys *x, struct sqlite_rows *r, unsigned which); /* reads a row */
	unsigned which;
};
extern const struct nsys_table nsys_tables[];
extern const size_t nsys_n_tables;

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
/* Reads the thread and the time at which each graph node was created. */
void nsys_read_nodes(struct nsys *x);
void nsys_take_range(struct nsys *x, struct sqlite_rows *r, unsigned which);

/* The first columns of all device work. */
#define NSYS_WORK_COLUMNS "start", "end", "deviceId", "streamId", "correlationId", "globalPid"
enum { WORK_START, WORK_END, WORK_DEVICE, WORK_STREAM, WORK_CORRELATION, WORK_PROCESS, WORK_N };

/* Returns the track for the stream of a row. work: the row is device work. */
uint32_t nsys_stream(struct nsys *x, struct sqlite_rows *r, bool work);
void nsys_read_gpus(struct nsys *x); /* maps the device ids of each process */
void nsys_describe_gpus(struct nsys *x);

/* ---- events ---- */

/* Reads the records of CUDA events. */
void nsys_read_records(struct nsys *x);
/* Returns the last record of an event before a correlation of the same process, or NULL. */
const struct nsys_record *nsys_find_record(
        const struct nsys *x, int64_t process, int64_t event, int64_t before);

/* ---- threads without a CPU ---- */

#define NSYS_SWITCHES "SCHED_EVENTS"
/* Reads the times when threads with slices lost and got their CPU. Sets `switches` if the table
 * states the reasons. */
void nsys_read_switches(struct nsys *x);

/* ---- ranges ---- */

/* First reading of a row with a start: finds its track and length, and stores it if it is a step.
 * Returns false if the row is neither a range nor a mark. */
bool nsys_survey_range(struct nsys *x, struct sqlite_rows *r, uint32_t *track, int64_t *length);
/* Adds the steps as slices, which also creates their events. */
void nsys_put_steps(struct nsys *x);
/* Sets the end of all open ranges. */
void nsys_close_ranges(struct nsys *x);

/* ---- sums ---- */

/* Computes the sums of all slices, in two readings. Returns false if the order of the rows is too
 * irregular; then only processes and tracks have been added. */
bool nsys_sum_read(struct nsys *x);

#endif
