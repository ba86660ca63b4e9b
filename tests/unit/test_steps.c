/* SPDX-License-Identifier: Apache-2.0
 *
 * Values about steps: lists, ranges, statistics, and the printed form of -step.
 */
#include "unit.h"

#include "metric/opts.h"

/* Returns the printed form of a value of -step, or the error if the value is refused. */
static struct str shown(struct arena *a, const char *text)
{
	struct err e = { .a = a };
	struct sb b = sb_in(a);
	struct opts o;

	opts_preset(&o, a);
	const struct option *row = view_option(S("step"));

	assert_non_null(row);
	if (!opts_set(&o, a, row, str_of(text), &e))
		return e.text;
	struct opts copy = opts_copy(&o, a);
	opts_value(&b, &copy, row);
	return sb_str(&b);
}

static void test_shown(void **state)
{
	assert_str(shown(*state, "3"), "3");
	assert_str(shown(*state, "-7"), "-7");
	assert_str(shown(*state, "+3"), "3");
	assert_str(shown(*state, "0,2,5"), "0,2,5");
	assert_str(shown(*state, "'3..9'"), "3..9");
	assert_str(shown(*state, "9,1..1,4..9223372036854775807,"), "9,1,4..9223372036854775807");
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", "x", "1..", "..1", "5..3", "-1,2", "1,-2", "1..2..3",
		"1;2", "9223372036854775808", "0..9223372036854775808", "1.5", "0x1", "," };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_true(str_starts(shown(*state, bad[i]), S("-step: '")));
}

static void test_has(void **state)
{
	struct err e = { .a = *state };
	struct step_set s = { 0 };

	assert_false(steps_has(&s, 0));
	assert_true(steps_parse(&s, *state, S("0,3..5"), &e));
	for (int64_t i = 0; i < 8; i++)
		assert_int_equal(steps_has(&s, i), i == 0 || (i >= 3 && i <= 5));
	assert_true(
	        steps_parse(&s, *state, S("19,3,2..9,15..16,4..5,19"), &e)); /* some in others */
	for (int64_t i = 0; i < 22; i++)
		assert_int_equal(
		        steps_has(&s, i), (i >= 2 && i <= 9) || i == 15 || i == 16 || i == 19);
	assert_false(steps_parse(&s, *state, S("no"), &e)); /* and the value is unchanged */
	assert_true(steps_has(&s, 4));
}

static void test_options_have(void **state)
{
	struct opts o;

	opts_preset(&o, *state);
	assert_true(opts_has_step(&o, 5));
	o.step = 4;
	assert_false(opts_has_step(&o, 5));
	assert_true(opts_has_step(&o, 4));
}

/* Setting a number clears the list, and setting a list clears the number. */
static void test_last_counts(void **state)
{
	struct err e = { .a = *state };
	struct opts o;

	opts_preset(&o, *state);
	const struct option *row = view_option(S("step"));

	assert_non_null(row);
	assert_true(opts_set(&o, *state, row, S("4"), &e));
	assert_true(opts_set(&o, *state, row, S("1,2"), &e));
	assert_int_equal(o.step, -1);
	assert_false(opts_set(&o, *state, row, S("1,x"), &e));
	assert_int_equal(o.steps.n, 2);
	assert_true(opts_set(&o, *state, row, S("7"), &e));
	assert_int_equal(o.steps.n, 0);
	assert_int_equal(o.step, 7);
}

static void test_lists_of_words(void **state)
{
	struct str words[] = { S("0"), S("2..3") };
	struct strs items = { words, 2, 2 };
	struct err e = { .a = *state };
	struct opts o;

	opts_preset(&o, *state);
	const struct option *row = view_option(S("step"));

	assert_non_null(row);
	assert_true(option_is_list(row));
	assert_true(opts_set_list(&o, *state, row, &items, true, &e));
	assert_str(o.steps.text, "0,2..3");
	row = view_option(S("stats"));
	assert_non_null(row);
	items = (struct strs){ (struct str[]){ S("n"), S("mean") }, 2, 2 };
	assert_true(opts_set_list(&o, *state, row, &items, true, &e));
	assert_int_equal(o.stats, STAT_BIT(STAT_MEAN) | STAT_BIT(STAT_N));
	items.n = 0;
	assert_true(opts_set_list(&o, *state, row, &items, true, &e));
	assert_int_equal(o.stats, 0);
}

/* Each row of the table is complete, and its word is found. */
static void test_table(void **state)
{
	for (enum stat_id i = 0; i < STATS_N; i++) {
		struct str word = str_of(stat_rows[i].name);
		struct strs one = { &word, 1, 1 };
		struct err e = { .a = *state };
		unsigned bits = 0;
		assert_true(word.n && stat_rows[i].help[0]);
		assert_true(!stat_rows[i].ranked || stat_rows[i].whole);
		assert_true(stats_parse(&bits, &one, &e));
		assert_int_equal(bits, STAT_BIT(i));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_shown), unit_case(test_refused),
		unit_case(test_has), unit_case(test_options_have), unit_case(test_last_counts),
		unit_case(test_lists_of_words), unit_case(test_table) };

	return unit_main(tests, argc, argv);
}
