/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace: what happened from t0 to t1 on a track, for every source. Terms are Perfetto's: process,
 * track (a thread, a stream, a line of a plane, a counter), slice (an interval with a duration),
 * instant, sample (of a counter). Readers fill a trace through trace_build.h; passes read it
 * through the iterators below. Immutable once built; everything lives in the arena given to
 * trace_new.
 *
 * Slices are stored by track, and on a track by start, the longest first, then in the order of the
 * file. They are encoded in blocks (trace_store.c), so passes store numbers of slices instead of
 * pointers. Times are ticks after the trace's origin; ticks_per_us says how long a tick is.
 */
#ifndef TFPROF_TRACE_TRACE_H
#define TFPROF_TRACE_TRACE_H

#include "base/map.h"
#include "base/num.h"
#include "base/arena.h"

#define TRACE_SLICES_MAX (UINT32_MAX - 1)

enum trace_category_flag {
	CATEGORY_WORK = 1,      /* on a device track: work of the device */
	CATEGORY_HOST_NEST = 2, /* on a thread: a level that can contain other slices */
	CATEGORY_LAUNCH = 4     /* on a thread: a call that may launch device work */
};
#define CATEGORY(id, name, flags) CATEGORY_##id,
enum trace_category {
#include "trace/category.def"
	CATEGORY_N
};
#undef CATEGORY
/* Sets of categories. */
#define CATEGORY_BIT(category) (1u << (category))
_Static_assert(CATEGORY_N <= 32, "a set of categories is 32 bits");
extern const char *const trace_category_names[CATEGORY_N];
extern const unsigned trace_category_flags[CATEGORY_N];

/* ---- arguments ---- */

#define ARGUMENT(id, name, meaning) ARG_##id,
enum argument_key {
#include "trace/argument.def"
	ARG_N
};
#undef ARGUMENT
_Static_assert(ARG_N < 63, "a set of keys is 64 bits; the last bit stands for other keys");
extern const char *const argument_names[ARG_N];

#define ARG_BIT(key)  ((uint64_t)1 << (key))
#define ARG_BIT_OTHER ((uint64_t)1 << 63)
#define ARG_BITS_ALL  UINT64_MAX
/* The arguments of work that replace its launching call. */
#define TRACE_LAUNCH_ARGS (ARG_BIT(ARG_LATENCY) | ARG_BIT(ARG_CALL_LENGTH))
static inline uint64_t argument_bit(uint32_t key)
{
	return key < ARG_N ? ARG_BIT(key) : ARG_BIT_OTHER;
}

enum argument_type { ARG_INT, ARG_UINT, ARG_REAL, ARG_TEXT };
struct argument {
	uint32_t key; /* an argument_key, or ARG_N + the string id of any other name */
	enum argument_type type;
	union {
		int64_t i;
		uint64_t u;
		double real;
		uint32_t text; /* string id */
	};
};

/* Takes the next argument of packed arguments; false at their end. */
bool argument_next(struct str *packed, struct argument *out);
/* Returns the ARG_BITs of the keys in packed arguments. */
uint64_t argument_keys(struct str packed);
/* Finds an argument by its key. If there are several, the last one counts. */
bool argument_find(struct str packed, uint32_t key, struct argument *out);

/* ---- processes, devices, tracks ---- */

enum trace_device_kind { DEVICE_KIND_CPU, DEVICE_KIND_GPU, DEVICE_KIND_TPU, DEVICE_KIND_OTHER };
extern const char *const trace_device_kinds[]; /* "cpu", "gpu", "tpu", "other" */

struct trace_process {
	int64_t pid;
	int64_t rank, world;      /* rank and size of a distributed job; -1: unknown */
	uint32_t name, host, job; /* string ids, or ID_NONE */
};

struct trace_device {
	enum trace_device_kind kind;
	int64_t index;           /* number of the device as the source counts it */
	uint32_t process;        /* the process that numbers the device, or ID_NONE */
	uint32_t name;           /* string id: "/device:GPU:4", "gpu:0"; never ID_NONE */
	uint32_t model;          /* string id: "NVIDIA H100", or ID_NONE */
	uint32_t uuid;           /* string id, or ID_NONE */
	double peak_flops;       /* operations per second; 0: unknown */
	double peak_bytes;       /* peak of the memory bandwidth, bytes per second */
	int64_t memory;          /* bytes */
	int64_t multiprocessors; /* 0: unknown */
};

enum trace_track_kind { TRACK_THREAD, TRACK_STREAM, TRACK_LINE, TRACK_COUNTER };
enum trace_clock { CLOCK_HOST, CLOCK_DEVICE };

