/* SPDX-License-Identifier: Apache-2.0
 *
 * Pattern lists: RE2's meaning of patterns, errors, and shortcuts compared with the engine.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "pattern_rig.h"

static uint64_t seed = 88172645463325252;

static bool matches(const char *pattern, struct str text)
{
	struct pattern_list *l = list_of(&pattern, 1);
	bool yes;

	assert_non_null(l);
	yes = pattern_match(l, text);
	assert_false(pattern_failed(l, &err));
	pattern_free(l);
	return yes;
}

/* A pattern, a text that it matches and a text that it does not match; NULL: no text. */
struct meaning {
	const char *pattern, *yes, *no;
};

static void check_meanings(const struct meaning *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (m[i].yes && !matches(m[i].pattern, str_of(m[i].yes)))
			fail_msg("'%s' on '%s'", m[i].pattern, m[i].yes);
		if (m[i].no && matches(m[i].pattern, str_of(m[i].no)))
			fail_msg("'%s' on '%s'", m[i].pattern, m[i].no);
	}
}

/* The answers are RE2's. What remains different:
 * - accepted, though RE2 refuses it: look-around, back-references, possessive and repeated
 *   repetitions, counts above 1000, (?x), \Z, \K, \R, \h, \E without \Q;
 * - refused, though RE2 accepts it: a repeated assertion (\b+, ^*), more than 64 KiB when compiled;
 * - a pattern with \C is about bytes throughout, so that . in it is one byte;
 * - RE2's dot matches an overlong sequence; here the text is not UTF-8. */
static void means_what_re2_means(void **state)
{
	static const struct meaning m[] = {
		{ "conv", "conv", "Conv" },
		{ "a|ab", "ab", "abc" },
		{ "(?i)Conv", "cONV", "con" },
		{ "(?i)\xc3\xa9", "\xc3\x89", "e" },
		{ "", "", "a" },
		{ ".", "\r", "\n" },
		{ ".", "\xc3\xa9", "\xff" },
		{ "\\C\\C", "\xc3\xa9", "a" },
		{ "\\C", "\xff", "" },
		{ "(?s).", "\n", "\n\n" },
		{ "[^a]", "\n", "\xff" },
		{ "a$\n?", "a", "a\n" },
		{ "(?m)a$\n", "a\n", "a" },
		{ "(?m)a\n^", "a\n", "a" },
		{ "\\s", "\f", "\v" },
		{ "\\s+", "\t\n\f\r ", "" },
		{ "\\S", "\v", " " },
		{ "[\\s-a]+", "- a", "!" },
		{ "[\\S]", "\v", "\t" },
		{ "[^\\S]", " ", "\v" },
		{ "[^\\s]", "\v", "\n" },
		{ "[[:space:]]", "\v", "a" },
		{ "[[:alpha:]\\s]+", "a b", "a\vb" },
		{ "[]\\s]", "]", "s" },
		{ "[\\d-z]+", "-1z", "a" },
		{ "[[:alpha:]-z]+", "a-", ":" },
		{ "[:alpha:]+", "a:", "b" },
		{ "\\v", "\v", "\n" },
		{ "[\\v]", "\v", "\n" },
		{ "\\\\s", "\\s", " " },
		{ "\\Qa.b\\s\\E.", "a.b\\sx", "axb\\sx" },
		{ "\\Qa.b", "a.b", "axb" },
		{ "\\d", "1", "\xd9\xa3" },
		{ "\\w", "_", "\xc3\xa9" },
		{ "a{,2}", "a{,2}", "a" },
		{ "^zeros[0-9_]*", "zeros_1", "azeros" },
		{ "(|a)*", "aa", "b" },
		{ "\\pN", "\xc2\xb2", "a" },
	};

	(void)state;
	check_meanings(m, sizeof m / sizeof *m);
}

static void literals_are_literal(void **state)
{
	static const struct meaning m[] = {
		{ "a.*", "abc", "a\n" },
		{ "a.*", "a\xc3\xa9", "a\xff" },
		{ ".*a", "ba", "\na" },
		{ ".*a.*", "xay", "\na" },
		{ ".*a\n.*", "xa\ny", "\na\n" },
		{ "a\\.*", "a...", "a.b" },
		{ "a\\..*", "a.b", "axb" },
		{ ".*?", "abc", "\n" },
		{ ".*+", "abc", "\n" },
		{ "ab.*ab", "abab", "ab" },
		{ ".*", "", "a\n" },
		{ ".*.*", "a", "a\n" },
		{ ".*.*a", "ba", "ab" },
		{ "a.*.*", "ab", "ba" },
		{ "a.*b.*c", "axbbxc", "axcbx" },
		{ "ab.*ba", "abba", "aba" },
		{ ".*a.*a", "aa", "a" },
		{ ".*a.*b.*", "xaxbx", "xbxax" },
		{ "a.*a.*a", "aaa", "aa" },
		{ "a.*b", "a/b", "a\nb" },
		{ "a\n.*b", "a\n/b", "a\n\nb" },
		{ "\xc3\xa9.*\xc3\xa9", "\xc3\xa9-\xc3\xa9", "\xc3\xa9\xa9" },
		{ "a+b", "ab", "a+b" },
		{ "\xc3\xa9.*", "\xc3\xa9x", "\xc3" },
		{ "save\\/.*", "save/x", "save\\/x" },
	};

	(void)state;
	check_meanings(m, sizeof m / sizeof *m);
}

