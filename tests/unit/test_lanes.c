/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes: the first free one, against looking at each in turn.
 */
#include "unit.h"

#include "export/timeline/timeline.h"

#define LANES_TRIED 3000

static void test_few(void **state)
{
	struct lanes l = { .a = *state };

	assert_int_equal(lanes_take(&l, 0, 10), 0);
	assert_int_equal(lanes_take(&l, 1, 3), 1);
	assert_int_equal(lanes_take(&l, 2, 3), 2);
	assert_int_equal(lanes_take(&l, 3, 3), 1); /* an interval that ends now makes room */
	assert_int_equal(lanes_take(&l, 3, INT64_MAX), 1);
	assert_int_equal(lanes_take(&l, 4, 5), 2);
	assert_int_equal(lanes_take(&l, INT64_MAX, INT64_MAX), 0);
	assert_int_equal(l.n, 3);
}

static void test_many(void **state)
{
	struct lanes l = { .a = *state };
	int64_t *until = ARENA_ARRAY(*state, LANES_TRIED, int64_t), start = 0;
	size_t n = 0;
	uint64_t r = 1;

	for (int i = 0; i < LANES_TRIED; i++) {
		r = r * 6364136223846793005u + 1442695040888963407u;
		start += (int64_t)(r >> 62);
		int64_t end = start + (int64_t)(r >> 40) % (i < LANES_TRIED / 2 ? 5000 : 50);
		size_t lane = 0;
		while (lane < n && until[lane] > start)
			lane++;
		n += lane == n;
		until[lane] = end;
		assert_int_equal(lanes_take(&l, start, end), lane);
	}
	assert_int_equal(l.n, n);
	assert_true(n > 128); /* it has grown more than once */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_few), unit_case(test_many) };

	return unit_main(tests, argc, argv);
}
