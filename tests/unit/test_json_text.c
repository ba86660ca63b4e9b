/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents of JSON tokens: escapes of strings, numbers as exact integers.
 */
#include "unit.h"

#include "io/json_in.h"

static struct json_in json;

/* Begins to read a text. */
static void open_text(struct str text)
{
	struct err err = { .a = &unit_arena };
	struct src *s;

	assert_true(src_memory(&s, &unit_arena, S("input"), text, &err));
	assert_true(json_in_open(&json, s));
}

#define unescaped(text, expected, flawed)                                                          \
	do {                                                                                       \
		struct json_value v;                                                               \
		struct sb b = sb_in(&unit_arena);                                                  \
		sb_put(&b, S("before"));                                                           \
		open_text(S("\"" text "\""));                                                      \
		assert_true(json_in_value(&json, &v));                                             \
		struct str out = json_in_text(&json, &v, &b), wanted = S(expected);                \
		assert_int_equal(out.n, wanted.n);                                                 \
		assert_memory_equal(out.p, wanted.p, wanted.n);                                    \
		assert_int_equal(json.flaws, flawed);                                              \
	} while (0)

static void escapes(void **state)
{
	(void)state;
	unescaped("plain", "plain", 0);
	unescaped("", "", 0);
	unescaped("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0);
	unescaped("a\\u0041\\u00e4\\u20AC\\u0000b", "aA\xc3\xa4\xe2\x82\xac\0b", 0);
	unescaped("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!", 0);
	unescaped("\\ud83d!", "\xef\xbf\xbd!", 1 << JSON_FLAW_ESCAPE);
	unescaped("\\ude00", "\xef\xbf\xbd", 1 << JSON_FLAW_ESCAPE);
	unescaped("C:\\Users\\q.py", "C:\\Users\\q.py", 1 << JSON_FLAW_ESCAPE);
	unescaped("\\u12g4", "\\u12g4", 1 << JSON_FLAW_ESCAPE);
	unescaped("\\u12", "\\u12", 1 << JSON_FLAW_ESCAPE);
}

static void number(const char *text, unsigned decimals, int64_t expected, enum json_number how)
{
	int64_t v = 77;

	assert_int_equal(json_decimal(str_of(text), decimals, &v), how);
	assert_int_equal(v, expected);
}

static void numbers(void **state)
{
	(void)state;
	number("0", 3, 0, JSON_NUMBER_GOOD);
	number("12", 3, 12000, JSON_NUMBER_GOOD);
	number("1012.25", 3, 1012250, JSON_NUMBER_GOOD);
	number("2413669097444.592", 3, 2413669097444592, JSON_NUMBER_GOOD);
	number("1700000000001012.250", 3, 1700000000001012250, JSON_NUMBER_GOOD);
	number("-5.0", 3, -5000, JSON_NUMBER_GOOD);
	number("+5", 0, 5, JSON_NUMBER_GOOD);
	number("0.0004999", 3, 0, JSON_NUMBER_GOOD);
	number("0.0005", 3, 1, JSON_NUMBER_GOOD);
	number("-0.0015", 3, -2, JSON_NUMBER_GOOD);
	number("1.5e3", 3, 1500000, JSON_NUMBER_GOOD);
	number("15E-1", 0, 2, JSON_NUMBER_GOOD);
	number("1e-99999999999", 3, 0, JSON_NUMBER_GOOD);
	number("0e99999999999", 3, 0, JSON_NUMBER_GOOD);
	number("1.", 1, 10, JSON_NUMBER_GOOD);
	number(".5", 1, 5, JSON_NUMBER_GOOD);
	number("000000000000000000000000000012", 0, 12, JSON_NUMBER_GOOD);
	number("9223372036854775806", 0, INT64_MAX - 1, JSON_NUMBER_GOOD);
	number("9223372036854775808", 0, INT64_MAX, JSON_NUMBER_OVERFLOW);
	number("99999999999999999999999", 0, INT64_MAX, JSON_NUMBER_OVERFLOW);
	number("-99999999999999999999999", 0, INT64_MIN, JSON_NUMBER_OVERFLOW);
	number("1e30", 3, INT64_MAX, JSON_NUMBER_OVERFLOW);
	number("", 3, 0, JSON_NUMBER_NONE);
	number("-", 3, 0, JSON_NUMBER_NONE);
	number(".", 3, 0, JSON_NUMBER_NONE);
	number("1e", 3, 0, JSON_NUMBER_NONE);
	number("1x", 3, 0, JSON_NUMBER_NONE);
	number("1.2.3", 3, 0, JSON_NUMBER_NONE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(escapes), unit_case(numbers) };

	return unit_main(tests, argc, argv);
}
