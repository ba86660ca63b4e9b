/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the unit tests: cmocka, an arena in *state, random numbers, a main that takes a filter.
 */
#ifndef TFPROF_TESTS_UNIT_H
#define TFPROF_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/str.h"

static struct account unit_account;
static struct work unit_work = { .account = &unit_account };
static struct arena unit_arena;

static inline int unit_setup(void **state)
{
	arena_init(&unit_arena, &unit_work);
	*state = &unit_arena;
	return 0;
}

/* All memory must be released. */
static inline int unit_teardown(void **state)
{
	(void)state;
	arena_free(&unit_arena);
	assert_int_equal(unit_account.used, 0);
	return 0;
}

/* Returns the next random number. *seed must not be 0. */
static inline uint64_t unit_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#define assert_str(s, z)                                                                           \
	do {                                                                                       \
		struct str found = (s);                                                            \
		assert_int_equal(found.n, strlen(z));                                              \
		assert_memory_equal(found.p, z, found.n);                                          \
	} while (0)

/* Runs all tests, or those that match argv[1], each with an arena of its own. */
#define unit_main(tests, argc, argv)                                                               \
	(argc > 1 ? cmocka_set_test_filter(argv[1]) : (void)0,                                     \
	        cmocka_run_group_tests(tests, NULL, NULL))

/* Runs the tests in a new folder, which must be empty at the end and is then removed. dir: a
 * template for mkdtemp. */
#define unit_main_in(dir, tests, argc, argv)                                                       \
	(mkdtemp(dir) ? unit_remove(dir, unit_main(tests, argc, argv)) : 1)

static inline int unit_remove(const char *dir, int failed)
{
	return rmdir(dir) ? 1 : failed;
}

#define unit_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, unit_teardown)

#endif
