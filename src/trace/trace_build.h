/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface that readers use to build a trace. Processes, devices, tracks, slices, instants,
 * samples and nodes of programs may be appended in any order; build_seal sorts them.
 *
 *   b = build_open(t, wants, notes, scratch)
 *   build_start(b, TRACE_KINETO, 1000)                      source and ticks per microsecond
 *   p = build_process(b, pid)                               returns the same id for the same pid
 *   k = build_track(b, p, ID_NONE, TRACK_THREAD, tid)
 *   build_arg_int(b, ARG_BYTES, 4096)                       arguments of the next event or slice:
 *   e = build_event(b, CATEGORY_OP, build_string(b, name))  shared by all slices of the event, or
 *   build_slice(b, k, e, start, length, correlation)        of this slice only
 *   build_seal(b)
 *
 * build_event returns the same id for the same category, name and arguments. Arguments that differ
 * between slices belong to the slices. No function fails: the trace counts data that it cannot
 * hold.
 */
#ifndef TFPROF_TRACE_TRACE_BUILD_H
#define TFPROF_TRACE_TRACE_BUILD_H

#include "base/note.h"
#include "trace/trace.h"
#include "io/src.h"

#define ARGS_MAX ((size_t)64 << 10) /* maximum size of a slice's or event's arguments */

struct trace_build;

/* Opens a builder. notes must outlive the builder, because readers add notes. wants: the arguments
 * to store (ARG_BIT), possibly ARG_BITS_ALL; other arguments are dropped. scratch must not be the
 * trace's arena; it holds data needed until the seal. */
struct trace_build *build_open(
        struct trace *t, uint64_t wants, struct notes *notes, struct arena *scratch);
struct notes *build_notes(struct trace_build *b);
const struct trace *build_trace(const struct trace_build *b);

void build_start(struct trace_build *b, enum trace_source source, int64_t ticks_per_us);
/* Sets the program that wrote the file, with its version. */
void build_producer(struct trace_build *b, struct str producer);
/* Sets the origin of time. epoch: ns since 1970. The times of appended slices are ticks after this
 * time. */
void build_origin(struct trace_build *b, int64_t ns, bool epoch);
/* Records that the source states when threads that could run had no CPU. */
void build_scheduled(struct trace_build *b);
/* States that the file ends early. */
void build_truncated(struct trace_build *b);
/* States that the source lists the devices of the machine. */
void build_lists_devices(struct trace_build *b);

uint32_t build_string(struct trace_build *b, struct str s);

/* ---- processes, devices, tracks ---- */

/* The following functions find or add an element. A returned pointer is valid until the next
 * element is added. A new process has rank and world -1, and ID_NONE for its texts. */
uint32_t build_process(struct trace_build *b, int64_t pid);
uint32_t build_process_named(struct trace_build *b, struct str pid); /* for a pid that is a text */
struct trace_process *build_process_at(struct trace_build *b, uint32_t process);

/* process: the process that numbers the device, or ID_NONE. name: "gpu:0", "/device:TPU:2". */
uint32_t build_device(struct trace_build *b, uint32_t process, enum trace_device_kind kind,
        int64_t index, struct str name);
struct trace_device *build_device_at(struct trace_build *b, uint32_t device);

/* process and device may be ID_NONE. Equal arguments give the same track. */
uint32_t build_track(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, int64_t id);
/* For sources whose tracks have names instead of numbers: "stream 7", "Spans", a counter. */
uint32_t build_track_named(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, struct str name);
/* Returns a track, to set its name, derived and clock. */
struct trace_track *build_track_at(struct trace_build *b, uint32_t track);

/* ---- arguments of the next event or slice ---- */

/* True if arguments with a key are stored; otherwise a reader can skip expensive work. */
bool build_wants(const struct trace_build *b, uint32_t key);
uint32_t build_key(struct trace_build *b,
        struct str name); /* returns the key of an argument that is not in enum argument_key */
void build_arg_int(struct trace_build *b, uint32_t key, int64_t v);
void build_arg_uint(struct trace_build *b, uint32_t key, uint64_t v);
void build_arg_real(struct trace_build *b, uint32_t key, double v);
void build_arg_text(struct trace_build *b, uint32_t key, struct str v);
void build_arg_triple(struct trace_build *b, uint32_t key, const int64_t v[3]); /* "x,y,z" */
void build_args_clear(struct trace_build *b);
/* Returns the packed arguments and clears them; valid until the next argument is set. */
struct str build_args_take(struct trace_build *b);

/* ---- slices ---- */

