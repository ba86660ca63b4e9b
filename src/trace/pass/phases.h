/* SPDX-License-Identifier: Apache-2.0
 *
 * Pass: the steps of an LLM server by phase (serving.h): prefill, decode, mixed.
 */
#ifndef TFPROF_TRACE_PHASES_H
#define TFPROF_TRACE_PHASES_H

#include "trace/pass/ops.h"
#include "trace/pass/serving.h"

/* Kinds of device work, by phase_work.def. */
#define PHASE_WORK(id, name) WORK_##id,
#define PHASE_WORD(id, text)
enum phase_work {
#include "trace/pass/phase_work.def"
	PHASE_WORKS
};
#undef PHASE_WORK
#undef PHASE_WORD

/* Times are ns. */
struct phase {
	enum serving_phase phase;
	uint64_t steps;
	int64_t requests, tokens;         /* -1: unknown */
	int64_t mean, median, p99, total; /* statistics of the step times */
	int64_t host;                     /* mean length of the annotations */
	int64_t busy;                     /* sum over the devices and steps */
	int64_t device;                   /* sum of the lengths of the device work */
	int64_t work[PHASE_WORKS];        /* sum of the lengths of the device work, by kind */
	uint64_t graph_steps;             /* number of steps that launch graphs */
	uint64_t eager; /* number of steps with device work but without graphs, if the trace has
	                   graphs */
	uint64_t graph_launches;
	int64_t graph_gap; /* time within steps in which a device was idle before the work of a
	                      graph */
	int64_t padded_tokens, padded; /* for steps with known graphs: tokens of the requests, and
	                                  tokens for which the graphs were captured */
};

struct phases {
	VEC(struct phase) list; /* in the order of enum serving_phase */
};

/* Finds the phases of a server's steps. links belong to t; out lives in a. Without annotations of a
 * server the list is empty. */
void trace_find_phases(const struct trace *t, const struct trace_links *links, struct phases *out,
        struct arena *a);

#endif
