/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the dependencies inside a window of a trace, as a graph of nodes and edges: which intervals
 * had to end before another one could start. The critical path and the replay of changes use the
 * same graph.
 *
 * Nodes are intervals. On a thread they are the self time of each slice, cut where another slice
 * begins, and gaps, in which no slice is open. On a device they are the pieces of work; on lines of
 * nested ops, their self times. Time in which a thread waited belongs to none of them: the node
 * after it has an edge from what the thread waited for.
 *
 *   thread   | op A  | op B   | op A |   gap    | call | <- edge from the kernel | call | ...
 *   stream               | kernel |       | kernel |
 *
 * Edges lead to a node from
 *
 *   the node before it on its thread        implicit: it starts when that one ends
 *   the work before it on its stream        STREAM
 *   the call that launched it               LAUNCH: leaves the start of the call
 *   work of another stream                  EVENT: its stream was told to wait for it; where no
 *                                           wait of the file names its work, it is guessed
 *   work that a blocking call waited for    SYNC
 *   work whose end made room in the queue   QUEUE
 *   another thread                          THREAD: see bursts
 *   the work of the process that ended last OTHER: nothing else is known of its start
 *
 * Each edge has a length. The binding edge of a node, of the predecessor that explains its start
 * best, has the measured one; the others have the length that such an edge has without waiting, or
 * less if it was less. So the recorded times are those that follow from the edges, to the tick.
 *
 * A burst is a run of nodes of a thread that launches device work, with the gaps in it during which
 * no other thread of the process launched any. A thread that contains a burst of another one in a
 * node of its own waits for it.
 */
#ifndef TFPROF_TRACE_PASS_DEPEND_H
#define TFPROF_TRACE_PASS_DEPEND_H

#include "trace/pass/usage.h"

/* Returns the class of an event, by its name. */
enum depend_class {
	DEPEND_PLAIN,
	DEPEND_BLOCKS, /* a call that returns after device work: a synchronisation, a release */
	DEPEND_ALL,    /* likewise, after all work of the device */
	DEPEND_COPIES, /* a call that may block until its own copy has ended */
	DEPEND_FULL,   /* a part of a launch: the queue of the device was full */
	DEPEND_WAITS,  /* named wait, poll, join or acquire */
	DEPEND_LOADS   /* waits for the data loader */
};

enum depend_kind {
	DEPEND_STREAM,
	DEPEND_LAUNCH, /* from the start of its node */
	DEPEND_EVENT,
	DEPEND_SYNC,
	DEPEND_QUEUE,
	DEPEND_THREAD,
	DEPEND_OTHER
};

/* The slices around a node of a thread, innermost first: contexts[parent] is around it. */
struct depend_context {
	uint32_t parent; /* ID_NONE: outermost */
	uint32_t event;
	uint32_t frame; /* event of the innermost Python frame, or ID_NONE */
	bool loads;     /* it is, or is inside, a wait for the data loader */
};

/* start and end are ticks. */
struct depend_node {
	int64_t start, end;
	uint32_t event;   /* ID_NONE: a gap of a thread */
	uint32_t slice;   /* number of the slice, or ID_NONE */
	uint32_t context; /* of a thread; of work: that of its call. ID_NONE: none */
	uint32_t launch;  /* of work: 1 + index in the launches; 0: unknown */
	uint32_t track;
	bool host;
	bool first;    /* the first one of its thread */
	uint8_t class; /* of work: enum usage_class */
};

struct depend_edge {
	int64_t length; /* ticks; negative: the node started before the other one ended */
	uint32_t from;
	uint8_t kind; /* enum depend_kind */
	bool binding;
};

struct depend_track {
	uint32_t first, n; /* its nodes */
	uint32_t process;  /* ID_NONE: unknown */
	bool host;
};

struct depend {
	const struct trace *t;
	const struct trace_links *links;
	int64_t from, to;            /* the window */
	struct depend_track *tracks; /* of each track of the trace */
	VEC(struct depend_node) nodes;
	VEC(struct depend_context) contexts;
	struct depend_edge *edges;
	uint32_t *first_edge; /* edges of node i: first_edge[i] to first_edge[i + 1] */
	uint32_t *order; /* the nodes in topological order: each after the sources of its edges */
	struct idle_base *bases; /* of each device */
	uint8_t *classes;        /* enum depend_class of each event */
	uint64_t cut;            /* slices of threads that overlapped another one and were cut */
	int64_t cut_ticks;
	uint64_t unknown_waits; /* calls that make a stream wait for unknown work */
	uint64_t dropped;       /* edges left out of the graph, because they contradict the times */
};

/* Times of the nodes in a replay, and what differs from the recording. */
struct depend_times {
	int64_t *start, *end; /* of each node, ticks */
	double launch;        /* factor of the latency of launches */
	bool no_sync;         /* threads do not wait for devices */
	bool based;           /* all edges to devices have the length without waiting */
};

/* Finds the asynchronous calls that wait for their own copy: of memory that is not pinned, except
 * up to 64 KB to a device, which the driver stages. The slices of the calls are the keys of out. */
void depend_find_copies(
        const struct trace *t, const struct trace_links *links, struct imap *out, struct arena *a);

/* True if a call for a copy, a slice of the class DEPEND_COPIES, waits for it. */
bool depend_copy_waits(
        const struct trace *t, uint32_t event, uint32_t slice, const struct imap *copies);

/* Builds the graph of the nodes that overlap [from, to]. The result lives in a. */
void depend_build(const struct trace *t, const struct trace_links *links, int64_t from, int64_t to,
        struct depend *out, struct arena *a);

/* Returns the context or NULL; the frame of a node, or ID_NONE. */
const struct depend_context *depend_context(const struct depend *d, const struct depend_node *n);
uint32_t depend_frame(const struct depend *d, const struct depend_node *n);

/* Returns the length that an edge to device work has if the work does not wait; ticks. */
int64_t depend_base(const struct depend *d, const struct depend_node *to, enum depend_kind kind);

/* Returns the earliest start that an edge permits for a node in a replay; INT64_MIN if the replay
 * drops the edge. left: the time when the edge left its source node. */
int64_t depend_arrival(const struct depend *d, const struct depend_node *to,
        const struct depend_edge *e, int64_t left, const struct depend_times *times);

#endif
