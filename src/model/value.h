/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a node, as one vector that can be added up.
 */
#ifndef TFPROF_MODEL_VALUE_H
#define TFPROF_MODEL_VALUE_H

#include "base/num.h"

enum value {
	V_BYTES,          /* requested, bytes */
	V_PEAK_BYTES,     /* bytes */
	V_RESIDUAL_BYTES, /* bytes */
	V_OUTPUT_BYTES,   /* bytes */
	V_KERNELS,        /* kernels, copies and sets of devices; traces only, likewise the next */
	V_BYTES_ACCESSED, /* memory traffic of device work, bytes */
	V_MICROS,         /* accelerator + cpu, microseconds */
	V_ACCELERATOR_MICROS, /* microseconds */
	V_CPU_MICROS,         /* microseconds */
	V_RUNS,               /* number of executions in the step */
	V_RECORDED, /* the values above differ from step to step, the values below do not */
	V_PARAMS = V_RECORDED,
	V_FLOAT_OPS,
	V_DEFINITIONS, /* number of nodes that define it */
	V_N,
	V_NONE = V_N
};

struct tally {
	int64_t v[V_N];
};

/* Sums stop at the ends of the type. */
static inline void tally_add(struct tally *to, const struct tally *from)
{
	for (int i = 0; i < V_N; i++)
		to->v[i] = num_sum(to->v[i], from->v[i]);
}

/* True if one of n numbers is at an end of the type, where sums stop. */
static inline bool value_stopped(const int64_t *v, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= num_stopped(v[i]);
	return any;
}

#endif
