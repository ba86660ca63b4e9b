/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables as text: the columns that a narrow terminal leaves out, and the texts that it shortens.
 */
#include "unit.h"

#include "export/table/table.h"

/* Widths 4, 6, 8 and 9; 33 with two blanks between them. */
static const struct column columns[] = { TEXT_COLUMN("kind"),
	{ S("median"), COLUMN_INTEGER, NULL, 1 }, { S("requests"), COLUMN_INTEGER, NULL, 2 },
	NUMBER_COLUMN("last", NULL) };
static const char *const titles[] = { "kind", "median", "requests", "last time" };

static void assert_text(void **state, unsigned width, const char *expected)
{
	struct arena *a = *state;
	struct table x = { .a = a, .rows = 1, TABLE_COLUMNS(columns, titles) };
	struct sink *to = sink_memory(a);

	table_text(&x, S("a"));
	for (int64_t i = 1; i < 4; i++)
		table_number(&x, i);
	table_put_text(&x, 0, width, to);
	assert_str(sink_text(to), expected);
}

static void columns_left_out(void **state)
{
	static const char all[] = "kind  median  requests  last time\n"
	                          "a          1         2          3\n";
	static const char most[] = "kind  median  last time\n"
	                           "a          1          3\n"
	                           "(-wide also shows requests)\n";
	static const char wrapped[] = "kind  median  last time\n"
	                              "a          1          3\n"
	                              "(-wide also shows\n"
	                              "requests)\n";
	static const char least[] = "kind  last time\n"
	                            "a             3\n"
	                            "(-wide also shows\n"
	                            "median, requests)\n";

	assert_text(state, 0, all);
	assert_text(state, 33, all);
	assert_text(state, 32, most);
	assert_text(state, 23, wrapped);
	assert_text(state, 22, least);
	assert_text(state, 1, least); /* the others are never left out */
}

