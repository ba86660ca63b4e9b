/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording plan: the option string (grammar in collect.h) as numbers.
 */
#ifndef TFPROF_COLLECT_PLAN_H
#define TFPROF_COLLECT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum plan_level { LEVEL_KERNELS, LEVEL_LAUNCHES, LEVEL_FULL };

struct plan {
	enum plan_level level;
	int graph_level; /* 1: a graph launch is one record instead of one per node */
	bool memory, sync, overhead, nvtx;
	int wait_for_start;
	bool verbose, step_signal, self_limit, detach;
	uint64_t delay_ns, duration_ns; /* duration 0: record until the end */
	uint64_t since_ns;              /* lines of the control file count from this time on */
	uint64_t flush_ns, silence_ns;
	uint64_t max_bytes; /* bytes of the recording; 0: no limit */
	uint64_t buffers, buffer_bytes;
};

/* Returns the plan for `options` (may be NULL). Returns false if a word is unknown: then *wrong is
 * the first such word, of *length bytes, and the other words take effect. */
bool plan_read(struct plan *, const char *options, const char **wrong, size_t *length);

/* Returns the name of a level as used in options. */
struct str plan_level_name(enum plan_level level);

#endif
