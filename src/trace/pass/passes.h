/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes over a trace that several commands use: nesting of slices (nest), calls that launched
 * device work (link), steps, activity of devices (usage), and memory allocations (allocation).
 */
#ifndef TFPROF_TRACE_PASSES_H
#define TFPROF_TRACE_PASSES_H

#include "trace/pass/idle.h"
#include "trace/trace.h"
#include "base/pattern.h"

/* ---- nest ----
 *
 * Nesting by containment. Walks a track and reports where slices open and close. Only the open
 * slices are on a stack, so self times and enclosing slices need no memory per slice.
 *
 *   nest_init(&n, t, track, NEST_BIT(CATEGORY_OP), arena);
 *   while ((what = nest_next(&n, &level)))
 *           if (what == NEST_CLOSE)
 *                   add(level->s.name, nest_self(level));
 */

#define NEST_BIT(category) (1u << (category))
#define NEST_ALL           UINT32_MAX

/* An open slice. If its depth is not 0, the previous level contains it. */
struct nest_level {
	struct slice s;
	int64_t children; /* total length so far of its direct children */
	uint32_t depth;
	uint32_t user; /* for the caller, initially 0; kept while the slice is open */
};

enum nest_what { NEST_END, NEST_OPEN, NEST_CLOSE };

struct nest {
	const struct trace *t;
	struct arena *a;
	struct slice_iter it;
	uint32_t categories; /* NEST_BITs of the categories that nest */
	bool have;           /* the next slice has been read */
	struct slice next;
	VEC(struct nest_level) stack;
	uint64_t overlaps; /* slices that begin inside another slice and end after it */
};

/* categories: NEST_BITs of the categories that nest. Instants and samples are skipped. */
void nest_init(struct nest *n, const struct trace *t, uint32_t track, uint32_t categories,
        struct arena *a);

/* Returns the next event, in order of time. *level is valid until the next call. */
enum nest_what nest_next(struct nest *n, struct nest_level **level);

/* For callers that have the slices one at a time, in track order: closes and returns the innermost
 * slice if it does not contain `next` (NULL: end of the track); returns NULL if `next` can be
 * opened. */
struct nest_level *nest_close(struct nest *n, const struct slice *next);
struct nest_level *nest_open(struct nest *n, const struct slice *s);

/* Returns the self time: the length without direct children. */
static inline int64_t nest_self(const struct nest_level *level)
{
	return level->children < level->s.length ? level->s.length - level->children : 0;
}

/* Returns the innermost open slice of these categories that contains a level, or NULL. */
const struct nest_level *nest_around(
        const struct nest *n, const struct nest_level *level, uint32_t categories);

/* Returns the categories with one of these flags, as NEST_BITs. */
uint32_t nest_bits(unsigned category_flags);

/* ---- link ----
 *
 * Links device work to the call that launched it, by process and correlation, and to the innermost
 * op that contains the call on its thread. If no op contains the call, the work belongs to the op
 * with its external id, otherwise to the innermost annotation, module or frame that contains the
 * call.
 */

/* A call with a correlation. */
#define LAUNCH_LENGTH_MAX ((UINT32_C(1) << 31) - 1)
struct launch {
	int64_t start;
	uint32_t slice;          /* number of the slice of the call */
	uint32_t op;             /* number of the innermost op that contains the call, or ID_NONE */
	uint32_t scope;          /* likewise of the innermost annotation, module or frame */
	uint32_t collective : 1; /* that op is a collective */
	uint32_t length : 31;    /* of the call; LAUNCH_LENGTH_MAX: that or more */
};

struct trace_links {
	const struct trace *t;
	VEC(struct launch) launches;
	struct idmap *by_correlation; /* by process; the last one for tracks without a process */
	struct idmap *by_external;    /* ops; built only if a launch is outside of all ops */
	bool externals;
};

/* Walks all threads. The result lives in a. */
void trace_link(const struct trace *t, struct trace_links *out, struct arena *a);

/* Returns the end of the call. */
int64_t launch_end(const struct trace_links *l, const struct launch *launch);

/* Returns the launch of device work, or NULL if unknown. */
const struct launch *link_launch(const struct trace_links *l, const struct slice *work);

/* Returns the number of the slice that device work is attributed to: an op, otherwise the scope of
 * the launch, or ID_NONE. launch may be NULL. */
uint32_t link_op(
        const struct trace_links *l, const struct slice *work, const struct launch *launch);

/* ---- steps ----
 *
 * The steps of a trace, as the source marks them: numbered slices of the category step, otherwise
 * such slices without numbers, otherwise groups of slices, otherwise runs of a program. Without
 * marks the steps are unknown, and there is one step.
 * A step is an interval for all devices, or one interval per device. A slice outside of all
 * intervals belongs to the previous step (before the first step: to the first one), so the steps
 * add up to the whole trace.
 */

enum steps_by {
	STEPS_UNKNOWN,
	STEPS_BY_MARK,
	STEPS_BY_SERVING, /* annotations of a server (serving.h): marks without numbers */
	STEPS_BY_GROUP,
	STEPS_BY_RUN
};
extern const char *const steps_by_names[]; /* "unknown", "mark", "annotation", "group", "run" */

