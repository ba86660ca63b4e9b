/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides whether a difference is within the variation of the steps.
 */
#include "compare/difference.h"

void noise_open(struct noise_request *request, struct arena *a)
{
	const struct compare *c = request->c;
	uint32_t most = 0;

	for (uint32_t s = 0; s < c->sides; s++)
		most = c->side[s]->values.n > most ? c->side[s]->values.n : most;
	request->tails = ARENA_NEW(a, struct shift_tails);
	request->tails->a = a;
	for (int s = 0; s < 2; s++)
		request->room[s] = ARENA_ARRAY(a, most / request->n, double);
}

/* Collects number k of an entry in each step that counts in its average. */
static struct shift_values step_values(
        const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k, double *room)
{
	const int64_t *total = compare_total(request->c, side, i);
	uint32_t all = request->c->side[side]->values.n;
	struct shift_values x = { room, 0 };

	for (uint32_t at = request->n; total && at + request->n <= all; at += request->n)
		if (total[at + request->runs] > 0 || request->c->side[side]->values.every_step)
			x.v[x.n++] = (double)total[at + k];
	return x;
}

bool noise_shift(const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k,
        bool relative, struct shift *s)
{
	struct shift_values x = { NULL, 0 }, y = { NULL, 0 };

	if (request->steps) {
		x = step_values(request, 0, i, k, request->room[0]);
		y = step_values(request, side, i, k, request->room[1]);
	}
	shift_open(s, x, y, relative, request->level, request->tails);
	return s->test != SHIFT_NONE;
}

bool noise_probability(
        const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k, double *p)
{
	struct shift s;

	if (!noise_shift(request, side, i, k, false, &s))
		return false;
	*p = shift_equal(&s);
	return true;
}

/* Returns true, and sets *noise, if the two sides have enough steps for the test. */
static bool test_steps(
        const struct noise_request *request, uint32_t side, uint32_t i, uint32_t k, bool *noise)
{
	double p;

	if (!noise_probability(request, side, i, k, &p))
		return false;
	*noise = p > request->level;
	return true;
}

/* True if two times differ by less than the noise floor. parts: of a microsecond. */
static bool below_floor(int64_t x, int64_t y, int64_t parts)
{
	double a = x < 0 ? -(double)x : (double)x, b = y < 0 ? -(double)y : (double)y;
	double change = x < y ? (double)y - (double)x : (double)x - (double)y;

	return change < NOISE_MICROS * (double)parts || change < NOISE_SHARE * (a > b ? a : b);
}

bool noise_is(const struct noise_request *request, uint32_t i, uint32_t k)
{
	const int64_t *first = compare_total(request->c, 0, i);
	int64_t parts = compare_parts(request->c, V_MICROS);
	bool noise = true;

	for (uint32_t s = 1; s < request->c->sides && noise; s++) {
		const int64_t *x = compare_total(request->c, s, i);
		if (!first || !x)
			noise = !first && !x;
		else if (x[k] != first[k] && !test_steps(request, s, i, k, &noise))
			noise = below_floor(first[k], x[k], parts);
	}
	return noise;
}