struct slice_block; /* encoded slices (trace_store.c) */
struct trace_track {
	enum trace_track_kind kind;
	enum trace_clock clock;
	bool derived;             /* true: repeats the time of other tracks, so it is never added
	                             up */
	uint32_t process, device; /* may be ID_NONE; a track with a device contains work of that
	                             device */
	int64_t id;               /* number of the thread, stream or line as the source counts it */
	uint32_t name;            /* string id, or ID_NONE */
	uint32_t first, n;        /* its slices are numbers first .. first + n */
	uint32_t categories;      /* CATEGORY_BITs of its slices */
	int64_t start, end;       /* first start and last end of the slices; 0 without slices */
	VEC(struct slice_block) blocks;
};

/* Data common to slices of one kind. */
struct trace_event {
	enum trace_category category;
	uint32_t name;   /* string id */
	struct str args; /* packed; the arguments of a slice have precedence */
	uint64_t keys;   /* ARG_BITs of args */
};

/* A place in the program from which work of a graph comes: an op, module, annotation or frame
 * around the captured call, or the graph itself if the capture is unknown. */
struct trace_site {
	uint32_t parent; /* index of the place around it, which is lower, or ID_NONE */
	uint32_t event;
	bool in_module; /* true: it is a module, or inside a module */
	bool replayed;  /* true: it ran inside the capture, so each launch of the graph counts as a
	                   run */
};

/* A graph (CUDA, HIP) whose launches ran the same work. */
struct trace_graph {
	uint32_t process;
	uint32_t number; /* number in the order of first launches, from 1 */
	uint64_t launches, work;
	int64_t time; /* sum of the lengths of the work, ticks */
};

/* A launch of a graph. */
struct trace_replay {
	int64_t start;  /* start of the call */
	uint32_t graph; /* index in graphs */
	int64_t batch;  /* number of tokens or requests for which the graph was captured; 0:
	                   unknown */
};

/* A guessed step. The user asked for guesses in a trace without marks. */
struct trace_guess {
	int64_t start, end;
	uint32_t name; /* string id */
};

/* A node of the program that the source compiled (HLO), if the file contains it. */
struct trace_node {
	uint32_t name, type, category; /* string ids; category may be ID_NONE */
	uint64_t program;
	struct str args; /* packed */
	uint32_t input0; /* its inputs end at input0 of the next node */
};

/* The memory that the compiler assigned to a program in a memory space, if the file contains it. */
struct trace_program_memory {
	uint32_t name;    /* string id: name and number of the program */
	int64_t space;    /* 0: the main memory of the device */
	int64_t reserved; /* bytes of all allocations */
	size_t buffer0;   /* its buffers end at buffer0 of the next program */
	bool knows_use;   /* true: the parameters whose last use is before the peak are known */
};

enum trace_buffer_kind {
	BUFFER_PARAMETER,
	BUFFER_USED_PARAMETER, /* a parameter whose last use is before the peak */
	BUFFER_CONSTANT,
	BUFFER_OUTPUT,
	BUFFER_TEMPORARY,
	BUFFER_KINDS
};
/* A buffer of a program. It exists from `from` to `until`, which are positions in the program's
 * schedule. */
struct trace_buffer {
	uint32_t op, source; /* string ids, or ID_NONE; source: file:line */
	int64_t bytes;
	uint32_t from, until; /* until UINT32_MAX: the end of the program */
	uint8_t kind;         /* enum trace_buffer_kind */
};

#define SOURCE(id, name, table, levels, flat, gaps, leaf) TRACE_##id,
enum trace_source {
#include "trace/source.def"
	TRACE_SOURCES
};
#undef SOURCE
extern const char *const trace_source_names[TRACE_SOURCES];  /* "PyTorch trace" */
extern const char *const trace_source_tables[TRACE_SOURCES]; /* "pytorch", as in the names of
                                                                tables */

#define TRACE_KEPT_MAX (64ull << 20) /* maximum size of a file whose slices are always kept */

/* Results of the passes for a trace whose reader stored only sums of its slices. */
struct trace_steps;
struct trace_ops;
struct trace_usage;
struct step_usage;
struct trace_sums {
	const struct trace_steps *steps;
	const struct trace_ops *ops; /* ops of the grouping -by path */
	const struct trace_usage *usage;
	const struct step_usage *by_step;
	struct str path; /* path of the file, for reading the slices later */
};

