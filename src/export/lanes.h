/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes in which intervals stand that overlap: each in the first one that is free. Knows no boxes.
 */
#ifndef TFPROF_EXPORT_LANES_H
#define TFPROF_EXPORT_LANES_H

#include "base/arena.h"

/* Zeroed but for the arena: no lane yet. */
struct lanes {
	struct arena *a;
	int64_t *free; /* [2 * cap], a tree: when each lane gets free, that of lane i at cap + i */
	size_t cap, n;
};

/* The number of the first lane that is free at start, or of a new one; it is taken until end. Of
 * any length, also 0; starts ascend. */
size_t lanes_take(struct lanes *l, int64_t start, int64_t end);

#endif
