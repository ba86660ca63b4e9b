/* SPDX-License-Identifier: Apache-2.0
 *
 * Sheets: every kind of cell in every form, and texts that could break out of their cell.
 */
#include "unit.h"

#include <math.h>

#include "export/data/sheet.h"

static const struct column COLUMNS[] = {
	TEXT_COLUMN("name"),
	{ S("types"), COLUMN_LIST, NULL, 0 },
	NUMBER_COLUMN("us", "us"),
	REAL_COLUMN("mean", "us"),
	{ S("own"), COLUMN_BOOL, NULL, 0 },
};
#define N (sizeof COLUMNS / sizeof *COLUMNS)

static void put_rows(struct sheet *t)
{
	struct str words[] = { S("a"), S("b,c") };

	sheet_text(t, S("x/y"));
	sheet_list(t, &(struct strs){ words, 2, 2 });
	sheet_i64(t, INT64_MIN);
	sheet_real(t, 0.1);
	sheet_bool(t, true);
	sheet_null(t);
	sheet_list(t, &(struct strs){ 0 });
	sheet_i64(t, 9007199254740993);
	sheet_real(t, NAN);
	sheet_bool(t, false);
	sheet_close(t);
}

static struct str as(struct arena *a, enum sheet_form form)
{
	struct sink *to = sink_memory(a);
	struct sheet t;

	sheet_open(&t, form, to, a, COLUMNS, N);
	put_rows(&t);
	return sink_text(to);
}

static void test_csv(void **state)
{
	assert_str(as(*state, SHEET_CSV), "name,types,us,mean,own\n"
	                                  "x/y,\"a|b,c\",-9223372036854775808,0.1,true\n"
	                                  ",,9007199254740993,,false\n");
}

static void test_md(void **state)
{
	assert_str(as(*state, SHEET_MD), "| name | types | us | mean | own |\n"
	                                 "| --- | --- | ---: | ---: | --- |\n"
	                                 "| x/y | a\\|b,c | -9223372036854775808 | 0.1 | true |\n"
	                                 "|  |  | 9007199254740993 |  | false |\n");
}

static void test_ndjson(void **state)
{
	assert_str(as(*state, SHEET_NDJSON),
	        "{\"name\":\"x/y\",\"types\":[\"a\",\"b,c\"],\"us\":-9223372036854775808,"
	        "\"mean\":0.1,\"own\":true}\n"
	        "{\"name\":null,\"types\":[],\"us\":9007199254740993,\"mean\":null,\"own\":false}"
	        "\n");
}

static void test_json(void **state)
{
	struct sink *to = sink_memory(*state);
	struct sheet t;
	struct json j;

	json_init(&j, to);
	json_array(&j);
	sheet_open_json(&t, &j, *state, COLUMNS, 1);
	sheet_text(&t, S("a"));
	sheet_text(&t, S(""));
	sheet_close(&t);
	json_array_end(&j);
	assert_true(json_done(&j));
	assert_str(sink_text(to), "[\n{\"name\":\"a\"},\n{\"name\":\"\"}]");
}

/* Returns the output of a sheet with one text in one cell. */
static struct str cell(struct arena *a, enum sheet_form form, struct str text)
{
	struct sink *to = sink_memory(a);
	struct sheet t;

	sheet_open(&t, form, to, a, COLUMNS, 1);
	uint64_t head = sink_size(to);
	sheet_text(&t, text);
	return str_sub(sink_text(to), (size_t)head, SIZE_MAX);
}

static void test_odd_csv(void **state)
{
	assert_str(cell(*state, SHEET_CSV, S("")), "\"\"\n");
	assert_str(cell(*state, SHEET_CSV, S("say \"hi\", twice")), "\"say \"\"hi\"\", twice\"\n");
	assert_str(cell(*state, SHEET_CSV, S("two\nlines\r")), "\"two\nlines\r\"\n");
	assert_str(cell(*state, SHEET_CSV, S(" blank")), "\" blank\"\n");
	assert_str(cell(*state, SHEET_CSV, S("tab\there")), "tab\there\n");
	assert_str(cell(*state, SHEET_CSV, S("\033[31m\0\177")), "\"\\x1b[31m\\x00\\x7f\"\n");
	assert_str(cell(*state, SHEET_CSV, S("gr\xc3\xbc\xff n")), "gr\xc3\xbc\\xff n\n");
}

static void test_odd_json(void **state)
{
	assert_str(cell(*state, SHEET_NDJSON, S("\"\\\n\033\0")),
	        "{\"name\":\"\\\"\\\\\\n\\u001b\\u0000\"}\n");
	assert_str(cell(*state, SHEET_NDJSON, S("\xc3\xbc\xff\xed\xa0\x80")),
	        "{\"name\":\"\\u00fc\\\\xff\\\\xed\\\\xa0\\\\x80\"}\n");
}

static void test_odd_head(void **state)
{
	static const struct column odd[] = { TEXT_COLUMN("a\xff,b") };
	struct sink *to = sink_memory(*state);
	struct sheet t;

	sheet_open(&t, SHEET_CSV, to, *state, odd, 1);
	sheet_open(&t, SHEET_MD, to, *state, odd, 1);
	sheet_open(&t, SHEET_NDJSON, to, *state, odd, 1);
	sheet_null(&t);
	assert_str(sink_text(to), "\"a\\xff,b\"\n| a\\\\xff,b |\n| --- |\n{\"a\\\\xff,b\":null}\n");
}

static void test_odd_md(void **state)
{
	assert_str(cell(*state, SHEET_MD, S("a|b\\|c")), "| a\\|b\\\\\\|c |\n");
	assert_str(cell(*state, SHEET_MD, S("one\ntwo")), "| one\\\\x0atwo |\n");
	assert_str(cell(*state, SHEET_MD, S("my_op/__init__ <b> *x* `y`")),
	        "| my_op/\\_\\_init\\_\\_ \\<b\\> \\*x\\* \\`y\\` |\n");
	assert_str(cell(*state, SHEET_MD, S("\xff")), "| \\\\xff |\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_csv), unit_case(test_md),
		unit_case(test_ndjson), unit_case(test_json), unit_case(test_odd_csv),
		unit_case(test_odd_json), unit_case(test_odd_head), unit_case(test_odd_md) };

	return unit_main(tests, argc, argv);
}
