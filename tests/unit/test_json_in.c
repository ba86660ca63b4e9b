/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON tokenizer: every kind of value, tolerated flaws and errors, items that cross the end of
 * the window, depth, offsets and lines.
 */
#include "unit.h"

#include "io/json_in.h"

static struct json_in json;
static struct err err;

/* Begins to read a text. */
static struct json_in *open_text(struct str text)
{
	struct src *s;

	err = (struct err){ .a = &unit_arena };
	assert_true(src_memory(&s, &unit_arena, S("input"), text, &err));
	assert_true(json_in_open(&json, s));
	return &json;
}

/* Writes tokens with one character each: brackets, s string, n number, N not finite, t f z, ! stop.
 */
static bool walk(struct json_in *j, struct sb *out)
{
	struct json_value v;
	struct str key;
	unsigned depth = 0;
	char open[64];
	bool good = json_in_value(j, &v);

	while (good) {
		sb_char(out, "{[snNtfz"[v.type]);
		if (v.type == JSON_STRING || v.type == JSON_NUMBER)
			sb_fmt(out, "(%.*s)", STR(v.text));
		if (v.type <= JSON_ARRAY) {
			open[depth++] = v.type == JSON_OBJECT ? '}' : ']';
			good = json_in_enter(j);
		}
		while (good && depth) {
			bool object = open[depth - 1] == '}';
			if (object ? json_in_member(j, &key) : json_in_element(j)) {
				if (object)
					sb_fmt(out, "%.*s:", STR(key));
				break;
			}
			good = j->stop == JSON_STOP_NONE;
			if (good)
				sb_char(out, open[--depth]);
		}
		if (!good || !depth)
			break;
		good = json_in_value(j, &v);
	}
	if (!good)
		sb_fmt(out, "!%d", j->stop);
	return good;
}

#define PAD "                                " /* members are compared with as many bytes */

#define tokens(text, expected)                                                                     \
	do {                                                                                       \
		struct sb out = sb_in(&unit_arena);                                                \
		walk(open_text(S(text)), &out);                                                    \
		assert_str(sb_str(&out), expected);                                                \
	} while (0)

static void values(void **state)
{
	(void)state;
	tokens("{}", "{}");
	tokens(" [ ] ", "[]");
	tokens("{\"a\" : 1 , \"b\":[true,false , null],\"c\":\"x\"}", "{a:n(1)b:[tfz]c:s(x)}");
	tokens("[-1.5e+3,{\"k\":{}},[[]]]", "[n(-1.5e+3){k:{}}[[]]]");
	tokens("\"a\\\"b\" ", "s(a\\\"b)");
	assert_int_equal(json.flaws, 0);
}

static void tolerated(void **state)
{
	(void)state;
	tokens("[1,]", "[n(1)]");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_COMMA);
	assert_int_equal(json.flaw_at[JSON_FLAW_COMMA], 2);
	tokens("{\"a\":[inf,-nan,NaN,Infinity,-Infinity],}", "{a:[NNNNN]}");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_COMMA | 1 << JSON_FLAW_NONFINITE);
	assert_int_equal(json.flaw_at[JSON_FLAW_NONFINITE], 6);
	tokens("[\"a\1b\",\"\n\"]", "[s(a\1b)s(\n)]");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_CONTROL);
	tokens("[\"\xc3\xa4\"]", "[s(\xc3\xa4)]");
	assert_int_equal(json.flaws, 0);
	tokens("[\"plain, and long enough for a step \xff\x80\"]",
	        "[s(plain, and long enough for a step \xff\x80)]");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_UTF8);
	tokens("[007,0,0.5,-0]", "[n(007)n(0)n(0.5)n(-0)]");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_ZERO);
	assert_int_equal(json.flaw_at[JSON_FLAW_ZERO], 1);
}