/* Random patterns of few pieces: the list must answer as the bare engine does. */
static void shortcuts_equal_the_engine(void **state)
{
	static const char *const pieces[] = { "a", "b", ".*", ".", "\\.", "\n", "*", "\\/",
		"\xc3\xa9", "[ab]", "ab", ".*" };
	static const char *const texts[] = { "a", "b", "\n", ".", "/", "\xc3\xa9", "ab" };
	size_t valid = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char p[32] = "", t[32] = "";
		const char *pattern = p;
		struct pattern_list *l;
		pcre2_code *code;
		int why;
		size_t at;

		for (size_t n = unit_random(&seed) % 5; n; n--)
			strcat(p, pieces[unit_random(&seed) % 12]);
		for (size_t n = unit_random(&seed) % 6; n; n--)
			strcat(t, texts[unit_random(&seed) % 7]);
		code = pcre2_compile((PCRE2_SPTR)p, strlen(p),
		        PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED, &why, &at, NULL);
		l = list_of(&pattern, 1);
		assert_int_equal(l != NULL, code != NULL);
		if (code) {
			pcre2_match_data *d = pcre2_match_data_create(1, NULL);
			int n = pcre2_match(code, (PCRE2_SPTR)t, strlen(t), 0, 0, d, NULL);

			if (pattern_match(l, str_of(t)) != (n >= 0))
				fail_msg("'%s' on '%s'", p, t);
			pcre2_match_data_free(d);
			valid++;
		}
		pcre2_code_free(code);
		pattern_free(l);
		arena_clear(&unit_arena);
	}
	assert_true(valid > 10000);
}

static void any_pattern_may_match(void **state)
{
	static const char *const patterns[] = { "conv.*", "[0-9]+", "x" };
	struct pattern_list *l = list_of(patterns, 3), *none = list_of(patterns, 0);
	const char *all = ".*", *twice[] = { ".*", ".*" };

	(void)state;
	assert_int_equal(pattern_count(l), 3);
	assert_true(pattern_match(l, S("conv1")) && pattern_match(l, S("17")) &&
	            pattern_match(l, S("x")));
	assert_false(pattern_match(l, S("y")));
	assert_true(pattern_match_one(l, 1, S("17")) && !pattern_match_one(l, 2, S("17")));
	assert_true(pattern_is_empty(none) && !pattern_is_empty(l) && !pattern_match(none, S("")));
	pattern_free(none);
	pattern_free(l);
	pattern_free(NULL);
	l = list_of(&all, 1);
	assert_true(pattern_is_all(l) && pattern_match(l, S("x")) && !pattern_match(l, S("a\nb")));
	pattern_free(l);
	l = list_of(twice, 2);
	assert_false(pattern_is_all(l));
	pattern_free(l);
	assert_null(unit_arena.guards);
}

static void assert_refused(const char *pattern, const char *sentence)
{
	const char *patterns[] = { "fine", pattern };

	assert_null(list_of(patterns, 2));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	if (!str_eq(err.text, str_of(sentence)))
		fail_msg("%.*s", STR(err.text));
	assert_null(unit_arena.guards);
}

static void bad_patterns_are_refused(void **state)
{
	(void)state;
	assert_refused("(", "pattern '(': column 2: missing closing parenthesis");
	assert_refused("\\s\\s(", "pattern '\\s\\s(': column 6: missing closing parenthesis");
	assert_refused(
	        "a**", "pattern 'a**': column 3: quantifier does not follow a repeatable item");
	assert_refused(
	        "\xff", "pattern '\xff': column 1: UTF-8 error: illegal byte (0xfe or 0xff)");
	assert_null(list_of(&(const char *){ "(*UTF)\\C" }, 1));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(means_what_re2_means),
		unit_case(literals_are_literal),
		unit_case(shortcuts_equal_the_engine),
		unit_case(any_pattern_may_match),
		unit_case(bad_patterns_are_refused),
	};

	return unit_main(tests, argc, argv);
}
