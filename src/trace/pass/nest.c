/* SPDX-License-Identifier: Apache-2.0
 *
 * Nesting by containment, with an explicit stack.
 */
#include "trace/pass/nest.h"

void nest_init(
        struct nest *n, const struct trace *t, uint32_t track, uint32_t categories, struct arena *a)
{
	*n = (struct nest){ .t = t,
		.a = a,
		.it = trace_slices_if(t, track, categories),
		.categories = categories };
}

static bool counts(const struct nest *n, const struct slice *s)
{
	return s->form == SLICE_COMPLETE && n->categories & CATEGORY_BIT(s->category);
}

static void read_next(struct nest *n)
{
	while (!n->have && slice_next(&n->it, &n->next))
		n->have = counts(n, &n->next);
}

/* Removes the innermost slice from the stack. Its data stays valid until the next push. */
static struct nest_level *close_top(struct nest *n)
{
	struct nest_level *top = &n->stack.v[--n->stack.n];

	if (n->stack.n)
		top[-1].children = num_add(top[-1].children, top->s.length);
	return top;
}

struct nest_level *nest_close(struct nest *n, const struct slice *next)
{
	struct nest_level *top = n->stack.n ? &n->stack.v[n->stack.n - 1] : NULL;

	if (!top ||
	        (next && slice_end(&top->s) > next->start && slice_end(next) <= slice_end(&top->s)))
		return NULL;
	n->overlaps += next && slice_end(&top->s) > next->start;
	return close_top(n);
}

struct nest_level *nest_open(struct nest *n, const struct slice *s)
{
	struct nest_level made = { .s = *s, .depth = (uint32_t)n->stack.n };

	VEC_PUSH(n->a, &n->stack, made);
	return &n->stack.v[n->stack.n - 1];
}

enum nest_what nest_next(struct nest *n, struct nest_level **level)
{
	read_next(n);
	*level = nest_close(n, n->have ? &n->next : NULL);
	if (*level)
		return NEST_CLOSE;
	if (!n->have)
		return NEST_END;
	n->have = false;
	*level = nest_open(n, &n->next);
	return NEST_OPEN;
}

const struct nest_level *nest_around(
        const struct nest *n, const struct nest_level *level, uint32_t categories)
{
	for (size_t i = level->depth; i-- > 0;)
		if (categories & CATEGORY_BIT(n->stack.v[i].s.category))
			return &n->stack.v[i];
	return NULL;
}

uint32_t nest_bits(unsigned category_flags)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < CATEGORY_N; i++)
		if (trace_category_flags[i] & category_flags)
			bits |= CATEGORY_BIT(i);
	return bits;
}