/* Keys have the flaws of strings, each time that they come. */
static void flawed_keys(void **state)
{
	static const struct {
		const char *key;
		unsigned flaws;
	} keys[] = { { "a\xe9", 1 << JSON_FLAW_UTF8 }, { "a\1", 1 << JSON_FLAW_CONTROL },
		{ "a\\i", 1 << JSON_FLAW_ESCAPE }, { "\xc3\xa4\\n\\u00e4\\\\", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *key = keys[i].key;
		struct str text = str_fmt(&unit_arena, "[{\"%s\":1},{\"%s\":2}" PAD "]", key, key);
		struct sb out = sb_in(&unit_arena);
		open_text(text);
		assert_true(json_in_enter(&json) && json_in_element(&json) && json_in_skip(&json));
		json_in_take(&json);
		assert_true(walk(open_text(text), &out));
		assert_int_equal(json.flaws, keys[i].flaws);
		json_in_take(&json);
		for (unsigned k = 0; k < JSON_FLAW_N; k++)
			assert_int_equal(json.found[k].items, keys[i].flaws >> k & 1);
	}
}

/* Containers that are kept as text. */
static void checked_containers(void **state)
{
	static const char *const good[] = { "[]", "{}", " [ 1 , -2.5e+3 , \"a\" ] ",
		"{\"a\":[{},[[]],{\"b\":null}],\"c\":true}", "[0,0.5,NaN,-Infinity]" };
	static const char *const bad[] = { "[1,]", "[1 2]", "{\"a\" 1}", "{1:2}", "[1}",
		"{\"a\":1]", "[01]", "[1.]", "[-]", "[1e]", "[tru]", "[\"a]", "[,1]", "[\xa0]",
		"[2(3]" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		json_in_check_container(open_text(str_of(good[i])), str_of(good[i]));
		assert_int_equal(json.flaws, 0);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_in_check_container(open_text(str_of(bad[i])), str_of(bad[i]));
		assert_int_equal(json.flaws, 1 << JSON_FLAW_PART);
	}
	json_in_check_container(open_text(S("[\"\xe9\"]")), S("[\"\xe9\"]"));
	assert_int_equal(json.flaws, 1 << JSON_FLAW_UTF8);
	struct sb deep = sb_in(&unit_arena);
	for (int i = 0; i < JSON_IN_DEPTH_MAX + 1; i++)
		sb_char(&deep, '[');
	json_in_check_container(open_text(sb_str(&deep)), sb_str(&deep));
	assert_int_equal(json.flaws, 1 << JSON_FLAW_PART);
}

static void refused(void **state)
{
	(void)state;
	tokens("[1 2]", "[n(1)!2");
	tokens("[,1]", "[!2");
	tokens("{1:2}", "{!2");
	tokens("{\"a\" 1}", "{!2");
	tokens("[truth ]", "[!2");
	tokens("[-true]", "[!2");
	tokens("[1}", "[n(1)!2");
	tokens("[\"abc", "[!1");
	tokens("[1", "[!1");
	tokens("{\"a\"", "{!1");
	tokens("", "!1");
	tokens("[#]", "[!2");
	tokens("[\f1]", "[!2");
	tokens("[1\f,2]", "[n(1)!2");
	tokens("[          \f     1]", "[!2");
}

/* Members that follow the same member as before are recognised, with the same result as others. */
static void members(void **state)
{
	(void)state;
	tokens("[{\"a\": 1, \"b\": 2}, {\"a\": 3, \"b\": 4}, {\"b\": 5,\"a\": 6}" PAD "]",
	        "[{a:n(1)b:n(2)}{a:n(3)b:n(4)}{b:n(5)a:n(6)}]");
	assert_int_equal(json.flaws, 0);
	tokens("[{\"a\":{\"a\":1}},{\"a\":{\"a\":{}}},{\"a\":7,\"a\":8}" PAD "]",
	        "[{a:{a:n(1)}}{a:{a:{}}}{a:n(7)a:n(8)}]");
	/* A comma is expected even if the same text followed the bracket before, and only then. */
	tokens("[{\"a\":\"x\"},{\"a\":\"y\"},{\"a\":\"z\"\"a\":1}" PAD "]",
	        "[{a:s(x)}{a:s(y)}{a:s(z)!2");
	tokens("[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4},{,\"b\":5}" PAD "]",
	        "[{a:n(1)b:n(2)}{a:n(3)b:n(4)}{!2");
	tokens("[{\"a\":1,\"b\":2},{\"a\":1,}" PAD "]", "[{a:n(1)b:n(2)}{a:n(1)}]");
	assert_int_equal(json.flaws, 1 << JSON_FLAW_COMMA);
	tokens("[{\"a\": 1},{\"a\" : 2},{\"a\":   [3]},{\"a \": 4},{\"a\": }" PAD "]",
	        "[{a:n(1)}{a:n(2)}{a:[n(3)]}{a :n(4)}{a:!2");
}

/* More members than are remembered, and members that are too long for that. */
static void many_members(void **state)
{
	struct sb text = sb_in(&unit_arena), expected = sb_in(&unit_arena),
	          out = sb_in(&unit_arena);

	(void)state;
	sb_char(&text, '[');
	sb_char(&expected, '[');
	for (unsigned i = 0; i < 2000; i++) {
		const char *same = i % 3 ? "same" : "one of more bytes than a member may have";
		unsigned other = i * i % 701;
		sb_fmt(&text, "%s{\"%s\": 1, \"%u\": 2}", i ? "," : "", same, other);
		sb_fmt(&expected, "{%s:n(1)%u:n(2)}", same, other);
	}
	sb_char(&text, ']');
	sb_char(&expected, ']');
	assert_true(walk(open_text(sb_str(&text)), &out));
	assert_true(str_eq(sb_str(&out), sb_str(&expected)));
}

static void depth(void **state)
{
	struct sb deep = sb_in(&unit_arena);

	(void)state;
	sb_repeat(&deep, '[', 200000);
	open_text(sb_str(&deep));
	assert_false(json_in_skip(&json));
	assert_int_equal(json.stop, JSON_STOP_DEEP);
	assert_int_equal(json_in_at(&json, json.p), JSON_IN_DEPTH_MAX);
	open_text(sb_str(&deep));
	assert_false(json_in_skip_item(&json));
	assert_int_equal(json.stop, JSON_STOP_DEEP);
	open_text(sb_str(&deep));
	for (int i = 0; i < JSON_IN_DEPTH_MAX; i++) {
		assert_int_equal(json_in_peek(&json), '[');
		assert_true(json_in_enter(&json));
		assert_true(json_in_element(&json));
	}
	assert_false(json_in_enter(&json));
	assert_int_equal(json.stop, JSON_STOP_DEEP);
}

static void skipping(void **state)
{
	static const char *const skipped[] = { "{\"a\":[1,{\"b\":\"]}\\\"\"}]}", "\"x\\\\\"",
		"12.5", "null", "inf", "[[],[]]", "\"\"" };

	(void)state;
	for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++) {
		open_text(str_fmt(&unit_arena, "[%s,7]", skipped[i]));
		assert_true(json_in_enter(&json));
		assert_true(json_in_element(&json));
		assert_true(json_in_skip(&json));
		assert_int_equal(*json.p, ',');
		open_text(str_fmt(&unit_arena, " %s ,", skipped[i]));
		assert_true(json_in_skip_item(&json));
		assert_int_equal(json_in_peek(&json), ',');
	}
	open_text(S("[\"abc"));
	assert_false(json_in_skip(&json));
	assert_int_equal(json.stop, JSON_STOP_MORE);
	open_text(S("[\"abc\\"));
	assert_false(json_in_skip_item(&json));
	assert_int_equal(json.stop, JSON_STOP_MORE);
	assert_false(json_in_failed(&json));
}

