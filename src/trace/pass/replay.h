/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the times of the steps after a change. The graph of dependencies
 * (pass/depend) of the whole trace is built once; then each set of changes
 * gives new times of all nodes in one pass over the graph, in the order of the
 * nodes.
 *
 *   replay_open(t, links, steps, &x, a)
 *   replay_choose(&x, windows, n)         default: all steps
 *   replay_parse(text, &change, a, e)     "kernel:gemm*0.5"
 *   replay_run(&x, changes, n, &run, a, e)
 *   run.after - x.recorded.after          ticks, the mean of the chosen windows
 *
 * Without changes the replay gives the recorded times, by construction.
 * replay_error is the error of the step time if all edges to devices have
 * their length without waiting. Such a replay loses the waits whose cause is not in the file.
 */
#ifndef TFPROF_TRACE_PASS_REPLAY_H
#define TFPROF_TRACE_PASS_REPLAY_H

#include "base/err.h"
#include "trace/pass/critical.h"

#define REPLAY_FACTOR_MAX 1000.0

#define REPLAY(id, name, names, help) REPLAY_##id,
enum replay_target {
#include "trace/pass/replay.def"
	REPLAY_TARGETS
};
#undef REPLAY
struct replay_target_row {
	const char *name;
	const char *names; /* command that lists the names; NULL: the target has no name */
	const char *help;
};
extern const struct replay_target_row replay_targets[REPLAY_TARGETS];

/* A change multiplies the times of everything that it matches by the factor. */
struct replay_change {
	struct str text; /* text of the change as given */
	enum replay_target what;
	struct str pattern; /* name or pattern, or FILE:N; empty if the target has no name */
	double factor;
};

/* True if a word has the form of a change. */
bool replay_is_change(struct str word);

/* Parses a change; out->text and out->pattern point into the word. */
bool replay_parse(struct str word, struct replay_change *out, struct err *e);

struct replay_run {
	struct depend_times times;
	int64_t after;                   /* ticks: mean of the chosen windows, rounded down */
	uint64_t changed;                /* number of nodes whose length changed */
	struct critical_window *windows; /* the chosen windows, in the new times */
	uint32_t *ends;                  /* last node of each chosen window, or ID_NONE */
};

struct replay {
	struct depend depend;
	struct critical_window *windows; /* windows of all steps, or one of the whole trace */
	size_t n_windows;
	const uint32_t *chosen; /* indices of windows */
	size_t n_chosen;
	const struct trace_steps *marks;
	uint32_t *steps;            /* indexed by node of device work: index of its window */
	uint32_t end;               /* for a trace without steps: the last node of its window */
	struct replay_run recorded; /* run without changes */
	struct arena *a;
};

/* Builds the graph for a replay. The graph lives in a. */
void replay_open(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, struct replay *out, struct arena *a);
/* Builds the graph for one step, given by its index; 0: the whole trace, if the trace has no steps;
 * REPLAY_MEDIAN: the step with the median length among the steps with device work. */
#define REPLAY_MEDIAN ID_NONE
void replay_open_step(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t step, struct replay *out, struct arena *a);
void replay_choose(struct replay *x, const uint32_t *windows, size_t n);

/* Stores the indices of the windows whose steps count in averages (trace_step_counts). Returns
 * their number. out must have room for all windows. */
size_t replay_working(const struct replay *x, uint32_t *out);

/* Returns the last node of a track that starts at or before a time of the
 * recording, or ID_NONE. */
uint32_t replay_node_at(const struct depend *d, uint32_t track, int64_t at);

/* Replays with all changes. Fails if a pattern is malformed, or a named change matches nothing. The
 * run lives in a. */
bool replay_run(const struct replay *x, const struct replay_change *changes, size_t n,
        struct replay_run *out, struct arena *a, struct err *e);

/* Finds the critical path of the chosen window i in the times of a run, in a. */
void replay_path(const struct replay *x, const struct replay_run *run, size_t i,
        struct critical *out, struct arena *a);

/* Adds up the times by kind on the paths of all chosen windows; ticks. */
void replay_sum_paths(
        const struct replay *x, const struct replay_run *run, int64_t kinds[CRITICAL_KINDS]);

/* Calls `take` for the critical path of each step of a trace, in the recorded times. */
void replay_each_path(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, void (*take)(void *user, const struct critical *path),
        void *user);

/* Lengths of nodes and waits that replace the recorded ones. */
struct replay_plan {
	int64_t *lengths; /* indexed by node, ticks; NULL: as recorded */
	bool *unblocked;  /* indexed by node: true if the node does not wait for devices; NULL: all
	                     nodes wait */
	bool no_latency;  /* true: work starts when it is launched */
};
void replay_plan_run(const struct replay *x, const struct replay_plan *plan, struct replay_run *out,
        struct arena *a);

/* Returns the error of the model for the chosen windows, as a share of the step
 * time. */
double replay_error(const struct replay *x);

#define REPLAY_ROUGH 0.05 /* answers with a larger model error are rough estimates */

/* True if answers are rough estimates: the model error is large, or streams wait for events that
 * the file does not name. */
bool replay_is_rough(const struct replay *x, double error);

/* True if work of a device that ran one after the other in the recording overlaps in a run,
 * although the file does not tell whether streams wait for each other. */
bool replay_overlaps(const struct replay *x, const struct replay_run *run);

/* The partition of the chosen windows for one device; ticks, summed over the windows. */
struct replay_part {
	uint32_t device;
	int64_t compute, communication, copy, idle;
};

/* Finds the partition in the times of a run. Returns an element for each device with work, in a. */
struct replay_part *replay_partition(
        const struct replay *x, const struct replay_run *run, size_t *n, struct arena *a);

/* ---- single changes ---- */

enum replay_each { EACH_KERNEL, EACH_OP, EACH_LINE, EACH_N };

/* Time saved if everything with one name takes half the time, or no time; ticks, the mean of the
 * chosen windows. */
struct replay_saving {
	struct str name;
	int64_t total; /* time of the name on threads and devices that starts in a chosen window */
	int64_t halved, removed;
};

/* Finds the `top` names (0: all) whose removal saves most, in a. Sets *left_out to the number of
 * untried names, which mostly contain others. */
struct replay_saving *replay_rank(const struct replay *x, enum replay_each each, size_t top,
        size_t *n, size_t *left_out, struct arena *a);

#endif
