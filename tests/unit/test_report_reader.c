/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading text answers: preambles and legends of each generation, lines, faults.
 */
#include "unit.h"

#include "compare/side.h"

static bool read_text(struct arena *a, const char *text, struct answer *x, struct err *e)
{
	struct src *s;

	*e = (struct err){ .a = a };
	assert_true(src_memory(&s, a, S("in"), str_of(text), e));
	bool ok = answer_read(x, s, a, e);
	src_close(s);
	return ok;
}

#define BODY "_TFProfRoot (--/30.00KB)\n  a (10B/30.00KB)\n    a/b (--/20.00KB)\n"

static void test_preambles(void **state)
{
	static const char *const heads[] = { "",
		"Parsing GraphDef...\nParsing RunMetadata...\n"
		"Preparing Views...\n\n",
		"Parsing Inputs...\nPreparing Views...\nnode name | requested bytes\n",
		"Reading Files...\nTry to use a single --profile_path instead of "
		"graph_path,op_log_path,run_meta_path\nParsing Inputs...\n"
		"run graph coverage: 0.32\n\nDoc:\nscope: _TFProfRoot is its root.\n\nProfile:\n"
		"node name | requested bytes\n" };

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		struct answer x;
		struct err e;
		struct str text = str_fmt(*state, "%s%s\nprofile> scope\n", heads[i], BODY);
		assert_true(answer_sniff(text));
		assert_true(read_text(*state, str_z(*state, text), &x, &e));
		assert_int_equal(x.lines.n, 3);
		assert_int_equal(x.columns, 1);
		assert_int_equal(x.metric[0], M_BYTES);
		assert_int_equal(x.total.v[2], 20000);
		assert_false(x.lines.v[2].accounted);
	}
}

/* Line ends of other systems, and trailing blanks. */
static void test_ends_of_lines(void **state)
{
	struct answer x;
	struct err e;

	assert_true(read_text(*state,
	        "_TFProfRoot (--/30.00KB)\r\n  a (10B/30.00KB)  \r\n    a/b (--/20.00KB) \n", &x,
	        &e));
	assert_int_equal(x.lines.n, 3);
	assert_int_equal(x.total.v[2], 20000);
}

static void test_columns(void **state)
{
	struct answer x;
	struct err e;

	assert_true(read_text(*state,
	        "node name | # parameters | total execution time | accelerator execution time | "
	        "cpu execution time | assigned devices\n"
	        "_TFProfRoot (--/1.45k params, --/2.00sec, --/0us, --/2.00sec)\n"
	        "  w (3x3, 9/9 params, 1us/1us, 0us/0us, 1us/1us, /job:a/cpu:0)\n",
	        &x, &e));
	assert_int_equal(x.columns, 4);
	assert_int_equal(x.metric[0], M_PARAMS);
	assert_int_equal(x.metric[3], M_CPU_MICROS);
	assert_int_equal(x.total.v[0], 1450);
	assert_int_equal(x.total.v[4], 9);
	/* The first generation has no legend. */
	assert_true(read_text(
	        *state, "_TFProfRoot (--/5 flops, --/3us)\n  a (5/5 flops, 3us/3us)\n", &x, &e));
	assert_int_equal(x.metric[0], M_FLOAT_OPS);
	assert_int_equal(x.metric[1], M_MICROS);
}

static void test_sides(void **state)
{
	const enum metric_id bytes = M_BYTES, micros = M_MICROS;
	struct answer x;
	struct side s;
	struct err e;

	assert_true(read_text(*state, BODY, &x, &e));
	assert_true(answer_side(&x, VK_SCOPE, &bytes, 1, 1, &s, *state, &e));
	assert_int_equal(s.n, 3);
	assert_str(s.name[2], "a/b");
	assert_int_equal(s.parent[2], 1);
	assert_int_equal(s.self[1], 10);
	assert_false(answer_side(&x, VK_SCOPE, &micros, 1, 1, &s, *state, &e));
	assert_str(e.text, "'in' has no micros; it has bytes");
	/* Levels are found by the indent if names are not paths. */
	assert_true(read_text(*state,
	        "_TFProfRoot (--/3us)\n  f.py:1:main (1us/3us)\n    f.py:2:g (gradient) "
	        "(2us/2us)\n",
	        &x, &e));
	assert_true(answer_side(&x, VK_CODE, &micros, 1, 1, &s, *state, &e));
	assert_str(s.name[2], "f.py:2:g (gradient)");
	assert_int_equal(s.parent[2], 1);
}

