/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the commands that examine one trace, such as critical, idle
 * and flops: the loaded trace, its chosen steps, and their replay.
 */
#ifndef TFPROF_LIB_PATH_INPUT_H
#define TFPROF_LIB_PATH_INPUT_H

#include "lib/session.h"
#include "why/why.h"

/* The only loaded trace, its launches and its steps. */
struct path_input {
	const struct trace *t;
	struct trace_links links;
	struct trace_steps steps;
};
bool path_input_open(struct session *s, const struct opts *o, struct path_input *in);

/* Returns the launches of a trace if an earlier command found them, otherwise NULL. */
const struct trace_links *path_kept_links(const struct session *s, const struct trace *t);

/* Fails if -step selects several steps. */
bool path_one_step(struct session *s, const struct opts *o);

/* The chosen steps of a replay. */
struct path_steps {
	struct str of; /* "step 3", "the mean of 6 steps", "the whole trace" */
	bool device;   /* true: the windows end with device work */
	bool marked;   /* true: the source marks steps */
	int64_t wall;  /* the step time (pass/step_time), ns; without marks, the length of the whole
	                  trace */
};

/* The replays of several traces, and the steps of each. steps: the steps of all replays
 * together. */
struct path_replays {
	const struct replay *const *v;
	struct str *of;
	bool *device; /* path_steps.device of each */
	size_t n;
	struct path_steps steps;
};

/* Opens the replay of the steps that -step selects. */
bool path_replay(struct session *s, const struct path_input *in, const struct opts *o,
        struct replay *x, struct path_steps *out);

/* Opens the replays of the steps that -step selects in all loaded traces, whose
 * slices are loaded.
 */
bool path_replays_find(struct session *s, const struct opts *o, struct path_replays *out);

/* Opens these replays, loads missing slices, and adds notes about unknown data. */
bool path_replays_open(struct session *s, const struct opts *o, struct path_replays *out);

/* True if the two traces are runs to compare, not ranks of a job. */
bool path_are_runs(const struct path_replays *in, enum files_as as);

/* Returns the causes of the steps of the replays, which were opened with these options. The session
 * keeps those of the steps of a trace that count in averages. */
const struct why *path_why(struct session *s, const struct path_replays *in, const struct opts *o);

/* Adds a note about the data that the file lacks to explain the waits of streams. Adds nothing if
 * the file has no device work, which could wait. */
void path_note_unknown(struct session *s, const struct depend *d, uint64_t waits);

/* Fails because a word is not the id of a cause. */
bool path_fail_cause(struct session *s, const char *option, struct str id);

#endif
