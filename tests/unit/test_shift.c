/* SPDX-License-Identifier: Apache-2.0
 *
 * The test of two series: ranks compared with counting by hand and over all arrangements,
 * intervals, series that are too short, outliers.
 */
#include "unit.h"

#include <math.h>

#include "base/statistics.h"

#define N(v) (sizeof(v) / sizeof *(v))

static struct shift_tails tails;

static struct shift open(double *x, size_t n, double *y, size_t m, bool relative, double level)
{
	struct shift s;

	tails = (struct shift_tails){ .a = &unit_arena };
	shift_open(&s, (struct shift_values){ x, n }, (struct shift_values){ y, m }, relative,
	        level, &tails);
	return s;
}

static bool close_to(double found, double wanted)
{
	return fabs(found - wanted) < 1e-9 * (1 + fabs(wanted));
}

/* Returns the share of all ways to choose n of n + m ranks with at least u pairs above. */
static double by_all_ways(size_t n, size_t m, size_t u)
{
	size_t all = 0, more = 0;

	for (uint32_t set = 0; set < 1u << (n + m); set++) {
		size_t pairs = 0, chosen = 0;
		for (size_t i = 0; i < n + m; i++)
			if (set >> i & 1)
				pairs += i - chosen++;
		all += chosen == n;
		more += chosen == n && pairs >= u;
	}
	return (double)more / (double)all;
}

static void test_ranks(void **state)
{
	double x[] = { 3, 1, 2, 4 }, y[] = { 5, 8, 6, 7 };
	struct shift s = open(x, 4, y, 4, false, 0.05);

	(void)state;
	assert_int_equal(s.test, SHIFT_RANKS);
	assert_true(close_to(shift_above(&s, 0), 1 / 70.0) && close_to(shift_below(&s, 0), 1));
	assert_true(close_to(shift_equal(&s), 2 / 70.0));
	/* Pairs that are equal count for neither side: x + 4 is y. */
	assert_true(close_to(shift_above(&s, 4), by_all_ways(4, 4, 6)));
	assert_true(close_to(shift_below(&s, 4), by_all_ways(4, 4, 6)));
	for (size_t n = 1; n < 7; n++)
		for (size_t m = 1; m < 7; m++) {
			double a[6] = { 0 }, b[6] = { 0 };
			for (size_t i = 0; i < 6; i++) {
				a[i] = (double)(i * i % 7);
				b[i] = 0.5 + (double)(i * 3 % 5);
			}
			size_t u = 0;
			for (size_t i = 0; i < n * m; i++)
				u += b[i % m] > a[i / m];
			s = open(a, n, b, m, false, 0.999);
			assert_true(s.test != SHIFT_RANKS ||
			            close_to(shift_above(&s, 0), by_all_ways(n, m, u)));
		}
}

static void test_large(void **state)
{
	double x[300], y[200];
	struct shift s;
	double low, high;

	(void)state;
	for (size_t i = 0; i < N(x); i++)
		x[i] = 1000 + (double)(i * 7919 % 300);
	for (size_t i = 0; i < N(y); i++)
		y[i] = 1100 + (double)(i * 104729 % 300);
	s = open(x, N(x), y, N(y), false, 0.05);
	assert_null(s.tail);
	assert_true(shift_equal(&s) < 1e-20 && shift_above(&s, 100) > 0.1);
	assert_true(shift_interval(&s, &low, &high) && low > 80 && low < 100 && high > 100 &&
	            high < 120);
}

static void test_interval(void **state)
{
	double x[] = { 100, 101, 102, 103 }, y[] = { 110, 112, 111, 113 }, low, high;
	struct shift s = open(x, 4, y, 4, false, 0.05);

	(void)state;
	/* With four and four values, all pairs count: the interval is the smallest to the largest
	 * difference. */
	assert_true(shift_interval(&s, &low, &high) && close_to(low, 7) && close_to(high, 13));
	s = open(x, 4, y, 4, true, 0.05);
	assert_true(shift_interval(&s, &low, &high));
	assert_true(close_to(low, 110 / 103.0 - 1) && close_to(high, 113 / 100.0 - 1));
	double zero[] = { 0, 0, 0, 5 };
	s = open(zero, 4, y, 4, true, 0.05);
	assert_false(shift_interval(&s, &low, &high));
	double part[] = { 0, 5, 6, 7 };
	s = open(part, 4, y, 4, true, 0.05);
	assert_true(shift_interval(&s, &low, &high) && isinf(high));
}

/* Two and two values are too few for ranks, one value is for any test. */
static void test_short(void **state)
{
	double x[] = { 100, 102 }, y[] = { 300, 301 }, low, high;
	struct shift s = open(x, 2, y, 2, true, 0.05);

	(void)state;
	assert_int_equal(s.test, SHIFT_WELCH);
	assert_true(shift_above(&s, 0) < 0.01 && shift_above(&s, 3) > 0.9);
	assert_true(shift_interval(&s, &low, &high) && low > 1 && low < 2 && high > 2 && high < 3);
	s = open(x, 1, y, 2, true, 0.05);
	assert_int_equal(s.test, SHIFT_NONE);
	assert_true(shift_above(&s, 0) == 1 && !shift_interval(&s, &low, &high));
	s = open(x, 0, y, 2, true, 0.05);
	assert_int_equal(s.test, SHIFT_NONE);
	double same[] = { 7, 7 }, more[] = { 8, 8 };
	s = open(same, 2, more, 2, false, 0.05);
	assert_true(s.constant && shift_above(&s, 0) == 0);
	assert_true(shift_possible(2, 2, 0.05) && shift_possible(1, 39, 0.05) &&
	            shift_possible(39, 1, 0.05));
	assert_false(shift_possible(1, 38, 0.05) || shift_possible(0, 99, 0.05) ||
	             shift_possible(1, 1, 0.05));
	double many[3000], one[] = { 5000 };
	for (size_t i = 0; i < N(many); i++)
		many[i] = (double)i;
	s = open(one, 1, many, N(many), false, 0.05);
	assert_true(s.test == SHIFT_RANKS && close_to(shift_below(&s, 0), 1 / 3001.0));
	assert_int_equal(shift_least_steps(0.05), 4);
	assert_int_equal(shift_least_steps(0.01), 5);
	assert_int_equal(shift_least_steps(1), 1);
}

/* An outlier does not hide a change of all other values. */
static void test_outlier(void **state)
{
	double x[] = { 100, 101, 99, 102, 98, 100.5 }, y[] = { 141, 142, 140, 139, 5000, 141.5 },
	       low, high;
	struct shift s = open(x, 6, y, 6, true, 0.05);

	(void)state;
	assert_true(shift_above(&s, 0.05) < 0.005);
	assert_true(shift_interval(&s, &low, &high) && low > 0.3 && high < 50);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_ranks),
		unit_case(test_large),
		unit_case(test_interval),
		unit_case(test_short),
		unit_case(test_outlier),
	};

	return unit_main(tests, argc, argv);
}
