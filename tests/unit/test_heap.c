/* SPDX-License-Identifier: Apache-2.0
 *
 * Heaps of all small sizes, made at once or one element after the other.
 */
#include "unit.h"

#include "base/heap.h"

struct element {
	uint64_t key, twice;
};

static bool comes_first(const void *a, const void *b)
{
	return ((const struct element *)a)->key < ((const struct element *)b)->key;
}

/* Takes all elements off the heap; they must come in order. */
static void assert_drains(struct element *v, size_t n)
{
	uint64_t last = 0;

	while (n) {
		assert_true(v[0].key >= last);
		assert_int_equal(v[0].twice, 2 * v[0].key);
		last = v[0].key;
		v[0] = v[--n];
		heap_down(v, n, sizeof *v, 0, comes_first);
	}
}

static void test_make(void **state)
{
	struct element v[100];
	uint64_t seed = 7;

	(void)state;
	for (size_t n = 0; n <= 100; n++) {
		for (size_t i = 0; i < n; i++) {
			v[i].key = unit_random(&seed) % 64;
			v[i].twice = 2 * v[i].key;
		}
		heap_make(v, n, sizeof *v, comes_first);
		assert_drains(v, n);
	}
}

static void test_up(void **state)
{
	struct element v[100];
	uint64_t seed = 9;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		v[i].key = unit_random(&seed) % 64;
		v[i].twice = 2 * v[i].key;
		heap_up(v, sizeof *v, i, comes_first);
	}
	assert_drains(v, 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_make), unit_case(test_up) };

	return unit_main(tests, argc, argv);
}
