/* SPDX-License-Identifier: Apache-2.0
 *
 * Order of paths, names from differing parts, patterns and lists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "unit.h"

#include "io/paths.h"

static int order(const char *a, const char *b)
{
	int x = path_order(str_of(a), str_of(b)), y = path_order(str_of(b), str_of(a));

	assert_int_equal((x > 0) - (x < 0), (y < 0) - (y > 0));
	return (x > 0) - (x < 0);
}

static void numbers_by_value(void **state)
{
	(void)state;
	assert_int_equal(order("job_2", "job_10"), -1);
	assert_int_equal(order("job_10/a", "job_10/b"), -1);
	assert_int_equal(order("a1b2", "a1b10"), -1);
	assert_int_equal(order("1", "01"), 1);
	assert_int_equal(order("1a", "01b"), -1);
	assert_int_equal(order("a", "a0"), -1);
	assert_int_equal(order("a", "A"), 1);
	assert_int_equal(order("99999999999999999999998", "99999999999999999999999"), -1);
	assert_int_equal(order("", ""), 0);
	assert_int_equal(order("x7", "x7"), 0);
}

static void assert_names(struct arena *a, const char *paths, const char *names)
{
	struct strs v = str_split(a, str_of(paths), ' '), named = paths_names(a, &v);

	assert_str(strs_join(a, &named, S(" ")), names);
}

static void names_are_what_differs(void **state)
{
	struct arena *a = *state;

	assert_names(a, "job_0/profile_100 job_1/profile_100", "job_0 job_1");
	assert_names(a, "/d/job_0/p /d/job_1/p", "job_0 job_1");
	assert_names(a, "a/x/p b/y/p", "a/x b/y");
	assert_names(a, "d/profile_100 d/profile_200", "profile_100 profile_200");
	assert_names(a, "a/b a/b/c", "b b/c");
	assert_names(a, "p d/p", "p d/p");
	assert_names(a, "top/one", "one");
	assert_names(a, "/ /x", "/ x");
	assert_names(a, "a/b /a/b", "a/b /a/b"); /* the parts alone would be equal */
	assert_names(a, "a/Job a/job", "Job job");
	assert_names(a, "", "");
}

static void touch(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fclose(f);
}

static void words_are_expanded(void **state)
{
	static const struct {
		const char *word, *paths;
	} rows[] = {
		{ "w*", "w1 w2 w10 wx" },
		{ "w?", "w1 w2 wx" },
		{ "w[12]", "w1 w2" },
		{ "w1,nothing,w2", "w1 nothing w2" },
		{ "w?,w1", "w1 w2 wx w1" },
		{ "a,b", "a,b" },
		{ "[x]", "[x]" },
		{ ",", "" },
		{ "", "" },
		{ "-", "-" },
	};
	struct arena *a = *state;
	struct err e = { .a = a };
	char folder[] = "/tmp/tfprof-paths-XXXXXX", before[4096];

	assert_non_null(getcwd(before, sizeof before));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	static const char *const files[] = { "w10", "w2", "w1", "wx", "a,b", "[x]" };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		touch(files[i]);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct strs paths = { 0 };
		assert_true(paths_expand(a, str_of(rows[i].word), &paths, &e));
		assert_str(strs_join(a, &paths, S(" ")), rows[i].paths);
	}
	struct strs none = { 0 }, twice = { 0 };
	assert_false(paths_expand(a, S("w1,z*"), &none, &e));
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_str(e.text, "nothing matches 'z*'");
	struct notes notes;
	notes_init(&notes, a);
	assert_true(path_is_empty(a, S("w1")));
	assert_false(path_is_empty(a, S("gone")) || path_is_empty(a, S(".")) ||
	             path_is_empty(a, S("/proc/self/exe")));
	assert_int_equal(link("w1", "w1.link"), 0);
	assert_true(paths_expand(a, S("w1,./w1,w1.link,gone,gone"), &twice, &e));
	paths_once(a, &twice, &notes);
	assert_str(strs_join(a, &twice, S(" ")), "w1 w1.link gone");
	assert_str(notes_text(a, &notes), "note: './w1' is given twice and read once (2 times)\n");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(files[i]);
	unlink("w1.link");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(numbers_by_value),
		unit_case(names_are_what_differs),
		unit_case(words_are_expanded),
	};

	return unit_main(tests, argc, argv);
}
