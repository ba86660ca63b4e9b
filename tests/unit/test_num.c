/* SPDX-License-Identifier: Apache-2.0
 *
 * Integers and truth values from text, sums and products at the ends of the type.
 */
#include "unit.h"

#include "base/num.h"
#include "base/option.h"

static void integers(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = { { "0", 0 }, { "-0", 0 }, { "+5", 5 }, { " 12 ", 12 }, { "\t\n\v\f\r-7\n", -7 },
		{ "007", 7 }, { "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN }, { "-9223372036854775807", -INT64_MAX },
		{ "0000000000000000000000000000001", 1 } };
	static const char *const bad[] = { "", " ", "-", "+", "--1", "+-1", "- 1", "1 2", "1x", "x",
		"0x10", "1.0", "1e3", "9223372036854775808", "-9223372036854775809",
		"99999999999999999999", "\xb2", "1,000" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int64_t v = 99;

		assert_true(num_parse_i64(str_of(good[i].text), &v));
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int64_t v = 99;

		assert_false(num_parse_i64(str_of(bad[i]), &v));
		assert_int_equal(v, 99);
	}
	assert_false(num_parse_i64(STR_NONE, &(int64_t){ 0 }));
	assert_false(num_parse_i64(str_make("1\0", 2), &(int64_t){ 0 }));
}

static void narrow_integers(void **state)
{
	int32_t v = 99;

	(void)state;
	assert_true(num_parse_i32(S("-2147483648"), &v) && v == INT32_MIN);
	assert_true(num_parse_i32(S("2147483647"), &v) && v == INT32_MAX);
	assert_false(num_parse_i32(S("2147483648"), &v) || num_parse_i32(S("-2147483649"), &v));
	assert_false(num_parse_i32(S("4294967296"), &v) || num_parse_i32(S(""), &v));
	assert_int_equal(v, INT32_MAX);
}

static void truth_values(void **state)
{
	static const char *const yes[] = { "true", "T", "yEs", "y", "1" };
	static const char *const no[] = { "FALSE", "f", "no", "N", "0" };
	static const char *const neither[] = { "", "tr", "truee", "01", "on", " true", "ye" };
	bool v;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		v = false;
		assert_true(option_truth(str_of(yes[i]), &v) && v);
		assert_true(option_truth(str_of(no[i]), &v) && !v);
	}
	for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
		assert_false(option_truth(str_of(neither[i]), &v));
}

static void sums_stop_at_the_ends(void **state)
{
	(void)state;
	assert_int_equal(num_add(2, -3), -1);
	assert_int_equal(num_add(INT64_MAX, 1), INT64_MAX);
	assert_int_equal(num_add(INT64_MIN, -1), INT64_MIN);
	assert_int_equal(num_add(INT64_MAX, INT64_MIN), -1);
	assert_true(num_add_u64(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(num_add_u64(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_int_equal(num_sub(2, -3), 5);
	assert_int_equal(num_sub(-2, INT64_MAX), INT64_MIN);
	assert_int_equal(num_sub(INT64_MIN, INT64_MIN), 0);
	assert_int_equal(num_sub(0, INT64_MIN), INT64_MAX);
	assert_int_equal(num_mul(-4, 5), -20);
	assert_int_equal(num_mul(INT64_MAX, 2), INT64_MAX);
	assert_int_equal(num_mul(INT64_MAX, -2), INT64_MIN);
	assert_int_equal(num_mul(INT64_MIN, -1), INT64_MAX);
}

/* A sum that has reached an end of the type stays there, so that the limit is visible whatever the
 * order of the terms. */
static void stopped_sums_stay(void **state)
{
	(void)state;
	assert_true(num_sum(INT64_MAX - 1, 1) == INT64_MAX);
	assert_true(num_sum(INT64_MAX, -5) == INT64_MAX);
	assert_true(num_sum(-5, INT64_MAX) == INT64_MAX);
	assert_true(num_sum(INT64_MIN, 5) == INT64_MIN);
	assert_true(num_sum(5, INT64_MIN) == INT64_MIN);
	assert_true(num_sum(INT64_MIN, INT64_MAX) == INT64_MIN);
	assert_true(num_sum(INT64_MAX, INT64_MIN) == INT64_MAX);
	assert_true(num_sum(INT64_MAX - 1, -5) == INT64_MAX - 6);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(integers),
		unit_case(narrow_integers),
		unit_case(truth_values),
		unit_case(sums_stop_at_the_ends),
		unit_case(stopped_sums_stay),
	};

	return unit_main(tests, argc, argv);
}
