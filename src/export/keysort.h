/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting many things by a number of each: boxes by time, buffers by size. Knows neither.
 */
#ifndef TFPROF_EXPORT_KEYSORT_H
#define TFPROF_EXPORT_KEYSORT_H

#include "base/arena.h"

/* Sorts ids by key[id], ascending; ids of equal keys keep their order. Scratch (4 bytes an id)
 * comes from a and is given back. */
void keysort(struct arena *a, uint32_t *ids, size_t n, const int64_t *key);

/* 0 .. n - 1 in the order of their keys; in a. */
uint32_t *keysort_new(struct arena *a, size_t n, const int64_t *key);

#endif
