/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of pending launches, compared with an array: a launch is found until it is removed,
 * whichever other launches are removed, and its work is returned in the order in which it was
 * added.
 */
#include "unit.h"

#include "trace/pass/pending.h"

#define KEYS 500

struct launch {
	struct pending_launch head;
	uint64_t value;
};

static struct launch *add(struct pending_table *p, uint64_t key)
{
	if (pending_is_full(p))
		pending_grow(p);
	struct launch *l = pending_find(p, key);
	assert_int_equal(l->head.key, 0);
	pending_add(p, l, key);
	l->value = 3 * key;
	return l;
}

static void assert_holds(const struct pending_table *p, const bool present[KEYS])
{
	size_t n = 0;

	for (uint64_t key = 1; key < KEYS; key++) {
		const struct launch *l = pending_find(p, key);
		assert_int_equal(l->head.key, present[key] ? key : 0);
		assert_true(!present[key] || l->value == 3 * key);
		n += present[key];
	}
	assert_int_equal(p->n, n);
}

static void test_find_and_remove(void **state)
{
	bool present[KEYS] = { false };
	uint64_t seed = 5;
	struct pending_table p;

	pending_init(&p, *state, 8, sizeof(struct launch), sizeof(uint64_t));
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t key = 1 + unit_random(&seed) % (KEYS - 1);
		if (present[key])
			pending_remove(&p, pending_find(&p, key));
		else
			add(&p, key);
		present[key] = !present[key];
		if (i % 50 == 0)
			assert_holds(&p, present);
	}
	assert_holds(&p, present);
}

static void test_work_in_order(void **state)
{
	struct pending_launch lists[3] = { { .key = 1 }, { .key = 2 }, { .key = 3 } };
	struct pending_table p;
	uint64_t work;

	pending_init(&p, *state, 8, sizeof(struct launch), sizeof work);
	for (unsigned round = 0; round < 3; round++) {
		for (work = 0; work < 30; work++)
			pending_wait(&p, &lists[work % 3], &work);
		for (uint64_t i = 0; i < 30; i++) {
			assert_true(pending_take(&p, &lists[i % 3], &work));
			assert_int_equal(work, i);
		}
		assert_false(pending_take(&p, &lists[0], &work));
	}
	assert_int_equal(p.next.n, 30); /* a work entry that was taken is reused */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_find_and_remove),
		unit_case(test_work_in_order),
	};

	return unit_main(tests, argc, argv);
}
