/* SPDX-License-Identifier: Apache-2.0
 *
 * Assigns lanes to boxes that overlap. A complete binary tree over the lanes, in which a node is
 * the least of the two below it: the first lane that is free is found from the top. Lanes not yet
 * opened are never free.
 */
#include "export/timeline/timeline.h"

static void grow(struct lanes *l)
{
	size_t had = l->cap, cap = had ? 2 * had : 64;
	int64_t *free = ARENA_ARRAY(l->a, 2 * cap, int64_t);

	for (size_t i = 0; i < cap; i++)
		free[cap + i] = i < had ? l->free[had + i] : INT64_MAX;
	for (size_t i = cap; i-- > 1;)
		free[i] = free[2 * i] < free[2 * i + 1] ? free[2 * i] : free[2 * i + 1];
	l->free = free;
	l->cap = cap;
}

size_t lanes_take(struct lanes *l, int64_t start, int64_t end)
{
	size_t i = 1, lane = l->n;

	if (l->n && l->free[1] <= start) {
		while (i < l->cap)
			i = 2 * i + (l->free[2 * i] > start);
		lane = i - l->cap < l->n ? i - l->cap : l->n;
	}
	if (lane == l->n && l->n++ == l->cap)
		grow(l);
	i = l->cap + lane;
	l->free[i] = end;
	for (i /= 2; i >= 1; i /= 2)
		l->free[i] =
		        l->free[2 * i] < l->free[2 * i + 1] ? l->free[2 * i] : l->free[2 * i + 1];
	return lane;
}
