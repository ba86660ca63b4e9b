/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels were launched: grid, block, registers and shared memory, and the occupancy that these
 * allow.
 */
#ifndef TFPROF_VIEW_GPU_SHAPE_H
#define TFPROF_VIEW_GPU_SHAPE_H

#include "base/arena.h"
#include "io/block_format.h"

#define GPU_SHAPES 8 /* distinct shapes of a kernel */

struct gpu_shape {
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared;
	uint32_t part; /* the process and GPU of the first launch */
	uint64_t count;
};

struct gpu_shapes {
	struct gpu_shape v[GPU_SHAPES];
	unsigned n;
	uint64_t others; /* launches in further shapes */
};

void gpu_shapes_add(struct gpu_shapes *s, const struct spool_kernel *k, uint32_t part);

/* The shape with the most launches. */
const struct gpu_shape *gpu_shapes_first(const struct gpu_shapes *s);

/* The share of a multiprocessor's warps that the shape allows to be resident, in thousandths; -1:
 * not known for that compute capability (90 for 9.0), or the shape cannot run there. */
int gpu_occupancy(const struct gpu_shape *s, uint32_t capability);

#endif
