/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of large arenas: their sizes, and the blocks kept for reuse.
 */
#include "arena_rig.h"
#include "base/arena_internal.h"

#define PIECE 10000
#define ALL   ((size_t)64 << 20)

/* Allocates that many bytes in pieces, checks that each is zero, and fills them; returns the first.
 */
static char *take(size_t bytes)
{
	static const char zero[PIECE];
	char *first = NULL;

	for (size_t n = 0; n < bytes; n += PIECE) {
		char *p = arena_alloc(&arena, PIECE, 1);
		assert_memory_equal(p, zero, PIECE);
		memset(p, 'x', PIECE);
		first = first ? first : p;
	}
	return first;
}

static size_t count_blocks(void)
{
	struct arena_block *before = NULL;
	size_t blocks = 0;

	for (size_t n = 0; n < ALL; n += PIECE) {
		arena_alloc(&arena, PIECE, 1);
		blocks += arena.head != before;
		before = arena.head;
	}
	return blocks;
}

/* Little memory is unused, and there are few blocks. */
static void blocks_grow_with_the_arena(void **state)
{
	(void)state;
	assert_in_range(count_blocks(), 8, 200);
	assert_true(account.used < ALL + ALL / 8 + ALL / 16);
	arena_clear(&arena);
	assert_int_equal(account.used, ARENA_BLOCK);
}

/* A mark near the end of a block: the remainder is used again after a reset. */
static void a_large_block_waits(void **state)
{
	char *again = NULL;
	size_t used = 0;

	(void)state;
	take(ALL);
	struct arena_mark m = arena_mark(&arena);
	for (int round = 0; round < 3; round++) {
		take(ARENA_BLOCK_MAX);
		used = round ? used : account.used;
		assert_true(account.used <= used);
		arena_reset(&arena, m);
	}
	take(ARENA_BLOCK_MAX / 2);
	arena_clear(&arena);
	assert_int_equal(account.used, ARENA_BLOCK);
	again = take(ALL);
	arena_clear(&arena);
	assert_ptr_equal(take(PIECE), again);
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* Large blocks are reused, zeroed, while they are not larger than the used ones; they give way to
 * larger requests, and to the limit. (The address sanitizer keeps none.) */
static void freed_blocks_wait(void **state)
{
	const size_t mb = (size_t)1 << 20;
	struct arena other;

	(void)state;
	arena_init(&other, &work);
	arena_alloc(&other, 20 * mb, 1);
	for (int round = 0; round < 4; round++) {
		char *p = arena_alloc(&arena, (size_t)(8 + round % 2) * mb, 1);
		assert_true(all_zero(p, 8 * mb));
		memset(p, 'x', 8 * mb);
		arena_free(&arena);
		assert_true(account.spare_bytes <= 10 * mb);
		arena_alloc(
		        &other, ARENA_BLOCK, 1); /* a block of its own: the others go on waiting */
#ifndef ARENA_ASAN
		assert_true(account.spare_bytes >= 8 * mb);
#endif
	}
	arena_alloc(&arena, 30 * mb, 1);
	assert_int_equal(account.spare_bytes, 0);
	arena_free(&arena);
	assert_true(account.spare_bytes <= account.used);
	arena_alloc(&arena, 8 * mb, 1);
	arena_free(&arena);
	account.limit = account.used + 2 * mb;
	arena_alloc(&arena, mb / 2, 1);
	assert_true(account.used + account.spare_bytes <= account.limit);
	account.limit = 0;
	arena_free(&arena);
	arena_free(&other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(blocks_grow_with_the_arena, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_block_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_blocks_wait, setup, teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
