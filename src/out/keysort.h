/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting many numbers with what belongs to them: times with boxes, sizes with buffers. Knows
 * neither.
 */
#ifndef TFPROF_OUT_KEYSORT_H
#define TFPROF_OUT_KEYSORT_H

#include "base/arena.h"

/* Sorts keys ascending, ids along with them; equal keys keep their order. Scratch (12 bytes an
 * element) comes from a and is given back. */
void keysort(struct arena *a, uint64_t *keys, uint32_t *ids, size_t n);

/* A signed number as a key of the same order. */
static inline uint64_t keysort_signed(int64_t v)
{
	return (uint64_t)v ^ (uint64_t)1 << 63;
}

#endif