static void test_list(void **state)
{
	static const char text[] =
	        "node name | total execution time | accelerator execution time | "
	        "cpu execution time | # parameters | op occurrence (run|defined)\n"
	        "MatMul     84.93ms (100.00%, 99.44%),  0us (0.00%, 0.00%), 84.93ms (100.00%, "
	        "99.44%), 7 params (100.00%, 0.00%),  3|4\n"
	        "\ninput_type: 0:3x3\t(run*1|defined*1)\texec_time: 5us\n\n"
	        "Add   0us (0.00%, 0.00%), 0us (0.00%, 0.00%), 0us (0.00%, 0.00%), 2 params "
	        "(3.00%, 0.00%), 1|1\n\nprofile> exit\n";
	const enum metric_id wanted[] = { M_PARAMS, M_MICROS };
	struct answer x;
	struct side s;
	struct err e;

	assert_true(answer_sniff(str_of(text)));
	assert_true(read_text(*state, text, &x, &e));
	assert_true(x.op);
	assert_true(answer_side(&x, VK_OP, wanted, 2, 1, &s, *state, &e));
	assert_int_equal(s.n, 3);
	assert_str(s.name[1], "Add");
	assert_int_equal(s.total[0], 9);
	assert_int_equal(s.total[1], 84930);
	assert_int_equal(s.self[4], 7);
	assert_false(answer_side(&x, VK_SCOPE, wanted, 2, 1, &s, *state, &e));
	assert_false(read_text(
	        *state, "node name | requested bytes\nMul 5B (1.00%, 1.00%)\nAdd 5q (1\n", &x, &e));
	assert_str(e.text, "'in': line 3 is not a line of a view's text output: 'Add 5q (1'");
}

static void test_blank_names(void **state)
{
	struct answer x;
	struct err e;

	assert_true(read_text(*state,
	        "_TFProfRoot (--/9us)\n   (1us/9us)\n     b (2us/2us)\n   c (3us/3us)\n", &x, &e));
	assert_str(x.lines.v[1].name, "");
	assert_int_equal(x.lines.v[1].indent, 2);
	assert_str(x.lines.v[2].name, " b");
	assert_int_equal(x.lines.v[3].indent, 3);
}

static void test_faults(void **state)
{
	struct answer x;
	struct err e;

	assert_false(answer_sniff(S("x _TFProfRoot (1B/1B)\n")));
	assert_false(answer_sniff(S("nothing\n")));
	assert_false(read_text(*state, "\n_TFProfRoot (--/1B)\n  a (1B/1B)\n  b (1B/\n", &x, &e));
	assert_str(e.text, "'in': line 4 is not a line of a view's text output: '  b (1B/'");
	assert_false(read_text(*state, "_TFProfRoot (--/1B)\n  a (1B/1B, 2B/2B)\n", &x, &e));
	assert_true(read_text(*state, "_TFProfRoot (--/1B)\n ...\n  a (1B/1B)\n", &x, &e));
	assert_int_equal(x.lines.n, 2);
	assert_false(read_text(*state, "_TFProfRoot ()\n  a ()\n", &x, &e));
	assert_str(e.text, "'in' is text output without numbers");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_preambles),
		unit_case(test_ends_of_lines),
		unit_case(test_columns),
		unit_case(test_sides),
		unit_case(test_list),
		unit_case(test_blank_names),
		unit_case(test_faults),
	};

	return unit_main(tests, argc, argv);
}
