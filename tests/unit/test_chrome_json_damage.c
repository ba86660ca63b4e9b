/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged JSON traces: the remaining events, and the notes.
 */
#include "unit.h"

#include "chrome_rig.h"

static int teardown(void **state)
{
	chrome_drop();
	return unit_teardown(state);
}

static void flaws(void **state)
{
	(void)state;
	holds("[" OP "," OP2 ",]", OP_IS OP2_IS);
	noted("note: in.json: trailing comma before a closing bracket");
	holds("{\"traceEvents\":[" OP "],}", OP_IS);
	noted("trailing comma");
	holds("[" GPU("kernel", "\"b\":inf,\"c\":-nan") "]", "gpu0.7 kernel k 1500+250\n");
	noted("non-finite");
	holds("[" GPU("kernel", "\"correlation\":1,\"correlation\":2") "]",
	        "gpu0.7 kernel k 1500+250 c2\n");
	noted("duplicate key");
	holds("[{\"ph\":\"X\",\"name\":\"C:\\Users\\q\",\"ts\":1},"
	      "{\"ph\":\"X\",\"name\":\"a\1\",\"ts\":2},{\"ph\":\"X\",\"name\":\"\xff\",\"ts\":3}]",
	        "0.0 op C:\\Users\\q 1000+0\n0.0 op a\1 2000+0\n0.0 op \xff 3000+0\n");
	noted("bad escape");
	noted("control character");
	noted("bad UTF-8");
	assert_int_equal(chrome_notes.list.n, 3);
}

static void quotes(void **state)
{
	(void)state;
	holds("[{\"ph\":\"X\",\"name\":\"{\"device\": \"cpu\", \"dtype\": \"f\"}(12): run\",\n"
	      "\"ts\":1,\"dur\":2}," OP "]",
	        "0.0 op {\"device\": \"cpu\", \"dtype\": \"f\"}(12): run 1000+2000\n" OP_IS);
	noted("unescaped quote");
	holds("[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"say \"hi\" twice\"}," OP "]",
	        "0.0 op say \"hi\" twice 1000+2000\n" OP_IS);
	noted("unescaped quote");
}

static void damage(void **state)
{
	(void)state;
	holds("[" OP ",{\"ph\":\"X\",\"na", OP_IS);
	noted("truncated: the file ends inside an event or list; all complete events were read "
	      "(line 1, byte 69)");
	holds("{\"traceEvents\":[" OP, OP_IS);
	noted("truncated");
	holds("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"args\":{\"s\":\"x\"y\",\"z\":1}},\n" OP "]",
	        OP_IS);
	noted("damaged event: skipped up to the next event (line 1, byte ");
	holds("[" OP ",#%&,{\"name\":\"x\"}," OP2 "]", OP_IS OP2_IS);
	noted("damaged event");
	holds("[" OP "] and more", OP_IS);
	noted("text after the end");
	/* A surplus quote hides the next event, up to its end. */
	holds("[" OP ",{\"ph\":\"X\",\"a\":{\"s\":\"x\"y\"}}," OP2 "]", OP_IS OP2_IS);
	noted("damaged event");
	holds("[" OP ",[[1],{\"ph\":\"X\"}],7," OP2 "]", OP_IS OP2_IS);
	silent();
}

static void nothing(void **state)
{
	struct sb deep = sb_in(&unit_arena);

	(void)state;
	assert_false(chrome_read(S(""), 0, &unit_arena));
	assert_str(chrome_err.text, "in.json: empty file: a JSON trace was expected");
	assert_false(chrome_read(S("\xff\xfe{\0"), 0, &unit_arena));
	assert_true(str_contains(chrome_err.text, S("unsupported encoding UTF-16")));
	assert_false(chrome_read(S("{\"traceEvents\":[{\"ph\":\"X\""), 0, &unit_arena));
	assert_true(str_contains(chrome_err.text, S("no event could be read: truncated")));
	assert_false(chrome_read(S("hello"), 0, &unit_arena));
	assert_int_equal(chrome_err.code, ERR_DATA_LOSS);
	sb_put(&deep, S("{\"traceEvents\":"));
	sb_repeat(&deep, '[', 200000);
	assert_false(chrome_read(sb_str(&deep), 0, &unit_arena));
	assert_true(str_contains(chrome_err.text, S("depth limit")));
	sb_put(&deep, S(",{\"ph\":\"X\",\"ts\":1}"));
	assert_true(chrome_read(sb_str(&deep), 0, &unit_arena));
	assert_str(chrome_dumped(&unit_arena), "0.0 op  1000+0\n");
}

/* Truncating a file anywhere loses at most the last event. */
static void cuts(void **state)
{
	struct str whole = S("{\"traceEvents\":[" OP "," OP2 "]}");
	size_t first = str_find(whole, S("," OP2));

	(void)state;
	for (size_t n = first; n < whole.n; n++) {
		assert_true(chrome_read(str_sub(whole, 0, n), ARG_BITS_ALL, &unit_arena));
		assert_int_equal(chrome_trace->n_slices, n < whole.n - 2 ? 1 : 2);
		noted("truncated");
	}
}

int main(int argc, char **argv)
{
#define test(f) cmocka_unit_test_setup_teardown(f, unit_setup, teardown)
	const struct CMUnitTest tests[] = { test(flaws), test(quotes), test(damage), test(nothing),
		test(cuts) };

	return unit_main(tests, argc, argv);
}
