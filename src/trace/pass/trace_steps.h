/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a trace, as the source marks them: numbered slices of the category step, otherwise
 * such slices without numbers, otherwise groups of slices, otherwise runs of programs. Without
 * marks the steps are those that the user asked to guess; otherwise they are unknown, and there is
 * one step.
 * A step is an interval for all devices, or one interval per device. A slice outside of all
 * intervals belongs to the previous step (before the first step: to the first one), so the steps
 * add up to the whole trace.
 */
#ifndef TFPROF_TRACE_TRACE_STEPS_H
#define TFPROF_TRACE_TRACE_STEPS_H

#include "trace/pass/link.h"

enum steps_by {
	STEPS_UNKNOWN,
	STEPS_BY_MARK,
	STEPS_BY_SERVING, /* annotations of a server (serving.h): marks without numbers */
	STEPS_BY_GROUP,
	STEPS_BY_RUN,
	STEPS_BY_GUESS /* guessed by step_guess.h, if the user asked for it */
};
extern const char *const steps_by_names[]; /* "unknown", "mark", "annotation", "group", "run",
                                              "guess" */

struct trace_step {
	int64_t id;
	uint32_t name;      /* string id, or ID_NONE */
	int64_t start, end; /* interval of the longest mark, or of all slices of a group; for a
	                       server, of the device work that the mark launched, if any */
	bool works;         /* true: the step has device work (trace_steps_find_work) */
	bool chosen;        /* true: the user chose the step */
};

struct step_interval {
	uint32_t device;  /* ID_NONE: the interval applies to threads */
	uint32_t process; /* process of the threads, if several processes mark steps; otherwise
	                     ID_NONE */
	uint32_t step;    /* index in steps */
	int64_t start, end;
};

struct trace_steps {
	const struct trace *t;
	enum steps_by by;
	bool by_start;  /* true: marks share numbers, so each mark is a step, numbered from 0 by
	                   start */
	bool by_extent; /* true: a step extends over all slices that name it: a group, or a run of a
	                   program on threads, whose slices are its ops */
	bool by_process;                     /* true: each process has its own marks */
	VEC(struct trace_step) steps;        /* sorted by start; at least one */
	size_t working;                      /* number of steps that have device work, 0 until
	                                        trace_steps_find_work counts them */
	size_t chosen;                       /* number of steps that the user chose; 0: all */
	VEC(struct step_interval) intervals; /* sorted by device, process, start */
	struct imap by_id;                   /* key: zigzag-encoded id; value: index in steps */
	struct imap by_run;                  /* likewise, for runs on threads, which are numbered
	                                        from 0 by start: the source identifies them by a hash */
};

void trace_find_steps(const struct trace *t, struct trace_steps *out, struct arena *a);
/* Makes the whole trace one step, for results that do not depend on steps. */
void trace_one_step(const struct trace *t, struct trace_steps *out, struct arena *a);
/* Finds the steps of a server, even if the source has numbered steps; otherwise finds guessed
 * steps. */
void trace_find_served(const struct trace *t, struct trace_steps *out, struct arena *a);

/* Returns the index of the step of a slice. launch: the launch of device work, or NULL. */
uint32_t trace_step_of(
        const struct trace_steps *s, const struct slice *slice, const struct launch *launch);

/* Finds the steps that have device work, which trace_step_of assigns to steps. Does nothing if the
 * steps are unknown. links: NULL if the work names its step or its launch. */
void trace_steps_find_work(struct trace_steps *s, const struct trace_links *links);

/* True if a step, given by its index, counts in averages over the steps: the steps that the user
 * chose, otherwise all. Steps without device work, such as a truncated last mark, do not count if
 * other steps have some and nobody chose them, because no device determines their length. */
static inline bool trace_step_counts(const struct trace_steps *s, size_t i)
{
	return s->chosen ? s->steps.v[i].chosen : !s->working || s->steps.v[i].works;
}

/* Returns the number of steps that count. */
static inline size_t trace_steps_counted(const struct trace_steps *s)
{
	return s->chosen ? s->chosen : s->working ? s->working : s->steps.n;
}

/* Sets the number of steps that have device work, after all such steps are marked. */
void trace_steps_count_work(struct trace_steps *s);

#endif
