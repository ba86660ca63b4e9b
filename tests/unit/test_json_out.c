/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON writer: commas, nesting, numbers and every kind of escape, byte for byte.
 */
#include "unit.h"

#include "io/json_out.h"

static struct json json;

static int setup(void **state)
{
	unit_setup(state);
	json_init(&json, sink_memory(&unit_arena));
	return 0;
}

#define written(text) assert_string_equal(str_z(&unit_arena, sink_text(json.to)), text)

static void nesting(void **state)
{
	(void)state;
	json_object(&json);
	json_key(&json, S("traceEvents"));
	json_array(&json);
	json_object(&json);
	json_key(&json, S("args"));
	json_object(&json);
	json_key(&json, S("name"));
	json_string(&json, S("a/b"));
	json_object_end(&json);
	json_key(&json, S("pid"));
	json_i64(&json, 0);
	json_object_end(&json);
	json_i64(&json, 1);
	json_array(&json);
	json_array_end(&json);
	json_array_end(&json);
	json_key(&json, S("empty"));
	json_object(&json);
	json_object_end(&json);
	json_object_end(&json);
	assert_true(json_done(&json));
	written("{\"traceEvents\":[{\"args\":{\"name\":\"a/b\"},\"pid\":0},1,[]],\"empty\":{}}");
}

static void numbers(void **state)
{
	(void)state;
	json_array(&json);
	json_i64(&json, INT64_MIN);
	json_i64(&json, INT64_MAX);
	json_i64(&json, -1);
	json_i64(&json, 10);
	json_array_end(&json);
	written("[-9223372036854775808,9223372036854775807,-1,10]");
}

static void escapes(void **state)
{
	(void)state;
	json_string(&json, S("\"\\\b\f\n\r\t/\x01\x1f\0\x7f end"));
	written("\"\\\"\\\\\\b\\f\\n\\r\\t/\\u0001\\u001f\\u0000\x7f end\"");
}

static void keys_are_escaped(void **state)
{
	(void)state;
	json_object(&json);
	json_key(&json, S("\"\xc3\xa9"));
	json_i64(&json, 1);
	json_object_end(&json);
	written("{\"\\\"\\u00e9\":1}");
}

static void wide(void **state)
{
	(void)state;
	json_string(&json, S("\xc3\xa9\xe2\x82\xac\xef\xbf\xbf\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"));
	written("\"\\u00e9\\u20ac\\uffff\\ud83d\\ude00\\udbff\\udfff\"");
}

#define BAD "\\ufffd"

/* Alone, cut off, overlong, surrogate, above the last character: the first byte says how many are
 * taken, and whatever follows is. */
static void not_utf8(void **state)
{
	(void)state;
	json_array(&json);
	json_string(&json, S("\xe4\xb8...")); /* a cut name */
	json_string(&json, S("\x9cz\xff"));
	json_string(&json, S("\xc3"));
	json_string(&json, S("\xe2\x82"));
	json_string(&json, S("\xc1\x81x"));
	json_string(&json, S("\xe0\x81\x81"));
	json_string(&json, S("\xed\xa0\x80"));
	json_string(&json, S("\xf0\x80\x80\x80"));
	json_string(&json, S("\xf4\x90\x80\x80"));
	json_string(&json, S("\xf8\x80\xc2"));
	json_array_end(&json);
	written("[\"\\u4e2e..\",\"\\u073a" BAD "\",\"" BAD "\",\"" BAD BAD "\",\"" BAD "x\",\"" BAD
	        "\",\"" BAD "\",\"" BAD "\",\"\\udc00\\udc00\",\"" BAD BAD "\"]");
}

static void lines_and_literals(void **state)
{
	(void)state;
	json_object(&json);
	json_line(&json);
	json_key(&json, S("a"));
	json_literal(&json, S("null"));
	json_line(&json);
	json_key(&json, S("b"));
	json_array(&json);
	json_literal(&json, S("1.5"));
	json_line(&json);
	json_i64(&json, 2);
	json_line(&json);
	json_array_end(&json);
	json_object_end(&json);
	assert_true(json_done(&json));
	written("{\n\"a\":null,\n\"b\":[1.5,\n2\n]}");
}

static void deepest(void **state)
{
	(void)state;
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array(&json);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array_end(&json);
	assert_true(json_done(&json));
	assert_int_equal(sink_size(json.to), 2 * JSON_DEPTH_MAX);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nesting, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(numbers, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(escapes, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(keys_are_escaped, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(wide, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(not_utf8, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(lines_and_literals, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(deepest, setup, unit_teardown),
	};

	return unit_main(tests, argc, argv);
}