/* A text gets the width that the columns after it do not use. */
static void texts_are_shortened_as_needed(void **state)
{
	static const struct column two[] = { TEXT_COLUMN("kind"), NUMBER_COLUMN("ns", NULL) };
	static const char *const heads[] = { "kind", "time" };
	static const struct {
		unsigned width;
		const char *text;
	} cases[] = {
		{ 31, "kind                       time\nhost: calls of the driver     7\n" },
		{ 30, "kind                      time\nhost: ca...of the driver     7\n" },
		{ 1, "kind            time\nhost... driver     7\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table x = { .a = *state, .rows = 1, TABLE_COLUMNS(two, heads) };
		struct sink *to = sink_memory(*state);
		table_text(&x, S("host: calls of the driver"));
		table_number(&x, 7);
		table_put_text(&x, 0, cases[i].width, to);
		assert_str(sink_text(to), cases[i].text);
	}
}

/* A column of empty texts is left out, and no line ends with blanks. */
static void empty_texts(void **state)
{
	static const struct column three[] = { NUMBER_COLUMN("ns", NULL), TEXT_COLUMN("place"),
		TEXT_COLUMN("name") };
	static const char *const heads[] = { "time", "place", "name" };
	struct table x = { .a = *state, .rows = 2, TABLE_COLUMNS(three, heads) };
	struct sink *to = sink_memory(*state);

	for (int64_t i = 0; i < 2; i++) {
		table_number(&x, i);
		table_text(&x, S(""));
		table_text(&x, i ? S("train") : S(""));
	}
	table_put_text(&x, 0, 40, to);
	assert_str(sink_text(to), "time  name\n   0\n   1  train\n");
}

/* Names that differ only in arguments that are left out show all arguments, in each of their rows;
 * mangled names are demangled. */
static void names_of_functions(void **state)
{
	static const struct column one[] = { TEXT_COLUMN("name") };
	static const char *const names[] = { "void n::k<1, 2, 3>(int)", "void n::k<1, 2, 4>(int)",
		"void n::k<1, 2, 3>(int)", "_Z6vecaddPKfS0_Pfi", "_Zwrong" };
	struct table x = { .a = *state, .rows = 5, TABLE_COLUMNS(one, NULL) };
	struct sink *to = sink_memory(*state);

	for (size_t i = 0; i < 5; i++)
		table_text(&x, str_of(names[i]));
	table_put_text(&x, 0, 40, to);
	assert_str(sink_text(to),
	        HAVE_DEMANGLE ? "name\nk<1, 2, 3>\nk<1, 2, 4>\nk<1, 2, 3>\nvecadd\n_Zwrong\n"
	                      : "name\nk<1, 2, 3>\nk<1, 2, 4>\nk<1, 2, "
	                        "3>\n_Z6vecaddPKfS0_Pfi\n_Zwrong\n");
}

/* A source line loses its folders, then the middle or all of its function, and keeps the name of
 * the file and the number. */
static void lines_of_files(void **state)
{
	static const struct column one[] = { TEXT_COLUMN("place") };
	static const char *const lines[][2] = {
		{ "/home/user/project/model.py:36 forward", ".../model.py:36 forward" },
		{ "/home/user/project/modelings.py:36 forward", "modelings.py:36 forward" },
		{ "/home/user/modeling_transformer.py:36 forward", "modeling_transformer.py:36" },
		{ "torch/nn/linear.py(124): forward", "linear.py(124): forward" },
		{ "torch/cache.py(9): key_of_parameters", "cache.py(9): key...ameters" },
		{ "torch/nn/modeling_of_layers.py(7): f", "modeling_of_layers.py(7)" },
		{ "torch/nn/modeling_of_many_layers.py(7): f", "modeling...ny_layers.py(7)" },
		{ "<built-in function of 127.0.0.1:80>", "<built-i...f 127.0.0.1:80>" },
	};
	struct table x = { .a = *state, .rows = 8, TABLE_COLUMNS(one, NULL) };
	struct sink *to = sink_memory(*state);
	struct sb expected = sb_in(*state);

	sb_put(&expected, S("place\n"));
	for (size_t i = 0; i < 8; i++) {
		table_text(&x, str_of(lines[i][0]));
		sb_fmt(&expected, "%s\n", lines[i][1]);
	}
	table_put_text(&x, 0, 26, to);
	assert_str(sink_text(to), str_z(*state, sb_str(&expected)));
}

/* The widest texts are shortened first. */
static void the_widest_first(void **state)
{
	static const struct column three[] = { TEXT_COLUMN("kind"), TEXT_COLUMN("line"),
		TEXT_COLUMN("name") };
	static const char *const heads[] = { "kind", "line", "name" };
	struct table x = { .a = *state, .rows = 1, TABLE_COLUMNS(three, heads) };
	struct sink *to = sink_memory(*state);

	table_text(&x, S("inside annotations"));
	table_text(&x, S("a/long_name_of_a_module.py(1): forward"));
	table_text(&x, S("name"));
	table_put_text(&x, 0, 53, to);
	assert_str(sink_text(to), "kind                line                         name\n"
	                          "inside annotations  long_name_of_a_module.py(1)  name\n");
}

/* Writes a table of names at a width. */
static void assert_names(void **state, const char *const *names, size_t n, const char *expected)
{
	static const struct column one[] = { TEXT_COLUMN("name") };
	struct table x = { .a = *state, .rows = n, TABLE_COLUMNS(one, NULL) };
	struct sink *to = sink_memory(*state);

	for (size_t i = 0; i < n; i++)
		table_text(&x, str_of(names[i]));
	table_put_text(&x, 0, 40, to);
	assert_str(sink_text(to), expected);
}

#define APART_NOTE                                                                                 \
	"(names that would look equal show where\n"                                                \
	"they differ; -full_names shows whole\n"                                                   \
	"names)\n"

/* Names with a common beginning and a common end differ in the part that is cut. */
static void names_that_look_equal(void **state)
{
	static const char *const equal[] = { "volta_scudnn_128x64_stridedB_splitK_small_nn_v1",
		"volta_scudnn_128x64_stridedB_splitK_small_nn_v1" };
	static const char *const different[] = { "volta_scudnn_128x64_stridedB_splitK_small_nn_v1",
		"volta_scudnn_128x32_stridedB_splitK_small_nn_v1", "gemm" };

	assert_names(state, equal, 2,
	        "name\n"
	        "volta_scudnn_...idedB_splitK_small_nn_v1\n"
	        "volta_scudnn_...idedB_splitK_small_nn_v1\n");
	assert_names(state, different, 3,
	        "name\n"
	        "volta_scudnn_...128x64_stridedB_split...\n"
	        "volta_scudnn_...128x32_stridedB_split...\n"
	        "gemm\n" APART_NOTE);
}

/* Two names differ after the part that tells them from the third name: they are numbered. */
static void names_that_differ_twice(void **state)
{
	static const char *const names[] = {
		"kernel_of_all_a_0000000000000000000000000000_b_11111111111111111111111111111_end",
		"kernel_of_all_a_0000000000000000000000000000_c_11111111111111111111111111111_end",
		"kernel_of_all_d_0000000000000000000000000000_b_11111111111111111111111111111_end"
	};

	assert_names(state, names, 3,
	        "name\n"
	        "kernel_of_al...111111111111111111_end #1\n"
	        "kernel_of_al...111111111111111111_end #2\n"
	        "kernel_of_all..._d_000000000000000000...\n" APART_NOTE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(columns_left_out),
		unit_case(texts_are_shortened_as_needed), unit_case(empty_texts),
		unit_case(names_of_functions), unit_case(lines_of_files),
		unit_case(the_widest_first), unit_case(names_that_look_equal),
		unit_case(names_that_differ_twice) };

	return unit_main(tests, argc, argv);
}
