/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of what-if as text and as data (docs/schema/what-if.json).
 */
#ifndef TFPROF_EXPORT_WHAT_IF_OUT_H
#define TFPROF_EXPORT_WHAT_IF_OUT_H

#include "export/out.h"
#include "trace/pass/replay.h"

#define WHAT_IF_CAUSE "cause:" /* prefix of a change that is a cause of why */

/* A replay with its changes, and the data about steps for the heading of the answer. */
struct what_if {
	const struct replay *x;
	const struct replay_change *changes;
	size_t n_changes;
	struct replay_run run;
	double error;  /* error of the replay without changes, as a share of the time */
	bool overlaps; /* true: device work overlaps, and the file does not tell whether it can */
	struct str of; /* "step 3", "the mean of 6 steps", "the whole trace" */
	bool device;   /* true: the windows end with device work */
	bool marked;   /* true: the source marks steps */
	int64_t wall;  /* ns: the step time; without marks, the length of the whole trace */
};

/* The names that save most. */
struct what_if_each {
	const struct what_if *of;
	enum replay_each each;
	const struct replay_saving *v;
	size_t n, left_out, top;
};
extern const char *const what_if_each_names[EACH_N]; /* "kernel" */

/* Writes the answer. columns: width of the terminal; 0: names stay whole. */
bool what_if_write(const struct what_if *w, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);
bool what_if_write_each(const struct what_if_each *w, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
