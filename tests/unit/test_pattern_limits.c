/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of pattern lists: steps, memory, cancels, and closing.
 */
#include <stdio.h>

#include "pattern_rig.h"

/* All matches of a query share a limit: 400 names, each of which alone would be matched. */
static void steps_are_counted_over_all_matches(void **state)
{
	const char *pattern = "[^x]*a[^x]*b[^x]*c[^x]*d";
	struct pattern_list *l = list_of(&pattern, 1);
	char text[1500];
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = "abc"[i * 3 / sizeof text];
	text[0] = 'd'; /* PCRE2 does not start a match where a character is missing */
	unit_work.pattern_work = 0;
	while (tried < 400 && !pattern_failed(l, &err)) {
		assert_false(pattern_match(l, str_make(text, sizeof text)));
		tried++;
	}
	assert_in_range(tried, 1, 399);
	assert_in_range(unit_work.pattern_work, 10000000, 200000000);
	assert_true(str_contains(err.text, str_of(pattern)));
	assert_true(str_ends(err.text, S("the limit of matching steps is reached")));
	pattern_free(l);
	unit_work.pattern_work = 0;
}

/* Steps in proportion to the text do not count towards the limit. */
static void ordinary_names_are_matched_for_ever(void **state)
{
	static const char *const patterns[] = { ".*(conv|relu)[0-9]+/.*[a-z]_x", "([a-z_0-9/]+)+!",
		"(a|b|tower)_[0-9]+(/[a-z0-9_]+)*" };
	struct pattern_list *l = list_of(patterns, 3);
	char name[300];

	(void)state;
	unit_work.pattern_work = 0;
	for (int i = 0; i < 20000; i++) {
		int n = snprintf(name, sizeof name,
		        "tower_%d/block%d/conv%d/relu%d/%0*d/weights_read", i, i, i, i, i % 200, 7);
		assert_true(pattern_match_one(l, 2, str_make(name, (size_t)n)));
		assert_false(pattern_match_one(l, 0, str_make(name, (size_t)n)));
	}
	assert_false(pattern_failed(l, &err));
	assert_int_equal(unit_work.pattern_work, 0);
	pattern_free(l);
}

/* A cancel is noticed within a match and between two matches. */
static void a_match_can_be_cancelled(void **state)
{
	const char *pattern = "(a*)*[bc]";
	struct pattern_list *l = list_of(&pattern, 1);
	atomic_bool cancel = true;
	char text[2000];

	(void)state;
	memset(text, 'a', sizeof text);
	unit_work.pattern_work = 0;
	unit_account.cancel = &cancel;
	assert_false(pattern_match(l, str_make(text, sizeof text)));
	assert_true(pattern_failed(l, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_non_null(strstr(str_z(&unit_arena, err.text), "matching was cancelled"));
	assert_true(unit_work.pattern_work < 100);
	pattern_free(l);
	unit_account.cancel = NULL;
	unit_account.stop = &cancel;
	l = list_of(&pattern, 1);
	if (!setjmp(unit_work.escape)) {
		pattern_match(l, S("a"));
		fail();
	}
	unit_account.stop = NULL;
}

/* PCRE2's memory is charged to the session: for compiling, matching and machine code. */
static void memory_of_patterns_is_limited(void **state)
{
	static const char *const patterns[] = {
		"(?:(a)|(b)|(c)|(d)|(e)|(f)|(g)|(h)|(i)|(j)|(k)|(l)|(m)|(n)|(o))*z",
		"(?:abcdefghijklmnop|[q-z]{1,9}){500}"
	};
	volatile size_t ended = 0;
	char text[100000];

	(void)state;
	memset(text, 'a', sizeof text);
	for (volatile size_t i = 0; i < 2; i++) {
		size_t before = unit_account.used;
		unit_account.peak = 0;
		unit_account.limit = unit_account.used + (i ? 100000 : 1000000);
		if (!setjmp(unit_work.escape)) {
			struct pattern_list *l = list_of(&patterns[i], 1);
			unit_account.limit = unit_account.used + (i ? 0 : 1000000);
			pattern_match(l, str_make(text, i ? 100 : sizeof text));
		} else {
			ended++;
		}
		assert_true(unit_account.peak <= unit_account.limit);
		unit_account.limit = 0;
		arena_close(&unit_arena);
		assert_true(unit_account.used <= before + 100000); /* pieces of the arena */
	}
	assert_int_equal(ended, 2);
}

/* Lists that are not freed are closed with their arena: nothing is charged after the test. */
static void lists_are_closed_with_their_arena(void **state)
{
	static const char *const patterns[] = { "[ab]+", "(" };
	struct arena_mark m = arena_mark(&unit_arena);
	struct pattern_list *l;

	(void)state;
	l = list_of(patterns, 1);
	assert_true(pattern_match(l, S("ab")));
	assert_non_null(unit_arena.guards);
	arena_reset(&unit_arena, m);
	assert_null(unit_arena.guards);
	assert_null(list_of(patterns, 2));
	assert_null(unit_arena.guards);
	assert_non_null(list_of(patterns, 1));
	assert_null(unit_work.guards);
}

static void costly_patterns_give_up(void **state)
{
	static const char *const patterns[] = { "(a*)*[bc]", "(a|aa)+[bc]", "(a|b)*c" };
	size_t n = 1 << 20;
	char *text = arena_alloc(&unit_arena, n, 1);

	(void)state;
	memset(text, 'a', n);
	for (size_t i = 0; i < 3; i++) {
		struct pattern_list *l = list_of(&patterns[i], 1);

		assert_false(pattern_failed(l, &err));
		assert_false(pattern_match(l, str_make(text, n)));
		assert_true(pattern_failed(l, &err));
		assert_int_equal(err.code, ERR_RESOURCE);
		assert_true(str_contains(err.text, str_of(patterns[i])));
		assert_true(str_contains(err.text, S("aaa...' (1048576 bytes): ")));
		assert_false(pattern_match(l, S("c"))); /* no further pattern is tried */
		pattern_free(l);
	}
}

/* The error contains the beginning of a long pattern. */
static void long_patterns_are_cut(void **state)
{
	struct sb pattern = sb_in(&unit_arena);
	const char *z;

	(void)state;
	sb_repeat(&pattern, 'a', 100000);
	sb_char(&pattern, '(');
	z = str_z(&unit_arena, sb_str(&pattern));
	assert_null(list_of(&z, 1));
	assert_true(err.text.n < 200);
	assert_true(str_ends(err.text, S("a...': column 100002: missing closing parenthesis")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(steps_are_counted_over_all_matches),
		unit_case(ordinary_names_are_matched_for_ever),
		unit_case(a_match_can_be_cancelled),
		unit_case(memory_of_patterns_is_limited),
		unit_case(lists_are_closed_with_their_arena),
		unit_case(costly_patterns_give_up),
		unit_case(long_patterns_are_cut),
	};

	return unit_main(tests, argc, argv);
}
