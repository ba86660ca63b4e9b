/* SPDX-License-Identifier: Apache-2.0
 *
 * Divides the idle time of devices by cause; no other module does this. The work of a device is
 * added in order of start, from stored slices or while a file is read; idle time is passed on in
 * pieces that do not overlap and add up to the idle time exactly. All times are ticks.
 *
 *   x = idle_begin(t, piece, user, scratch)
 *   idle_wait(x, track, issued)     a stream has to wait for an event
 *   idle_add(x, work, call)         device work, in order of start on each device
 *   idle_end(x)                     hands out what remains
 *
 * Each idle interval ends with a piece of work, and the rule depends on the call that launched it:
 *
 *   the call is unknown              all of the interval is UNKNOWN_LAUNCH
 *   it ended after the device
 *   became idle                      HOST_LATE until its end, then LAUNCH_LATENCY of at most the
 *                                    base latency, then a wait; if the work began within the base
 *                                    latency after the call, only latency precedes the work
 *   it ended before                  KERNEL_GAP of at most the base gap, then a wait
 *
 * A wait is EVENT_WAIT if the stream was told to wait for an event since its previous work was
 * launched, OTHER_PROCESS if the work before the interval was of another process, and otherwise
 * UNKNOWN_WAIT.
 *
 * The base latency of a device is the 10th percentile of the times from a call to the start of its
 * work, for launches onto a stream without unfinished work; without such launches, the shortest of
 * all. The base gap is the median gap between two pieces of work of a stream of which the second
 * was launched before the first ended; 0 without such work. Both come from the first
 * IDLE_SAMPLES gaps or the end of the work, so memory is bounded: about 1.6 MB per device. A few
 * samples may all be waits: below IDLE_SAMPLES_FEW, the base latency is at most IDLE_FEW_LATENCY
 * times the median length of the calls that launched work of the device, and the base gap at most
 * IDLE_FEW_GAP times; a length of 0 says nothing. So bases scale with the times in the file.
 */
#ifndef TFPROF_TRACE_IDLE_H
#define TFPROF_TRACE_IDLE_H

#include "trace/trace.h"

#define IDLE_SAMPLES     16384
#define IDLE_SAMPLES_FEW 16
#define IDLE_FEW_LATENCY 8
#define IDLE_FEW_GAP     2

#define IDLE(id, name, text, meaning) IDLE_##id,
enum idle_cause {
#include "trace/pass/idle.def"
	IDLE_CAUSES
};
#undef IDLE
extern const char *const idle_names[IDLE_CAUSES]; /* "host_late" */
extern const char *const idle_texts[IDLE_CAUSES]; /* "the host was late" */
extern const char *const idle_meanings[IDLE_CAUSES];

/* The call that launched device work. */
struct launch_call {
	bool known;
	int64_t start, end;
	uint32_t launch; /* 1 + index in the launches of the trace; 0: no slice of the launch is
	                    stored */
	uint32_t event, site; /* event and site of the launched work; site may be ID_NONE; set by
	                         idle_add */
};

/* Receives a piece of idle time of a device, in order of time. IDLE_BEFORE_FIRST begins at
 * INT64_MIN, IDLE_AFTER_LAST ends at INT64_MAX. call: the call that launched the work after the
 * piece or, for IDLE_AFTER_LAST, the work that ended last. */
typedef void idle_piece(void *user, uint32_t device, enum idle_cause why, int64_t from, int64_t to,
        const struct launch_call *call);

/* Begins the division. The trace must have all tracks and devices. Memory comes from a. */
struct idle;
struct idle *idle_begin(const struct trace *t, idle_piece *piece, void *user, struct arena *a);

/* Adds a wait of a stream, submitted at the time `issued`. Waits of a stream are added in order,
 * before later work. */
void idle_wait(struct idle *x, uint32_t track, int64_t issued);
void idle_add(struct idle *x, const struct slice *work, const struct launch_call *call);
void idle_end(struct idle *x);

/* Lengths of edges without waiting, in ticks. latency: from a call to its work; gap: between
 * consecutive work of a stream. */
struct idle_base {
	int64_t latency, gap;
};

/* Returns the base lengths of a device, 0 if unknown. They are computed from the work added so far;
 * work added later does not change them. */
struct idle_base idle_base_of(struct idle *x, uint32_t device);

/* True for a slice that marks a wait of a stream for an event. */
bool slice_is_event_wait(const struct trace *t, const struct slice *s);

#endif
