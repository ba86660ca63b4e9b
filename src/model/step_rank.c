/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders steps by their times.
 */
#include "model/model.h"

#include "base/sort.h"

static int by_id(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_time *v = ctx;

	return (v[a].id > v[b].id) - (v[a].id < v[b].id);
}

static int by_ticks(const void *ctx, uint32_t a, uint32_t b)
{
	const struct step_time *v = ctx;

	return (v[a].ticks > v[b].ticks) - (v[a].ticks < v[b].ticks);
}

static int64_t ticks_of(const struct model *m, const struct step *s)
{
	int64_t sum = 0;

	for (uint32_t c = 0; c < s->n_cells; c++) {
		struct tally t = { 0 };
		step_tally(s, c, model_ticks(m), &t);
		sum = num_add(sum, t.v[V_MICROS]);
	}
	return sum;
}

struct step_time *steps_by_time(const struct model *m, size_t *n, struct arena *a)
{
	struct step_time *v = ARENA_ARRAY(a, m->steps.n, struct step_time);
	size_t all = 0;

	*n = 0;
	for (size_t i = 0; i < m->steps.n; i++) {
		const struct step *s = m->steps.v[i];
		if (!s->excluded_from_average)
			v[all++] = (struct step_time){ s->id, ticks_of(m, s) };
		work_poll(a->work);
	}
	sort_array(a, v, all, sizeof *v, by_id);
	for (size_t i = 0; i < all; i++) {
		if (*n && v[*n - 1].id == v[i].id)
			v[*n - 1].ticks = num_add(v[*n - 1].ticks, v[i].ticks);
		else
			v[(*n)++] = v[i];
	}
	sort_array(a, v, *n, sizeof *v, by_ticks);
	return v;
}
