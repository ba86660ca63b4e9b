/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics without the numbers against those of the sorted numbers.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

#define N 20000

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the quantile from the sorted numbers. */
static void compare(const struct hist *h, int64_t *v, size_t n)
{
	static const unsigned parts[] = { 1, 10, 500, 900, 990, 999, 1000 };
	long double sum = 0, squares = 0;

	qsort(v, n, sizeof *v, by_value);
	for (size_t i = 0; i < n; i++)
		sum += (long double)v[i];
	for (size_t i = 0; i < n; i++)
		squares += ((long double)v[i] - sum / (long double)n) *
		           ((long double)v[i] - sum / (long double)n);
	assert_int_equal(h->n, n);
	assert_int_equal(h->min, v[0]);
	assert_int_equal(h->max, v[n - 1]);
	assert_int_equal(h->sum, (int64_t)sum);
	double deviation = sqrt((double)(squares / (long double)n));
	assert_true(fabs(hist_deviation(h) - deviation) <= 1e-6 * deviation);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t rank = (n * parts[i] + 999) / 1000;
		int64_t exact = v[rank ? rank - 1 : 0], found = hist_quantile(h, parts[i]);
		assert_true(llabs(found - exact) <= exact / 512 + 1);
	}
}

static void random_numbers(void **state)
{
	static int64_t v[N];
	uint64_t x = 88172645463325252u;

	for (unsigned bits = 1; bits < 40; bits += 6) {
		struct hist h = { 0 };
		for (size_t i = 0; i < N; i++) {
			unit_random(&x);
			v[i] = (int64_t)(x >> (64 - bits) >> (x & 3));
			hist_add(&h, *state, v[i]);
		}
		compare(&h, v, N);
	}
}

/* Where numbers are no longer kept. */
static void many_after_few(void **state)
{
	static int64_t v[HIST_FEW + 1];

	for (size_t n = 1; n <= HIST_FEW + 1; n += n < 20 || n > HIST_FEW - 3 ? 1 : 47) {
		struct hist h = { 0 };
		for (size_t i = 0; i < n; i++) {
			v[i] = (int64_t)(i * 7919 % 1000 * 1000);
			hist_add(&h, *state, v[i]);
		}
		compare(&h, v, n);
	}
}

/* A recording may have as many names as kernels. */
static void few_take_little(void **state)
{
	struct arena *a = *state;
	struct hist *h = ARENA_ARRAY(a, 100000, struct hist);

	for (size_t i = 0; i < 100000; i++)
		for (int64_t v = 1; v < INT64_MAX >> 21; v <<= 21)
			hist_add(&h[i], a, v);
	assert_true(atomic_load(&a->work->account->used) < (size_t)16 << 20);
}

static void small_numbers_are_exact(void **state)
{
	struct hist h = { 0 };

	for (int64_t i = 1; i <= 200; i++)
		hist_add(&h, *state, i);
	assert_int_equal(hist_quantile(&h, 500), 100);
	assert_int_equal(hist_quantile(&h, 990), 198);
	assert_int_equal(hist_quantile(&h, 1000), 200);
}

static void one_number_and_none(void **state)
{
	struct hist h = { 0 };

	assert_int_equal(hist_quantile(&h, 500), 0);
	assert_true(hist_deviation(&h) == 0);
	hist_add(&h, *state, 123456789);
	assert_int_equal(hist_quantile(&h, 500), 123456789);
	assert_int_equal(hist_quantile(&h, 1), 123456789);
	assert_true(hist_deviation(&h) == 0);
}

static void ends_of_the_type(void **state)
{
	struct hist h = { 0 };

	hist_add(&h, *state, INT64_MAX);
	hist_add(&h, *state, INT64_MAX);
	hist_add(&h, *state, INT64_MIN);
	hist_add(&h, *state, -5);
	assert_int_equal(h.sum, INT64_MAX);
	assert_int_equal(h.min, 0);
	assert_int_equal(hist_quantile(&h, 500), 0);
	assert_true(hist_quantile(&h, 1000) > INT64_MAX - INT64_MAX / 500);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(random_numbers),
		unit_case(many_after_few),
		unit_case(few_take_little),
		unit_case(small_numbers_are_exact),
		unit_case(one_number_and_none),
		unit_case(ends_of_the_type),
	};

	return unit_main(tests, argc, argv);
}
