/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text, compared with printf in the C locale and with the units of the original.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "unit.h"

#include "base/fmt.h"

static uint64_t seed = 88172645463325252;

static struct sb b;

/* Checks that a call appends exactly the text. */
#define assert_put(call, text)                                                                     \
	(b = sb_in(&unit_arena), (call), assert_true(str_eq(sb_str(&b), str_of(text))))

/* Whole numbers in the original's units. */
#define fmt_count(b, n)  fmt_fraction(b, QUANTITY_COUNT, (struct fraction){ n, 1 })
#define fmt_micros(b, n) fmt_fraction(b, QUANTITY_TIME, (struct fraction){ n, 1 })
#define fmt_bytes(b, n)  fmt_fraction(b, QUANTITY_BYTES, (struct fraction){ n, 1 })

static void check_ratio(int64_t n, int64_t div)
{
	char text[64];

	snprintf(text, sizeof text, "%.2f", (double)n / (double)div);
	b.n = 0;
	fmt_ratio2(&b, n, div);
	sb_char(&b, '\0');
	assert_string_equal(b.p, text);
}

static void integers(void **state)
{
	(void)state;
	assert_put(fmt_i64(&b, 0), "0");
	assert_put(fmt_i64(&b, -1), "-1");
	assert_put(fmt_i64(&b, INT64_MIN), "-9223372036854775808");
	assert_put(fmt_i64(&b, INT64_MAX), "9223372036854775807");
	assert_put(fmt_u64(&b, UINT64_MAX), "18446744073709551615");
	assert_put(fmt_u64(&b, 10), "10");
}

static void counts(void **state)
{
	(void)state;
	assert_put(fmt_count(&b, 0), "0");
	assert_put(fmt_count(&b, 999), "999");
	assert_put(fmt_count(&b, -123456), "-123456");
	assert_put(fmt_count(&b, INT64_MIN), "-9223372036854775808");
	assert_put(fmt_count(&b, 1000), "1.00k");
	assert_put(fmt_count(&b, 999999), "1000.00k");
	assert_put(fmt_count(&b, 1000000), "1.00m");
	assert_put(fmt_count(&b, 999999999), "1000.00m");
	assert_put(fmt_count(&b, 1000000000), "1.00b");
	assert_put(fmt_count(&b, INT64_MAX), "9223372036.85b");
}

static void times_and_bytes(void **state)
{
	(void)state;
	assert_put(fmt_micros(&b, 999), "999us");
	assert_put(fmt_micros(&b, -5), "-5us");
	assert_put(fmt_micros(&b, 1000), "1.00ms");
	assert_put(fmt_micros(&b, 999999), "1000.00ms");
	assert_put(fmt_micros(&b, 1000000), "1.00sec");
	assert_put(fmt_micros(&b, 5000000000), "5000.00sec");
	assert_put(fmt_bytes(&b, 999), "999B");
	assert_put(fmt_bytes(&b, 1280), "1.28KB");
	assert_put(fmt_bytes(&b, 1000000), "1.00MB");
	assert_put(fmt_bytes(&b, 120356380000), "120356.38MB");
}

/* Hundredths that end in a half: exactly representable ones go to the even neighbour. */
static void ties(void **state)
{
	(void)state;
	assert_put(fmt_ratio2(&b, 1125, 1000), "1.12");
	assert_put(fmt_ratio2(&b, 1375, 1000), "1.38");
	assert_put(fmt_ratio2(&b, 1005, 1000), "1.00");
	assert_put(fmt_ratio2(&b, 1015, 1000), "1.01");
	assert_put(fmt_ratio2(&b, 1025, 1000), "1.02");
	assert_put(fmt_ratio2(&b, 1035, 1000), "1.03");
	assert_put(fmt_ratio2(&b, 99995, 1000), "100.00");
	assert_put(fmt_ratio2(&b, -1, 1000), "-0.00");
}

static void ratios_equal_printf(void **state)
{
	static const int64_t divs[] = { 1000, 1000000, 1000000000 };

	(void)state;
	b = sb_in(&unit_arena);
	for (size_t d = 0; d < 3; d++) {
		check_ratio(INT64_MIN, divs[d]);
		check_ratio(INT64_MAX, divs[d]);
		for (int i = 0; i < 100000; i++) {
			int64_t n = (int64_t)(unit_random(&seed) >> unit_random(&seed) % 64);
			int64_t tie = (n / divs[d] / 2 * 2 + 1) * (divs[d] / 200);

			check_ratio(n, divs[d]);
			check_ratio(tie, divs[d]);
			check_ratio(-tie, divs[d]);
			check_ratio(tie + i % 3 - 1, divs[d]);
			check_ratio(i, divs[d]);
		}
	}
}

static void check_fixed(double v)
{
	char text[400];

	snprintf(text, sizeof text, "%.2f", v);
	b.n = 0;
	fmt_fixed2(&b, v);
	sb_char(&b, '\0');
	assert_string_equal(b.p, text);
}

