/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the dependencies inside a window of a trace, as a graph of nodes and edges: which intervals
 * had to end before another one could start. The critical path and the replay of changes use the
 * same graph.
 *
 * Nodes are intervals. On a thread they are the self time of each slice, cut where another slice
 * begins, and gaps, in which no slice is open. On a device they are the pieces of work; on lines of
 * nested ops, their self times. Time in which a thread waited belongs to no node: the next node
 * has an edge from the cause of the wait.
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
 * Each edge has a length. The binding edge of a node comes from the predecessor that best
 * explains its start, and has the measured length. The other edges have the length of such an edge
 * without waiting, or the measured length if that is shorter. So the recorded times are those that
 * follow from the edges, to the tick.
 *
 * A burst is a run of nodes of a thread that launches device work, with the gaps in it during which
 * no other thread of the process launched any. A thread that contains a burst of another one in a
 * node of its own waits for it.
 */
#ifndef TFPROF_TRACE_PASS_DEPEND_H
#define TFPROF_TRACE_PASS_DEPEND_H

#include "trace/pass/usage.h"

/* Classes of events, decided by their names. */
enum depend_class {
	DEPEND_PLAIN,
	DEPEND_BLOCKS, /* a call that returns after device work: synchronisation or release */
	DEPEND_ALL,    /* a call that returns after all work of the device */
	DEPEND_COPIES, /* a call that may block until its own copy, or its own node, has ended */
	DEPEND_FULL,   /* a part of a launch: the queue of the device was full */
	DEPEND_WAITS,  /* named wait, poll, join or acquire */
	DEPEND_LOADS   /* waits of the thread for the data loader */
};

enum depend_kind {
	DEPEND_STREAM,
	DEPEND_LAUNCH, /* leaves the start of its source node */
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
	uint32_t frame; /* event of the innermost Python frame with a source line, or ID_NONE */
	bool loads;     /* true: the slice is, or is inside, a wait for the data loader */
};

/* start and end are ticks. */
struct depend_node {
	int64_t start, end;
	uint32_t event;   /* event of the slice; ID_NONE: a gap of a thread */
	uint32_t slice;   /* number of the slice, or ID_NONE */
	uint32_t context; /* context of the node on a thread; for device work, context of its call;
	                     ID_NONE: none */
	uint32_t launch;  /* for device work: 1 + index in the launches; 0: unknown */
	uint32_t track;
	bool host;
	bool first;    /* true: the first node of its thread */
	uint8_t class; /* for device work: enum usage_class */
};

struct depend_edge {
	int64_t length; /* ticks; negative: the node started before the end of its predecessor */
	uint32_t from;
	uint8_t kind; /* enum depend_kind */
	bool binding;
};

struct depend_track {
	uint32_t first, n; /* range of its nodes */
	uint32_t process;  /* ID_NONE: unknown */
	bool host;
};

struct depend {
	const struct trace *t;
	const struct trace_links *links;
	int64_t from, to;            /* bounds of the window, ticks */
	struct depend_track *tracks; /* indexed by track of the trace */
	VEC(struct depend_node) nodes;
	VEC(struct depend_context) contexts;
	struct depend_edge *edges;
	uint32_t *first_edge; /* edges of node i: first_edge[i] to first_edge[i + 1] */
	uint32_t *order; /* the nodes in topological order: each after the sources of its edges */
	struct idle_base *bases; /* indexed by device */
	uint8_t *classes;        /* enum depend_class, indexed by event */
	uint64_t cut;            /* number of thread slices that were cut because they overlapped */
	int64_t cut_ticks;
	uint64_t unknown_waits; /* number of calls that make a stream wait for unknown work */
	uint64_t dropped;       /* number of edges left out because they contradict the times */
};

/* Times of the nodes in a replay, and the differences from the recording. */
struct depend_times {
	int64_t *start, *end; /* indexed by node; ticks */
	double launch;        /* factor for the latency of launches */
	bool no_sync;         /* true: threads do not wait for devices */
	bool based;           /* true: all edges to devices have their length without waiting */
};

/* Finds the asynchronous calls that wait for their own copy: those that copy pageable memory,
 * except copies of up to 64 KB to a device, which the driver stages. The slice numbers of the calls
 * are the keys of *out. */
void depend_find_copies(
        const struct trace *t, const struct trace_links *links, struct imap *out, struct arena *a);

/* True if a copy call (a slice of the class DEPEND_COPIES) waits for its copy. */
bool depend_copy_waits(
        const struct trace *t, uint32_t event, uint32_t slice, const struct imap *copies);

/* Builds the graph of the nodes that overlap [from, to]. The result lives in a. */
void depend_build(const struct trace *t, const struct trace_links *links, int64_t from, int64_t to,
        struct depend *out, struct arena *a);

/* depend_context returns the context of a node, or NULL; depend_frame returns its innermost Python
 * frame with a source line, or ID_NONE. */
const struct depend_context *depend_context(const struct depend *d, const struct depend_node *n);
uint32_t depend_frame(const struct depend *d, const struct depend_node *n);

/* Returns the length, in ticks, that an edge to device work has if the work does not wait. */
int64_t depend_base(const struct depend *d, const struct depend_node *to, enum depend_kind kind);

/* Returns the earliest start that an edge permits for a node in a replay; INT64_MIN if the replay
 * drops the edge. left: the time when the edge left its source node. */
int64_t depend_arrival(const struct depend *d, const struct depend_node *to,
        const struct depend_edge *e, int64_t left, const struct depend_times *times);

#endif
