/* SPDX-License-Identifier: Apache-2.0
 *
 * Welch's t-test compared with values from other programs, and series that cannot be tested.
 */
#include "unit.h"

#include <math.h>

#include "base/statistics.h"

#define N(v) (sizeof(v) / sizeof *(v))

static double above(const double *a, size_t n, const double *b, size_t m)
{
	struct sample x = sample_of(a, n), y = sample_of(b, m);

	return welch_above(&x, &y);
}

static void close_to(double found, double wanted)
{
	assert_true(fabs(found - wanted) < 1e-6 * (1 + fabs(wanted)));
}

/* One degree of freedom on each side and equal spreads: two in total, for which the tail has a
 * closed form.
 */
static void test_elementary(void **state)
{
	const double a[] = { 0, 2 }, b[] = { 3, 5 };
	const double t = 3 / sqrt(2.0);

	(void)state;
	close_to(above(a, 2, b, 2), 0.5 - t / (2 * sqrt(2 + t * t)));
	close_to(above(b, 2, a, 2), 0.5 + t / (2 * sqrt(2 + t * t)));
	close_to(above(a, 2, a, 2), 0.5);
}

static void test_no_spread(void **state)
{
	const double a[] = { 5, 5, 5 }, b[] = { 6, 6 }, c[] = { 5 };

	(void)state;
	assert_true(above(a, 3, b, 2) == 0);
	assert_true(above(b, 2, a, 3) == 1);
	assert_true(above(a, 3, c, 1) == 1);
	assert_true(above(c, 1, b, 2) == 1); /* a single value has no spread */
	assert_true(above(a, 0, b, 2) == 1);
}

static bool is_share(double p)
{
	return p >= 0 && p <= 1;
}

static void test_never_nan(void **state)
{
	const double a[] = { 1e300, -1e300 }, b[] = { 1e308, 1e308 }, c[] = { 0, 1e-300 };

	(void)state;
	assert_true(is_share(above(a, N(a), b, N(b))));
	assert_true(is_share(above(c, N(c), c, N(c))));
	assert_true(is_share(above(b, N(b), c, N(c))));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_elementary),
		unit_case(test_no_spread),
		unit_case(test_never_nan),
	};

	return unit_main(tests, argc, argv);
}
