/* SPDX-License-Identifier: Apache-2.0
 *
 * Amounts as people write them, and three digits of them.
 */
#include "unit.h"

#include "metric/quantity.h"

static int64_t parsed(const char *z, enum unit u)
{
	int64_t v;

	return quantity_parse(str_of(z), u, &v) ? v : -777;
}

static void test_parse(void **state)
{
	(void)state;
	assert_int_equal(parsed("2844.73MB", UNIT_BYTES), 2844730000);
	assert_int_equal(parsed("1.06KB", UNIT_BYTES), 1060);
	assert_int_equal(parsed("32B", UNIT_BYTES), 32);
	assert_int_equal(parsed("2G", UNIT_BYTES), 2000000000);
	assert_int_equal(parsed("0.0004KB", UNIT_BYTES), 0);
	assert_int_equal(parsed("0.0005KB", UNIT_BYTES), 1);
	assert_int_equal(parsed("-1.5ms", UNIT_TIME), -1500);
	assert_int_equal(parsed("3sec", UNIT_TIME), 3000000);
	assert_int_equal(parsed("7", UNIT_TIME), 7);
	assert_int_equal(parsed("1.45k", UNIT_COUNT), 1450);
	assert_int_equal(parsed("9223372036854775807", UNIT_COUNT), INT64_MAX);
	assert_int_equal(parsed("9223372036854775808", UNIT_COUNT), -777);
	assert_int_equal(parsed("99999999999999TB", UNIT_BYTES), -777);
	assert_int_equal(parsed("1.00000000000000000000000000001KB", UNIT_BYTES), 1000);
	assert_int_equal(parsed("", UNIT_BYTES), -777);
	assert_int_equal(parsed("MB", UNIT_BYTES), -777);
	assert_int_equal(parsed("1.2.3MB", UNIT_BYTES), -777);
	assert_int_equal(parsed("1e3", UNIT_COUNT), -777);
	assert_int_equal(parsed("5MB", UNIT_TIME), -777);
	assert_int_equal(parsed("nan", UNIT_COUNT), -777);
}

static void test_real(void **state)
{
	double v;

	(void)state;
	assert_true(quantity_parse_real(S("0.125"), &v));
	assert_true(v == 0.125);
	assert_true(quantity_parse_real(S("-3"), &v));
	assert_true(v == -3);
	assert_false(quantity_parse_real(S("inf"), &v));
	assert_false(quantity_parse_real(S("."), &v));
}

static struct str short_of(struct arena *a, enum unit u, int64_t v, bool sign)
{
	struct sb b = sb_in(a);

	quantity_short(&b, u, v, sign);
	return sb_str(&b);
}

/* What Python's '{:.3g}' makes of them, in the script's units. */
static void test_short(void **state)
{
	assert_str(short_of(*state, UNIT_BYTES, 6220000000, false), "6220MB");
	assert_str(short_of(*state, UNIT_BYTES, 40300000, false), "40.3MB");
	assert_str(short_of(*state, UNIT_BYTES, 40000000, false), "40MB");
	assert_str(short_of(*state, UNIT_BYTES, 2165000000, true), "+2160MB");
	assert_str(short_of(*state, UNIT_BYTES, 2175000000, true), "+2180MB");
	assert_str(short_of(*state, UNIT_BYTES, 1060, false), "1.06KB");
	assert_str(short_of(*state, UNIT_BYTES, 999, false), "999B");
	assert_str(short_of(*state, UNIT_BYTES, 999500, false), "1MB");
	assert_str(short_of(*state, UNIT_BYTES, 0, true), "+0B");
	assert_str(short_of(*state, UNIT_TIME, -1234567, true), "-1.23sec");
	assert_str(short_of(*state, UNIT_COUNT, 1450, false), "1.45k");
	assert_str(short_of(*state, UNIT_COUNT, INT64_MIN, false), "-9220000000b");
	assert_str(short_of(*state, UNIT_COUNT, INT64_MAX, false), "9220000000b");
}

static void test_unit(void **state)
{
	(void)state;
	assert_int_equal(quantity_unit(S("3MB")), UNIT_BYTES);
	assert_int_equal(quantity_unit(S("3us")), UNIT_TIME);
	assert_int_equal(quantity_unit(S("3.1sec")), UNIT_TIME);
	assert_int_equal(quantity_unit(S("3b")), UNIT_COUNT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_parse),
		unit_case(test_real),
		unit_case(test_short),
		unit_case(test_unit),
	};

	return unit_main(tests, argc, argv);
}
