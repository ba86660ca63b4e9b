/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas: zeroing, growth in place and by moving, marks, limits, escapes and guards.
 */
#include "arena_rig.h"

#include "base/arena.h"

static bool all_are(const char *p, size_t n, char c)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != c)
			return false;
	}
	return true;
}

static void memory_is_zero_and_aligned(void **state)
{
	static const size_t sizes[] = { 0, 1, 7, 100, ARENA_BIG, ARENA_BIG + 1, 3 << 20 };
	struct arena_mark m = arena_mark(&arena);

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 200; i++) {
			size_t n = sizes[i % 7], align = (size_t)1 << i % 5;
			char *p = arena_alloc(&arena, n, align);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % align, 0);
			assert_true(all_are(p, n, 0));
			memset(p, 0xee, n);
		}
		arena_reset(&arena, m);
	}
}

static void pieces_do_not_overlap(void **state)
{
	char *a = arena_alloc(&arena, 0, 1), *b = arena_alloc(&arena, 0, 1);
	char *c = arena_copy(&arena, "xyz", 3);

	(void)state;
	assert_ptr_not_equal(a, b);
	a = arena_grow(&arena, a, 0, 10);
	memset(a, 'a', 10);
	b = arena_grow(&arena, b, 0, 10);
	memset(b, 'b', 10);
	assert_true(all_are(a, 10, 'a'));
	assert_memory_equal(c, "xyz", 3);
	assert_non_null(arena_copy(&arena, NULL, 0));
}

static void last_piece_grows_in_place(void **state)
{
	char *p = arena_alloc(&arena, 10, 1), *q;

	(void)state;
	memset(p, 'p', 10);
	q = arena_grow(&arena, p, 10, 1000);
	assert_ptr_equal(p, q);
	assert_true(all_are(q, 10, 'p') && all_are(q + 10, 990, 0));
	memset(q, 'q', 1000);
	arena_alloc(&arena, 1, 1);
	p = arena_grow(&arena, q, 1000, 2000);
	assert_ptr_not_equal(p, q);
	assert_true(all_are(p, 1000, 'q') && all_are(p + 1000, 1000, 0));
	assert_ptr_equal(arena_grow(&arena, p, 2000, 5), p);
}

/* From small through a block of its own to a mapped block, with others in between. */
static void growth_keeps_contents(void **state)
{
	char *p = NULL, *others[12];
	size_t n = 0, to = 1000, k = 0;

	(void)state;
	for (; to < (size_t)10 << 20; to *= 3) {
		p = arena_grow(&arena, p, n, to);
		assert_true(all_are(p, n, 'p') && all_are(p + n, to - n, 0));
		memset(p, 'p', to);
		n = to;
		others[k] = arena_alloc(&arena, ARENA_BIG + 5000 * k + 1, 1);
		memset(others[k++], 'o', ARENA_BIG + 1);
	}
	while (k--) {
		others[k] = arena_grow(&arena, others[k], ARENA_BIG + 5000 * k + 1, 2 << 20);
		assert_true(all_are(others[k], ARENA_BIG + 1, 'o'));
		assert_true(all_are(others[k] + ARENA_BIG + 1, (2 << 20) - ARENA_BIG - 1, 0));
	}
}

static void reset_drops_what_came_after(void **state)
{
	char *small = arena_copy(&arena, "small", 5), *big = arena_alloc(&arena, 20000, 1);
	size_t used = account.used;
	struct arena_mark m = arena_mark(&arena);

	(void)state;
	memset(big, 'b', 20000);
	for (int i = 0; i < 100; i++) {
		arena_alloc(&arena, 10000, 1);
		arena_alloc(&arena, 30000, 1);
	}
	assert_true(account.used > used + 4000000);
	arena_reset(&arena, m);
	assert_int_equal(account.used, used);
	assert_memory_equal(small, "small", 5);
	assert_true(all_are(big, 20000, 'b'));
	/* The freed place is used again, and is zero. */
	assert_true(all_are(arena_alloc(&arena, 10000, 1), 10000, 0));
}

