/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines as a terminal shows them: aligned columns, colours, shortened names, bars, escapes.
 */
#include "unit.h"

#include "cli/screen.h"

static struct layout layout;
static struct sb out;

static bool take(void *user, const void *p, size_t n)
{
	(void)user;
	layout_text(&layout, str_make(p, n - 1), &out); /* one line a call */
	return true;
}

static bool take_line(void *user, const struct line *line)
{
	(void)user;
	layout_line(&layout, line, &out);
	return true;
}

static struct sink *begin(bool color, unsigned columns)
{
	struct term term = {
		.tty = true, .smart = true, .color = color, .utf8 = true, .columns = columns
	};

	layout_begin(&layout, term, false, false);
	out = sb_in(&unit_arena);
	return sink_lines(&unit_arena, take, take_line, NULL);
}

static const char *shown(void)
{
	layout_end(&layout, &out);
	return str_z(&unit_arena, sb_str(&out));
}

/* Writes "name (a, b)" with the two as cells. */
static void row(struct sink *to, size_t indent, const char *name, const char *a, const char *b,
        double share)
{
	struct line_build l;

	line_build_init(&l, &unit_arena);
	line_begin(&l, indent, str_of(name));
	sb_put(&l.text, S(" ("));
	line_cell_begin(&l, 0);
	sb_put(&l.text, str_of(a));
	line_cell_end(&l, true);
	sb_put(&l.text, S(", "));
	line_cell_begin(&l, 1);
	sb_put(&l.text, str_of(b));
	line_cell_end(&l, false);
	sb_char(&l.text, ')');
	l.line.share = share;
	l.line.dim = share == 0;
	line_end(&l, LINE_ROW, to);
}

static void heading(struct sink *to)
{
	struct line_build l;

	line_build_init(&l, &unit_arena);
	line_begin(&l, 0, S("node name"));
	static const char *const names[] = { "total time", "device" };
	for (unsigned i = 0; i < 2; i++) {
		sb_put(&l.text, S(" | "));
		line_cell_begin(&l, i);
		sb_put(&l.text, str_of(names[i]));
		line_cell_end(&l, false);
	}
	line_end(&l, LINE_HEADING, to);
}

static void test_columns_are_aligned(void **state)
{
	struct sink *s = begin(false, 80);

	(void)state;
	heading(s);
	row(s, 0, "root", "--/1.00sec", "", 1);
	row(s, 2, "a/b", "2us/9us", "gpu:0", 0.1);
	assert_string_equal(shown(), "node name  total time  device\n"
	                             "root       --/1.00sec\n"
	                             "  a/b         2us/9us  gpu:0\n");
}

static void test_shares_have_colours(void **state)
{
	struct sink *s = begin(true, 0);

	(void)state;
	row(s, 0, "a", "9us", "x", 0.9);
	row(s, 0, "b", "3us", "x", 0.3);
	row(s, 0, "c", "1us", "x", 0.1);
	row(s, 0, "d", "0us", "x", 0);
	assert_string_equal(shown(), "\033[1;31ma  9us  x\033[0m\n\033[33mb  3us  x\033[0m\n"
	                             "c  1us  x\n\033[2md  0us  x\033[0m\n");
}

static void test_bars(void **state)
{
	struct sink *s = begin(false, 0);

	(void)state;
	layout.bars = true;
	layout.term.utf8 = false;
	row(s, 0, "a", "9us", "x", 0.5);
	row(s, 0, "b", "3us", "x", SHARE_UNKNOWN);
	assert_string_equal(shown(), "#####.....  50% a  9us  x\n..........      b  3us  x\n");
}

/* A terminal without UTF-8 gets another sign for a lower bound. */
static void test_bounds(void **state)
{
	struct sink *s = begin(false, 0);

	(void)state;
	row(s, 0, "a",
	        "\xe2\x89\xa5"
	        "1/\xe2\x89\xa5"
	        "20",
	        "x", 0.5);
	row(s, 0, "b", "?/300", "x", 0.5);
	assert_string_equal(shown(), "a  \xe2\x89\xa5"
	                             "1/\xe2\x89\xa5"
	                             "20  x\nb   ?/300  x\n");
	s = begin(false, 0);
	layout.term.utf8 = false;
	row(s, 0, "a",
	        "\xe2\x89\xa5"
	        "1/\xe2\x89\xa5"
	        "20",
	        "x", 0.5);
	assert_string_equal(shown(), "a  >=1/>=20  x\n");
}

