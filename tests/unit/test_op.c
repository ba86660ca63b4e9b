/* SPDX-License-Identifier: Apache-2.0
 *
 * The op view: the list, cumulative sums, start, trim, depth as a number of entries, nodes that
 * match twice; and the text of a type.
 */
#include "unit.h"
#include "view_rig.h"

static struct view_rig *types(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "m1", "MatMul", "");     /* 1 */
	rig_node(r, "c", "Const", "");       /* 2 */
	rig_node(r, "m0", "MatMul", "c m1"); /* 4 */
	rig_node(r, "a", "Add", "m0 far");   /* 8 */
	rig_device(r, 0, "/gpu:0");
	rig_done(r);
	return r;
}

/* The total of an entry is its own number and those of all entries after it. */
static void test_chain(void **state)
{
	struct view_rig *r = types(state);

	assert_str(rig_shown(r, VK_OP), "Add=15 .Const=7 ..MatMul=5");
	rig_set(r, "order_by", "float_ops");
	assert_str(rig_shown(r, VK_OP), "Add=15 .MatMul=7 ..Const=2");
	rig_set(r, "order_by", "occurrence");
	assert_str(rig_shown(r, VK_OP), "MatMul=15 .Add=10 ..Const=2");
	rig_set(r, "order_by", "bytes");
	assert_str(rig_shown(r, VK_OP), "Add=15 .Const=7 ..MatMul=5");
}

static void test_start_trim_depth(void **state)
{
	struct view_rig *r = types(state);

	rig_set(r, "start_name_regexes", "C.*");
	assert_str(rig_shown(r, VK_OP), "Const=7 .MatMul=5");
	rig_set(r, "max_depth", "0");
	assert_str(rig_shown(r, VK_OP), "Const=7");
	rig_set(r, "max_depth", "-1");
	assert_str(rig_shown(r, VK_OP), "");
	rig_set(r, "max_depth", "9");
	rig_set(r, "start_name_regexes", "nothing");
	assert_str(rig_shown(r, VK_OP), "");
	rig_set(r, "start_name_regexes", "''"); /* quirk 18 */
	rig_set(r, "trim_name_regexes", "Const");
	assert_str(rig_shown(r, VK_OP), "Add=15");
}

/* A hidden entry counts for the depth, and is part of the sums unless only shown entries count. */
static void test_hidden(void **state)
{
	struct view_rig *r = types(state);

	rig_set(r, "hide_name_regexes", "Const");
	rig_set(r, "max_depth", "1");
	assert_str(rig_shown(r, VK_OP), "Add=15");
	rig_set(r, "max_depth", "2");
	assert_str(rig_shown(r, VK_OP), "Add=15 .MatMul=5");
	rig_set(r, "account_displayed_op_only", "true");
	assert_str(rig_shown(r, VK_OP), "Add=13 .MatMul=5");
}

/* The numbers count nodes, and a threshold may be negative. */
static void test_occurrence_threshold(void **state)
{
	struct view_rig *r = types(state);

	rig_set(r, "min_occurrence", "2");
	assert_str(rig_shown(r, VK_OP), "MatMul=5");
	rig_set(r, "min_occurrence", "-1");
	assert_str(rig_shown(r, VK_OP), "Add=15 .Const=7 ..MatMul=5");
}

/* Quirk 13: a node that two patterns match is added twice, and is one node. */
static void test_matched_twice(void **state)
{
	struct view_rig *r = types(state);

	rig_set(r, "account_type_regexes", "MatM.*,.*Mul,Add");
	rig_set(r, "select", "float_ops,occurrence");
	assert_str(rig_shown(r, VK_OP), "Add=18 .MatMul=10");
	assert_str(rig_lines(r, VK_OP),
	        "node name | # float_ops | op occurrence (run|defined)\n"
	        "Add                       8 float_ops (100.00%, 44.44%),        0|1\n"
	        "MatMul                    10 float_ops (55.56%, 55.56%),        0|2\n");
}

/* Quirk 11: a node without a device is listed with an empty word. Groups of input shapes follow the
 * line. */
static void test_text(void **state)
{
	struct view_rig *r = types(state);

	rig_set(r, "select", "device,op_types,input_shapes");
	rig_set(r, "start_name_regexes", "MatMul");
	assert_str(rig_lines(r, VK_OP),
	        "node name | assigned devices | op types | input shapes\n"
	        "MatMul                   |/gpu:0, /gpu:0|MatMul\n\n"
	        "input_type: \t(run*0|defined*1)\texec_time: 0us\n"
	        "input_type: 0:unknown,\t1:unknown\t(run*0|defined*1)\texec_time: 0us\n\n");
}

/* Without nodes, only the root is printed, and no legend. */
static void test_empty(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_done(r);
	rig_set(r, "select", "params,device,occurrence,input_shapes");
	assert_str(rig_lines(r, VK_OP),
	        "_TFProfRoot                     0 params (0.00%, 0.00%), ,        0|0\n");
	assert_str(rig_shown(r, VK_OP), "");
}

/* Nodes of a profile that follow others of the same type, in two orders. */
static void test_members(void **state)
{
	struct view_rig *r = types(state);
	const struct tree *t = rig_tree(r, VK_OP);

	assert_int_equal(t->n, 4);
	assert_int_equal(t->member0[4], 4);
	assert_str(t->name[3], "MatMul");
	assert_str(node_name(&r->m, t->members[t->member0[3]]), "m0");
	assert_str(node_name(&r->m, t->members[t->member0[3] + 1]), "m1");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_chain),
		unit_case(test_start_trim_depth),
		unit_case(test_hidden),
		unit_case(test_occurrence_threshold),
		unit_case(test_matched_twice),
		unit_case(test_text),
		unit_case(test_empty),
		unit_case(test_members),
	};

	return unit_main(tests, argc, argv);
}
