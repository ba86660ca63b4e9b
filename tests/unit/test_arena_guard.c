/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards of works and of arenas, and accounts with a parent.
 */
#include "arena_rig.h"

static char dropped[8];
static size_t n_dropped;

static void drop(void *what)
{
	dropped[n_dropped++] = *(char *)what;
}

static void arenas_close_what_lies_in_them(void **state)
{
	struct guard *g = ARENA_ARRAY(&arena, 4, struct guard), newer;
	char names[] = "abcde";

	(void)state;
	n_dropped = 0;
	for (int i = 0; i < 4; i++)
		arena_guard(&arena, &g[i], drop, names + i);
	arena_check(&arena);
	struct arena_mark m = arena_mark(&arena);
	arena_guard(&arena, &newer, drop, names + 4);
	arena_unguard(&arena, &g[3]); /* the newest at the mark */
	arena_unguard(&arena, &g[3]);
	arena_unguard(&arena, &g[1]);
	arena_reset(&arena, m);
	assert_int_equal(n_dropped, 1);
	arena_close(&arena);
	assert_int_equal(n_dropped, 3);
	assert_memory_equal(dropped, "eca", 3);
	assert_null(arena.guards);
	arena_guard(&arena, &g[1], drop, names + 1);
	arena_clear(&arena);
	arena_guard(&arena, ARENA_NEW(&arena, struct guard), drop, names + 3);
	arena_free(&arena);
	assert_int_equal(n_dropped, 5);
	assert_memory_equal(dropped, "ecabd", 5);
}

/* For an account with a parent, the parent counts and refuses memory. */
static void parts_charge_the_whole(void **state)
{
	struct account part = { .parent = &account };
	struct work w = { .account = &part };
	struct arena a;
	volatile int rounds = 0;

	(void)state;
	arena_init(&a, &w);
	account.limit = account.used + (8 << 20);
	if (!setjmp(w.escape))
		for (rounds = 0; rounds < 100; rounds++)
			arena_alloc(&a, 2000000, 1);
	assert_int_equal(rounds, 4);
	assert_int_equal(part.used, 0);
	assert_true(account.used > 4 * 2000000);
	arena_free(&a);
	account_close(&part);
	account.limit = 0;
}

static void limit_escapes_and_drops_guards(void **state)
{
	struct guard a, b, c;
	char names[] = "abc";
	volatile int rounds = 0;

	(void)state;
	account.limit = account.used + (1 << 20);
	n_dropped = 0;
	work_guard(&work, &a, drop, names);
	work_guard(&work, &b, drop, names + 1);
	work_guard(&work, &c, drop, names + 2);
	work_unguard(&work, &b);
	work_unguard(&work, &b);
	if (!setjmp(work.escape)) {
		for (rounds = 0; rounds < 100; rounds++)
			arena_alloc(&arena, 100000, 1);
	}
	assert_int_equal(rounds, 10);
	assert_int_equal(n_dropped, 2);
	assert_memory_equal(dropped, "ca", 2);
	assert_null(work.guards);
	assert_true(account.used <= account.limit);
	account.limit = 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arenas_close_what_lies_in_them, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_charge_the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(limit_escapes_and_drops_guards, setup, teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
