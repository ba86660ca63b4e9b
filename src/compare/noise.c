/* SPDX-License-Identifier: Apache-2.0
 *
 * See difference.h.
 */
#include "compare/difference.h"

#include <math.h>

#include "base/statistics.h"

/* Collects number k of an entry in each step in which it ran. */
static struct sample step_values(
        const struct noise_ask *ask, uint32_t side, uint32_t i, uint32_t k, struct arena *a)
{
	const int64_t *total = compare_total(ask->c, side, i);
	uint32_t all = ask->c->side[side]->values.n;
	double *v = ARENA_ARRAY(a, all / ask->n, double);
	size_t n = 0;

	for (uint32_t at = ask->n; total && at + ask->n <= all; at += ask->n)
		if (total[at + ask->runs] > 0)
			v[n++] = (double)total[at + k];
	return sample_of(v, n);
}

bool noise_probability(const struct noise_ask *ask, uint32_t side, uint32_t i, uint32_t k,
        struct arena *scratch, double *p)
{
	struct arena_mark mark = arena_mark(scratch);
	struct sample x = step_values(ask, 0, i, k, scratch),
	              y = step_values(ask, side, i, k, scratch);

	arena_reset(scratch, mark);
	if (x.n < 1 || y.n < 1 || x.n + y.n < 3)
		return false;
	double above = welch_above(&x, &y), below = welch_above(&y, &x);
	*p = fmin(1, 2 * (above < below ? above : below));
	return true;
}

/* Sets *noise and returns true if the steps of the two sides can decide. */
static bool test_steps(const struct noise_ask *ask, uint32_t side, uint32_t i, uint32_t k,
        struct arena *scratch, bool *noise)
{
	double p;

	if (!noise_probability(ask, side, i, k, scratch, &p))
		return false;
	*noise = p > ask->level;
	return true;
}

static bool below_floor(int64_t x, int64_t y)
{
	double a = x < 0 ? -(double)x : (double)x, b = y < 0 ? -(double)y : (double)y;
	double change = x < y ? (double)y - (double)x : (double)x - (double)y;

	return change < NOISE_MICROS || change < NOISE_SHARE * (a > b ? a : b);
}

bool noise_is(const struct noise_ask *ask, uint32_t i, uint32_t k, struct arena *scratch)
{
	const int64_t *first = compare_total(ask->c, 0, i);
	bool noise = true;

	for (uint32_t s = 1; s < ask->c->sides && noise; s++) {
		const int64_t *x = compare_total(ask->c, s, i);
		if (!first || !x)
			noise = !first && !x;
		else if (x[k] != first[k] &&
		         (!ask->steps || !test_steps(ask, s, i, k, scratch, &noise)))
			noise = below_floor(first[k], x[k]);
	}
	return noise;
}
