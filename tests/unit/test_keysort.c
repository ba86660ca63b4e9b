/* SPDX-License-Identifier: Apache-2.0
 *
 * keysort: ascending and stable, at any length, with any digits alike.
 */
#include "unit.h"

#include "base/sort.h"

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11 ^ *seed << 53;
}

static void sort_one(struct arena *a, uint64_t *seed, size_t n, uint64_t mask)
{
	int64_t *key = ARENA_ARRAY(a, n, int64_t);

	for (size_t i = 0; i < n; i++)
		key[i] = (int64_t)(next_random(seed) & mask);
	uint32_t *ids = keysort_new(a, n, key);
	for (size_t i = 1; i < n; i++)
		assert_true(key[ids[i - 1]] < key[ids[i]] ||
		            (key[ids[i - 1]] == key[ids[i]] && ids[i - 1] < ids[i]));
	for (size_t i = 0; i < n; i++)
		key[ids[i]] = -1; /* each id is there, once */
	for (size_t i = 0; i < n; i++)
		assert_true(key[i] == -1);
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

static void test_some_ids(void **state)
{
	static const int64_t key[] = { INT64_MAX, 5, INT64_MIN, 5, -1, 0 };
	uint32_t ids[] = { 5, 3, 0, 1, 2 };
	static const uint32_t want[] = { 2, 5, 3, 1, 0 };

	keysort(*state, ids, 5, key);
	assert_memory_equal(ids, want, sizeof want);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_sorts), unit_case(test_some_ids) };

	return unit_main(tests, argc, argv);
}
