/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer that grows at its front.
 */
#include "export/message/pbput.h"

#define PBPUT_FIRST ((size_t)4 << 10)

void pbput_init(struct pbput *b, struct arena *a)
{
	*b = (struct pbput){ .a = a, .cap = PBPUT_FIRST };
	b->base = ARENA_ARRAY(a, b->cap, uint8_t);
	pbput_clear(b);
}

/* Makes room for n more bytes: the content moves to the end of the larger buffer. */
void pbput_grow(struct pbput *b, size_t n)
{
	size_t used = pbput_size(b), cap;

	if (__builtin_add_overflow(b->cap * 2, n, &cap) || b->cap > SIZE_MAX / 4)
		work_escape(b->a->work);
	uint8_t *base = arena_grow(b->a, b->base, b->cap, cap);
	memmove(base + cap - used, base + b->cap - used, used);
	b->base = base;
	b->cap = cap;
	b->p = base + cap - used;
}
