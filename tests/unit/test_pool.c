/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: returned buffers are cleared, and given out again in the order in which they were returned.
 */
#include "unit.h"

#include "collect/pool.h"

static void test_round(void **state)
{
	uint8_t *a, *b, other[8];
	size_t size;

	(void)state;
	pool_reset(2, POOL_BYTES_SMALL);
	a = pool_take(&size);
	b = pool_take(&size);
	assert_non_null(a);
	assert_non_null(b);
	assert_null(pool_take(&size));
	assert_false(pool_put(other, 8));
	a[0] = b[9000] = a[16383] = 1;
	assert_true(pool_put(b, 9001));
	assert_true(pool_put(a, 99999));
	assert_false(pool_put(a, 1)); /* the buffer is already returned */

	struct pool_buffer *first = pool_drain(), *second = first->next;

	assert_ptr_equal(first->data, b);
	assert_int_equal(first->valid, 9001);
	assert_ptr_equal(second->data, a);
	assert_int_equal(second->valid, 16 << 10);
	assert_null(second->next);
	assert_null(pool_drain());
	assert_null(pool_take(&size));
	pool_give(first);
	assert_ptr_equal(pool_take(&size), b);
	assert_int_equal(b[9000], 0);
	pool_give(second);
	assert_ptr_equal(pool_take(&size), a);
	assert_int_equal(a[0] + a[16383], 0);
}

static void test_all(void **state)
{
	size_t size;

	(void)state;
	pool_reset(2 * POOL_BUFFERS, POOL_BYTES_SMALL);
	for (unsigned i = 0; i < POOL_BUFFERS; i++) {
		uint8_t *p = pool_take(&size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 8, 0);
	}
	assert_null(pool_take(&size));
}

enum { BUFFERS = 128 };

/* A program with few launches gets small buffers; a program with much queued work, or whose buffers
 * fill at once, gets larger ones. */
static void test_sizes(void **state)
{
	uint8_t *p[BUFFERS];
	size_t size;

	(void)state;
	pool_reset(BUFFERS, POOL_BYTES);
	for (unsigned i = 0; i < BUFFERS; i++) {
		p[i] = pool_take(&size);
		assert_int_equal(
		        size, i < BUFFERS / POOL_CROWD ? POOL_BYTES_LEAST : POOL_BYTES_SMALL);
	}
	for (unsigned i = 0; i < BUFFERS; i++)
		assert_true(pool_put(p[i], 0));
	for (struct pool_buffer *b = pool_drain(), *next; b; b = next) {
		next = b->next;
		pool_give(b);
	}
	for (unsigned rounds = 0; size < POOL_BYTES; rounds++) {
		uint8_t *full = pool_take(&size);

		assert_true(rounds < 1000000); /* the buffer is returned at once in most rounds */
		assert_true(pool_put(full, size));
		pool_give(pool_drain());
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_round), unit_case(test_all),
		unit_case(test_sizes) };

	return unit_main(tests, argc, argv);
}
