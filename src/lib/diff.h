/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the command diff: its options, its sides, its gates.
 */
#ifndef TFPROF_LIB_DIFF_H
#define TFPROF_LIB_DIFF_H

#include "lib/options.h"

/* ---- internal ----
 *
 * Shared by the parts of the command diff: its options, its sides, its gates.
 */

#define DIFF_SIDES_MAX 64

struct diff_request {
	struct diff_options given;
	struct opts o;
	struct strs sides; /* the sides; further names come from --names */
	VEC(struct gate) gates;
	bool select_given, order_given;
	int64_t min_size, min_micros; /* minima given by --min_size */
};

/* Reads the arguments of diff. */
bool diff_read(struct session *s, const struct strs *words, struct diff_request *w);

/* Splits PATH@STEP. step is empty if the word names a file or has no step. */
struct str diff_side_path(struct session *s, struct str word, struct str *step);

/* Fails if the step of the side is malformed. */
bool diff_check_step(struct session *s, struct str word, struct str step);

/* Selects the step that is named after the @ of a side. */
bool diff_choose_step(struct session *s, struct str step, struct opts *o);

/* One side, as loaded. */
struct diff_side {
	struct str word;       /* the argument */
	struct str path, step; /* the parts of the word; see diff_side_path */
	struct str name;       /* name in the answer */
	struct session *s;     /* a session for this side, or the session of a loaded job */
	bool is_job;           /* true: the session belongs to a job */
	struct answer *answer; /* a printed report; NULL if the session has a model */
	struct side *side;     /* side for the last view */
	struct arena made;     /* arena of the sides made from it */
	struct arena_mark mark;
	struct str failed; /* error sentence if loading failed */
	enum status code;
	struct str lack; /* reason why diff_sides.number is unknown for this side; p is NULL if it
	                    is known */
	bool partial;    /* true: the file is damaged, and the part before the damage was read */
};

struct diff_sides {
	struct session *s; /* the calling session */
	struct diff_side *v;
	size_t n;
	struct guard guard;
	/* Results for the loaded sides (see diff_sides_make). */
	struct arena *a; /* arena of the merged result */
	const struct view_ops *view;
	const struct opts *o;
	const enum metric_id *metrics;
	uint32_t n_metrics;
	bool per_run;
	int64_t ticks_per_us; /* ticks in which the sides store times (struct side_values) */
	uint32_t steps_most;  /* maximum number of steps; 0: no limit */
	bool with_steps;      /* true: the values are followed by the values of each step that -step
	                         selects */
	int phase;            /* phase of the gate, for number */
	bool share;           /* number is a part of the whole, which the sides contain */
	int number; /* number of the gate, the only value of the sides; STEP_NONE: the sides are
	               views */
};

/* Loads the sides in parallel. If it returns true, the caller must close them; if work ends early,
 * they close themselves. */
bool diff_sides_load(struct diff_sides *d, struct session *s, const struct diff_request *w);
void diff_sides_close(struct diff_sides *d);

/* Fails with the error of a side's session, after the name of the side. Returns false. */
bool diff_side_failed(struct session *s, const struct diff_side *x);

/* True if each side is a single trace with kernels, and the formats differ. Then only the functions
 * of kernels have equal names. */
bool diff_sides_mix_formats(const struct diff_sides *d);

/* Makes v[i].side of all sides for a view, options and metrics. Earlier sides stay valid. */
bool diff_sides_make(struct diff_sides *d, const struct view_ops *view, const struct opts *o,
        const enum metric_id *metrics, uint32_t n);

/* Makes a side with a number of the steps that o selects, for diff_sides_make. */
bool diff_number_side(
        struct session *s, const struct diff_sides *d, const struct opts *o, struct diff_side *x);

/* Values of --of. */
enum {
	DIFF_OF_VIEWS,
	DIFF_OF_KERNELS,
	DIFF_OF_STEPS,
	DIFF_OF_DEVICES,
	DIFF_OF_MEMORY,
	DIFF_OF_PHASES
};

/* Writes the differences of two sides in the rows of a command: --of. */
bool diff_of_tables(struct diff_sides *d, const struct diff_request *w, const struct strs *names,
        struct emit *to);

/* Writes the numbers of the phases of two sides. */
bool diff_by_phase(struct diff_sides *d, const struct diff_request *w, struct emit *to);

/* Releases the sides made since the mark. */
void diff_sides_mark(struct diff_sides *d);
void diff_sides_reset(struct diff_sides *d);

/* Merges the sides into one tree: renames by the rules, then detects further renames. */
bool diff_merge(struct diff_sides *d, const struct diff_request *w, struct compare *c,
        struct alias **aliases);

/* ---- baseline ----
 *
 * Named baselines: the numbers of a profile, in text files that can be committed. The command
 * baseline, and the functions diff needs to use one as a side.
 */

#define BASELINE_PREFIX "baseline:"

bool baseline_command(struct session *s, const struct request *r, struct sink *out);

/* Returns the path of a baseline's file. Fails if the name is invalid, or the baseline does
 * not exist. */
bool baseline_path(struct str *name, struct arena *a, struct err *e);

#endif
