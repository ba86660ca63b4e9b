/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow first steps.
 */
#include "base/sort.h"
#include "why/why_internal.h"

#define STEPS_LEAST 3
#define SLOW_FACTOR 1.25 /* a first step longer than the median by this factor is slow */

static int64_t length_of(const struct critical_window *w)
{
	return num_sub(w->to, w->from);
}

void why_find_warmup(const struct why_scene *s, struct why_change *out)
{
	const struct replay *x = s->x;
	size_t n = x->n_chosen, slow = 0;
	int64_t *lengths = ARENA_ARRAY(out->a, n, int64_t), rest = 0;

	if (n < STEPS_LEAST) {
		out->reason = x->marks->by == STEPS_UNKNOWN ? S("no steps are marked")
		                                            : S("fewer than 3 steps");
		return;
	}
	for (size_t i = 0; i < n; i++)
		lengths[i] = length_of(&x->recorded.windows[i]);
	int64_t median = lengths[keysort_new(out->a, n, lengths)[(n - 1) / 2]];
	while (slow < n / 2 && (double)lengths[slow] > (double)median * SLOW_FACTOR)
		slow++;
	for (size_t i = slow; i < n; i++)
		rest = num_add(rest, lengths[i]);
	for (size_t i = 0; i < slow; i++) {
		struct why_place place = { .kind = "step",
			.name = str_fmt(out->a, "number %zu", i + 1),
			.ticks = lengths[i] - median,
			.times = 1 };
		VEC_PUSH(out->a, &out->places, place);
		out->cost = num_add(out->cost, place.ticks);
	}
	out->saved = slow ? x->recorded.after - rest / (int64_t)(n - slow) : 0;
}
