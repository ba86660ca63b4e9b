/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of slices: name, then start and length of each dimension, encoded so that the bytes compare
 * as the values do.
 */
#ifndef TFPROF_CHECKPOINT_ORDERED_CODE_H
#define TFPROF_CHECKPOINT_ORDERED_CODE_H

#include "base/str.h"

#define SLICE_FULL (-1) /* length of a dimension that is not split */

/* Encodes the key of a slice from starts and lengths, SLICE_FULL for a whole dimension. */
struct str slice_key(struct arena *a, struct str name, uint32_t rank, const int64_t *start,
        const int64_t *length);

#endif
