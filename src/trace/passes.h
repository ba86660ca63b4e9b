/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes over a trace that several commands use: which slice contains which (nest), which call
 * launched device work (link), where steps begin, what devices did (usage), and which slices
 * allocate memory.
 */
#ifndef TFPROF_TRACE_PASSES_H
#define TFPROF_TRACE_PASSES_H

#include "trace/trace.h"
#include "base/pattern.h"

/* ---- nest ----
 *
 * Nesting by containment. Walks a track and reports where slices open and close, with an
 * explicit stack, so that self times and enclosing slices are known without memory for each slice.
 *
 *   nest_init(&n, t, track, NEST_BIT(CATEGORY_OP), arena);
 *   while ((what = nest_next(&n, &level)))
 *           if (what == NEST_CLOSE)
 *                   add(level->s.name, nest_self(level));
 */

#define NEST_BIT(category) (1u << (category))
#define NEST_ALL           UINT32_MAX

/* An open slice. The slice that contains it is the previous level, if its depth is not 0. */
struct nest_level {
	struct slice s;
	int64_t children; /* total length of the slices directly inside, so far */
	uint32_t depth;
	uint32_t user; /* for the caller, initially 0; kept while the slice is open */
};

enum nest_what { NEST_END, NEST_OPEN, NEST_CLOSE };

struct nest {
	const struct trace *t;
	struct arena *a;
	struct slice_iter it;
	uint32_t categories; /* categories that count */
	bool have;           /* the next slice has been read */
	struct slice next;
	VEC(struct nest_level) stack;
	uint64_t overlaps; /* slices that begin inside another and end after it: not nested */
};

/* categories: NEST_BITs of those that count; instants and samples never do. */
void nest_init(struct nest *n, const struct trace *t, uint32_t track, uint32_t categories,
        struct arena *a);

/* Returns the next opening or closing, by time. *level is valid until the next call. */
enum nest_what nest_next(struct nest *n, struct nest_level **level);

/* For slices that come one at a time, in the order of their track: closes the innermost slice if
 * next (NULL: the end) is not inside it, and returns it; NULL if next can be opened. */
struct nest_level *nest_close(struct nest *n, const struct slice *next);
struct nest_level *nest_open(struct nest *n, const struct slice *s);

/* Returns its length without the slices directly inside. */
static inline int64_t nest_self(const struct nest_level *level)
{
	return level->children < level->s.length ? level->s.length - level->children : 0;
}

/* Returns the innermost open slice around a level with one of these categories, or NULL. */
const struct nest_level *nest_around(
        const struct nest *n, const struct nest_level *level, uint32_t categories);

/* Categories with a flag, as NEST_BITs. */
uint32_t nest_bits(unsigned category_flags);

/* ---- link ----
 *
 * Links device work to the call that launched it, by process and correlation, and to the
 * innermost op around that call on its thread. If no op contains the call, the op with the work's
 * external id counts, else the innermost annotation, module or frame around the call.
 */

/* A call with a correlation. */
struct launch {
	int64_t start;
	uint32_t slice; /* number of its slice */
	uint32_t op;    /* number of the innermost op around it, or ID_NONE */
	uint32_t scope; /* number of the innermost slice of any other level around it, or ID_NONE */
};

struct trace_links {
	const struct trace *t;
	VEC(struct launch) launches;
	struct idmap *by_correlation; /* by process; the last one is for tracks without a process */
	struct idmap *by_external; /* ops by external id; made when a launch has no op around it */
	bool externals;
};

/* Walks all threads; out lives in a. */
void trace_link(const struct trace *t, struct trace_links *out, struct arena *a);

/* Returns the launch of device work, or NULL if the file has none. */
const struct launch *link_launch(const struct trace_links *l, const struct slice *work);

/* The number of the slice that device work with that launch, which may be NULL, is attributed to:
 * an op, else what contains the launch; ID_NONE if there is none. */
uint32_t link_op(
        const struct trace_links *l, const struct slice *work, const struct launch *launch);

/* ---- steps ----
 *
 * The steps of a trace, from the source's own marks: slices of the category step, otherwise
 * groups of slices, otherwise runs of a program. Without marks the steps are unknown, and there is
 * one step. Steps are intervals, of all devices or of one each. A slice outside of all intervals
 * belongs to the step before it (before the first step: to the first), so sums over steps lose
 * nothing.
 */

enum steps_by { STEPS_UNKNOWN, STEPS_BY_MARK, STEPS_BY_GROUP, STEPS_BY_RUN };
extern const char *const steps_by_names[]; /* "unknown", "mark", "group", "run" */

struct trace_step {
	int64_t id;
	uint32_t name;      /* string id, or ID_NONE */
	int64_t start, end; /* interval of its longest mark; for a group, of all its slices */
};

struct step_interval {
	uint32_t device;  /* or ID_NONE: of threads */
	uint32_t process; /* of these threads, if several processes mark steps, else ID_NONE */
	uint32_t step;    /* index */
	int64_t start, end;
};

struct trace_steps {
	const struct trace *t;
	enum steps_by by;
	bool by_start; /* marks share numbers: each is a step, numbered from 0; groups do not count
	                */
	bool by_process;              /* the threads of each process have marks of their own */
	VEC(struct trace_step) steps; /* by start; at least one */
	VEC(struct step_interval) intervals; /* by device, process, start */
	struct imap by_id;                   /* zigzag of id -> index */
};

void trace_find_steps(const struct trace *t, struct trace_steps *out, struct arena *a);

/* Returns the index of the step of a slice; launch: of device work, or NULL. */
uint32_t trace_step_of(
        const struct trace_steps *s, const struct slice *slice, const struct launch *launch);

/* ---- usage ----
 *
 * The activity of each device, as unions of intervals: busy, by class, overlap, and reasons
 * for idle time.
 */

