/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks found in several passes, compared with the ranks of the sorted numbers.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/statistics.h"

#define SERIES 50
#define N      200

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Finds the ranks of n numbers in each of several series; the zeros of a series are added at once.
 */
static void check(struct arena *a, int64_t (*v)[N], size_t n, size_t series, unsigned bits)
{
	static const uint32_t asked[] = { 1, 50, 95, 100 };
	struct ranks r;
	uint32_t wanted[4];
	uint64_t span = 0;
	unsigned passes = 0;

	ranks_open(&r, a, series);
	for (size_t i = 0; i < series; i++) {
		int64_t least = v[i][0], most = v[i][0];
		for (size_t k = 0; k < n; k++) {
			least = v[i][k] < least ? v[i][k] : least;
			most = v[i][k] > most ? v[i][k] : most;
		}
		r.least[i] = least;
		span = (uint64_t)most - (uint64_t)least > span ? (uint64_t)most - (uint64_t)least
		                                               : span;
	}
	for (size_t p = 0; p < 4; p++)
		wanted[p] = (uint32_t)((n * asked[p] + 99) / 100);
	ranks_begin(&r, wanted, 4, span);
	assert_true(r.bits >= RANK_BITS_MIN && r.bits <= RANK_BITS_MAX);
	if (bits && r.open) { /* as if there were more series */
		r.bits = bits;
		r.shift = (63 - (unsigned)__builtin_clzll(span)) / bits * bits;
	}
	for (; r.open; passes++) {
		for (size_t i = 0; i < series; i++) {
			uint32_t zeros = 0;
			for (size_t k = 0; k < n; k++)
				if (v[i][k])
					ranks_add(&r, i, v[i][k], 1);
				else
					zeros++;
			if (zeros)
				ranks_add(&r, i, 0, zeros);
		}
		ranks_end_pass(&r);
	}
	assert_true(passes <= 64 / RANK_BITS_MIN);
	for (size_t i = 0; i < series; i++) {
		qsort(v[i], n, sizeof **v, by_value);
		for (unsigned p = 0; p < 4; p++)
			assert_int_equal(ranks_get(&r, i, p), v[i][(n * asked[p] + 99) / 100 - 1]);
	}
}

static void test_random_numbers(void **state)
{
	static int64_t v[SERIES][N];
	uint64_t x = 88172645463325252u;

	for (unsigned wide = 1; wide <= 64; wide++) {
		for (size_t i = 0; i < SERIES; i++) {
			for (size_t k = 0; k < N; k++) {
				unit_random(&x);
				v[i][k] = (int64_t)(x >> (64 - wide) >> (x & 7));
				if (i % 3 == 0 && (x & 24))
					v[i][k] = 0;
				if (i % 5 == 1)
					v[i][k] = -(v[i][k] / 2);
			}
		}
		check(*state, v, 1 + wide * 3, SERIES, wide % 2 ? RANK_BITS_MIN : 0);
	}
}

static void test_ends_of_the_type(void **state)
{
	int64_t v[2][N] = { { INT64_MAX, INT64_MIN, 0, -1, 1, INT64_MIN, INT64_MAX }, { 0 } };

	check(*state, v, 7, 2, 0);
	check(*state, v, 7, 2, RANK_BITS_MIN);
}

static void test_equal_numbers_need_no_pass(void **state)
{
	int64_t v[1][N] = { { 7, 7, 7 } };
	const uint32_t first = 1;
	struct ranks r;

	check(*state, v, 3, 1, 0);
	ranks_open(&r, *state, 1);
	ranks_begin(&r, &first, 1, 0);
	assert_false(r.open);
}

/* Many series, with the smallest number of counters. */
static void test_counters_have_a_bound(void **state)
{
	const uint32_t wanted[] = { 1, 2, 3 };
	struct ranks r;

	ranks_open(&r, *state, RANK_COUNTS / 16);
	ranks_begin(&r, wanted, 1, 1000);
	assert_int_equal(r.bits, RANK_BITS_MIN);
	ranks_open(&r, *state, 10);
	ranks_begin(&r, wanted, 3, 1000);
	assert_int_equal(r.bits, RANK_BITS_MAX);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_random_numbers),
		unit_case(test_ends_of_the_type),
		unit_case(test_equal_numbers_need_no_pass),
		unit_case(test_counters_have_a_bound),
	};

	return unit_main(tests, argc, argv);
}
