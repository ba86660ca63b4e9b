/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the critical path of a window, in the recorded times or in the times of a replay. The pass
 * walks from the end of the window backwards, always along the edge that was reached last. The
 * segments tile the window: they neither overlap nor leave a gap.
 *
 * The window of a step reaches from the end of the last device work that the step before launched
 * to the end of the last device work of its own, because a mark on the host ends before the work
 * that is still queued. The step before is the one whose work ends last before that of the step
 * ends: the work of steps need not end in the order of their marks. Without device work it is the
 * mark. The window of a run of ONNX Runtime ends with its mark, because the run returns after its
 * last op. Devices with negligible work do not determine where steps end.
 */
#ifndef TFPROF_TRACE_PASS_CRITICAL_H
#define TFPROF_TRACE_PASS_CRITICAL_H

#include "trace/pass/depend.h"

#define CRITICAL(id, name, text) CRITICAL_##id,
enum critical_kind {
#include "trace/pass/critical.def"
	CRITICAL_KINDS
};
#undef CRITICAL
extern const char *const critical_names[CRITICAL_KINDS]; /* "host_op" */
extern const char *const critical_texts[CRITICAL_KINDS]; /* "host: ops" */

/* A part of the path. Parts are in order of time; times are ticks. */
struct critical_segment {
	enum critical_kind kind;
	uint32_t event; /* event of the slice, or ID_NONE */
	uint32_t frame; /* event of the innermost Python frame with a source line, or ID_NONE */
	uint32_t track; /* track where the time was spent; ID_NONE: no track of the file */
	uint32_t slice; /* number of the slice, or ID_NONE */
	int64_t start, end;
};

/* The window of a path, ticks. */
struct critical_window {
	uint32_t step; /* index, or ID_NONE for the whole trace */
	bool device;   /* true: the window ends with the device work of the step */
	bool mark;     /* true: the window starts with the mark of the step */
	int64_t from, to;
	uint32_t before; /* index of the step whose work starts the window, unless mark is set */
};

struct critical {
	const struct depend *depend;
	struct critical_window window;
	int64_t kinds[CRITICAL_KINDS]; /* times by kind, ticks; they add up to the window */
	int64_t unlaunched; /* gaps and waits before device work whose launch is not recorded; ticks
	                     */
	VEC(struct critical_segment) segments;
};

/* Returns the devices, indexed by device, with less than 1% of the work of the device that works
 * most; in a. NULL: there are none. */
bool *critical_idlers(const struct trace *t, const struct trace_steps *steps, struct arena *a);

/* Returns the step of each slice of a device, indexed by track and by the slice's number on the
 * track; in a. ID_NONE: the work of a device of critical_idlers. */
uint32_t **critical_steps(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, struct arena *a);

/* Returns the windows of all steps, in a; one window of the whole trace if the steps are unknown.
 * of: the result of critical_steps. */
struct critical_window *critical_windows(const struct trace *t, const struct trace_links *links,
        const struct trace_steps *steps, uint32_t *const *of, size_t *n, struct arena *a);

/* Returns the node at the end of the critical path of the graph's window, or ID_NONE. */
uint32_t critical_end(const struct depend *d);

/* Finds the path that ends with a node, in the times of a replay. The segments live in a. */
void critical_walk(const struct depend *d, const struct depend_times *times,
        const struct critical_window *window, uint32_t end, struct critical *out, struct arena *a);

/* Adds the times by kind of the path that critical_walk would find. Stores no segments. */
void critical_add_kinds(const struct depend *d, const struct depend_times *times,
        const struct critical_window *window, uint32_t end, int64_t kinds[CRITICAL_KINDS]);

#endif
