/* SPDX-License-Identifier: Apache-2.0
 *
 * What to record: the option string (grammar in collect.h) as numbers.
 */
#ifndef TFPROF_COLLECT_PLAN_H
#define TFPROF_COLLECT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_level { LEVEL_KERNELS, LEVEL_LAUNCHES, LEVEL_FULL };

struct plan {
	enum plan_level level;
	bool graph_level; /* a graph launch is one record, not one for each node */
	bool memory, sync, overhead, nvtx;
	bool wait_for_start, verbose, step_signal, self_limit, detach;
	uint64_t delay_ns, duration_ns; /* duration 0: to the end */
	uint64_t since_ns;              /* orders of the control file count from then on */
	uint64_t flush_ns, silence_ns;
	uint64_t max_bytes; /* of the spool; 0: no limit */
	uint32_t buffers;
	size_t buffer_bytes;
};

/* The plan that `options` (or NULL) describes. False if a word is not understood: the first such
 * word is then in *wrong, *length long, and the others hold. */
bool plan_read(struct plan *, const char *options, const char **wrong, size_t *length);

#endif
