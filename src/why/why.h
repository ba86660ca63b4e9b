/* SPDX-License-Identifier: Apache-2.0
 *
 * Explains why a step takes as long as it does. Each cause is a row of cause.def and a function
 * that determines which changes of the recorded times remove the cause; the replay
 * (trace/pass/replay) then computes how much shorter the step would be. Causes are ranked by this
 * time. A cause that cannot be judged from the file is listed with the reason.
 *
 * All times are ticks of an average chosen step, unless named otherwise.
 */
#ifndef TFPROF_WHY_WHY_H
#define TFPROF_WHY_WHY_H

#include "trace/pass/ranks.h"

struct why_scene;
struct why_change;
struct why_row {
	const char *id;      /* stable id: used in JSON, --fail-on, and what-if cause:ID */
	const char *label;   /* "Input-bound" */
	const char *subject; /* text before "lengthens the mean step of 176 ms by 62 ms" */
	const char *advice, *pytorch, *tensorflow; /* pytorch and tensorflow may be NULL */
	const char *note;                          /* text that `help` adds; NULL: none */
	bool quiet;           /* true: text lists the cause only on request, because few files have
	                         the data */
	const char *start_up; /* replaces advice if most of the time is start-up; NULL: the cause
	                         has no start-up */
	/* Returns the advice that replaces `advice` if the longest place is a call; may be NULL. */
	const char *(*calls)(struct str name);
	/* Returns true if host time inside slices of this event belongs to the cause; may be
	 * NULL. */
	bool (*owns)(const struct why_scene *s, uint32_t event);
	/* Sets the change that removes the cause, or the reason why it cannot be judged. */
	void (*find)(const struct why_scene *s, struct why_change *out);
};
#define CAUSE(name, ...) WHY_##name,
enum why_id {
#include "why/cause.def"
	WHY_IDS
};
#undef CAUSE
extern const struct why_row why_rows[WHY_IDS];

/* Returns the row with an id, or WHY_IDS. */
enum why_id why_find_row(struct str id);

#define WHY_OUTSIDE "thread" /* kind of places outside of all slices, or without a CPU */

/* The place of a cause: an op, line, kernel, call or step. */
struct why_place {
	const char *kind;
	struct str name;
	int64_t ticks;
	uint64_t times;   /* number of occurrences in all chosen steps */
	int64_t longest;  /* ticks of the longest piece */
	bool first;       /* true: `longest` belongs to a first call that takes far longer than the
	                     later calls */
	int64_t start_up; /* ticks of the longest piece if it is start-up; otherwise 0 */
};

struct why_finding {
	enum why_id id;
	int64_t cost;       /* time that the change removes from threads or devices */
	int64_t saved;      /* time that the step would save; may be negative because of rounding */
	int64_t start_up;   /* part of the cost: first calls that take most of their place's time */
	int64_t outside;    /* part of the cost: time of threads outside of all slices */
	int64_t again;      /* part of the cost that steady steps are known to repeat */
	int64_t unknown;    /* unexplained time on the critical path after the cause is removed; 0
	                       unless replayed */
	size_t threads;     /* number of threads of one trace with a part of the cost */
	size_t devices;     /* number of devices of one trace with a part of the cost */
	bool bound;         /* true: saved is an upper bound */
	bool replayed;      /* true: the replay computed saved */
	struct str assumed; /* assumptions of the change; p is NULL if there are none */
	struct str detail;  /* what the places have in common; p is NULL if there is nothing to
	                       say */
	const char *advice; /* advice for this file, which replaces the advice of the cause; NULL:
	                       none */
	struct str at;      /* name of the rank if only one rank has the cause; otherwise p is
	                       NULL */
	VEC(struct why_place) places; /* sorted by time, longest first */
};

/* Host time of the critical path that no reported cause removes; ticks of a mean step. */
struct why_rest {
	int64_t ticks;
	struct str name; /* the call, op or range that takes more than half of it; p is NULL if
	                    there is none */
	int64_t named;   /* time of that call, op or range */
	bool waits;      /* true: it is a call that waits for devices */
};

struct why_gap {
	enum why_id id;
	struct str reason;
};

/* A cause is reported if it saves more than this share of the step. The median error of the replay
 * on real traces is smaller (docs/TIME.md). */
