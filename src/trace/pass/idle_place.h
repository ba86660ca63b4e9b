/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: what the host did while devices were idle. idle.h determines the cause of each interval;
 * this pass finds its places. While the host launches late, and before the first and after the last
 * work, the places are the activity of the thread that launches the work (pass/host_time.h); if the
 * launch is not recorded, of the only thread that may have launched it. For all other causes the
 * place is the op that launched the work that ends the interval.
 */
#ifndef TFPROF_TRACE_PASS_IDLE_PLACE_H
#define TFPROF_TRACE_PASS_IDLE_PLACE_H

#include "trace/pass/host_time.h"
#include "trace/pass/usage.h"

#define IDLE_REASON(id, name, text, of) REASON_##id,
enum idle_reason {
#include "trace/pass/idle_place.def"
	IDLE_REASONS
};
#undef IDLE_REASON
extern const char *const idle_reason_names[IDLE_REASONS]; /* "host_busy" */
extern const char *const idle_reason_texts[IDLE_REASONS]; /* "the host was late: busy" */

/* Ways to name places. DEFAULT: the call unless it launches work, otherwise the op, the Python line
 * or the call. The other values name the op where the file has no such name. */
enum idle_by { IDLE_BY_DEFAULT, IDLE_BY_OP, IDLE_BY_LINE, IDLE_BY_CALL, IDLE_BY_STEP };

enum idle_place_kind {
	PLACE_OP,
	PLACE_LINE,
	PLACE_CALL,
	PLACE_KERNEL, /* the work itself: its launch is unknown */
	PLACE_STEP,
	PLACE_OUTSIDE, /* no slice of the thread was open */
	PLACE_KINDS
};
extern const char *const idle_place_kinds[PLACE_KINDS]; /* "op" */

struct idle_place {
	enum idle_reason reason;
	enum idle_place_kind kind;
	struct str name;
	struct str waits_for; /* name of the work that ended last during a blocking call; p is NULL
	                         if there is none */
	int64_t ticks, ns;
};

struct idle_of_device {
	uint32_t device;
	int64_t window_ns, idle_ns;
	int64_t ns[IDLE_REASONS];      /* times by reason; they add up to idle_ns */
	VEC(struct idle_place) places; /* by reason, then by descending time; they add up to ns */
};

struct idle_report {
	const struct trace *t;
	VEC(struct idle_of_device) devices;
	bool frames; /* true: the file has Python lines */
	int64_t idle_ns,
	        outside_ns; /* of all devices; outside_ns: the part in which no slice is open */
};

/* Options of idle_find. */
struct idle_question {
	const struct trace_links *links;
	const struct trace_steps *steps;
	uint32_t step; /* the window: index of a step, or ID_NONE for the whole trace */
	enum idle_by by;
};

/* For callers that run the pass trace_usage for other results too: idle_places_take receives the
 * idle pieces of usage_watch, idle_places_end the devices. The request must outlive both. The
 * result lives in a, everything else in scratch. */
struct idle_places;
struct idle_places *idle_places_begin(const struct trace *t, const struct idle_question *request,
        struct idle_report *out, struct arena *a, struct arena *scratch);
idle_piece idle_places_take;
void idle_places_end(struct idle_places *f, const struct trace_usage *usage);

/* Runs all passes that the places need. usage: of the same window. The results live in a. */
void idle_find(const struct trace *t, const struct idle_question *request, struct idle_report *out,
        struct trace_usage *usage, struct arena *a);

#endif
