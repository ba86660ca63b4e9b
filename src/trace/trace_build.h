/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a trace for its readers. Appends processes, devices, tracks, slices, instants,
 * samples and nodes of programs, in any order: build_seal orders them.
 *
 *   b = build_open(t, wants, notes, scratch)
 *   build_start(b, TRACE_KINETO, 1000)                      source and ticks per microsecond
 *   p = build_process(b, pid)                               the same id for the same pid
 *   k = build_track(b, p, ID_NONE, TRACK_THREAD, tid)
 *   build_arg_int(b, ARG_BYTES, 4096)                       arguments of what comes next:
 *   e = build_event(b, CATEGORY_OP, build_string(b, name))  of all slices of the event, or
 *   build_slice(b, k, e, start, length, correlation)        of this slice alone
 *   build_seal(b)
 *
 * build_event returns the same id for the same category, name and arguments; arguments that differ
 * from slice to slice belong to the slice. No call fails: what a trace cannot hold is counted in
 * it.
 */
#ifndef TFPROF_TRACE_TRACE_BUILD_H
#define TFPROF_TRACE_TRACE_BUILD_H

#include "base/note.h"
#include "trace/trace.h"
#include "io/src.h"

#define ARGS_MAX ((size_t)64 << 10) /* bytes of packed arguments of a slice or an event */

struct trace_build;

/* notes outlives the builder, because readers add notes. wants: the arguments to keep (ARG_BIT),
 * possibly ARG_BITS_ALL; others are dropped. scratch must not be the trace's arena; it holds data
 * needed until the seal. */
struct trace_build *build_open(
        struct trace *t, uint64_t wants, struct notes *notes, struct arena *scratch);
struct notes *build_notes(struct trace_build *b);
const struct trace *build_trace(const struct trace_build *b);

void build_start(struct trace_build *b, enum trace_source source, int64_t ticks_per_us);
/* The program that wrote the file, with its version. */
void build_producer(struct trace_build *b, struct str producer);
/* epoch: ns since 1970. Slices are appended in ticks after this time. */
void build_origin(struct trace_build *b, int64_t ns, bool epoch);

uint32_t build_string(struct trace_build *b, struct str s);

/* ---- processes, devices, tracks ---- */

/* Finds or adds; the pointer is valid until the next one is added. A new process has rank and world
 * -1, other texts ID_NONE. */
uint32_t build_process(struct trace_build *b, int64_t pid);
uint32_t build_process_named(struct trace_build *b, struct str pid); /* for a pid that is a text */
struct trace_process *build_process_at(struct trace_build *b, uint32_t process);

/* process: the one that numbers it, or ID_NONE. name: "gpu:0", "/device:TPU:2". */
uint32_t build_device(struct trace_build *b, uint32_t process, enum trace_device_kind kind,
        int64_t index, struct str name);
struct trace_device *build_device_at(struct trace_build *b, uint32_t device);

/* process and device may be ID_NONE; equal arguments give one track. */
uint32_t build_track(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, int64_t id);
/* For sources that name tracks by a text: "stream 7", "Spans", a counter. */
uint32_t build_track_named(struct trace_build *b, uint32_t process, uint32_t device,
        enum trace_track_kind kind, struct str name);
/* To set name, derived and clock. */
struct trace_track *build_track_at(struct trace_build *b, uint32_t track);

/* ---- arguments of the next event or slice ---- */

/* True if arguments with that key are kept, so a reader can skip expensive work. */
bool build_wants(const struct trace_build *b, uint32_t key);
uint32_t build_key(struct trace_build *b,
        struct str name); /* returns the key of an argument without a number */
void build_arg_int(struct trace_build *b, uint32_t key, int64_t v);
void build_arg_uint(struct trace_build *b, uint32_t key, uint64_t v);
void build_arg_real(struct trace_build *b, uint32_t key, double v);
void build_arg_text(struct trace_build *b, uint32_t key, struct str v);
void build_args_clear(struct trace_build *b);
/* Returns them instead; valid until the next one is set. */
struct str build_args_take(struct trace_build *b);

/* ---- slices ---- */

uint32_t build_event(struct trace_build *b, enum trace_category category, uint32_t name);

/* Returns the length that a slice gets: as the next function does. */
int64_t build_length(struct trace_build *b, int64_t start, int64_t length);

/* A negative length counts as 0, an end above INT64_MAX as INT64_MAX; both are counted. */
void build_slice(struct trace_build *b, uint32_t track, uint32_t event, int64_t start,
        int64_t length, int64_t correlation);
void build_instant(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t correlation);
void build_sample(struct trace_build *b, uint32_t track, uint32_t event, int64_t at, int64_t value);

/* For slices whose begin and end are separate events, in any order; those of one time in the order
 * of the calls. An end closes the innermost open slice of the track. Slices without an end take the
 * last end of their track (unclosed); an end without a begin is ignored (unopened). */
void build_begin(
        struct trace_build *b, uint32_t track, uint32_t event, int64_t start, int64_t correlation);
void build_end(struct trace_build *b, uint32_t track, int64_t at);

/* ---- nodes of a compiled program ---- */

uint32_t build_node(struct trace_build *b, uint64_t program, struct str name, struct str type,
        struct str category); /* with the arguments set before */
/* An edge; both nodes exist. */
void build_node_input(struct trace_build *b, uint32_t node, uint32_t source);

/* ---- end ---- */

/* Sorts and numbers the slices; no more may be appended. */
void build_seal(struct trace_build *b);

/* For a reader that adds slices up: a track of the sealed trace has n slices, from start to end,
 * that it does not keep; the sums of all of them. */
void build_extent(struct trace_build *b, uint32_t track, uint32_t n, int64_t start, int64_t end);
void build_sums(struct trace_build *b, const struct trace_sums *sums);

/* ---- readers ----
 *
 * The readers of traces, one per format, each with a function that rates the first bytes
 * (decompressed) and the path: 0 certainly not ... 100 certain. A reader knows its format and
 * trace_build.h. It may read the input twice (src_rewind). On failure *e is filled; appended data
 * counts only if s->damage says so (kept, with recover set).
 */

/* XSpace: TensorFlow 2 and JAX, *.xplane.pb. */
int sniff_xspace(struct str head, struct str path);
bool read_xspace(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Chrome JSON: PyTorch (Kineto), and others' events as plain slices. Damage is noted, and every
 * complete event read: recover is of no account. */
int sniff_chrome_json(struct str head, struct str path);
bool read_chrome_json(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Profile of a session of ONNX Runtime: Chrome JSON, with the same flaws noted. */
int sniff_onnxruntime(struct str head, struct str path);
bool read_onnxruntime(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Nsight Systems: its export in SQLite. */
int sniff_nsys(struct str head, struct str path);
bool read_nsys(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* rocprofv3: results in JSON. Damage is noted, and the records before it are read. */
int sniff_rocprof(struct str head, struct str path);
bool read_rocprof(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

/* Perfetto: traces in protobuf, *.pftrace and *.perfetto-trace. */
int sniff_perfetto(struct str head, struct str path);
bool read_perfetto(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

#endif
