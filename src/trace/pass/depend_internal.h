/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the pass that builds the graph of dependencies, in the order in which they run.
 */
#ifndef TFPROF_TRACE_PASS_DEPEND_INTERNAL_H
#define TFPROF_TRACE_PASS_DEPEND_INTERNAL_H

#include "trace/pass/depend.h"

/* A burst of a thread. first, last: its first and last node after threads have been cut; ID_NONE:
 * none. */
struct depend_burst {
	int64_t start, end;
	uint32_t track, first, last;
};

/* A part of a thread's node in which the thread waited, until the end of work or of a burst. */
struct depend_wait {
	int64_t from, to;
	uint32_t work, burst; /* the awaited work or burst; the other one is ID_NONE */
	enum depend_kind kind;
};

struct depend_waits {
	VEC(struct depend_wait) v;
};

/* An edge before the edges are sorted by node. */
struct depend_made {
	struct depend_edge edge;
	uint32_t to;
};

/* Work that a graph launched, and the site where it was captured. */
struct depend_captured {
	uint32_t node, site;
};

/* An edge between a node and the begin or end of a burst. */
struct burst_edge {
	uint32_t node, burst;
};

struct depend_process {
	uint32_t *work; /* nodes, sorted by end */
	uint32_t n_work;
	VEC(uint32_t) bursts;  /* sorted by end */
	VEC(uint32_t) hosts;   /* tracks of threads with nodes */
	VEC(uint32_t) streams; /* tracks with work */
	VEC(int64_t) told; /* times of calls that make an unknown stream wait for unknown work */
};

/* A synchronisation: the work for which a stream waits or a call blocks. */
struct depend_sync {
	uint32_t stream; /* track with the awaited work; ID_NONE: unknown */
	int64_t until;   /* the awaited work was launched on the stream before this time */
	uint32_t waits;  /* the waiting track; ID_NONE: the host */
	int64_t issued;  /* time when the wait was issued */
};

struct depend_making {
	struct depend *d;
	struct arena *a; /* arena for the result */
	struct arena *own;
	uint8_t *work_classes;       /* by event: 1 + enum usage_class; 0: not known yet */
	VEC(struct depend_node) raw; /* nodes of threads before they are cut */
	void (*take)(void *user);    /* called when raw has many nodes; it may empty raw. NULL:
	                                raw keeps all nodes */
	void *user;
	struct depend_track *raw_tracks; /* tracks whose nodes are in raw */
	VEC(struct depend_burst) bursts;
	struct depend_process *processes; /* indexed by process; the last element is for tracks
	                                     without a process */
	struct depend_waits *waits;       /* of each track */
	VEC(struct depend_made) edges;
	VEC(struct burst_edge) from_bursts, to_bursts;
	int64_t *lengths; /* indexed by event of a call: the length of a call that does not wait */
	struct imap contexts; /* key: parent and event; value: context */
	VEC(struct depend_captured) captured;
	uint32_t *calls;      /* indexed by launch: node of the call, or ID_NONE */
	int64_t *launched;    /* by node of device work: the latest time of its launch */
	struct imap copies;   /* result of depend_find_copies */
	struct imap syncs_at; /* key: process and correlation; value: index in syncs */
	VEC(struct depend_sync) syncs;
};

uint8_t *depend_classes(const struct trace *t, struct arena *a);
/* Adds the nodes of a track to raw. Returns the end of the last node, ticks. */
int64_t depend_add_thread(struct depend_making *m, uint32_t track);
void depend_add_device(struct depend_making *m, uint32_t track);
/* Returns the context of an event inside another context. parent: ID_NONE if the event is
 * outermost. */
uint32_t depend_add_context(struct depend_making *m, uint32_t parent, uint32_t event);
void depend_find_launched(struct depend_making *m);
void depend_find_processes(struct depend_making *m);
void depend_find_bursts(struct depend_making *m);
void depend_find_syncs(struct depend_making *m);
void depend_find_unknown(struct depend_making *m);
void depend_find_waits(struct depend_making *m);
void depend_find_queue(struct depend_making *m);
void depend_find_lengths(struct depend_making *m);
void depend_cut_threads(struct depend_making *m);
void depend_find_calls(struct depend_making *m);
void depend_join_work(struct depend_making *m);
void depend_sort_edges(struct depend_making *m);

struct depend_process *depend_process_of(const struct depend_making *m, uint32_t track);
void depend_add_edge(struct depend_making *m, uint32_t from, uint32_t to, enum depend_kind kind);

/* Returns the launch of a piece of device work, or NULL. */
static inline const struct launch *depend_launch(
        const struct depend *d, const struct depend_node *n)
{
	return n->launch ? &d->links->launches.v[n->launch - 1] : NULL;
}

/* Returns the last node in v[first .. first + n) that starts before a time, or ID_NONE. */
uint32_t depend_find(const struct depend_node *v, const struct depend_track *k, int64_t at);

/* Returns the last-ending work of the process among the work that ended after `after`, ended at or
 * before `until`, and was launched before `until`; or ID_NONE. call: number of the slice that
 * launched the work; ID_NONE: any. */
uint32_t depend_last_work(const struct depend_making *m, const struct depend_process *p,
        int64_t after, int64_t until, uint32_t call);

/* Makes a node of raw wait for work or for a burst; the other argument is ID_NONE. */
void depend_put_wait(
        struct depend_making *m, const struct depend_node *n, uint32_t work, uint32_t burst);

/* Makes a node of raw wait for the work whose end made room in the queue. */
void depend_put_room(struct depend_making *m, const struct depend_node *n, uint32_t work);

/* Returns the last work of a stream that ended at or before `until` and was launched at or before
 * `launched`; or ID_NONE. */
uint32_t depend_on_stream(
        const struct depend_making *m, uint32_t stream, int64_t until, int64_t launched);

#endif
