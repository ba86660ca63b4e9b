/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a line: only the words |, > and >> redirect the output.
 */
#include "unit.h"

#include "cli/spawn.h"

static bool split(struct redirect *l, const char *text)
{
	struct err e = { .a = &unit_arena };

	return redirect_split(l, str_of(text), &e);
}

static void test_plain(void **state)
{
	struct redirect l;

	(void)state;
	assert_true(split(&l, "scope -show_name_regexes a|b>c -select x"));
	assert_int_equal(l.to, REDIRECT_NONE);
	assert_int_equal(l.command.n, 40);
}

static void test_program(void **state)
{
	struct redirect l;

	(void)state;
	assert_true(split(&l, "scope -max_depth 2 | grep -c 'a|b' > x"));
	assert_int_equal(l.to, REDIRECT_PROGRAM);
	assert_true(str_eq(l.command, S("scope -max_depth 2 ")));
	assert_int_equal(l.words.n, 3); /* a further mark is passed to the shell */
	assert_true(str_eq(l.words.v[0], S("sh")));
	assert_true(str_eq(l.words.v[2], S(" grep -c 'a|b' > x")));
	assert_true(split(&l, "scope | grep -c 'a|b'"));
	assert_int_equal(l.words.n, 3);
	assert_true(str_eq(l.words.v[0], S("grep")) && str_eq(l.words.v[2], S("a|b")));
}

static void test_files(void **state)
{
	struct redirect l;

	(void)state;
	assert_true(split(&l, "op > a"));
	assert_int_equal(l.to, REDIRECT_FILE);
	assert_true(split(&l, "op >> a"));
	assert_int_equal(l.to, REDIRECT_APPEND);
	assert_true(str_eq(l.words.v[0], S("a")));
}

static void test_refused(void **state)
{
	struct redirect l;

	(void)state;
	assert_false(split(&l, "op >"));
	assert_false(split(&l, "op > a b"));
	assert_false(split(&l, "op |"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_plain),
		unit_case(test_program),
		unit_case(test_files),
		unit_case(test_refused),
	};

	return unit_main(tests, argc, argv);
}
