/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts many items by a number: boxes by time, buffers by size.
 */
#ifndef TFPROF_EXPORT_KEYSORT_H
#define TFPROF_EXPORT_KEYSORT_H

#include "base/arena.h"

/* Sorts ids by key[id], ascending; ids with equal keys keep their order. Scratch (4 bytes per id)
 * comes from a and is released. */
void keysort(struct arena *a, uint32_t *ids, size_t n, const int64_t *key);

/* Returns 0 .. n - 1 in the order of their keys; in a. */
uint32_t *keysort_new(struct arena *a, size_t n, const int64_t *key);

#endif
