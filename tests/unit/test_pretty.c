/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines as a terminal shows them: colours, shortened names, escapes, bars.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/pretty.h"

static struct account account;
static struct work work = { .account = &account };
static struct arena arena;

/* What the last of the lines becomes, behind "Profile:" and the legend. */
static const char *shown(struct pretty *p, const char *root, const char *line)
{
	struct sb b = sb_in(&arena);

	pretty_line(p, S("Profile:"), &b);
	pretty_line(p, S("node name | total execution time"), &b);
	pretty_line(p, str_of(root), &b);
	size_t from = b.n;
	pretty_line(p, str_of(line), &b);
	return str_z(&arena, str_sub(sb_str(&b), from, SIZE_MAX));
}

static struct pretty pretty(bool color, unsigned columns)
{
	return (struct pretty){ .term = { .tty = true,
		                        .smart = true,
		                        .color = color,
		                        .utf8 = true,
		                        .columns = columns } };
}

static void test_plain(void **state)
{
	struct pretty p = pretty(false, 0);

	(void)state;
	assert_string_equal(
	        shown(&p, "_TFProfRoot (--/1.00sec)", "  a/b (2us/9us)"), "  a/b (2us/9us)\n");
}

static void test_shares(void **state)
{
	struct pretty p = pretty(true, 0), q = p, r = p, s = p;

	(void)state;
	assert_string_equal(shown(&p, "_TFProfRoot (--/1.00sec)", "  a (2us/900.00ms)"),
	        "\033[1;31m  a (2us/900.00ms)\033[0m\n");
	assert_string_equal(shown(&q, "_TFProfRoot (--/1.00sec)", "  a (2us/300.00ms)"),
	        "\033[33m  a (2us/300.00ms)\033[0m\n");
	assert_string_equal(shown(&r, "_TFProfRoot (--/1.00sec)", "  a (--/900.00ms)"),
	        "\033[2m  a (--/900.00ms)\033[0m\n");
	assert_string_equal(shown(&s, "_TFProfRoot (--/1.00sec)", "  a (0us/0us)"),
	        "\033[2m  a (0us/0us)\033[0m\n");
}

static void test_types(void **state)
{
	struct pretty p = pretty(true, 0);

	(void)state;
	assert_string_equal(
	        shown(&p, "Conv2D   9us (100.00%, 10.00%)", "MatMul   9us (90.00%, 80.00%)"),
	        "\033[1;31mMatMul   9us (90.00%, 80.00%)\033[0m\n");
}

static void test_shortens(void **state)
{
	struct pretty p = pretty(false, 40), wide = p;
	const char *line = "  tower_0/layer_1/conv2d/weights/read (1us/1us)";

	(void)state;
	wide.wide = true;
	assert_string_equal(shown(&p, "_TFProfRoot (--/1us)", line),
	        "  tower_0/l\xe2\x80\xa6"
	        "onv2d/weights/read (1us/1us)\n");
	assert_string_equal(shown(&wide, "_TFProfRoot (--/1us)", line),
	        "  tower_0/layer_1/conv2d/weights/read (1us/1us)\n");
}

/* Sentences and the legend are broken at blanks, rows and what comes before Doc are not. */
static void test_breaks(void **state)
{
	struct pretty p = pretty(false, 20);
	static const char *const lines[] = { "Reading Files... and not broken",
		"Doc:", "scope: The nodes in the graph.", "nowhere_to_break_this_word_at_all",
		"just twenty letters.", "Profile:", "node name | # parameters",
		"a (1/2 params, and so on)" };
	struct sb b = sb_in(&arena);

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		pretty_line(&p, str_of(lines[i]), &b);
	sb_char(&b, 0);
	assert_string_equal(b.p,
	        "Reading Files... and not broken\nDoc:\n"
	        "scope: The nodes in\nthe graph.\n"
	        "nowhere_to_break_this_word_at_all\njust twenty letters.\n"
	        "Profile:\nnode name | #\nparameters\na (1/2 params, and so on)\n");
}

static void test_escapes(void **state)
{
	struct sb b = sb_in(&arena);

	(void)state;
	pretty_escape(&b,
	        S("a\033[2Jb\xc2\x9b"
	          "c\xc3\xa9\xff\t"),
	        true);
	sb_char(&b, 0);
	assert_string_equal(b.p, "a\\x1b[2Jb\\xc2\\x9bc\xc3\xa9\\xff\t");
	assert_int_equal(pretty_width(S("a\033\xc3\xa9"), true), 6);
}

static void test_bars(void **state)
{
	struct pretty p = pretty(false, 0);

	(void)state;
	p.bars = true;
	p.term.utf8 = false;
	assert_string_equal(shown(&p, "_TFProfRoot (--/1.00sec)", "  a (2us/300.00ms)"),
	        "###.......  30%   a (2us/300.00ms)\n");
}

/* What the bars of the line are of, where siblings are ordered by `by`. */
static const char *bar(const char *by, const char *legend, const char *root, const char *line)
{
	struct pretty p = pretty(false, 0);
	struct sb b = sb_in(&arena);

	p.bars = true;
	p.term.utf8 = false;
	p.by = str_of(by);
	pretty_line(&p, S("Profile:"), &b);
	pretty_line(&p, str_of(legend), &b);
	pretty_line(&p, str_of(root), &b);
	size_t from = b.n;
	pretty_line(&p, str_of(line), &b);
	return str_z(&arena, str_sub(sb_str(&b), from, 16));
}

static void test_bars_by(void **state)
{
	const char *tree = "node name | # parameters | total execution time",
	           *root = "_TFProfRoot (--/100 params, --/10us)",
	           *x = "  a (1/50 params, 1us/2us)",
	           *types = "node name | requested bytes | total execution time";

	(void)state;
	assert_string_equal(bar("", tree, root, x), "#####.....  50% ");
	assert_string_equal(bar("# parameters", tree, root, x), "#####.....  50% ");
	assert_string_equal(bar("total execution time", tree, root, x), "##........  20% ");
	assert_string_equal(bar("peak bytes", tree, root, x), "#####.....  50% ");
	/* A shape stands before the columns. */
	assert_string_equal(
	        bar("", tree, root, "  v (5x4, 20/20 params, 1us/2us)"), "##........  20% ");
	assert_string_equal(
	        bar("total execution time", tree, root, "  v (5x4, 20/20 params, 1us/1us)"),
	        "#.........  10% ");
	/* A column that is nothing but zeros has no shares. */
	assert_string_equal(bar("total execution time", tree, "_TFProfRoot (--/100 params, --/0us)",
	                            "  a (1/50 params, 0us/0us)"),
	        "#####.....  50% ");
	x = "MatMul   9B (100.00%, 80.00%),   9us (90.00%, 30.00%)";
	assert_string_equal(bar("", types, x, x), "########..  80% ");
	assert_string_equal(bar("total execution time", types, x, x), "###.......  30% ");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_shortens),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_bars_by),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (setjmp(work.escape))
		return 1;
	arena_init(&arena, &work);
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&arena);
	return r;
}