/* Classes of device work. */
enum usage_class { USAGE_COMPUTE, USAGE_COMMUNICATION, USAGE_COPY, USAGE_CLASS_N };

/* Reasons why a stream was idle before a slice. */
enum usage_idle {
	IDLE_HOST,   /* the slice was launched after its predecessor had ended */
	IDLE_KERNEL, /* launched in time, and the gap is short */
	IDLE_OTHER,
	IDLE_N
};
#define IDLE_KERNEL_NS 30000 /* shorter gaps count as kernel wait */

/* All times are ticks. */
struct device_usage {
	uint32_t device;
	uint64_t slices;
	int64_t start, end;              /* first start, last end */
	int64_t busy;                    /* union of all work */
	int64_t by_class[USAGE_CLASS_N]; /* unions */
	int64_t overlap;                 /* communication and compute at the same time */
	int64_t kernels;                 /* communication or compute */
	int64_t copy_overlap;            /* copies and kernels at the same time */
	int64_t sum;                     /* sum of all lengths; for nested ops only the outermost */
	int64_t copy_bytes;
	int64_t idle_why[IDLE_N]; /* summed over streams, so more than the device's idle time */
};
static inline int64_t usage_idle(const struct device_usage *u)
{
	return num_sub(num_sub(u->end, u->start), u->busy);
}

struct trace_usage {
	VEC(struct device_usage) devices; /* devices with work, in the order of trace.devices */
};

/* A union of intervals that are added by start. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

/* Functions that the walk calls: one at the start of each device, one for each slice of its work,
 * by start. busy is the union of the device's earlier slices. */
struct usage_watch {
	void (*device)(void *user, uint32_t device);
	void (*work)(void *user, const struct slice *s, const struct cover *busy);
	void *user;
};

void trace_usage(const struct trace *t, const struct trace_links *links, struct trace_usage *out,
        struct arena *a);
void trace_usage_watched(const struct trace *t, const struct trace_links *links,
        const struct usage_watch *watch, struct trace_usage *out, struct arena *a);

/* Returns the ticks from the launch of device work to its start, negative if it started before;
 * false if the launch is not known. */
bool work_latency(const struct trace *t, const struct trace_links *links, const struct slice *s,
        int64_t *ticks);

/* Activity of all devices together in a step, clipped to it; ticks. */
struct step_usage {
	uint64_t slices;
	int64_t busy, by_class[USAGE_CLASS_N], overlap;
};

/* Fills out[0 .. steps->steps.n), which is zeroed. */
void usage_by_step(const struct trace *t, const struct trace_steps *steps, struct step_usage *out,
        struct arena *a);

/* Adds work of streams that comes one slice at a time, by start; by_step is zeroed. launched: the
 * start of its launch, INT64_MIN if that is not known. Tracks, devices and steps are complete. */
struct usage_adding;
struct usage_adding *usage_begin(const struct trace *t, const struct trace_steps *steps,
        struct step_usage *by_step, struct arena *a);
void usage_add(struct usage_adding *x, const struct slice *s, int64_t launched);
void usage_end(struct usage_adding *x, struct trace_usage *out, struct arena *a);

/* Returns the class of the device work of an event: by its category and, for kernels, by name. */
enum usage_class usage_class_of(const struct trace *t, uint32_t event);
/* Returns the classes of all events; in a. */
uint8_t *usage_classes(const struct trace *t, struct arena *a);

/* ---- work merge ----
 *
 * Device work of several tracks by start.
 */

/* A track: the next slice of work, and its successor. */
struct work_cursor {
	struct slice_iter it;
	struct slice now, after;
	bool have, have_after;
};

struct work_merge {
	const struct trace *t;
	struct work_cursor *v; /* a heap by start, then by track */
	size_t n;
	bool begun;
};

/* device: only its work; ID_NONE: of all devices. */
void work_merge_init(struct work_merge *m, const struct trace *t, uint32_t device, struct arena *a);

/* Returns the next slice, valid until the next call; NULL at the end. *contains: on a line of ops,
 * the next slice of its track is inside it. */
const struct slice *work_merge_next(struct work_merge *m, bool *contains);

/* ---- allocation ----
 *
 * Allocations and releases of memory among the slices of a trace.
 */

struct allocation {
	struct str device, allocator; /* p NULL: not known */
	bool freed;
	int64_t bytes; /* allocated or released; never negative; 0: not known */
	bool has_address;
	uint64_t address;
	/* Totals of the allocator, as the source says them; below 0: not known. */
	int64_t in_use, peak, reserved, capacity;
};

/* Returns the labels of all devices, in a. */
struct str *allocation_labels(const struct trace *t, struct arena *a);

/* Fills *out with an allocation or a release; false if the slice is neither. */
bool allocation_of(const struct trace *t, const struct slice *s, const struct str *labels,
        struct allocation *out);

/* ---- names of steps ----
 *
 * Names of ranges that are steps: a pattern of the user, or names that programs commonly give.
 */

#define STEP_RANGE_NAME  4096 /* bytes of a name that a pattern is matched with */
#define STEP_RANGE_TORCH "ProfilerStep#"

/* Compiles a pattern of names; pytorch, optimizer and xla are known words. *out is NULL for an
 * empty pattern. */
bool step_range_compile(
        struct pattern_list **out, struct arena *a, struct str pattern, struct err *e);

/* True if the pattern, which may be NULL, matches a name of bearable length. */
bool step_range_matches(struct pattern_list *pattern, struct str name);

/* True for names such as "step 7", "Iteration_12" and "ProfilerStep#3". */
bool step_range_is_common(struct str name);

/* Returns the number at the end of a name, or -1. */
int64_t step_range_number(struct str name);

#endif
