/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers that a node can have, as one vector that adds up.
 */
#ifndef TFPROF_MODEL_VALUE_H
#define TFPROF_MODEL_VALUE_H

#include "base/num.h"

enum value {
	V_BYTES,              /* requested, bytes */
	V_PEAK_BYTES,         /* bytes */
	V_RESIDUAL_BYTES,     /* bytes */
	V_OUTPUT_BYTES,       /* bytes */
	V_MICROS,             /* accelerator + cpu, microseconds */
	V_ACCELERATOR_MICROS, /* microseconds */
	V_CPU_MICROS,         /* microseconds */
	V_RUNS,               /* times run in the step */
	V_RECORDED,           /* the values above differ from step to step, those below do not */
	V_PARAMS = V_RECORDED,
	V_FLOAT_OPS,
	V_DEFINITIONS, /* nodes that define it */
	V_N,
	V_NONE = V_N
};

struct tally {
	int64_t v[V_N];
};

/* Sums over nodes go round at the ends of the type, as the original's do. */
static inline void tally_add(struct tally *to, const struct tally *from)
{
	for (int i = 0; i < V_N; i++)
		to->v[i] = (int64_t)((uint64_t)to->v[i] + (uint64_t)from->v[i]);
}

#endif
