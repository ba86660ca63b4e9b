/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about a loaded model for the page that is shown first: sizes, steps, devices, memory.
 */
#ifndef TFPROF_VIEW_FACTS_H
#define TFPROF_VIEW_FACTS_H

#include "trace/pass/step_time.h"
#include "trace/read/recording/recordings.h"
#include "view/view.h"

/* A device with recorded work; times are nanoseconds. */
struct device_summary {
	struct str name;
	uint32_t worker;             /* worker of its trace; ID_NONE for run metadata, where workers
	                                share devices, and for recordings */
	int64_t window;              /* the whole trace or, for run metadata, all steps */
	int64_t busy;                /* time in which the device was active */
	bool host;                   /* true: the device is a CPU */
	bool causes;                 /* true: idle is known, because the device belongs to a trace
	                                or recording */
	int64_t idle[IDLE_CAUSES];   /* indexed by cause; adds up to window minus busy */
	struct usage_partition step; /* partition of an average step; for a trace or recording */
};

/* The step time of a worker with a trace, or of a recording. */
struct worker_step_time {
	uint32_t worker; /* ID_NONE for a recording */
	struct step_wall time;
};

struct step_summary {
	int64_t id;
	uint32_t worker;
	int64_t ns; /* time from its start to its end */
	/* Of run metadata: times in which accelerators and hosts worked, summed over the devices,
	 * and the number of pieces of work. */
	int64_t device_busy, host_busy;
	uint64_t slices;
};

struct facts {
	size_t nodes, types, edges;
	int64_t params;
	VEC(struct device_summary) devices; /* busiest first, CPUs last */
	VEC(struct step_summary)
	steps;                              /* steps with a duration, longest first; of traces and
	                                       recordings, those that count in averages */
	int64_t median;                     /* median of the durations, ns; 0 if there are none */
	VEC(struct worker_step_time) times; /* step times of traces and recordings */
	int64_t peak_bytes;   /* largest number of bytes that an allocator had in use; 0: not
	                         recorded */
	uint32_t peak_device; /* device of the model, or ID_NONE */
	bool marks;           /* true: the source marks the starts of steps */
};

/* Collects the facts, in a. recording: files of the recording from which the model was read, for
 * reading its devices; NULL if the model is not from a recording. how: options of that reading. */
void facts_find(const struct model *m, const struct recording_set *recording,
        const struct recording_options *how, struct facts *out, struct arena *a);

struct step_time {
	int64_t id, ns;
};

/* Returns the steps that count in averages, fastest first, steps with equal times by their ids. A
 * step of several workers takes as long as on the slowest worker. recording, how: as above. */
struct step_time *facts_steps(const struct model *m, const struct recording_set *recording,
        const struct recording_options *how, size_t *n, struct arena *a);

/* ---- hottest ---- The entries of a view as a flat list, sorted by one of their own numbers,
 * largest first. */

struct hottest {
	enum value of, other; /* other: the parallel time, which is host time for device time and
	                         the reverse; V_NONE: none */
	uint32_t *kept;       /* entries of the query's struct kept */
	uint32_t n;
	/* Sums over all accounted entries, including entries hidden by names or devices. */
	int64_t total, other_total;
};

/* Lists the accounted entries of a query between view_open and view_close whose own number, or the
 * number beside it, is above 0: in scope and graph the nodes, in op the types. Entries with equal
 * numbers are in the order of their names. Returns false if matching a pattern failed. Everything
 * lives in the query's arena. */
bool view_hottest(struct query *q, enum value of, struct hottest *out, struct err *e);

#endif
