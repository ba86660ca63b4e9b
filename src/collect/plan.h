/* SPDX-License-Identifier: Apache-2.0
 *
 * What to record: the option string (grammar in collect.h) as numbers.
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
	int graph_level; /* 1: a graph launch is one record, not one for each node */
	bool memory, sync, overhead, nvtx;
	int wait_for_start;
	bool verbose, step_signal, self_limit, detach;
	uint64_t delay_ns, duration_ns; /* duration 0: to the end */
	uint64_t since_ns;              /* orders of the control file count from then on */
	uint64_t flush_ns, silence_ns;
	uint64_t max_bytes; /* of the spool; 0: no limit */
	uint64_t buffers, buffer_bytes;
};

/* The plan that `options` (or NULL) describes. False if a word is not understood: the first such
 * word is then in *wrong, *length long, and the others hold. */
bool plan_read(struct plan *, const char *options, const char **wrong, size_t *length);

/* The name of a level, as options spell it. */
struct str plan_level_name(enum plan_level level);

#endif
