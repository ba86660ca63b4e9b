/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings, lists, the builder, and the error value, which uses them.
 */
#include "unit.h"

#include "base/err.h"

static void order_is_bytewise(void **state)
{
	(void)state;
	assert_true(str_cmp(S("a"), S("b")) < 0);
	assert_true(str_cmp(S("ab"), S("a")) > 0);
	assert_true(str_cmp(S("\xff"), S("a")) > 0);
	assert_true(str_cmp(S("a\0b"), S("a\0a")) > 0);
	assert_int_equal(str_cmp(STR_NONE, S("")), 0);
	assert_true(str_eq(STR_NONE, S("")));
	assert_false(str_eq(S("ab"), S("aa")));
}

static void parts_are_found(void **state)
{
	struct str s = S("scope/conv/scope/w");

	(void)state;
	assert_true(str_starts(s, S("scope/")) && str_starts(s, S("")) && !str_starts(s, S("x")));
	assert_false(str_starts(S("a"), S("ab")));
	assert_true(str_ends(s, S("/w")) && str_ends(s, S("")) && !str_ends(s, S("v")));
	assert_true(str_ends(STR_NONE, STR_NONE) && !str_ends(STR_NONE, S("a")));
	assert_int_equal(str_find(s, S("scope/w")), 11);
	assert_int_equal(str_find(s, S("scopes")), SIZE_MAX);
	assert_int_equal(str_find(STR_NONE, S("")), 0);
	assert_int_equal(str_find(STR_NONE, S("a")), SIZE_MAX);
	assert_int_equal(str_find_char(s, '/'), 5);
	assert_int_equal(str_rfind_char(s, '/'), 16);
	assert_int_equal(str_find_char(STR_NONE, 'a'), SIZE_MAX);
	assert_int_equal(str_rfind_char(s, 'z'), SIZE_MAX);
	assert_true(str_contains(s, S("conv")) && !str_contains(s, S("Conv")));
}

static void lower_case_is_compared(void **state)
{
	(void)state;
	assert_true(str_eq_lower(S("ProfilerStep"), "profilerstep"));
	assert_true(str_eq_lower(S(""), ""));
	assert_false(str_eq_lower(S("steps"), "step"));
	assert_false(str_eq_lower(S("ste"), "step"));
	assert_false(str_eq_lower(S("step\0s"), "step"));
	assert_int_equal(str_stem(S("step_12")), 5);
	assert_int_equal(str_stem(S("12")), 0);
	assert_int_equal(char_hex('f'), 15);
	assert_int_equal(char_hex('F'), 15);
	assert_int_equal(char_hex('g'), -1);
	assert_int_equal(char_hex('/'), -1);
}

static void sub_is_clipped(void **state)
{
	(void)state;
	assert_str(str_sub(S("abc"), 1, 1), "b");
	assert_str(str_sub(S("abc"), 1, SIZE_MAX), "bc");
	assert_int_equal(str_sub(S("abc"), 3, 1).n, 0);
	assert_int_equal(str_sub(S("abc"), SIZE_MAX, SIZE_MAX).n, 0);
}

static void copies(void **state)
{
	char text[] = "AbZ[@z\xc4";
	struct str c = str_copy(&unit_arena, str_of(text)),
	           l = str_lower(&unit_arena, str_of(text));
	char *z = str_z(&unit_arena, S("ab"));

	(void)state;
	text[0] = 'x';
	assert_str(c, "AbZ[@z\xc4");
	assert_str(l, "abz[@z\xc4");
	assert_string_equal(z, "ab");
	assert_string_equal(str_z(&unit_arena, STR_NONE), "");
	assert_int_equal(str_of(NULL).n, 0);
}

static void utf8_is_judged(void **state)
{
	static const char *const good[] = { "", "plain", "\x7f", "\xc2\x80", "\xdf\xbf",
		"\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf", "12345678\xc3\xa9-ABCDEFGH" };
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2",
		"\xc2\x41", "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xef\xbf\xc0", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xf0\x90\x80", "\xff", "1234567\x80", "12345678\xe2\x82" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(str_is_utf8(str_of(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(str_is_utf8(str_of(bad[i])));
	assert_true(str_is_utf8(str_make("\0", 1)));
	assert_int_equal(str_letters(S("a\xe2\x89\xa5"
	                               "7\xf0\x90\x80\x80")),
	        4);
	for (size_t n = 1; n < 40; n++) {
		char text[40];
		memset(text, 'a', sizeof text);
		assert_true(str_is_utf8(str_make(text, n)));
		for (size_t i = 0; i < n; i++) {
			text[i] = (char)0xff;
			assert_false(str_is_utf8(str_make(text, n)));
			text[i] = 'a';
		}
	}
}

