/* SPDX-License-Identifier: Apache-2.0
 *
 * See vec.h.
 */
#include "base/vec.h"

void *vec_grow(struct arena *a, void *v, size_t *cap, size_t need, size_t size)
{
	size_t to = *cap < 8 ? 8 : *cap;
	size_t bytes;

	if (need <= *cap)
		work_escape(a->work);
	if (to == *cap)
		to += *cap > ((size_t)1 << 22) / size ? *cap / 2 : *cap;
	if (to < need)
		to = need;
	if (__builtin_mul_overflow(to, size, &bytes))
		work_escape(a->work);
	v = arena_grow(a, v, *cap * size, bytes);
	*cap = to;
	return v;
}
