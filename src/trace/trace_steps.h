/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the steps of a trace, from the source's own marks: slices of the category step, otherwise
 * groups of slices, otherwise runs of a program. Without marks the steps are unknown, and there is
 * one step. Steps are intervals, of all devices or of one each. A slice outside of all intervals
 * belongs to the step before it (before the first step: to the first), so sums over steps lose
 * nothing.
 */
#ifndef TFPROF_TRACE_TRACE_STEPS_H
#define TFPROF_TRACE_TRACE_STEPS_H

#include "trace/link.h"

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
	bool by_process;              /* the threads of each process have marks of their own */
	VEC(struct trace_step) steps; /* by start; at least one */
	VEC(struct step_interval) intervals; /* by device, process, start */
	struct imap by_id;                   /* zigzag of id -> index */
};

void trace_find_steps(const struct trace *t, struct trace_steps *out, struct arena *a);

/* Returns the index of the step of a slice; launch: of device work, or NULL. */
uint32_t trace_step_of(
        const struct trace_steps *s, const struct slice *slice, const struct launch *launch);

#endif