static void quotes_are_stripped(void **state)
{
	(void)state;
	assert_str(str_strip_quotes(S("'\"a'b\"'")), "a'b");
	assert_str(str_strip_quotes(S("plain")), "plain");
	assert_int_equal(str_strip_quotes(S("'\"\"'")).n, 0);
	assert_int_equal(str_strip_quotes(STR_NONE).n, 0);
}

static void lists(void **state)
{
	struct strs v = str_split(&unit_arena, S(",a,,bc,"), ',');

	(void)state;
	assert_int_equal(v.n, 2);
	assert_str(v.v[0], "a");
	assert_str(v.v[1], "bc");
	assert_str(strs_join(&unit_arena, &v, S(", ")), "a, bc");
	assert_int_equal(str_split(&unit_arena, S(",,,"), ',').n, 0);
	v = str_split(&unit_arena, S(".*"), ',');
	assert_true(strs_is_one(&v, S(".*")));
	assert_false(strs_is_one(&v, S("a")));
	strs_add(&unit_arena, &v, S(".*"));
	assert_false(strs_is_one(&v, S(".*")));
	for (int i = 0; i < 100; i++)
		strs_add(&unit_arena, &v, S("x"));
	assert_int_equal(v.n, 102);
	assert_str(v.v[101], "x");
}

static void builder_builds(void **state)
{
	struct sb b = sb_in(&unit_arena);

	(void)state;
	assert_int_equal(sb_str(&b).n, 0);
	sb_put(&b, STR_NONE);
	sb_repeat(&b, ' ', 0);
	sb_put(&b, S("a\0b"));
	sb_char(&b, '-');
	sb_repeat(&b, '=', 3);
	sb_fmt(&b, "%d|%.*s", -5, STR(S("slice")));
	assert_true(str_eq(sb_str(&b), S("a\0b-===-5|slice")));
	b.n = 0;
	for (int i = 0; i < 20000; i++) {
		sb_fmt(&b, "%05d", i);
		arena_alloc(&unit_arena, 1, 1); /* so that it moves */
	}
	assert_int_equal(b.n, 100000);
	assert_memory_equal(b.p + 5 * 19999, "19999", 5);
	assert_memory_equal(b.p + 5 * 777, "00777", 5);
}

static void long_texts_are_not_cut(void **state)
{
	struct str big = str_fmt(&unit_arena, "%100000d.", 7);

	(void)state;
	assert_int_equal(big.n, 100001);
	assert_memory_equal(big.p + 99999, "7.", 2);
	assert_int_equal(str_fmt(&unit_arena, "%s", "").n, 0);
	for (int n = 50; n < 80; n++)
		assert_int_equal(str_fmt(&unit_arena, "%*d", n, 1).n, n);
}

static void first_error_stays(void **state)
{
	struct err e = { .a = &unit_arena };

	(void)state;
	assert_false(err_set(&e, ERR_DATA_LOSS, "bad byte %d", 7));
	assert_false(err_set(&e, ERR_IO, "later"));
	assert_int_equal(e.code, ERR_DATA_LOSS);
	assert_str(e.text, "bad byte 7");
	assert_false(err_set(NULL, ERR_IO, "nobody asks"));
}

static void system_errors(void **state)
{
	struct err e = { .a = &unit_arena }, f = { .a = &unit_arena };

	(void)state;
	assert_false(err_system(&e, "cannot open", S("a/b"), 2));
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_str(e.text, "cannot open 'a/b': No such file or directory");
	assert_false(err_system(&f, "cannot open", S("a/b"), 13));
	assert_int_equal(f.code, ERR_PERMISSION);
}

static void every_status_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < ERR_N; i++)
		assert_non_null(status_name((enum status)i));
	assert_string_equal(status_name(ERR_INVALID_ARGUMENT), "INVALID_ARGUMENT");
	assert_string_equal(status_name(ERR_N), "UNKNOWN");
}