struct trace {
	struct arena *a;
	const struct trace_sums *sums; /* NULL: the trace stores its slices */
	enum trace_source source;
	uint32_t producer; /* string id: program that wrote the file, with its version; or
	                      ID_NONE */
	int64_t ticks_per_us;
	int64_t origin_ns; /* time of tick 0: since 1970 if epoch is set, otherwise on the source's
	                      clock */
	bool epoch;
	struct intern strings;
	VEC(struct trace_process) processes;
	VEC(struct trace_device) devices; /* sorted by kind and number once the trace is sealed */
	VEC(struct trace_track) tracks;   /* in the order in which they were first named */
	VEC(struct trace_event) events;
	VEC(struct trace_node) nodes; /* if there are nodes, one more element than nodes */
	VEC(uint32_t) inputs;         /* inputs of the nodes: indexes of nodes */
	VEC(struct trace_program_memory) program_memory;
	VEC(struct trace_buffer) buffers;
	VEC(struct trace_site) sites;
	VEC(struct trace_graph) graphs;
	VEC(struct trace_replay) replays; /* sorted by start */
	VEC(struct trace_guess) guesses;  /* sorted by start */
	uint32_t n_slices;                /* including instants and samples */
	uint64_t keys;     /* ARG_BITs of the arguments that some slice or event has */
	uint64_t clamped;  /* number of slices whose negative length became 0, or whose end became
	                      INT64_MAX */
	uint64_t unclosed; /* number of slices that had begun and did not end; they end with their
	                      track */
	uint64_t unopened; /* number of ends of slices that had not begun; they are ignored */
	uint64_t lost;     /* minimum number of pieces of device work that the file is known to
	                      lack */
	uint64_t dropped_slices; /* number of slices above TRACE_SLICES_MAX */
	bool truncated;        /* true: the file ends early, so it lacks the events after its end */
	bool lists_devices;    /* true: the source lists the devices of the machine */
	bool by_ranges;        /* for a recording: true if the ranges on threads are levels of ops,
	                          as in an Nsight Systems export; otherwise work states its
	                          ranges */
	bool scheduled;        /* true: the source states when threads that could run had no CPU
	                          (slices of CATEGORY_PREEMPTED) */
	uint64_t dropped_args; /* number of arguments above ARGS_MAX */
	uint64_t bytes;        /* size of the uncompressed input; 0: unknown */
	/* Times of records that the reader did not store as slices; ticks. */
	struct trace_extent {
		bool any;
		int64_t start, end;
	} extent;
};

struct trace *trace_new(struct arena *a);
/* Returns a copy of a trace in another arena. */
struct trace *trace_copy(const struct trace *t, struct arena *a);

static inline struct str trace_str(const struct trace *t, uint32_t id)
{
	return id == ID_NONE ? STR_NONE : t->strings.strings[id];
}
/* True if the name of a Python frame has a source line; built-in functions have none. */
static inline bool frame_has_line(struct str name)
{
	return !str_starts(name, S("<built-in "));
}
static inline bool track_is_device(const struct trace_track *k)
{
	return k->device != ID_NONE;
}
/* True for a thread that works or waits, in contrast to a track that has only slices of no known
 * category, such as the span of PyTorch's profiler, which is as long as the trace, or only
 * allocations, such as a memory timeline. */
static inline bool track_is_thread(const struct trace_track *k)
{
	return !track_is_device(k) && !k->derived && k->kind != TRACK_COUNTER &&
	       k->categories & ~(CATEGORY_BIT(CATEGORY_OTHER) | CATEGORY_BIT(CATEGORY_ALLOCATION));
}

/* Returns the key of an argument that is not in enum argument_key, or ID_NONE if no slice has it.
 */
uint32_t trace_key(const struct trace *t, const char *name);

/* Returns the tracks in the order in which they are shown: by process, device, kind and id; in
 * a. */
uint32_t *trace_track_order(const struct trace *t, struct arena *a);

/* Returns a device's name, unique in the trace: "rank 0 /gpu:3" or "/device:GPU:4"; in a. */
struct str trace_device_label(const struct trace *t, uint32_t device, struct arena *a);

/* Finds the first start and the last end of all tracks, ticks. Returns false if there are no
 * slices. */
bool trace_span(const struct trace *t, int64_t *start, int64_t *end);

/* Finds the window of the whole trace, ticks: from the first start to the last end of all tracks
 * that are not derived, and of all records that were not stored. Both are 0 if there are none. */
void trace_window(const struct trace *t, int64_t *start, int64_t *end);

/* ---- slices ---- */

enum slice_form { SLICE_COMPLETE, SLICE_INSTANT, SLICE_SAMPLE };

