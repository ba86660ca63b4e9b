/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs of a trace: the work of each launch (graph_replay.c), the files with captures
 * (graph_files.c), the calls of a capture (graph_capture.c), places that the file itself has
 * (graph_nodes.c), which call a piece of work comes from
 * (graph_pair.c), and which capture a launch replays (graph_join.c).
 */
#ifndef TFPROF_TRACE_GRAPH_INTERNAL_H
#define TFPROF_TRACE_GRAPH_INTERNAL_H

#include "trace/pass/link.h"
#include "trace/trace_build.h"

/* A token identifies work in comparisons: the string id of a kernel's name, or one of the constants
 * below. */
#define TOKEN_COPY   (UINT32_MAX - 1)
#define TOKEN_SET    (UINT32_MAX - 2)
#define TOKEN_KERNEL (UINT32_MAX - 3) /* a captured kernel without a name */
#define TOKEN_NONE   (UINT32_MAX - 4) /* no work */

/* Returns the token of a piece of work, or of a captured call, by its name. id: string id of the
 * name. */
uint32_t graph_token(struct str name, uint32_t id);

/* Work of a launch. */
struct graph_work {
	uint32_t track, slice; /* slice: index within the track */
	uint32_t token;
	uint32_t region;      /* string id, or ID_NONE */
	int64_t length, node; /* node: id of the graph node, or 0 */
};

struct graph_launch {
	int64_t start;
	uint32_t process;
	uint32_t first, n; /* range of its work, in order of start */
	uint32_t kind;     /* index in kinds */
	uint32_t pattern;  /* equal for launches whose work also has the same order over all
	                      streams, and the same nodes */
};

/* Launches that run the same work on each of several streams. */
struct graph_kind {
	uint32_t launch; /* the first such launch */
	struct trace_graph graph;
};

struct graph_replays {
	VEC(struct graph_launch) launches; /* launches with work, sorted by start */
	VEC(struct graph_work) work;       /* grouped by launch */
	VEC(struct graph_kind) kinds;
};

/* Finds the launches of graphs and their work. The result lives in a. */
void graph_find_replays(const struct trace *t, struct graph_replays *out, struct arena *a);

/* The places that the trace itself states for the work of graphs. Each array is indexed by work and
 * contains 1 + the site; 0: none. */
struct graph_places {
	uint32_t *created; /* the place where the graph node was created */
	uint32_t *region;  /* the region that the program named */
};

/* Finds the places. The arrays live in a. */
void graph_find_places(const struct graph_replays *replays, struct trace_build *b,
        struct graph_places *out, struct arena *a);

/* ---- captures ---- */

/* A level around captured calls. */
struct capture_site {
	uint32_t parent; /* index in the sites of the file, or ID_NONE */
	uint32_t event;  /* event in the trace of the file */
	uint32_t made;   /* 1 + site of the trace with the replays; 0: not made yet */
	bool replayed;   /* true: it began inside a capture */
};

struct capture_call {
	uint32_t token, site; /* site: innermost level in the file, or ID_NONE */
};

/* The calls between the begin and the end of a capture. */
struct capture {
	uint32_t file, first, n; /* range of its calls */
	int64_t batch;           /* number of tokens or requests of the captured batch; 0:
	                            unknown */
	bool requests;           /* true: batch is a number of requests */
	bool cut;                /* true: its end is not in the file */
	bool named;              /* true: all its kernels have names */
};

struct capture_file {
	struct str path;
	int64_t batch; /* same meaning as in struct capture */
	bool requests;
	bool recording; /* true: the path is of a GPU recording */
	const struct trace *t;
	VEC(struct capture_site) sites;
};

struct captures {
	struct str path; /* path of the file or folder, for messages; empty: none */
	VEC(struct capture_file) files;
	VEC(struct capture) list;
	VEC(struct capture_call) calls;
};

/* Finds the files with captures for a trace: the files that the user named, otherwise the files in
 * the folder capture_traces beside the trace. Returns false (*e filled) on failure. */
bool graph_find_files(const struct graph_source *from, const struct trace *t, struct captures *out,
        struct arena *a, struct err *e);

/* Returns the only batch size in the annotations of a file; 0: there is none, or there are several.
 * Stores no events. */
int64_t graph_find_batch(struct str path, struct work *work);

/* Reads a file, and appends its captures. Adds the names of kernels to the strings of b. */
bool graph_read_captures(
        struct captures *to, uint32_t file, struct trace_build *b, struct arena *a, struct err *e);

/* Returns the site of the trace with the replays for a level of a file. */
uint32_t graph_import_site(
        struct captures *c, uint32_t file, uint32_t site, struct trace_build *b, struct arena *a);

/* ---- pairs ---- */

enum pair_how {
	PAIR_NONE,
	PAIR_ORDER,   /* equal names in the same order */
	PAIR_NODES,   /* equal names in the order of the ids of the graph nodes */
	PAIR_STREAMS, /* equal names in the same order on each of several streams */
	PAIR_CUT,     /* equal names in the same order, up to the end of a truncated capture */
	PAIR_NAMES,   /* equal names in another order */
	PAIR_LOST,    /* fewer kernels than calls */
	PAIR_COUNT,   /* unknown names, but equal numbers of kernels and calls */
	PAIR_HOWS
};

/* The work of a launch, and the calls of a capture. */
struct pairing_request {
	const uint32_t *work, *streams; /* tokens, and streams counted from 0 */
	const int64_t *nodes;           /* ids of graph nodes, or NULL */
	size_t n, n_streams;
	const struct capture_call *calls;
	size_t m;
	bool cut, named;
};

struct graph_pairing {
	enum pair_how how;
	uint32_t *call;  /* indexed by work: 1 + index of its call; 0: none */
	bool *ambiguous; /* indexed by work: true if another call with the same name is also
	                    possible */
	size_t missing;  /* number of works without a call, or of calls without work */
	size_t differ;   /* for PAIR_NONE: first position at which the names differ */
};

/* Pairs work with calls. The result lives in a. */
void graph_pair(const struct pairing_request *request, struct graph_pairing *out, struct arena *a);

#endif
