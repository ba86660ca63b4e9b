/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a trace from the arena of its reader to one that lives longer.
 */
#include "trace/trace_internal.h"

#define COPY_ITEMS(a, to, from)                                                                    \
	do {                                                                                       \
		(to)->v = NULL;                                                                    \
		(to)->n = (to)->cap = 0;                                                           \
		VEC_ROOM(a, to, (from)->n);                                                        \
		if ((from)->n)                                                                     \
			memcpy((to)->v, (from)->v, (from)->n * sizeof *(to)->v);                   \
		(to)->n = (from)->n;                                                               \
	} while (0)

static void copy_blocks(struct trace_track *to, const struct trace_track *from, struct arena *a)
{
	COPY_ITEMS(a, &to->blocks, &from->blocks);
	for (size_t i = 0; i < to->blocks.n; i++) {
		struct slice_block *b = &to->blocks.v[i];
		b->bytes = (uint8_t *)arena_copy(a, b->bytes, b->size);
		b->cap = b->size;
	}
}

struct trace *trace_copy(const struct trace *t, struct arena *a)
{
	struct trace *to = ARENA_NEW(a, struct trace);

	*to = *t;
	to->a = a;
	intern_init(&to->strings, a);
	for (uint32_t i = 0; i < t->strings.n; i++)
		intern_add(&to->strings, intern_str(&t->strings, i));
	COPY_ITEMS(a, &to->processes, &t->processes);
	COPY_ITEMS(a, &to->devices, &t->devices);
	COPY_ITEMS(a, &to->tracks, &t->tracks);
	COPY_ITEMS(a, &to->events, &t->events);
	COPY_ITEMS(a, &to->nodes, &t->nodes);
	COPY_ITEMS(a, &to->inputs, &t->inputs);
	for (size_t i = 0; i < to->tracks.n; i++)
		copy_blocks(&to->tracks.v[i], &t->tracks.v[i], a);
	for (size_t i = 0; i < to->events.n; i++)
		to->events.v[i].args = str_copy(a, to->events.v[i].args);
	for (size_t i = 0; i < to->nodes.n; i++)
		to->nodes.v[i].args = str_copy(a, to->nodes.v[i].args);
	return to;
}
