/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting of arrays and of indices into them: a stable merge sort by any comparison, and a fast
 * order of strings; binary search. Depth of recursion is bounded by the number of bits in n, never
 * by the contents of the input.
 */
#ifndef TFPROF_BASE_SORT_H
#define TFPROF_BASE_SORT_H

#include "base/str.h"

/* Returns a negative, zero or positive number if element a comes before, equals or comes after b.
 */
typedef int sort_cmp(const void *ctx, uint32_t a, uint32_t b);

/* Compares elements of arrays of int64_t, ascending. */
int sort_ascending(const void *v, uint32_t a, uint32_t b);

/* Sorts ids, stably. Scratch memory comes from a and is released. */
void sort_stable(struct arena *a, uint32_t *v, size_t n, sort_cmp *cmp, const void *ctx);

/* Returns the numbers below n in order, in a. Equal elements keep ascending numbers. */
uint32_t *sort_order(struct arena *a, size_t n, sort_cmp *cmp, const void *ctx);

/* Sorts the elements of an array of elements of size bytes, stably. The comparison receives the
 * array. */
void sort_array(struct arena *a, void *v, size_t n, size_t size, sort_cmp *cmp);

/* Sorts ids v[0..n) by the bytes of strings[id]; equal strings keep their order. */
void sort_strings(struct arena *a, uint32_t *v, size_t n, const struct str *strings);

/* Sorts a list by the bytes of its strings. */
void sort_list(struct arena *a, struct strs *list);

/* Returns the number of elements in the ascending array v[0..n) that are at most key. */
size_t sort_count(const uint64_t *v, size_t n, uint64_t key);

/* Binary search: sets i, an integer variable, to the first index in [from, to) for which the
 * expression `before` is false, or to `to`. `before` must be true for a first part of the range and
 * false for the rest. */
#define BISECT(i, from, to, before)                                                                \
	do {                                                                                       \
		__typeof__(i) low_ = (from), high_ = (to);                                         \
		while (low_ < high_) {                                                             \
			(i) = low_ + (high_ - low_) / 2;                                           \
			if (before)                                                                \
				low_ = (i) + 1;                                                    \
			else                                                                       \
				high_ = (i);                                                       \
		}                                                                                  \
		(i) = low_;                                                                        \
	} while (0)

/* ---- by numbers: boxes by time, buffers by size ---- */

/* Sorts ids by key[id], ascending. Ids with equal keys keep their order. Scratch memory (4 bytes
 * per id) comes from a and is released. */
void keysort(struct arena *a, uint32_t *ids, size_t n, const int64_t *key);

/* Returns the numbers 0 .. n - 1 in the order of their keys; in a. */
uint32_t *keysort_new(struct arena *a, size_t n, const int64_t *key);

#endif
