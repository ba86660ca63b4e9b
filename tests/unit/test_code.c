/* SPDX-License-Identifier: Apache-2.0
 *
 * The code view: names of lines, order of first appearance, gradients, effects of trim and depth.
 */
#include "unit.h"
#include "view_rig.h"

/* a and c share two lines; g is the gradient of a. */
static struct view_rig *program(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_stack(r, rig_node(r, "c", "Op", ""), "dir/m.py:main dir/net.py:layer");        /* 1 */
	rig_stack(r, rig_node(r, "a", "Op", ""), "dir/m.py:main dir/net.py:layer x:conv"); /* 2 */
	rig_stack(r, rig_node(r, "b", "Op", ""), "dir/m.py:main a.py:early");              /* 4 */
	rig_stack(r, rig_node(r, "gradients/a_grad/g", "Op", ""), "o.py:opt");             /* 8 */
	rig_stack(r, rig_node(r, "gradients/lost_grad/g", "Op", ""), "o.py:opt");
	rig_stack(r, rig_node(r, "gradients/lost_grad/h", "Op", ""), "o.py:opt");
	rig_node(r, "none", "Op", "");
	rig_done(r);
	return r;
}

/* In order of their first use by nodes, sorted by name. */
static void test_tree(void **state)
{
	struct view_rig *r = program(state);

	rig_set(r, "order_by", "''");
	assert_str(rig_shown(r, VK_CODE),
	        "_TFProfRoot=15 .m.py:1:main=7 ..net.py:1:layer=3 ...x:1:conv=2"
	        " ..a.py:1:early=4 .m.py:1:main (gradient)=8"
	        " ..net.py:1:layer (gradient)=8 ...x:1:conv (gradient)=8");
	assert_str(rig_notes(r), "1 gradient nodes not accounted\n");
	assert_str(rig_shown(r, VK_CODE).n ? rig_notes(r) : STR_NONE, "");
}

static void test_gradient_marks(void **state)
{
	struct view_rig *r = program(state);
	const struct tree *t = rig_tree(r, VK_CODE);

	assert_int_equal(t->n, 8);
	assert_false(t->gradient[3]);
	assert_true(t->gradient[7]);
	assert_int_equal(t->frame[3], t->frame[7]);
	assert_int_equal(t->member0[8] - t->member0[7], 1);
	assert_int_equal(t->member0[8], 4);
}

/* Quirk 23: the forward node of a gradient node. */
static void test_forward_names(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_stack(r, rig_node(r, "gradients/_grad/x", "Op", ""), "f:plain");
	rig_stack(r, rig_node(r, "n/_grad/gradients/n", "Op", ""), "f:too_early"); /* of "n" */
	rig_stack(r, rig_node(r, "n", "Op", ""), "f:n");
	rig_stack(r, rig_node(r, "a_grad/b", "Op", ""), "f:plain");
	rig_stack(r, rig_node(r, "up/gradients/n_grad/_grad/", "Op", ""), "f:first_end");
	rig_done(r);
	assert_str(
	        rig_shown(r, VK_CODE), "_TFProfRoot=31 .f:1:n=4 .f:1:n (gradient)=18 .f:1:plain=9");
	assert_str(rig_notes(r), "");
}

/* Nineteen bytes stay, twenty are truncated to seventeen; the file is the text after the last '/'.
 */
static void test_names_are_cut(void **state)
{
	struct view_rig *r = view_rig(*state);
	struct frame nameless = { ID_NONE, ID_NONE, ID_NONE, ID_NONE, -3, 0 };

	rig_stack(r, rig_node(r, "a", "Op", ""), "/x/y/:nineteen_bytes_long");
	rig_stack(r, rig_node(r, "b", "Op", ""), "z:exactly_twenty_bytes");
	ingest_set_stack(r->in, rig_node(r, "c", "Op", ""), ingest_frame(r->in, &nameless));
	rig_done(r);
	assert_str(rig_shown(r, VK_CODE), "_TFProfRoot=7 .:1:nineteen_bytes_long=1 .none:-3:none=4"
	                                  " .z:1:exactly_twenty_by...=2");
}

/* An empty file and line -1, as an op log may have them, are printed; a function without a place
 * has its whole name. */