static bool tick(void *user, uint64_t done, uint64_t size)
{
	(void)user;
	return done <= size;
}

/* Items of all lengths lie across the ends of windows; some are longer than one. */
static void windows(void **state)
{
	struct sb text = sb_in(&unit_arena);
	struct json_value v;
	unsigned n = 40000, items = 0;
	uint64_t last = 0;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		sb_fmt(&text, "[%u,\"", i);
		sb_repeat(&text, 'x', i == n / 2 ? 3 * SRC_WINDOW : i % 211);
		sb_put(&text, S("\"]\n"));
	}
	open_text(sb_str(&text));
	src_on_progress(json.s, tick, NULL);
	json_in_again(&json);
	while (json_in_peek(&json) >= 0 || json_in_more(&json)) {
		bool good;
		if (json_in_peek(&json) < 0)
			continue;
		do
			good = json_in_peek(&json) == '[' && json_in_enter(&json) &&
			       json_in_element(&json) && json_in_value(&json, &v) &&
			       json_in_element(&json) && json_in_skip(&json) &&
			       !json_in_element(&json) && json.stop == JSON_STOP_NONE;
		while (!good && json_in_more(&json));
		assert_true(good);
		assert_int_equal(json_in_line(&json, json.p), items + 1);
		assert_true(json_in_at(&json, json.p) > last);
		last = json_in_at(&json, json.p);
		json_in_take(&json);
		items++;
	}
	assert_int_equal(items, n);
	assert_int_equal(last, text.n - 1);
}