#define WHY_LEAST_SHARE 0.03
/* If a larger share of the device work is known to be lost, why gives no verdict, because lost work
 * looks like idle time. */
#define WHY_LOST_SHARE 0.05
/* If a larger share of the step is unexplained, why gives no verdict, unless a cause saves as much.
 */
#define WHY_UNKNOWN_SHARE 0.2
/* If a cause saves a smaller share and devices compute for most of the time, the cause does not
 * determine the verdict: without it, the step would still be mostly compute. */
#define WHY_NAMED_SHARE 0.2
/* If the error of the replay exceeds this share of the step, causes found by the replay are not
 * reported, and no trace is called healthy. */
#define WHY_ERROR_SHARE 0.2
/* The share of matrix products is printed only if the ops of at least this share of the device work
 * are known. */
#define WHY_KNOWN_SHARE 0.9

struct why {
	const struct rank_group *job;
	const struct replay *x; /* replay of the first trace; all traces have its ticks */
	int64_t step;           /* the mean window of the replays */
	double error;           /* largest error of the replays, as a share of the step */
	double busy;            /* share of the time in which the devices with work were busy */
	double compute;         /* share of the time in which they computed */
	double copies;          /* share of the time in which they only copied */
	double communication;   /* share of the time in which they communicated without concurrent
	                           compute */
	int64_t exposed;        /* such communication per device and step, if the file does not say
	                           what waits for it; otherwise 0 */
	struct str left_out;    /* devices without work, or with negligible work, in the chosen
	                           steps; p is NULL if there are none */
	bool stacks;            /* true: recording Python stacks made the time of threads longer */
	struct str main_kernel; /* kernel with more than half of the time of kernels; p is NULL if
	                           there is none */
	double matrix; /* share of matrix products in device work; 0 unless the trace is healthy and
	                  WHY_KNOWN_SHARE is reached */
	double matrix_known;  /* share of the device work whose ops are known, if matrix is printed
	                       */
	int64_t unlaunched;   /* device work per step without a launch in the file; 0 unless it is a
	                         large share */
	int64_t unknown;      /* time on the critical path for which the file shows no cause */
	struct why_rest rest; /* rest of the path, if a cause is reported */
	VEC(struct why_finding) found; /* all causes that save time, the largest saving first */
	size_t reported; /* number of findings above WHY_LEAST_SHARE, which come first; 0 if there
	                    is no verdict */
	VEC(struct why_gap) gaps; /* causes that are not judged */
	bool of_host;             /* true: no verdict, because the ops ran on the CPU */
	struct str no_verdict;    /* reason for not giving a verdict; p is NULL if there is a
	                             verdict */
};

/* True if the windows of the answer are steps. */
static inline bool why_is_per_step(const struct why *w)
{
	return w->x->windows[0].step != ID_NONE;
}

/* True if the examined window is a part of the trace whose length is printed as another number. */
bool why_is_part(const struct why *w, struct arena *a);

/* Appends the examined window and its length: "the mean step of 176ms". */
void why_put_window(struct sb *b, const struct why *w);

/* True if devices compute for most of the time and the first cause saves a small share, or is a
 * slow kernel, so that the cause does not determine the verdict. */
bool why_is_compute_bound(const struct why *w);

/* True if most of the cost of a cause is first calls. */
static inline bool why_is_start_up(const struct why_finding *f)
{
	return f->start_up > f->cost / 2;
}

/* True if most of the cost of host_work is outside of all slices, so that the file does not show
 * the work of the host. */
static inline bool why_is_unnamed(const struct why_finding *f)
{
	return f->id == WHY_host_work && f->outside > f->cost / 2;
}

/* Returns the reason why a cause is not judged; p is NULL if it is judged. */
struct str why_gap_of(const struct why *w, enum why_id id);

/* Examines the chosen steps of the replays of a job. The result lives in a. */
void why_find(const struct rank_group *job, struct why *out, struct arena *a);

/* True if the file shows which work waits for at least half of the communication time. */
bool why_communication_is_waited_for(const struct depend *d, struct arena *a);

/* Replays a job of one trace with one cause removed. Fails if the cause cannot be judged. */
bool why_replay(const struct rank_group *job, enum why_id id, struct replay_run *out,
        struct arena *a, struct err *e);

#endif
