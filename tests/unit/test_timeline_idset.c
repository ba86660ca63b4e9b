/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of ids: members in ascending order (idset), and the next member from any place (bittree).
 */
#include "unit.h"

#include "export/timeline/timeline.h"

#define BOUND 70000

/* A pattern with long gaps and full words. */
static bool is_member(size_t i)
{
	return (i >= 128 && i < 192) || i % 4097 == 0 || i == BOUND - 1;
}

static void test_places(void **state)
{
	struct idset s = idset_new(*state, BOUND);
	uint32_t n = 0;

	for (uint32_t i = BOUND; i-- > 0;)
		if (is_member(i))
			idset_add(&s, i);
	idset_count(&s);
	for (uint32_t i = 0; i < BOUND; i++) {
		assert_int_equal(idset_has(&s, i), is_member(i));
		assert_int_equal(idset_place(&s, i), is_member(i) ? n++ : UINT32_MAX);
	}
	assert_int_equal(s.n, n);
}

static void test_next(void **state)
{
	struct bittree t;
	size_t want = SIZE_MAX;

	bittree_init(&t, BOUND, *state);
	assert_true(bittree_next(&t, 0) == SIZE_MAX);
	for (size_t i = 0; i < BOUND; i++)
		bittree_set(&t, i);
	for (size_t i = 0; i < BOUND; i++)
		if (!is_member(i))
			bittree_clear(&t, i);
	bittree_clear(&t, 1); /* again: unchanged */
	assert_true(bittree_next(&t, BOUND) == SIZE_MAX);
	for (size_t i = BOUND; i-- > 0;) {
		want = is_member(i) ? i : want;
		assert_true(bittree_next(&t, i) == want);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_places), unit_case(test_next) };

	return unit_main(tests, argc, argv);
}