uint32_t build_event(struct trace_build *b, enum trace_category category, uint32_t name);

/* Returns the length that build_slice would store. */
int64_t build_length(struct trace_build *b, int64_t start, int64_t length);

/* Adds a slice. Replaces a negative length by 0 and limits the end to INT64_MAX; the trace counts
 * both cases. */
void build_slice(struct trace_build *b, uint32_t track, uint32_t event, int64_t start,
        int64_t length, int64_t correlation);
void build_instant(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t correlation);
void build_sample(struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t value);

/* For slices whose begin and end are separate events. Events may come in any order; events of the
 * same time keep the order of the calls. An end closes the innermost open slice of the track. A
 * slice without an end lasts until the latest end of its track (counted as unclosed); an end
 * without a begin is ignored (counted as unopened). */
void build_begin(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t start, int64_t correlation);
void build_end(struct trace_build *b, uint32_t track, int64_t at);

/* ---- nodes of a compiled program ---- */

uint32_t build_node(struct trace_build *b, uint64_t program, struct str name, struct str type,
        struct str category); /* uses the current arguments */
/* Adds an edge. Both nodes must exist. */
void build_node_input(struct trace_build *b, uint32_t node, uint32_t source);

/* Begins the memory of a program in a memory space; buffer0 is set. */
void build_program_memory(struct trace_build *b, struct trace_program_memory made);
/* Adds a buffer to the memory that was begun last. */
void build_buffer(struct trace_build *b, const struct trace_buffer *v);

/* ---- end ---- */

/* Sorts and numbers the slices. Nothing may be appended afterwards. */
void build_seal(struct trace_build *b);

/* Extends the window of the trace by a record that is not stored as a slice; ticks. */
void build_cover(struct trace_build *b, int64_t start, int64_t end);

/* Adds an argument to the slices of a track after sealing. numbers[i] belongs to slice i of the
 * track; 0: none. */
void build_number(struct trace_build *b, uint32_t track, uint32_t key, const uint32_t *numbers);

/* Adds a place of graph work. Returns its index. parent: the index of a place, or ID_NONE. */
uint32_t build_site(struct trace_build *b, uint32_t parent, uint32_t event, bool replayed);
void build_graph(struct trace_build *b, const struct trace_graph *graph);
void build_replay(struct trace_build *b, const struct trace_replay *replay);
void build_guess(struct trace_build *b, const struct trace_guess *step);

/* For a reader that stores only sums. build_extent: a track of the sealed trace has n slices from
 * start to end that are not stored. build_sums: sets the sums of all slices. */
void build_extent(struct trace_build *b, uint32_t track, uint32_t n, int64_t start, int64_t end);
void build_sums(struct trace_build *b, const struct trace_sums *sums);

/* ---- graphs ----
 *
 * Kernels of a replayed graph (CUDA, HIP) have one launch, so no op is around them. graph_join
 * gives each of them a place (ARG_SITE): the op in which its launch was captured, if the trace of
 * the capture is known, otherwise the graph. It is called once, after build_seal.
 */

/* The creation of a graph node, as the source states it: the id of the node (kernels have it as
 * ARG_GRAPH_NODE), the node that it was copied from (0: none), the thread and the time. */
struct build_creation {
	int64_t id, original, created; /* created: ticks */
	uint32_t track;
};
struct build_creations {
	struct build_creation *v;
	size_t n, cap;
};
void build_creation(struct trace_build *b, const struct build_creation *node);
const struct build_creations *build_get_creations(const struct trace_build *b);

/* The location of the captures of a trace's graphs. */
struct graph_source {
	struct str name;    /* path of the trace, for messages and for finding files beside it */
	struct str capture; /* file or folder that the user named; empty: none */
};

/* a: scratch arena. Returns false (*e filled) if the captures that the user named cannot be
 * read. */
bool graph_join(
        const struct graph_source *from, struct trace_build *b, struct arena *a, struct err *e);

/* ---- readers ----
 *
 * The readers of traces, a row of trace_input.def each. sniff_* rates the first decompressed bytes
 * and the path, from 0 (certainly not) to 100 (certain). read_* may read the input twice
 * (src_rewind). On failure it fills *e; the appended data is used only if s->damage says so (kept,
 * with recover set). The readers of JSON note damage, and read every complete event with or without
 * recover.
 */

#define TRACE_INPUT(reader, ...)                                                                   \
	int sniff_##reader(struct str head, struct str path);                                      \
	bool read_##reader(struct src *s, struct trace_build *to, struct arena *a, struct err *e);
#include "trace/trace_input.def"
#undef TRACE_INPUT

#endif
