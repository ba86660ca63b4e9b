/* SPDX-License-Identifier: Apache-2.0
 *
 * Options: presets, parsing of every type, refused values that change nothing, the dump,
 * suggestions.
 */
#include "unit.h"

#include "metric/opts.h"

static struct opts preset(struct arena *a)
{
	struct opts o;

	opts_preset(&o, a);
	return o;
}

/* Sets one option. Returns the error text, which is empty if the value is accepted. */
static struct str set(struct opts *o, struct arena *a, const char *name, const char *value)
{
	struct err e = { .a = a };

	const struct option *row = view_option(str_of(name));

	assert_non_null(row);
	if (opts_set(o, a, row, str_of(value), &e))
		assert_int_equal(e.code, ERR_NONE);
	else
		assert_int_equal(e.code, ERR_INVALID_ARGUMENT);
	return e.text;
}

static struct str value_of(struct opts *o, struct arena *a, const char *name)
{
	struct sb b = sb_in(a);

	const struct option *row = view_option(str_of(name));

	assert_non_null(row);
	opts_value(&b, o, row);
	return sb_str(&b);
}

/* Every row of the table has a text, and its preset is a valid value. */
static void test_rows_are_complete(void **state)
{
	size_t original = 0;

	for (const struct option *row = view_options; row; row = option_next(row)) {
		struct opts o = preset(*state);
		original += !(row->flags & OPTION_EXTENSION);
		assert_true(strlen(row->help) > 0);
		assert_int_equal(set(&o, *state, row->name, row->preset).n, 0);
	}
	assert_int_equal(original, 21);
}

static void test_outputs_are_complete(void **state)
{
	(void)state;
	for (enum output_kind i = 0; i < OUT_N; i++) {
		assert_non_null(output_rows[i].help);
		assert_int_equal(output_rows[i].required & ~output_rows[i].keys, 0);
		if (i)
			assert_true(strcmp(output_rows[i - 1].name, output_rows[i].name) < 0);
	}
}

static void test_numbers(void **state)
{
	struct opts o = preset(*state);

	assert_int_equal(set(&o, *state, "max_depth", "-3").n, 0);
	assert_int_equal(o.max_depth, -3);
	assert_int_equal(set(&o, *state, "min_bytes", "9223372036854775807").n, 0);
	assert_true(o.min[M_BYTES] == INT64_MAX);
	assert_true(set(&o, *state, "min_bytes", "9223372036854775808").n > 0);
	assert_true(o.min[M_BYTES] == INT64_MAX);
	assert_str(set(&o, *state, "max_depth", "4x"),
	        "-max_depth: '4x' is not a whole number from -2147483648 to 2147483647");
	assert_int_equal(o.max_depth, -3);
	assert_true(set(&o, *state, "account_displayed_op_only", "perhaps").n > 0);
	assert_int_equal(set(&o, *state, "min_bytes", "1.5mb").n, 0);
	assert_int_equal(o.min[M_BYTES], 1500000);
	assert_int_equal(set(&o, *state, "min_micros", "20ms").n, 0);
	assert_int_equal(o.min[M_MICROS], 20000);
	assert_int_equal(set(&o, *state, "min_params", "3K").n, 0);
	assert_int_equal(o.min[M_PARAMS], 3000);
	assert_true(set(&o, *state, "min_micros", "3KB").n > 0);
	assert_int_equal(set(&o, *state, "max_workers", "3k").n, 0);
	assert_int_equal(o.max_workers, 3000);
	assert_true(set(&o, *state, "max_workers", "3ms").n > 0);
}

static void test_lists_lose_quotes_and_empties(void **state)
{
	struct opts o = preset(*state);

	assert_int_equal(set(&o, *state, "show_name_regexes", "'a,,b.*'").n, 0);
	assert_int_equal(o.show.n, 2);
	assert_str(value_of(&o, *state, "show_name_regexes"), "a,b.*");
	assert_int_equal(set(&o, *state, "show_name_regexes", "''").n, 0);
	assert_int_equal(o.show.n, 0);
}

static void test_metric_names(void **state)
{
	struct opts o = preset(*state);

	assert_int_equal(set(&o, *state, "select", "params,bytes").n, 0);
	assert_str(value_of(&o, *state, "select"), "bytes,params");
	assert_true(str_contains(set(&o, *state, "select", "bites"), S("did you mean 'bytes'?")));
	assert_str(value_of(&o, *state, "select"), "bytes,params");
	assert_int_equal(set(&o, *state, "order_by", "depth").n, 0);
	assert_int_equal(o.order.by, M_NAME);
	assert_int_equal(set(&o, *state, "order_by", "''").n, 0);
	assert_true(o.order.none);
	assert_true(set(&o, *state, "order_by", "device").n > 0);
}

/* The library accepts names that no metric has; they stay in the dump. */
static void test_lenient_lists(void **state)
{
	struct opts o = preset(*state);
	struct str items[] = { S("no_such_name"), S("micros") };
	struct strs list = { items, 2, 0 };
	struct err e = { .a = *state };

	const struct option *row = view_option(S("select"));

	assert_non_null(row);
	assert_false(opts_set_list(&o, *state, row, &list, true, &e));
	e = (struct err){ .a = *state };
	assert_true(opts_set_list(&o, *state, row, &list, false, &e));
	assert_str(value_of(&o, *state, "select"), "micros,no_such_name");
}

