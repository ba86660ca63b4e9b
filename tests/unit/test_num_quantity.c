/* SPDX-License-Identifier: Apache-2.0
 *
 * Amounts as people write them, and amounts printed with three digits.
 */
#include "unit.h"

#include "base/fmt.h"

static int64_t parsed(const char *z, enum quantity u)
{
	int64_t v;

	return quantity_parse(str_of(z), u, &v) ? v : -777;
}

static void test_parse(void **state)
{
	(void)state;
	assert_int_equal(parsed("2844.73MB", QUANTITY_BYTES), 2844730000);
	assert_int_equal(parsed("1.06KB", QUANTITY_BYTES), 1060);
	assert_int_equal(parsed("32B", QUANTITY_BYTES), 32);
	assert_int_equal(parsed("2G", QUANTITY_BYTES), 2000000000);
	assert_int_equal(parsed("0.0004KB", QUANTITY_BYTES), 0);
	assert_int_equal(parsed("0.0005KB", QUANTITY_BYTES), 1);
	assert_int_equal(parsed("-1.5ms", QUANTITY_TIME), -1500);
	assert_int_equal(parsed("3sec", QUANTITY_TIME), 3000000);
	assert_int_equal(parsed("7", QUANTITY_TIME), 7);
	assert_int_equal(parsed("1.45k", QUANTITY_COUNT), 1450);
	assert_int_equal(parsed("9223372036854775807", QUANTITY_COUNT), INT64_MAX);
	assert_int_equal(parsed("9223372036854775808", QUANTITY_COUNT), -777);
	assert_int_equal(parsed("99999999999999TB", QUANTITY_BYTES), -777);
	assert_int_equal(parsed("1.00000000000000000000000000001KB", QUANTITY_BYTES), 1000);
	assert_int_equal(parsed("", QUANTITY_BYTES), -777);
	assert_false(quantity_parse(STR_NONE, QUANTITY_BYTES, &(int64_t){ 0 }));
	assert_int_equal(parsed("MB", QUANTITY_BYTES), -777);
	assert_int_equal(parsed("1.2.3MB", QUANTITY_BYTES), -777);
	assert_int_equal(parsed("1e3", QUANTITY_COUNT), -777);
	assert_int_equal(parsed("5MB", QUANTITY_TIME), -777);
	assert_int_equal(parsed("nan", QUANTITY_COUNT), -777);
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

static struct str short_of(struct arena *a, enum quantity u, int64_t v, bool sign)
{
	struct sb b = sb_in(a);

	fmt_quantity(&b, u, v, sign);
	return sb_str(&b);
}

/* The output of Python's '{:.3g}', in units of powers of 1000. */
static void test_short(void **state)
{
	assert_str(short_of(*state, QUANTITY_BYTES, 6220000000, false), "6.22GB");
	assert_str(short_of(*state, QUANTITY_BYTES, 40300000, false), "40.3MB");
	assert_str(short_of(*state, QUANTITY_BYTES, 40000000, false), "40MB");
	assert_str(short_of(*state, QUANTITY_BYTES, 2165000000, true), "+2.16GB");
	assert_str(short_of(*state, QUANTITY_BYTES, 2175000000, true), "+2.18GB");
	assert_str(short_of(*state, QUANTITY_BYTES, 1060, false), "1.06KB");
	assert_str(short_of(*state, QUANTITY_BYTES, 999, false), "999B");
	assert_str(short_of(*state, QUANTITY_BYTES, 999500, false), "1MB");
	assert_str(short_of(*state, QUANTITY_BYTES, 0, true), "+0B");
	assert_str(short_of(*state, QUANTITY_TIME, -1234567, true), "-1.23s");
	assert_str(short_of(*state, QUANTITY_COUNT, 1450, false), "1.45k");
	assert_str(short_of(*state, QUANTITY_COUNT, INT64_MIN, false), "-9.22E");
	assert_str(short_of(*state, QUANTITY_COUNT, INT64_MAX, false), "9.22E");
}

/* Each unit has one meaning: powers of 1000, or powers of 1024 with an i. */
static void test_units(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} sizes[] = { { "1M", 1000000 }, { "1Mi", 1048576 }, { "1MiB", 1048576 },
		{ "1mib", 1048576 }, { "64Ki", 65536 }, { "1.5Ki", 1536 },
		{ "2Gi", (int64_t)2 << 30 }, { "8388607Ti", (int64_t)8388607 << 40 },
		{ "8388608Ti", -777 }, { "1i", -777 }, { "1KK", -777 }, { "1Kb", 1000 },
		{ "1 M", -777 }, { "1iB", -777 } };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_int_equal(parsed(sizes[i].text, QUANTITY_BYTES), sizes[i].bytes);
	assert_int_equal(parsed("1M", QUANTITY_COUNT), 1000000);
	assert_int_equal(parsed("1Mi", QUANTITY_COUNT), 1048576);
	assert_int_equal(parsed("2B", QUANTITY_COUNT), 2000000000);
	assert_int_equal(parsed("2kb", QUANTITY_COUNT), -777);
}

static int64_t time_of(const char *z, int64_t bare, int64_t to)
{
	int64_t v;

	return quantity_parse_time(str_of(z), bare, to, &v) ? v : -777;
}

static void test_times(void **state)
{
	(void)state;
	assert_int_equal(time_of("20ms", QUANTITY_S, QUANTITY_MS), 20);
	assert_int_equal(time_of("20", QUANTITY_S, QUANTITY_MS), 20000);
	assert_int_equal(time_of("0.0015", QUANTITY_S, QUANTITY_MS), 2);
	assert_int_equal(time_of("1500us", QUANTITY_MS, QUANTITY_MS), 2);
	assert_int_equal(time_of("499us", QUANTITY_MS, QUANTITY_MS), 0);
	assert_int_equal(time_of("2min", QUANTITY_NS, QUANTITY_NS), 120000000000);
	assert_int_equal(time_of("1h", QUANTITY_MS, QUANTITY_S), 3600);
	assert_true(
	        time_of("1795270989.283470223", QUANTITY_S, QUANTITY_NS) == 1795270989283470223);
	assert_int_equal(time_of("9999999999", QUANTITY_S, QUANTITY_NS), -777);
	assert_int_equal(time_of("1m", QUANTITY_S, QUANTITY_NS), -777);
	assert_int_equal(time_of("ms", QUANTITY_S, QUANTITY_NS), -777);
	assert_int_equal(time_of("1MS", QUANTITY_S, QUANTITY_NS), -777);
}

static void test_shares(void **state)
{
	double v = 0;

	(void)state;
	assert_true(quantity_parse_share(S("0.25"), &v) && v == 0.25);
	assert_true(quantity_parse_share(S("25%"), &v) && v == 0.25);
	assert_false(quantity_parse_share(S("%"), &v) || quantity_parse_share(S("5%%"), &v));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_parse),
		unit_case(test_real),
		unit_case(test_short),
		unit_case(test_units),
		unit_case(test_times),
		unit_case(test_shares),
	};

	return unit_main(tests, argc, argv);
}