static void test_names_without_place(void **state)
{
	struct view_rig *r = view_rig(*state);
	uint32_t file = ingest_string(r->in, S(""));
	uint32_t function = ingest_string(r->in, S("exactly_twenty_bytes"));
	struct frame empty = { ID_NONE, file, function, ID_NONE, -1, 0 }, unplaced = empty;

	unplaced.line = LINE_NONE;
	ingest_set_stack(r->in, rig_node(r, "a", "Op", ""), ingest_frame(r->in, &empty));
	ingest_set_stack(r->in, rig_node(r, "b", "Op", ""), ingest_frame(r->in, &unplaced));
	ingest_has_traces(r->in);
	rig_done(r);
	assert_str(rig_shown(r, VK_CODE),
	        "_TFProfRoot=3 .:-1:exactly_twenty_by...=1 .exactly_twenty_bytes=2");
}

/* A function's name can be cut within a character. */
static void test_cut_character(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_stack(r, rig_node(r, "a", "Op", ""), "f:\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d");
	rig_done(r);
	assert_str(rig_shown(r, VK_CODE),
	        "_TFProfRoot=1 .f:1:\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\xe4\xb8...=1");
}

/* A trimmed or too deep line is removed with all lines below it; quirk 12: the root stays. */
static void test_cut(void **state)
{
	struct view_rig *r = program(state);

	rig_set(r, "trim_name_regexes", "net.py.*");
	assert_str(rig_shown(r, VK_CODE),
	        "_TFProfRoot=15 .m.py:1:main=7 ..a.py:1:early=4 .m.py:1:main (gradient)=8");
	rig_set(r, "max_depth", "2");
	assert_str(
	        rig_shown(r, VK_CODE), "_TFProfRoot=15 .m.py:1:main=7 .m.py:1:main (gradient)=8");
	rig_set(r, "max_depth", "0");
	assert_str(rig_shown(r, VK_CODE), "_TFProfRoot=15");
	rig_set(r, "max_depth", "9");
	rig_set(r, "trim_name_regexes", ".*");
	assert_str(rig_shown(r, VK_CODE), "_TFProfRoot=15");
}

static void test_account(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_stack(r, rig_node(r, "a", "A", ""), "f:x");
	rig_stack(r, rig_node(r, "b", "B", ""), "f:x f:y");
	rig_stack(r, rig_node(r, "c", "C", ""), "f:z");
	rig_done(r);
	rig_set(r, "account_type_regexes", "B,.*B");
	rig_set(r, "select", "float_ops,occurrence,input_shapes,device,op_types");
	assert_str(rig_lines(r, VK_CODE),
	        "node name | # float_ops | assigned devices | op types | op occurrence "
	        "(run|defined) | "
	        "input shapes\n"
	        "_TFProfRoot (--/4 flops, , occurrence N/A in code view, input_shapes N/A in code "
	        "view)\n"
	        "  f:1:x (--/4 flops, , occurrence N/A in code view, input_shapes N/A in code "
	        "view)\n"
	        "    f:1:y (4/4 flops, , B, occurrence N/A in code view, input_shapes N/A in code "
	        "view)\n");
}

static void test_notes(void **state)
{
	struct view_rig *r = program(state);

	rig_shown(r, VK_CODE);
	rig_notes(r);
	rig_set(r, "account_displayed_op_only", "true");
	rig_set(r, "select", "tensor_value");
	rig_set(r, "max_depth", "2");
	rig_set(r, "show_name_regexes", ".*main");
	assert_str(rig_shown(r, VK_CODE), "_TFProfRoot=15 .m.py:1:main=7");
	assert_str(rig_notes(r), "Note: code view ignores account_displayed_op_only\n"
	                         "code view has no tensor value to show\n"
	                         "code view has no tensor value to show\n");
}

static void test_no_traces(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "a", "Op", "");
	rig_done(r);
	assert_str(rig_shown(r, VK_CODE), "failed");
	assert_str(rig_notes(r), "No code trace information\n");
}

/* Empty traces, with which the original crashes. */
static void test_empty_traces(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_stack(r, rig_node(r, "a", "Op", ""), "");
	rig_done(r);
	assert_str(rig_shown(r, VK_CODE), "_TFProfRoot=0");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_tree),
		unit_case(test_gradient_marks),
		unit_case(test_forward_names),
		unit_case(test_names_are_cut),
		unit_case(test_names_without_place),
		unit_case(test_cut_character),
		unit_case(test_cut),
		unit_case(test_account),
		unit_case(test_notes),
		unit_case(test_no_traces),
		unit_case(test_empty_traces),
	};

	return unit_main(tests, argc, argv);
}
