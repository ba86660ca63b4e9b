/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal texts of times as integer ticks.
 */
#include "unit.h"

#include "trace/trace_build.h"

static void decimals_become_ticks(void **state)
{
	static const struct {
		const char *text;
		int64_t unit, ticks;
		bool ok;
	} rows[] = {
		{ "2413669097444.592", 1000, 2413669097444592, true },
		{ "1700000000123456.789", 1000, 1700000000123456789, true },
		{ "1700000000123456789", 1, 1700000000123456789, true },
		{ "0", 1000, 0, true },
		{ "-3", 1000, -3000, true },
		{ "1.5e3", 1000, 1500000, true },
		{ "15E-1", 1000, 1500, true },
		{ "0.0004999", 1000000, 499, true },
		{ "1.0009", 1000, 1000, true },
		{ ".5", 1000, 500, true },
		{ "5.", 1000, 5000, true },
		{ "0.000000000000000000000001", 1000, 0, true },
		{ "1e+2", 1000, 100000, true },
		{ "00000000000000000000000000012", 1000, 12000, true },
		{ "9223372036854775807", 1, INT64_MAX, true },
		{ "9223372036854775808", 1, 0, false },
		{ "99999999999999999999", 1, 0, false },
		{ "9223372036854775807", 1000, 0, false },
		{ "1e30", 1000, 0, false },
		{ "", 1000, 0, false },
		{ "-", 1000, 0, false },
		{ ".", 1000, 0, false },
		{ "1.2.3", 1000, 0, false },
		{ "1e", 1000, 0, false },
		{ "NaN", 1000, 0, false },
		{ "1 ", 1000, 0, false },
		{ "1e99999", 1000, 0, false },
		{ "0e99999", 1000, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t ticks = 0;
		bool ok = build_ticks_of_micros(str_of(rows[i].text), rows[i].unit, &ticks);

		if (ok != rows[i].ok || (ok && ticks != rows[i].ticks))
			fail_msg("%s: %d %lld", rows[i].text, ok, (long long)ticks);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(decimals_become_ticks) };

	return unit_main(tests, argc, argv);
}
