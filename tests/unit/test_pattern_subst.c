/* SPDX-License-Identifier: Apache-2.0
 *
 * Renaming rules as sed writes them.
 */
#include "unit.h"

#include "base/pattern.h"

static struct str renamed(struct arena *a, const char *rules, const char *name)
{
	struct err e = { .a = a };
	struct pattern_subst *l;
	struct str out;

	if (!pattern_subst_compile(&l, a, str_of(rules), &e))
		return e.text;
	bool ok = pattern_subst_apply(l, str_of(name), a, &out, &e);
	pattern_subst_free(l);
	return ok ? out : e.text;
}

static void test_rules(void **state)
{
	assert_str(renamed(*state, "s/tower_0/tower_1/", "tower_0/x/tower_0"), "tower_1/x/tower_0");
	assert_str(
	        renamed(*state, "s/tower_0/tower_1/g", "tower_0/x/tower_0"), "tower_1/x/tower_1");
	assert_str(renamed(*state, "s,^a/,,", "a/b/c"), "b/c");
	assert_str(renamed(*state, "s/a\\/b/c/", "a/b"), "c");
	assert_str(renamed(*state, "s/([a-z]+)_([0-9]+)/\\2_$1/", "tower_12"), "12_tower");
	assert_str(renamed(*state, "s/X/y/i", "x"), "y");
	assert_str(renamed(*state, "s/a/b/;s/b/c/", "a"), "c");
	assert_str(renamed(*state, "s/a/$x&${9}/", "a"), "$x&${9}");
	assert_str(renamed(*state, "s;a;b;;s/B/c;/i", "ab"), "c;b");
	assert_str(renamed(*state, "s/a/b/g;", "aa"), "bb");
	assert_str(renamed(*state, "", "a"), "a");
	assert_str(renamed(*state, "s/q/r/", "a"), "a");
	assert_str(renamed(*state, "s/a//", "a"), "");
}

static void test_bad_rules(void **state)
{
	static const char *const bad[] = { "s/a/b", "s/a", "y/a/b/", "s/a/b/x", "s", "s//", ";",
		"s/a/b/;;", "s/a/b/ s/b/c/" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_true(str_contains(renamed(*state, bad[i], "a"), S("is not s/PATTERN/")));
	assert_true(str_contains(renamed(*state, "s/(a/b/", "a"), S("column 3")));
}

static void test_names_that_are_no_text(void **state)
{
	assert_str(renamed(*state, "s/a/b/", "a\xff"), "a\xff");
	assert_true(str_contains(
	        renamed(*state, "s/(a+)+$/b/", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"),
	        S("a")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_rules),
		unit_case(test_bad_rules),
		unit_case(test_names_that_are_no_text),
	};

	return unit_main(tests, argc, argv);
}
