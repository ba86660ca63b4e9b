/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of PyTorch's ops from the shapes of their inputs, as torch.profiler counts them:
 * a multiplication and an addition are two, and a bias counts nothing.
 */
#ifndef TFPROF_TRACE_SHAPE_FLOPS_H
#define TFPROF_TRACE_SHAPE_FLOPS_H

#include "base/str.h"

/* Float operations of one call; 0 for other ops, and where the shapes do not fit together. shapes:
 * "[[4,5],[5,6]]"; values: of scalar inputs, ["","","","[1, 1]",...]. */
int64_t shape_flops(struct str op, struct str shapes, struct str values);

#endif
