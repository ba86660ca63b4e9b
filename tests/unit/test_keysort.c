/* SPDX-License-Identifier: Apache-2.0
 *
 * keysort: ascending and stable, at any length, with any digits alike.
 */
#include "unit.h"

#include "out/keysort.h"

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11 ^ *seed << 53;
}

static void sort_one(struct arena *a, uint64_t *seed, size_t n, uint64_t mask)
{
	uint64_t *keys = ARENA_ARRAY(a, n, uint64_t), *had = ARENA_ARRAY(a, n, uint64_t);
	uint32_t *ids = ARENA_ARRAY(a, n, uint32_t);

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = had[i] = next_random(seed) & mask;
		ids[i] = i;
	}
	keysort(a, keys, ids, n);
	for (size_t i = 0; i < n; i++) {
		assert_true(keys[i] == had[ids[i]]);
		assert_true(i == 0 || keys[i - 1] < keys[i] ||
		            (keys[i - 1] == keys[i] && ids[i - 1] < ids[i]));
	}
}

static void test_sorts(void **state)
{
	static const uint64_t masks[] = { 0, 7, 0xff00, UINT64_MAX, (uint64_t)3 << 62, 0x801 };
	static const size_t lengths[] = { 0, 1, 2, 47, 48, 49, 300, 5000 };
	uint64_t seed = 1;

	for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
		for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
			sort_one(*state, &seed, lengths[n], masks[m]);
}

static void test_signed(void **state)
{
	(void)state;
	assert_true(keysort_signed(INT64_MIN) == 0);
	assert_true(keysort_signed(-1) < keysort_signed(0));
	assert_true(keysort_signed(0) < keysort_signed(INT64_MAX));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_sorts), unit_case(test_signed) };

	return unit_main(tests, argc, argv);
}
