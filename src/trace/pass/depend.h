/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: what had to end before what could start, inside a window of a trace.
 *
 * Nodes are intervals. On a thread they tile its time: the self time of each slice, cut where
 * another slice begins, and gaps, in which no slice is open. On a device they are the pieces of
 * work; on lines of nested ops, their self times.
 *
 *   thread   | op A  | op B   | op A |   gap    | call |        nodes of a track follow one another
 *   stream               | kernel |       | kernel |            a launch edge leads from the start
 * of the call
 *
 * The edges are not stored: the previous node of the track, the call that launched work, the work
 * that a blocking call waits for, and the burst of another thread that a thread waits for are found
 * by binary search.
 *
 * A burst is a run of nodes of a thread without a gap. Only bursts that launch device work are
 * kept: a thread waits for the bursts of another one if they fit into a node of its own.
 */
#ifndef TFPROF_TRACE_PASS_DEPEND_H
#define TFPROF_TRACE_PASS_DEPEND_H

#include "trace/passes.h"

/* Class of an event, by its name. */
enum depend_class {
	DEPEND_PLAIN,
	DEPEND_BLOCKS, /* a call that returns after device work: a synchronisation, a blocking copy,
	                  a release */
	DEPEND_COPIES, /* a call that may block until its own copy has ended */
	DEPEND_WAITS,  /* named wait, poll, join or acquire */
	DEPEND_LOADS   /* waits for the data loader */
};

/* start and end are ticks. */
struct depend_node {
	int64_t start, end;
	uint32_t event; /* ID_NONE: a gap of a thread */
	uint32_t slice; /* number of the slice, or ID_NONE */
	uint32_t frame; /* of a thread: event of the innermost Python frame around it, or ID_NONE */
	uint32_t launch; /* of work: 1 + index in the launches; 0: unknown. Of a thread: 1 inside a
	                    wait for the data loader */
};

struct depend_track {
	uint32_t first, n; /* its nodes */
	uint32_t process;  /* ID_NONE: unknown */
	uint32_t bursts, n_bursts;
	bool host;
};

struct depend_burst {
	int64_t start, end;
	uint32_t track;
};

/* Work and bursts of a process, each in order of end. */
struct depend_process {
	uint32_t *work; /* nodes */
	struct depend_burst *bursts;
	uint32_t n_work, n_bursts;
};

/* Lengths of edges of a device without waiting, ticks: from a call to its work, and between works
 * of a stream. */
struct depend_base {
	int64_t latency, gap;
};

struct depend {
	const struct trace *t;
	const struct trace_links *links;
	int64_t from, to;            /* the window */
	struct depend_track *tracks; /* of each track of the trace */
	VEC(struct depend_node) nodes;
	VEC(struct depend_burst) bursts;  /* by track, in order of start */
	struct depend_process *processes; /* the last one for tracks without a process */
	struct depend_base *bases;        /* of each device */
	uint8_t *classes;                 /* enum depend_class of each event */
	uint64_t cut; /* slices of threads that overlapped another one and were cut */
	int64_t cut_ticks;
};

/* Builds the nodes that overlap [from, to]. The result lives in a. */
void depend_build(const struct trace *t, const struct trace_links *links, int64_t from, int64_t to,
        struct depend *out, struct arena *a);

/* Returns the node of a track that starts before a time and ends last, or ID_NONE. */
uint32_t depend_before(const struct depend *d, uint32_t track, int64_t at);

/* Returns the track of a node. */
uint32_t depend_track_of(const struct depend *d, uint32_t node);

/* Returns the work of the track's process that ended last after `after`, and at `until` at the
 * latest; or ID_NONE. call: number of the slice that launched it; ID_NONE: any. */
uint32_t depend_last_work(
        const struct depend *d, uint32_t track, int64_t after, int64_t until, uint32_t call);

/* Returns the burst of another thread of the process that ended last after `after` and at `until`
 * at the latest, and started at `start` at the earliest; or NULL. */
const struct depend_burst *depend_last_burst(
        const struct depend *d, uint32_t track, int64_t start, int64_t after, int64_t until);

/* Returns a thread of the same process, one of whose nodes contains the burst of a track that
 * starts at a time; or ID_NONE. Of several, the one whose node starts last. */
uint32_t depend_enclosing(const struct depend *d, uint32_t track, int64_t at);

#endif