/* First columns of text, then names lose their middle; numbers never do. */
static void test_a_narrow_terminal_shortens_names(void **state)
{
	struct sink *s = begin(false, 40);

	(void)state;
	row(s, 2, "tower_0/layer_1/conv2d/weights/read", "1us/1us", "gpu", 0.1);
	assert_string_equal(shown(), "  tower_0\xe2\x80\xa6"
	                             "v2d/weights/read  1us/1us  gpu\n");
	s = begin(false, 40);
	layout.wide = true;
	row(s, 2, "tower_0/layer_1/conv2d/weights/read", "1us/1us", "gpu", 0.1);
	assert_string_equal(shown(), "  tower_0/layer_1/conv2d/weights/read  1us/1us  gpu\n");
	s = begin(false, 40);
	row(s, 0, "short", "1us/1us", "/job:localhost/replica:0/task:0/device:gpu:0", 0.1);
	assert_string_equal(shown(), "short  1us/1us  /job:lo\xe2\x80\xa6"
	                             "k:0/device:gpu:0\n");
}

static void test_cells_go_on_in_the_next_line(void **state)
{
	struct sink *s = begin(false, 20);

	(void)state;
	row(s, 0, "name", "123456789us/1us", "gpu", 0.1);
	row(s, 0, "other", "2us", "", 0.1);
	assert_string_equal(shown(), "name\n      123456789us/1us\n      gpu\nother\n"
	                             "                  2us\n");
}

/* Sentences are broken at blanks; text without cells is not. */
static void test_sentences(void **state)
{
	struct sink *s = begin(false, 20);

	(void)state;
	sink_put(s, S("Reading Files... and not broken\n"));
	sink_sentence(s, &unit_arena, S("scope: The nodes in the graph."));
	sink_sentence(s, &unit_arena, S("nowhere_to_break_this_word_at_all"));
	sink_sentence(s, &unit_arena, S("just twenty letters."));
	assert_string_equal(shown(), "Reading Files... and not broken\n"
	                             "scope: The nodes in\nthe graph.\n"
	                             "nowhere_to_break_this_word_at_all\njust twenty letters.\n");
}

/* Text between rows stays between them and does not change the columns. */
static void test_text_between_rows(void **state)
{
	struct sink *s = begin(false, 80);

	(void)state;
	row(s, 0, "a", "1us", "x", 0.1);
	sink_put(s, S("input_type: 0:3x3\n"));
	row(s, 0, "longer", "100us", "x", 0.1);
	assert_string_equal(shown(), "a         1us  x\ninput_type: 0:3x3\nlonger  100us  x\n");
}

/* Widths of the first rows hold for the rest; nothing is lost. */
static void test_many_rows(void **state)
{
	struct sink *s = begin(false, 80);
	size_t lines = 0;

	(void)state;
	for (int i = 0; i < 1234; i++)
		row(s, 0, "n", "1us", "x", 0.1);
	const char *all = shown();
	for (const char *p = all; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 1234);
}

static void test_a_pipe_gets_the_bytes(void **state)
{
	struct sink *s = sink_memory(&unit_arena);

	(void)state;
	heading(s);
	row(s, 2, "a/b", "2us/9us", "gpu:0", 0.1);
	assert_string_equal(str_z(&unit_arena, sink_text(s)),
	        "node name | total time | device\n  a/b (2us/9us, gpu:0)\n");
}

static void test_escapes(void **state)
{
	struct sb b = sb_in(&unit_arena);

	(void)state;
	letters_escape(&b,
	        S("a\033[2Jb\xc2\x9b"
	          "c\xc3\xa9\xff\t"),
	        true);
	sb_char(&b, 0);
	assert_string_equal(b.p, "a\\x1b[2Jb\\xc2\\x9bc\xc3\xa9\\xff\t");
	assert_int_equal(letters_width(S("a\033\xc3\xa9"), true), 6);
	b.n = 0;
	letters_escape(&b,
	        S("a\xe2\x80\xae"
	          "b\xe2\x81\xa6\xd8\x9c\n"),
	        true);
	sb_char(&b, 0);
	assert_string_equal(b.p, "a\\xe2\\x80\\xae"
	                         "b\\xe2\\x81\\xa6\\xd8\\x9c\\x0a");
	b.n = 0;
	letters_escape(&b, S("\xe2\x89\xa5 2.69T\x89"), false);
	sb_char(&b, 0);
	assert_string_equal(b.p, ">= 2.69T\\x89");
	assert_int_equal(letters_width(S("\xe2\x89\xa5 2"), false), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_aligned),
		cmocka_unit_test(test_shares_have_colours),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_a_narrow_terminal_shortens_names),
		cmocka_unit_test(test_cells_go_on_in_the_next_line),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_text_between_rows),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_a_pipe_gets_the_bytes),
		cmocka_unit_test(test_escapes),
	};

	arena_init(&unit_arena, &unit_work);
	layout_init(&layout, &unit_work);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&layout.a);
	arena_free(&layout.waiting);
	arena_free(&unit_arena);
	account_close(&unit_account);
	return failed;
}