struct trace_step {
	int64_t id;
	uint32_t name;      /* string id, or ID_NONE */
	int64_t start, end; /* interval of the longest mark, or of all slices of a group; of a
	                       server: of the device work that the mark launched, if any */
};

struct step_interval {
	uint32_t device;  /* ID_NONE: the interval applies to threads */
	uint32_t process; /* process of the threads, if several processes mark steps; otherwise
	                     ID_NONE */
	uint32_t step;    /* index */
	int64_t start, end;
};

struct trace_steps {
	const struct trace *t;
	enum steps_by by;
	bool by_start;   /* marks share numbers, so each mark is a step, numbered from 0 by start */
	bool by_process; /* each process has its own marks */
	VEC(struct trace_step) steps;        /* sorted by start; at least one */
	VEC(struct step_interval) intervals; /* sorted by device, process, start */
	struct imap by_id;                   /* zigzag-encoded id -> index */
};

void trace_find_steps(const struct trace *t, struct trace_steps *out, struct arena *a);
/* Finds the steps of a server, even if the source has numbered steps. */
void trace_find_served(const struct trace *t, struct trace_steps *out, struct arena *a);

/* Returns the index of the step of a slice. launch: the launch of device work, or NULL. */
uint32_t trace_step_of(
        const struct trace_steps *s, const struct slice *slice, const struct launch *launch);

/* ---- usage ----
 *
 * The activity of each device, as unions of intervals: busy time, time per class, overlap, and idle
 * time by cause (trace/pass/idle.h). One pass for stored slices (trace_usage) and for callers that
 * have the slices one at a time (usage_begin). Steps get the part of each interval that is inside
 * of them, so a step adds up as its devices do.
 */

/* Classes of device work. */
enum usage_class { USAGE_COMPUTE, USAGE_COMMUNICATION, USAGE_COPY, USAGE_CLASS_N };

/* Returns the class of device work by its event. launch: the call that launched it, or NULL; work
 * of a collective op is communication. */
enum usage_class usage_class_of(const struct trace *t, uint32_t event, const struct launch *launch);

/* Unions: of a class, of compute and communication, of all classes, of all work. */
enum usage_cover { COVER_KERNELS = USAGE_CLASS_N, COVER_CLASSED, COVER_BUSY, COVER_N };

/* Times of a device, or of a step summed over the devices; ticks. */
struct usage_times {
	union {
		int64_t covered[COVER_N];
		struct {
			int64_t by_class[USAGE_CLASS_N]; /* union of each class */
			int64_t kernels;                 /* union of compute and communication */
			int64_t classed;
			int64_t busy; /* union of all work */
		};
	};
	int64_t idle[IDLE_CAUSES]; /* adds up to the rest of the interval */
};

/* A partition of the window of a device, ns: the four parts add up to the window exactly. */
struct usage_partition {
	int64_t window, compute, /* kernels that are neither communication nor copies */
	        communication,   /* exposed: without compute */
	        copy,            /* exposed: without compute and communication */
	        idle;
};

/* Returns the partition of a window of the given length in ticks; for n windows that were added up,
 * the partition of one on average. */
struct usage_partition usage_partition(
        const struct trace *t, const struct usage_times *u, int64_t window, size_t n);

/* Returns the time of communication and compute at the same time. */
int64_t usage_overlap(const struct usage_times *u);
/* Returns the time of copies and kernels at the same time. */
int64_t usage_copy_overlap(const struct usage_times *u);
/* Returns the time of communication without compute, and of copies without either. Together with
 * compute they are the busy time. */
int64_t usage_exposed_communication(const struct usage_times *u);
int64_t usage_exposed_copy(const struct usage_times *u);

struct device_usage {
	struct usage_times times;    /* in the window of the whole trace */
	struct usage_times in_steps; /* in the steps, added up; zero if there was no question */
	uint32_t device;
	uint64_t slices;
	int64_t window;     /* length of the window of the whole trace */
	int64_t start, end; /* first start, last end */
	int64_t sum;        /* sum of the lengths of all slices that are not nested */
	int64_t copy_bytes;
};
struct trace_usage {
	VEC(struct device_usage) devices; /* devices with work, in the order of trace.devices */
};

/* Activity in a step: of each device of trace_usage clipped to the step, then summed. */
struct step_usage {
	struct usage_times times;
	uint64_t slices;
};

/* Returns the idle time of one cause, ns. Rounded so that the causes of a device or step add up to
 * the length of its interval in ns without its busy time in ns. */
int64_t usage_idle_ns(const struct trace *t, const struct usage_times *u, enum idle_cause why);

/* The union of intervals that are added in order of their starts. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

/* Callbacks, each may be NULL: device is called at the start of each device, work for each slice of
 * its work in order of starts. busy: the union of the previous slices of the device. */
struct usage_watch {
	void (*device)(void *user, uint32_t device);
	void (*work)(void *user, const struct slice *s, const struct cover *busy,
	        const struct launch_call *call);
	idle_piece *idle; /* its pieces of a device come in order, those of devices may mix */
	void *user;
};

