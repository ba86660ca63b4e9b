/* SPDX-License-Identifier: Apache-2.0
 *
 * The step time and how an average step divides.
 */
#include "trace/pass/step_time.h"

#include <math.h>

#include "base/sort.h"

int64_t step_time_sum(const struct trace_steps *steps)
{
	int64_t sum = 0;

	for (size_t i = 0; i < steps->steps.n; i++)
		if (trace_step_counts(steps, i))
			sum = num_add(sum, num_sub(steps->steps.v[i].end, steps->steps.v[i].start));
	return sum;
}

int64_t step_time_mean(const struct trace *t, int64_t sum, size_t n)
{
	return n ? trace_ns(t, sum) / num_from_u64(n) : 0;
}

struct step_wall step_time_of(const struct trace_steps *steps, struct arena *a)
{
	size_t n = 0, counted = trace_steps_counted(steps);
	struct step_wall out = { .marked = steps->by != STEPS_UNKNOWN,
		.guessed = steps->by == STEPS_BY_GUESS,
		.steps = counted,
		.left_out = steps->steps.n - counted };
	int64_t *ns = ARENA_ARRAY(a, counted, int64_t);
	double squares = 0;

	if (!counted)
		return out;
	out.mean = step_time_mean(steps->t, step_time_sum(steps), counted);
	for (size_t i = 0; i < steps->steps.n; i++) {
		const struct trace_step *s = &steps->steps.v[i];
		if (!trace_step_counts(steps, i))
			continue;
		ns[n++] = trace_ns(steps->t, num_sub(s->end, s->start));
		squares += pow((double)ns[n - 1] - (double)out.mean, 2);
	}
	sort_array(a, ns, n, sizeof *ns, sort_ascending);
	out.median = ns[(n - 1) / 2];
	out.shortest = ns[0];
	out.longest = ns[n - 1];
	out.deviation = num_from_real(sqrt(squares / (double)n) + 0.5);
	return out;
}

struct usage_partition step_time_partition(
        const struct trace_steps *steps, const struct device_usage *device)
{
	return usage_partition(
	        steps->t, &device->in_steps, step_time_sum(steps), trace_steps_counted(steps));
}