/* A copy of a slice that an iterator returns. args point into the trace. */
struct slice {
	uint32_t number; /* number of the slice in the trace */
	uint32_t track;
	uint32_t event; /* in trace.events */
	enum slice_form form;
	enum trace_category category;
	uint32_t name; /* string id */
	int64_t start,
	        length; /* ticks; length is never negative and start + length never overflows */
	int64_t correlation; /* 0: no correlation */
	struct str args;     /* packed; without the arguments of the event */
	uint64_t keys;       /* ARG_BITs of the keys in args; all bits set before slice_find_keys */
};
static inline int64_t slice_end(const struct slice *s)
{
	return s->start + s->length;
}

struct slice_iter {
	const struct trace *t;
	uint32_t track, block;
	const uint8_t *p;
	int64_t start;         /* start of the last slice */
	uint32_t number, left; /* of the next slice: its number; number of slices left in the
	                          block */
};

/* Iterates over the slices of a track in order, including instants and samples. */
struct slice_iter trace_slices(const struct trace *t, uint32_t track);
/* Iterates over the slices of a track like trace_slices, but returns nothing if no slice of the
 * track has one of the categories (CATEGORY_BITs). Otherwise, slices of other categories are
 * included. */
struct slice_iter trace_slices_if(const struct trace *t, uint32_t track, uint32_t categories);
bool slice_next(struct slice_iter *i, struct slice *out);

/* Reads one slice by its number. Decodes at most a few dozen slices of its block. */
void trace_slice(const struct trace *t, uint32_t number, struct slice *out);

/* Returns the track of a slice without decoding it. */
uint32_t trace_track_of(const struct trace *t, uint32_t number);

/* Sets s->keys from the slice's own arguments, which speeds up lookups of several arguments. */
static inline void slice_find_keys(struct slice *s)
{
	s->keys = argument_keys(s->args);
}
/* False if neither the slice nor its event can have an argument with this key. */
static inline bool slice_may_have(const struct trace *t, const struct slice *s, uint32_t key)
{
	return (s->keys | t->events.v[s->event].keys) & t->keys & argument_bit(key);
}
/* Finds an argument of a slice or, if the slice lacks it, of its event. Returns false if both lack
 * it. */
bool slice_argument(
        const struct trace *t, const struct slice *s, uint32_t key, struct argument *out);
/* Converts an argument to an integer. Truncates reals, and parses texts of digits. Returns false
 * for other texts. */
bool argument_int(const struct trace *t, const struct argument *a, int64_t *out);
/* Reads an argument of a slice as an integer. Returns false if there is none. */
bool slice_read_int(const struct trace *t, const struct slice *s, uint32_t key, int64_t *out);
static inline bool slice_has_int(
        const struct trace *t, const struct slice *s, uint32_t key, int64_t *out)
{
	return slice_may_have(t, s, key) && slice_read_int(t, s, key, out);
}
static inline int64_t slice_int(const struct trace *t, const struct slice *s, uint32_t key)
{
	int64_t v = 0;

	return slice_has_int(t, s, key, &v) ? v : 0;
}
/* Returns the text of an argument. The text is empty (p is NULL) if the argument is missing or a
 * number. */
static inline struct str slice_text(const struct trace *t, const struct slice *s, uint32_t key)
{
	struct argument a;

	return slice_may_have(t, s, key) && slice_argument(t, s, key, &a) && a.type == ARG_TEXT
	               ? trace_str(t, a.text)
	               : STR_NONE;
}

/* Returns the site of device work, or ID_NONE. */
uint32_t slice_site(const struct trace *t, const struct slice *s);

/* Returns 1 if a copy used pageable host memory, 0 if it did not, and -1 if the file does not
 * say. */
int slice_is_pageable(const struct trace *t, const struct slice *s);

/* The directions of copies. */
enum copy_way { COPY_HTOD, COPY_DTOH, COPY_DTOD, COPY_PTOP, COPY_HTOH, COPY_WAYS };

/* Returns the direction of a copy, from its argument or its name; COPY_WAYS: not known. */
enum copy_way slice_copy_way(const struct trace *t, const struct slice *s);

/* True for a complete slice of device work that counts: on a device's track that is not derived. */
bool slice_is_work(const struct trace *t, const struct slice *s);

/* ---- times ---- */

/* trace_ns returns ticks in nanoseconds, trace_us in microseconds; both round down. */
int64_t trace_ns(const struct trace *t, int64_t ticks);
int64_t trace_us(const struct trace *t, int64_t ticks);

#endif