static void doubles_equal_printf(void **state)
{
	static const double odd[] = { 0.0, -0.0, 0.005, 0.015, 0.125, 0.995, 99.995, 0x1p-9,
		0x1p-10, 0x1.fffffffffffffp-10, 5e-324, 0x1p63, -0x1p63, 0x1.fffffffffffffp62,
		1e308, 1e22, HUGE_VAL, -HUGE_VAL };

	(void)state;
	b = sb_in(&unit_arena);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		check_fixed(odd[i]);
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = unit_random(&seed);
		double v;

		memcpy(&v, &bits, sizeof v);
		check_fixed(v);
		bits = (bits & 0x800fffffffffffff) | (953 + unit_random(&seed) % 140) << 52;
		memcpy(&v, &bits, sizeof v);
		check_fixed(v);
		check_fixed((double)(int64_t)(bits % 2000001) / 200 - 5000);
	}
}

static void general(void **state)
{
	(void)state;
	assert_put(fmt_general(&b, 0.1, 6), "0.1");
	assert_put(fmt_general(&b, 0.1, 17), "0.10000000000000001");
	assert_put(fmt_general(&b, 1e100, 6), "1e+100");
	assert_put(fmt_general(&b, -1234567, 3), "-1.23e+06");
	assert_put(fmt_general(&b, HUGE_VAL, 6), "inf");
}

static void reals(void **state)
{
	(void)state;
	assert_put(fmt_real(&b, 0), "0");
	assert_put(fmt_real(&b, 95), "95");
	assert_put(fmt_real(&b, 0.1), "0.1");
	assert_put(fmt_real(&b, 0.1 + 0.2), "0.30000000000000004");
	assert_put(fmt_real(&b, 55 / 3.0), "18.333333333333332");
	assert_put(fmt_real(&b, 9223372036854775807.0), "9.223372036854776e+18");
	assert_put(fmt_real(&b, -1e-300), "-1e-300");
	assert_put(fmt_micros_real(&b, 0), "0.00us");
	assert_put(fmt_micros_real(&b, 999.994), "999.99us");
	assert_put(fmt_micros_real(&b, 1000), "1.00ms");
	assert_put(fmt_micros_real(&b, 123456789), "123.46sec");
	assert_put(fmt_bytes_real(&b, 1234.5), "1.23KB");
	assert_put(fmt_bytes_real(&b, 1e9), "1000.00MB");
	assert_put(fmt_count_real(&b, 2.5), "2.50");
	assert_put(fmt_count_real(&b, 1e9), "1.00b");
}

/* The printed form of any number reads back as the same number. */
static void reals_read_back(void **state)
{
	uint64_t bits;
	double v;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bits = unit_random(&seed);
		memcpy(&v, &bits, sizeof v);
		if (!isfinite(v))
			continue;
		b = sb_in(&unit_arena);
		fmt_real(&b, v);
		assert_true(strtod(str_z(&unit_arena, sb_str(&b)), NULL) == v);
	}
}

/* Counts and sizes with three digits and the next unit; times as in the original. */
static void three_digits_and_the_next_unit(void **state)
{
	(void)state;
	assert_put(fmt_si(&b, 0), "0");
	assert_put(fmt_si(&b, 0.25), "0.25");
	assert_put(fmt_si(&b, 999), "999");
	assert_put(fmt_si(&b, 999.6), "1.00k");
	assert_put(fmt_si(&b, 5514.54e9), "5.51T");
	assert_put(fmt_si(&b, -1500), "-1.50k");
	assert_put(fmt_si(&b, (double)INT64_MAX), "9.22E");
	assert_put(fmt_si_bytes(&b, 32), "32B");
	assert_put(fmt_si_bytes(&b, 85018.28e6), "85.0GB");
	assert_put(fmt_si_bytes(&b, 2.5e18), "2.50EB");
	assert_put(fmt_fraction_si(&b, QUANTITY_COUNT, ((struct fraction){ 9142, 200 })), "45.7");
	assert_put(fmt_fraction_si(&b, QUANTITY_BYTES, ((struct fraction){ 5, 2 })), "2.50B");
	assert_put(fmt_fraction_si(&b, QUANTITY_TIME, ((struct fraction){ 1500, 1 })), "1.50ms");
	assert_put(fmt_quantity(&b, QUANTITY_BYTES, 6220000000, true), "+6.22GB");
	assert_put(fmt_quantity(&b, QUANTITY_COUNT, -1500000, false), "-1.5M");
	assert_put(fmt_quantity_legacy(&b, QUANTITY_BYTES, 6220000000, 1, true), "+6220MB");
}

/* A locale with a comma, if the system has one, changes nothing. */
static void locales_do_not_matter(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	const char *set = NULL;

	(void)state;
	for (size_t i = 0; i < 4 && !set; i++)
		set = setlocale(LC_NUMERIC, names[i]);
	if (!set)
		skip();
	assert_put(fmt_real(&b, 0.25), "0.25");
	assert_put(fmt_real(&b, 55 / 3.0), "18.333333333333332");
	assert_put(fmt_general(&b, 0.25, 6), "0.25");
	assert_put(fmt_general(&b, 1.5e100, 6), "1.5e+100");
	assert_put(fmt_fixed2(&b, 0.25), "0.25");
	assert_put(fmt_fixed2(&b, 0x1p80), "1208925819614629174706176.00");
	setlocale(LC_NUMERIC, "C");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(integers),
		unit_case(counts),
		unit_case(times_and_bytes),
		unit_case(ties),
		unit_case(ratios_equal_printf),
		unit_case(doubles_equal_printf),
		unit_case(general),
		unit_case(reals),
		unit_case(reals_read_back),
		unit_case(three_digits_and_the_next_unit),
		unit_case(locales_do_not_matter),
	};

	return unit_main(tests, argc, argv);
}