/* A value of many windows needs no more memory than one. */
/* Brackets that are skipped match, at any depth. */
static void mismatched_brackets(void **state)
{
	static const char *const bad[] = { "[1}", "{\"a\":1]", "[{\"a\":[]]}", "[[1]}", " \xa0[1]",
		"\xa0\"a\"" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		open_text(str_fmt(&unit_arena, "%s ,", bad[i]));
		assert_false(json_in_skip_item(&json));
		assert_int_equal(json.stop, JSON_STOP_BAD);
	}
	for (int depth = 60; depth < 70; depth++)
		for (int wrong = -1; wrong < depth; wrong++) {
			struct sb b = sb_in(&unit_arena);
			for (int i = 0; i < depth; i++)
				sb_char(&b, i % 3 ? '[' : '{');
			for (int i = depth; i-- > 0;)
				sb_char(&b, (i % 3 != 0) ^ (i == wrong) ? ']' : '}');
			sb_char(&b, ',');
			open_text(sb_str(&b));
			assert_int_equal(json_in_skip_item(&json), wrong < 0);
		}
}

static uint64_t seed = 1;

/* Puts a value with `left` parts or fewer: nested brackets, and texts with quotes, backslashes and
 * brackets. */
static unsigned put_random(struct sb *b, unsigned left, unsigned depth)
{
	static const char *const texts[] = { "", "a", "]}[{", "\\\"", "\\\\", "x\\\\\\\"]",
		"name of an op" };
	char open = unit_random(&seed) % 2 ? '[' : '{';
	bool first = true;

	if (!left || depth == 90 || (depth && unit_random(&seed) % 3 == 0)) {
		sb_put(b, str_fmt(&unit_arena, "\"%s\"", texts[unit_random(&seed) % 7]));
		return left ? left - 1 : 0;
	}
	sb_char(b, open);
	for (left--; left && unit_random(&seed) % 8; first = false) {
		sb_put(b, first ? STR_NONE : S(","));
		sb_repeat(b, ' ', unit_random(&seed) % 4 ? 0 : unit_random(&seed) % 40);
		sb_put(b, open == '{' ? S("\"k}\": ") : STR_NONE);
		left = put_random(b, left, depth + 1);
	}
	sb_char(b, open == '[' ? ']' : '}');
	return left;
}

/* Skipping ends after the last bracket of a value, wherever its parts lie in blocks of bytes. */
static void random_values(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct sb b = sb_in(&unit_arena);
		sb_repeat(&b, ' ', unit_random(&seed) % 33);
		put_random(&b, (unsigned)(unit_random(&seed) % 100), 0);
		sb_put(&b, S(";,7]}")); /* no value has a semicolon */
		open_text(sb_str(&b));
		assert_true(json_in_skip(&json));
		assert_int_equal(*json.p, ';');
	}
}

static void long_skip(void **state)
{
	struct sb text = sb_in(&unit_arena);

	(void)state;
	sb_put(&text, S("{\"a\":\""));
	for (int i = 0; i < 1 << 20; i++)
		sb_put(&text, S("\\\\\\\"x"));
	sb_put(&text, S("\"} 7"));
	open_text(sb_str(&text));
	src_on_progress(json.s, tick, NULL);
	json_in_again(&json);
	assert_true(json_in_skip_item(&json));
	assert_int_equal(json_in_peek(&json), '7');
}

static void encodings(void **state)
{
	static const struct str wide[] = { { "\xff\xfe{\0", 4 }, { "\xfe\xff\0{", 4 },
		{ "{\0\"\0", 4 }, { "\0\0\0{", 4 } };
	struct src *s;

	(void)state;
	open_text(S("\xef\xbb\xbf[1]"));
	assert_int_equal(json_in_peek(&json), '[');
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
		err = (struct err){ .a = &unit_arena };
		assert_true(src_memory(&s, &unit_arena, S("input"), wide[i], &err));
		assert_false(json_in_open(&json, s));
		assert_int_equal(json.stop, JSON_STOP_WIDE);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(values),
		unit_case(tolerated),
		unit_case(flawed_keys),
		unit_case(checked_containers),
		unit_case(refused),
		unit_case(members),
		unit_case(many_members),
		unit_case(depth),
		unit_case(skipping),
		unit_case(mismatched_brackets),
		unit_case(windows),
		unit_case(random_values),
		unit_case(long_skip),
		unit_case(encodings),
	};

	return unit_main(tests, argc, argv);
}