/* Quirk 22: the file name stays when the type changes. */
static void test_output(void **state)
{
	struct opts o = preset(*state);

	assert_int_equal(o.output.kind, OUT_STDOUT);
	assert_str(set(&o, *state, "output", "timeline"),
	        "-output: timeline needs a file: timeline:outfile=FILE");
	assert_int_equal(o.output.kind, OUT_STDOUT);
	assert_int_equal(set(&o, *state, "output", "file:outfile=/x==y").n, 0);
	assert_str(o.output.outfile, "/x=y");
	assert_int_equal(set(&o, *state, "output", "timeline").n, 0);
	assert_str(value_of(&o, *state, "output"), "timeline:outfile=/x=y");
	assert_int_equal(set(&o, *state, "output", "csv:spreadsheet=1,outfile=x").n, 0);
	assert_true(o.output.spreadsheet);
	assert_int_equal(set(&o, *state, "output", "csv").n, 0);
	assert_false(o.output.spreadsheet);
	assert_true(set(&o, *state, "output", "md:spreadsheet=1").n > 0);
	assert_int_equal(set(&o, *state, "output", "timeline:outfile=/x=y").n, 0);
	assert_true(set(&o, *state, "output", "stdout:outfile=x").n > 0);
	assert_true(set(&o, *state, "output", "files:outfile=x").n > 0);
	assert_true(set(&o, *state, "output", "file:outfile").n > 0);
	assert_int_equal(o.output.kind, OUT_TIMELINE);
}

static void test_dump(void **state)
{
	struct opts o = preset(*state);
	struct sb b = sb_in(*state);

	opts_dump(&b, &o);
	assert_true(str_starts(sb_str(&b), S("-max_depth                  10\n-min_bytes ")));
	assert_true(str_contains(sb_str(&b), S("\n-trim_name_regexes          \n")));
	assert_true(str_ends(sb_str(&b), S("\n-output                     stdout:\n")));
}

static void test_nearest(void **state)
{
	struct str words[] = { S("scope"), S("graph"), S("op"), S("code") };

	(void)state;
	assert_str(nearest_word(S("scop"), words, 4), "scope");
	assert_str(nearest_word(S("grpah"), words, 4), "graph");
	assert_str(nearest_word(S("SCOPE"), words, 4), "scope");
	assert_str(nearest_word(S("gra"), words, 4),
	        "graph"); /* the only option that begins like this */
	assert_int_equal(nearest_word(S("gr"), words, 4).n, 0);
	assert_int_equal(nearest_word(S("cops"), words, 4).n, 0);
	assert_int_equal(nearest_word(S("timeline"), words, 4).n, 0);
	assert_int_equal(nearest_word(S("foo"), words, 4).n,
	        0); /* A word too far from all others has no suggestion. */
}

/* The help of -min_METRIC and its error name the same amount, which the option accepts. */
static void test_minima(void **state)
{
	struct opts o = preset(*state);
	size_t n = 0;

	for (const struct option *row = view_options; row; row = option_next(row)) {
		struct str help = str_of(row->help), such = S(", such as ");
		size_t at = str_find(help, such);
		if (row->type != OPT_I64 || !str_starts(str_of(row->name), S("min_")))
			continue;
		n += !(row->flags & OPTION_HIDDEN);
		assert_true(at != SIZE_MAX);
		struct str example = str_sub(help, at + such.n, SIZE_MAX);
		assert_int_equal(set(&o, *state, row->name, str_z(*state, example)).n, 0);
		assert_true(str_ends(set(&o, *state, row->name, "x"), str_sub(help, at, SIZE_MAX)));
	}
	assert_int_equal(n, 10); /* the options of the original */
	assert_int_equal(o.min[M_BYTES], 1000000);
	assert_int_equal(o.min[M_MICROS], 20000);
	assert_int_equal(o.min[M_OCCURRENCE], 3000);
}

static void test_unknown_option(void **state)
{
	struct err e = { .a = *state };

	assert_false(unknown_option(&e, S("diff"), S("--x"), STR_NONE, S("it has --y")));
	assert_str(e.text, "diff has no option '--x'; it has --y");
	e.code = ERR_NONE;
	assert_false(unknown_option(&e, S("diff"), S("--x"), S("--y"), S("it has --y")));
	assert_str(e.text, "diff has no option '--x'; did you mean '--y'?");
	e.code = ERR_NONE;
	assert_false(unknown_option(&e, STR_NONE, S("-x"), STR_NONE, S("'help' lists them")));
	assert_str(e.text, "unknown option '-x'; 'help' lists them");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_rows_are_complete),
		unit_case(test_outputs_are_complete),
		unit_case(test_numbers),
		unit_case(test_lists_lose_quotes_and_empties),
		unit_case(test_metric_names),
		unit_case(test_lenient_lists),
		unit_case(test_output),
		unit_case(test_dump),
		unit_case(test_nearest),
		unit_case(test_minima),
		unit_case(test_unknown_option),
	};

	return unit_main(tests, argc, argv);
}