static void older_big_block_survives_with_its_growth(void **state)
{
	char *old = arena_alloc(&arena, 20000, 1), *newer = arena_alloc(&arena, 20000, 1);
	struct arena_mark m = arena_mark(&arena);
	size_t used;

	(void)state;
	memset(old, 'o', 20000);
	memset(newer, 'n', 20000);
	arena_alloc(&arena, 50000, 1);
	old = arena_grow(&arena, old, 20000, 100000);
	used = account.used;
	memset(old + 20000, 'g', 80000);
	arena_reset(&arena, m);
	assert_true(account.used < used - 50000);
	assert_true(all_are(old, 20000, 'o') && all_are(old + 20000, 80000, 'g'));
	assert_true(all_are(newer, 20000, 'n'));
}

static void clear_keeps_one_block(void **state)
{
	char *p = arena_alloc(&arena, 100, 1);

	(void)state;
	memset(p, 1, 100);
	arena_alloc(&arena, 1 << 20, 1);
	for (int i = 0; i < 20; i++)
		arena_alloc(&arena, ARENA_BIG, 1);
	arena_clear(&arena);
	assert_int_equal(account.used, ARENA_BLOCK);
	assert_true(account.peak > (1 << 20));
	assert_ptr_equal(arena_alloc(&arena, 100, 1), p);
	assert_true(all_are(p, 100, 0));
}

/* True if allocating n elements of size bytes, or growing to them, exits through the guard. */
static bool escapes(size_t n, size_t size, bool grow)
{
	char *p = arena_alloc(&arena, 20000, 1);

	if (setjmp(work.escape))
		return true;
	if (grow)
		arena_grow(&arena, p, 20000, n * size);
	else
		arena_array(&arena, n, size, 1);
	return false;
}

static void impossible_sizes_escape(void **state)
{
	(void)state;
	assert_true(escapes(SIZE_MAX / 2 + 2, 2, false));
	assert_true(escapes(SIZE_MAX - 10, 1, true));
	assert_true(escapes((size_t)PTRDIFF_MAX, 1, false));
	assert_false(escapes(1, 100000, true));
}

static void growing_beyond_limit_keeps_the_old(void **state)
{
	char *volatile p = arena_alloc(&arena, 20000, 1);
	volatile bool escaped = false;

	(void)state;
	memset(p, 'p', 20000);
	account.limit = account.used + 100000;
	if (!setjmp(work.escape))
		p = arena_grow(&arena, p, 20000, 200000);
	else
		escaped = true;
	assert_true(escaped);
	assert_true(all_are(p, 20000, 'p'));
	account.limit = 0;
	p = arena_grow(&arena, p, 20000, 200000);
	assert_true(all_are(p, 20000, 'p') && all_are(p + 20000, 180000, 0));
}

static bool room_escapes(size_t m)
{
	VEC(uint32_t) x = { NULL, 0, 0 };

	VEC_PUSH(&arena, &x, 1);
	if (setjmp(work.escape))
		return true;
	VEC_ROOM(&arena, &x, m);
	return false;
}

static void vec_grows_and_checks(void **state)
{
	VEC(uint32_t) x = { NULL, 0, 0 };

	(void)state;
	for (uint32_t i = 0; i < 300000; i++)
		VEC_PUSH(&arena, &x, i * 3);
	assert_int_equal(x.n, 300000);
	for (uint32_t i = 0; i < 300000; i++)
		assert_int_equal(x.v[i], i * 3);
	VEC_ROOM(&arena, &x, 1000000);
	assert_true(x.cap >= 1300000);
	assert_true(room_escapes(SIZE_MAX));
	assert_true(room_escapes(SIZE_MAX - 1));
	assert_true(room_escapes(SIZE_MAX / 4));
	assert_false(room_escapes(1000));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_is_zero_and_aligned, setup, teardown),
		cmocka_unit_test_setup_teardown(pieces_do_not_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(last_piece_grows_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(growth_keeps_contents, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_drops_what_came_after, setup, teardown),
		cmocka_unit_test_setup_teardown(
		        older_big_block_survives_with_its_growth, setup, teardown),
		cmocka_unit_test_setup_teardown(clear_keeps_one_block, setup, teardown),
		cmocka_unit_test_setup_teardown(impossible_sizes_escape, setup, teardown),
		cmocka_unit_test_setup_teardown(
		        growing_beyond_limit_keeps_the_old, setup, teardown),
		cmocka_unit_test_setup_teardown(vec_grows_and_checks, setup, teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
