/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of CUPTI's clock on the system's.
 */
#include "unit.h"

#include <string.h>

#include "io/recording_in.h"

#define SECOND 1000000000u
#define T0     (1700000000u * (uint64_t)SECOND)

/* Adds a reading: realtime, raw, cupti, width. */
static void add(struct clock_map *m, struct arena *a, uint64_t realtime, uint64_t raw,
        uint64_t cupti, uint64_t width)
{
	clock_map_add(m, a, &(struct spool_clock){ realtime, raw, cupti, width });
}

static void one_clock(void **state)
{
	struct clock_map m = { 0 };

	for (uint64_t i = 0; i < 10; i++)
		add(&m, *state, T0 + i * SECOND, 5 + i * SECOND, T0 + i * SECOND + 300 * (i % 3),
		        200);
	assert_false(m.apart);
	add(&m, *state, T0 + 11 * (uint64_t)SECOND, 5 + 11 * (uint64_t)SECOND,
	        T0 + 11 * (uint64_t)SECOND + 1300, 200);
	assert_true(m.apart);
}

/* Without a width, as older recordings are, a millisecond decides. */
static void old_readings(void **state)
{
	struct clock_map m = { 0 };
	char text[CLOCK_MAP_TEXT];

	add(&m, *state, T0, 5, 0, 0);
	assert_int_equal(m.pairs.n, 0);
	add(&m, *state, T0, 5, T0 + 900000, 0);
	assert_false(m.apart);
	add(&m, *state, T0 + SECOND, 5 + SECOND, T0 + SECOND - 1100000, 0);
	assert_true(m.apart);
	clock_map_text(text, &m);
	assert_non_null(strstr(text, "error: unknown"));
}

/* 3 s slow and 100 ppm fast; setting the system's clock during the run changes nothing. */
static void offset_and_drift(void **state)
{
	struct clock_map m = { 0 };
	char text[CLOCK_MAP_TEXT];
	const uint64_t c0 = T0 - 3 * (uint64_t)SECOND;

	for (uint64_t i = 0; i < 10; i++)
		add(&m, *state, T0 + i * SECOND + (i > 4 ? 3600 * (uint64_t)SECOND : 0),
		        77 + i * SECOND, c0 + i * (SECOND + 100000), 1500);
	assert_true(m.apart);
	for (uint64_t at = 1; at < 12 * (uint64_t)SECOND; at += 123456789) {
		uint64_t got = clock_map_time(&m, c0 + at + at / 10000);
		assert_true(got >= T0 + at - 1 && got <= T0 + at + 1);
	}
	assert_int_equal(clock_map_time(&m, 0), 0);
	assert_in_range(clock_map_time(&m, c0 - SECOND - 100000), T0 - SECOND - 1, T0 - SECOND + 1);
	clock_map_text(text, &m);
	assert_non_null(
	        strstr(text, "3.000000 s behind the system's; its times were mapped by 10"));
	assert_non_null(strstr(text, "error: at most 0.750 us"));
}

/* With arbitrary numbers, times never decrease, and no division by 0 occurs. */
static void hostile(void **state)
{
	static const uint64_t odd[] = { 0, 1, 2, T0, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
	const size_t n = sizeof odd / sizeof *odd;
	struct clock_map m = { 0 };

	for (size_t i = 0; i < n * n * n; i++) {
		add(&m, *state, odd[i % n], odd[i / n % n], odd[i / n / n], odd[(i + 3) % n]);
		for (size_t k = 0; k < n && m.pairs.n; k++)
			clock_map_time(&m, odd[k]);
	}
	for (size_t i = 1; i < m.pairs.n; i++) {
		assert_true(m.pairs.v[i].cupti > m.pairs.v[i - 1].cupti);
		assert_true(m.pairs.v[i].raw > m.pairs.v[i - 1].raw);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(one_clock), unit_case(old_readings),
		unit_case(offset_and_drift), unit_case(hostile) };

	return unit_main(tests, argc, argv);
}
