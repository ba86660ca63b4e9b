/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the activity of each device, as unions of intervals: busy, by class, overlap, and reasons
 * for idle time.
 */
#ifndef TFPROF_TRACE_USAGE_H
#define TFPROF_TRACE_USAGE_H

#include "trace/trace.h"
#include "trace/trace_steps.h"

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

void trace_usage(const struct trace *t, const struct trace_links *links, struct trace_usage *out,
        struct arena *a);

/* Activity of all devices together in a step, clipped to it; ticks. */
struct step_usage {
	uint64_t slices;
	int64_t busy, by_class[USAGE_CLASS_N], overlap;
};

/* Fills out[0 .. steps->steps.n), which is zeroed. */
void usage_by_step(const struct trace *t, const struct trace_steps *steps, struct step_usage *out,
        struct arena *a);

/* Returns the class of the device work of an event: by its category and, for kernels, by name. */
enum usage_class usage_class_of(const struct trace *t, uint32_t event);
/* Returns the classes of all events; in a. */
uint8_t *usage_classes(const struct trace *t, struct arena *a);

/* ---- work merge ----
 *
 * Device work of several tracks by start, and unions of intervals in that order.
 */

/* A union of intervals that are added by start. */
struct cover {
	bool any;
	int64_t until, total;
};
void cover_add(struct cover *c, int64_t start, int64_t end);

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

#endif
