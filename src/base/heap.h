/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary heaps in arrays: no element comes before the first one. The functions are inline, so the
 * compiler knows the size of the elements, a multiple of eight bytes, and their order.
 */
#ifndef TFPROF_BASE_HEAP_H
#define TFPROF_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* True if element a comes before element b. */
typedef bool heap_order(const void *a, const void *b);

static inline void heap_swap(char *a, char *b, size_t size)
{
	uint64_t x, y;

	for (size_t i = 0; i < size; i += sizeof x) {
		memcpy(&x, a + i, sizeof x);
		memcpy(&y, b + i, sizeof y);
		memcpy(a + i, &y, sizeof y);
		memcpy(b + i, &x, sizeof x);
	}
}

/* Moves element i of the heap v[0..n) down to its place: it may come after its children. */
static inline void heap_down(void *v, size_t n, size_t size, size_t i, heap_order *before)
{
	char *p = v;

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(p + (child + 1) * size, p + child * size))
			child++;
		if (!before(p + child * size, p + i * size))
			return;
		heap_swap(p + child * size, p + i * size, size);
	}
}

/* Moves element i of a heap up to its place: it may come before its parent. */
static inline void heap_up(void *v, size_t size, size_t i, heap_order *before)
{
	char *p = v;

	for (size_t parent; i && (parent = (i - 1) / 2, before(p + i * size, p + parent * size));
	        i = parent)
		heap_swap(p + i * size, p + parent * size, size);
}

/* Makes a heap of n elements in any order. */
static inline void heap_make(void *v, size_t n, size_t size, heap_order *before)
{
	for (size_t i = n / 2; i-- > 0;)
		heap_down(v, n, size, i, before);
}

#endif