/* Input and further output of trace_usage. */
struct usage_request {
	const struct trace_links *links; /* NULL: work has ARG_LATENCY, or its launch is unknown */
	const struct usage_watch *watch; /* or NULL */
	const struct trace_steps *steps; /* or NULL */
	struct step_usage *by_step;      /* with steps: zeroed, one for each of them; or NULL */
};

/* The devices live in a. */
void trace_usage(const struct trace *t, const struct usage_request *request,
        struct trace_usage *out, struct arena *a);

/* Finds the lengths of edges without waiting, of each device. links may be NULL. */
void trace_bases(const struct trace *t, const struct trace_links *links, struct idle_base *out,
        struct arena *a);

/* Finds the call that launched device work. */
struct launch_call work_call(
        const struct trace *t, const struct trace_links *links, const struct slice *s);

/* For callers that have the work of streams one slice at a time, in order of starts. by_step:
 * zeroed by the caller. The tracks, devices and steps of the trace must be complete. */
struct usage_adding;
struct usage_adding *usage_begin(const struct trace *t, const struct trace_steps *steps,
        struct step_usage *by_step, struct arena *a);
/* collective: the op that launched the work is a collective. */
void usage_add(struct usage_adding *x, const struct slice *s, const struct launch_call *call,
        bool collective);
/* A slice for which slice_is_event_wait is true. */
void usage_wait(struct usage_adding *x, const struct slice *s);
void usage_end(struct usage_adding *x, struct trace_usage *out, struct arena *a);

/* ---- communication ----
 *
 * Device work that moves data between devices: recognised by the arguments of its slice (the
 * process group), the op that launched it, and the name of the kernel. trace/pass/communication.def
 * is the list.
 */

enum communication_by {
	COMMUNICATION_PREFIX, /* the kernel's name begins with the text */
	COMMUNICATION_NAME,   /* the kernel's name, without templates and parameters, contains it */
	COMMUNICATION_OP,     /* the name of the launching op begins with it */
	COMMUNICATION_ARGUMENT /* the slice or its event has the argument */
};
struct communication_row {
	const char *library;
	enum communication_by by;
	const char *text;
};
extern const struct communication_row communication_rows[];
extern const size_t communication_n;

bool communication_is_kernel(struct str name);
bool communication_is_op(struct str name);
/* True if an event has the argument of a process group. */
bool communication_is_event(const struct trace *t, uint32_t event);

/* ---- work merge ----
 *
 * Merges the device work of several tracks by start.
 */

/* A track: its next slice of work, and the one after it. */
struct work_cursor {
	struct slice_iter it;
	struct slice now, after;
	bool have, have_after;
	bool waits; /* returns waits for events, too */
};

struct work_merge {
	const struct trace *t;
	struct work_cursor *v; /* a heap, ordered by start and track */
	size_t n;
	bool begun;
};

/* device: merges only the work of this device; ID_NONE: of all devices. waits: also returns slices
 * that tell that a stream waits for an event. */
void work_merge_init(
        struct work_merge *m, const struct trace *t, uint32_t device, bool waits, struct arena *a);

/* Returns the next slice, valid until the next call; NULL at the end. *contains: set if the slice
 * is on a line of ops and contains the next slice of its track. */
const struct slice *work_merge_next(struct work_merge *m, bool *contains);

/* ---- allocation ----
 *
 * Reads memory allocations and releases from the slices of a trace.
 */

struct allocation {
	struct str device, allocator; /* p NULL: unknown */
	bool freed;
	int64_t bytes; /* size of the allocation or release, never negative; 0: unknown */
	bool has_address;
	uint64_t address;
	/* Totals that the source recorded for the allocator; negative: unknown. */
	int64_t in_use, peak, reserved, capacity;
};

/* Returns the labels of all devices, in a. */
struct str *allocation_labels(const struct trace *t, struct arena *a);
/* Returns the memory of the device with a label, or -1. */
int64_t allocation_capacity(const struct trace *t, const struct str *labels, struct str device);

/* Fills *out with an allocation or a release. Returns false if the slice is neither. */
bool allocation_of(const struct trace *t, const struct slice *s, const struct str *labels,
        struct allocation *out);

/* ---- names of steps ----
 *
 * Recognises ranges that are steps, by the user's pattern or by common names.
 */

#define STEP_RANGE_NAME  4096 /* longer names are not matched with a pattern */
#define STEP_RANGE_TORCH "ProfilerStep#"

/* Compiles a pattern of range names; "pytorch", "optimizer" and "xla" stand for predefined
 * patterns. An empty pattern sets *out to NULL. */
bool step_range_compile(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e);

/* True if the pattern matches a name of at most STEP_RANGE_NAME bytes. pattern may be NULL. */
bool step_range_matches(struct pattern_list *pattern, struct str name);

/* True for names such as "step 7", "Iteration_12" and "ProfilerStep#3". */
bool step_range_is_common(struct str name);

/* Returns the number at the end of a name, or -1. */
int64_t step_range_number(struct str name);

#endif
