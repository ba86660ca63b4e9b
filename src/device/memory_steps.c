/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a memory snapshot.
 */
#include "device/memory_steps.h"

#include "trace/pass/trace_steps.h"

/* Adds the time of a step, which must not precede the steps added before. */
static void add_time(struct memory_steps *to, const struct trace_step *s, struct arena *a)
{
	struct memory_interval *last = to->v.n ? &to->v.v[to->v.n - 1] : NULL;

	if (!last || s->start > last->end)
		VEC_PUSH(a, &to->v, ((struct memory_interval){ s->start, s->end }));
	else if (s->end > last->end)
		last->end = s->end;
}

bool memory_steps_choose(
        const struct trace *t, const struct opts *o, struct memory_steps *out, struct arena *a)
{
	struct trace_steps steps;
	size_t n = 0;

	*out = (struct memory_steps){ .id = MEMORY_NO_STEP };
	if (!o)
		return true;
	trace_find_steps(t, &steps, a);
	for (size_t i = 0; i < steps.steps.n; i++) {
		const struct trace_step *s = &steps.steps.v[i];
		if (!opts_has_step(o, s->id))
			continue;
		out->id = n++ ? MEMORY_NO_STEP : s->id;
		add_time(out, s, a);
	}
	return n > 0;
}

void memory_steps_rewind(struct memory_steps *s)
{
	s->next = 0;
}

bool memory_steps_begin(struct memory_steps *s, int64_t at)
{
	size_t before = s->next;

	while (s->next < s->v.n && s->v.v[s->next].start <= at)
		s->next++;
	return s->next > before;
}

bool memory_steps_contain(const struct memory_steps *s, int64_t at)
{
	return !s->v.n || (s->next && at <= s->v.v[s->next - 1].end);
}

void memory_steps_find_most(
        const struct memory_steps *s, const struct trace *t, struct memory_pool *p)
{
	size_t before = 0, most = SIZE_MAX;

	for (size_t i = 0; i < s->v.n; i++) {
		int64_t start = trace_ns(t, s->v.v[i].start), end = trace_ns(t, s->v.v[i].end);
		while (before + 1 < p->use.n && p->use.v[before + 1].ns < start)
			before++;
		for (size_t k = before; k < p->use.n && (k == before || p->use.v[k].ns <= end); k++)
			if (most == SIZE_MAX || p->use.v[k].bytes > p->use.v[most].bytes)
				most = k;
	}
	p->most = most == SIZE_MAX ? p->most : most;
}
