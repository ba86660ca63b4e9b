/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity of each device, as unions of intervals: busy time, time per class, overlap, and idle
 * time by cause (trace/pass/idle.h). One pass for stored slices (trace_usage) and for callers that
 * have the slices one at a time (usage_begin). Steps get the part of each interval that is inside
 * of them, so a step adds up as its devices do.
 */
#ifndef TFPROF_TRACE_USAGE_H
#define TFPROF_TRACE_USAGE_H

#include "trace/pass/idle.h"
#include "trace/pass/trace_steps.h"

/* Classes of device work. */
enum usage_class { USAGE_COMPUTE, USAGE_COMMUNICATION, USAGE_COPY, USAGE_CLASS_N };

/* Returns the class of device work by its event alone. Compute work that a collective op launched
 * is also communication. */
enum usage_class usage_class_of(const struct trace *t, uint32_t event);

/* Unions of intervals: of one class, of compute and communication, of all classes, of all work. */
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
	int64_t idle[IDLE_CAUSES]; /* idle time by cause; busy and idle add up to the interval */
};

/* A partition of the window of a device, ns: the four parts add up to the window exactly. */
struct usage_partition {
	int64_t window, compute, /* kernels that are neither communication nor copies */
	        communication,   /* exposed: without compute */
	        copy,            /* exposed: without compute and communication */
	        idle;
};

/* Returns the partition of a window whose length is given in ticks. If n windows were added up,
 * returns the average partition of one window. */
struct usage_partition usage_partition(
        const struct trace *t, const struct usage_times *u, int64_t window, size_t n);

/* Returns the time of communication and compute at the same time. */
int64_t usage_overlap(const struct usage_times *u);
/* Returns the time of copies and kernels at the same time. */
int64_t usage_copy_overlap(const struct usage_times *u);
/* usage_exposed_communication returns the time of communication without compute, usage_exposed_copy
 * the time of copies without either. Together with compute they are the busy time. */
int64_t usage_exposed_communication(const struct usage_times *u);
int64_t usage_exposed_copy(const struct usage_times *u);

struct device_usage {
	struct usage_times times;    /* times in the window */
	struct usage_times in_steps; /* sums over the steps that count in averages; zero if not
	                                requested */
	uint32_t device;
	uint64_t slices;
	int64_t window;     /* length of the window */
	int64_t start, end; /* first start and last end of the work in the window */
	int64_t sum;        /* sum of the lengths in the window, without nested slices */
	int64_t copy_bytes; /* of the copies that start in the window */
};
struct trace_usage {
	VEC(struct device_usage) devices; /* devices with work, in the order of trace.devices */
};

/* Activity in a step: the trace_usage of each device clipped to the step, then summed. */
struct step_usage {
	struct usage_times times;
	uint64_t slices;
};

/* Returns the idle time of one cause in ns. The values are rounded so that the causes of a device
 * or step add up to the interval in ns minus the busy time in ns. */
int64_t usage_idle_ns(const struct trace *t, const struct usage_times *u, enum idle_cause why);

/* The union of intervals that are added in order of their starts. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

/* Callbacks; each may be NULL. device is called at the start of each device, work for each slice of
 * its work in order of starts. busy: the union of the device's previous slices. */
struct usage_watch {
	void (*device)(void *user, uint32_t device);
	void (*work)(void *user, const struct slice *s, const struct cover *busy,
	        const struct launch_call *call);
	idle_piece *idle; /* receives the pieces of a device in order; pieces of several devices may
	                     alternate */
	void *user;
};

/* Input and further output of trace_usage. */
struct usage_request {
	const struct trace_links *links; /* NULL: work has ARG_LATENCY, or its launch is unknown */
	const struct usage_watch *watch; /* may be NULL */
	const struct trace_steps *steps; /* may be NULL */
	struct step_usage *by_step;      /* requires steps: a zeroed element for each step; may be
	                                    NULL */
	const struct trace_step *window; /* the step that is examined; NULL: the whole trace */
};

/* Finds the activity of all devices, which lives in a. */
void trace_usage(const struct trace *t, const struct usage_request *request,
        struct trace_usage *out, struct arena *a);

/* Finds the base lengths of each device's edges, without waiting. links may be NULL. */
void trace_bases(const struct trace *t, const struct trace_links *links, struct idle_base *out,
        struct arena *a);

/* Finds the call that launched device work. */
struct launch_call work_call(
        const struct trace *t, const struct trace_links *links, const struct slice *s);

/* For callers that process the work of streams one slice at a time, in order of starts. by_step:
 * zeroed by the caller. The tracks, devices and steps of the trace must be complete. The caller may
 * mark the steps that have device work until usage_end, if there is room to store the times of each
 * step on each device (usage_may_mark). */
struct usage_adding;
struct usage_adding *usage_begin(const struct trace *t, const struct trace_steps *steps,
        struct step_usage *by_step, struct arena *a);
bool usage_may_mark(struct usage_adding *x);
/* Adds a slice of work. collective: the op that launched the work is a collective. */
void usage_add(struct usage_adding *x, const struct slice *s, const struct launch_call *call,
        bool collective);
/* Adds a slice for which slice_is_event_wait is true. */
void usage_wait(struct usage_adding *x, const struct slice *s);
void usage_end(struct usage_adding *x, struct trace_usage *out, struct arena *a);

#endif