static void what_is_no_utf8_is_spelled(void **state)
{
	struct sb b = sb_in(&unit_arena);

	(void)state;
	sb_put_utf8(&b, S("gr\xc3\xbcn \xf0\x9f\x98\x80\0|"));
	assert_int_equal(b.n, S("gr\xc3\xbcn \xf0\x9f\x98\x80\0|").n);
	b.n = 0;
	sb_put_utf8(&b, S("\xff.\xc3(\xed\xa0\x80\xe2\x82"));
	assert_str(sb_str(&b), "\\xff.\\xc3(\\xed\\xa0\\x80\\xe2\\x82");
}

static struct str counted(uint64_t n, const char *things)
{
	struct sb b = sb_in(&unit_arena);

	sb_counted(&b, n, str_of(things));
	return sb_str(&b);
}

/* The line breaks of a message come from its format. */
static void messages_keep_their_lines(void **state)
{
	struct err e = { .a = &unit_arena }, copy = e;
	char every[0x20] = { 0 };

	(void)state;
	err_set(&e, ERR_FAILED, "%s: no\nhint: %.*s", "a\nhint: \x1b[m", STR(S("\x01\t\x7f")));
	assert_str(e.text, "a\\x0ahint: \\x1b[m: no\nhint: \\x01\\x09\\x7f");
	assert_false(err_text(&copy, e.code, e.text));
	assert_true(str_eq(copy.text, e.text));
	err_text(&copy, ERR_IO, S("later"));
	assert_int_equal(copy.code, ERR_FAILED);
	for (char c = 1; c < 0x20; c++)
		every[c - 1] = c;
	e = (struct err){ .a = &unit_arena };
	err_set(&e, ERR_FAILED, "%s\nhint", every);
	assert_true(str_ends(e.text, S("\\x1f\\x0ahint")));
}

static void one_thing_is_in_the_singular(void **state)
{
	(void)state;
	assert_str(counted(2, "rows without starts"), "2 rows without starts");
	assert_str(counted(0, "rows"), "0 rows");
	assert_str(counted(1, "rows"), "1 row");
	assert_str(counted(1, "other fields of layers"), "1 other field of layers");
	assert_str(counted(1, "entries of nodes"), "1 entry of nodes");
	assert_str(counted(1, "views, triggers and tables"), "1 views, triggers and tables");
	assert_str(counted(1, "stuff"), "1 stuff");
	assert_str(counted(1, ""), "1 ");
}

static void words_of_a_shell(void **state)
{
	struct sb b = sb_in(&unit_arena);

	(void)state;
	sb_put_shell(&b, S("it's $x"));
	sb_char(&b, ' ');
	sb_put_shell(&b, S(""));
	assert_str(sb_str(&b), "'it'\\''s $x' ''");
	b = sb_in(&unit_arena);
	sb_put_word(&b, S("a/b-1_2.json"));
	sb_char(&b, ' ');
	sb_put_word(&b, S("it's\n"));
	sb_char(&b, ' ');
	sb_put_word(&b, S(""));
	assert_str(sb_str(&b), "a/b-1_2.json 'it'\\''s\\x0a' ''");
}

static void one_control_character_is_text(void **state)
{
	(void)state;
	assert_false(str_is_binary(S("")));
	assert_false(str_is_binary(S("{\n\t\"traceEvents\": [\r\n")));
	assert_false(str_is_binary(S("{\x01\"traceEvents\": [")));
	assert_false(str_is_binary(S("\xef\xbb\xbf{\"a\": \"\xc3\xa9\"}")));
	assert_true(str_is_binary(S("\n\x11\n\x05model\x12\x05")));
	assert_true(str_is_binary(S("\0\0")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(order_is_bytewise),
		unit_case(parts_are_found),
		unit_case(lower_case_is_compared),
		unit_case(sub_is_clipped),
		unit_case(copies),
		unit_case(utf8_is_judged),
		unit_case(quotes_are_stripped),
		unit_case(lists),
		unit_case(builder_builds),
		unit_case(long_texts_are_not_cut),
		unit_case(first_error_stays),
		unit_case(system_errors),
		unit_case(every_status_has_a_name),
		unit_case(what_is_no_utf8_is_spelled),
		unit_case(messages_keep_their_lines),
		unit_case(one_thing_is_in_the_singular),
		unit_case(words_of_a_shell),
		unit_case(one_control_character_is_text),
	};

	return unit_main(tests, argc, argv);
}
