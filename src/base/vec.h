/* SPDX-License-Identifier: Apache-2.0
 *
 * Growing typed columns in an arena. Elements are contiguous; the next push invalidates pointers to
 * them. Counts are size_t: the owner checks them against its index type.
 */
#ifndef TFPROF_BASE_VEC_H
#define TFPROF_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* Gives v room for at least need elements of size bytes and updates *cap; doubles. If need does not
 * exceed *cap, the caller's sum has overflowed: that counts as exhaustion. */
void *vec_grow(struct arena *a, void *v, size_t *cap, size_t need, size_t size);

/* Makes room for m more elements. */
#define VEC_ROOM(a, x, m)                                                                          \
	((m) > (x)->cap - (x)->n ? (void)((x)->v = vec_grow((a), (x)->v, &(x)->cap, (x)->n + (m),  \
	                                          sizeof *(x)->v))                                 \
	                         : (void)0)
#define VEC_PUSH(a, x, value) (VEC_ROOM(a, x, 1), (x)->v[(x)->n++] = (value))

#endif
