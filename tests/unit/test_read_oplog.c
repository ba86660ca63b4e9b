/* SPDX-License-Identifier: Apache-2.0
 *
 * read_oplog: types, float_ops and call stacks of known nodes, texts after their first use, and
 * agreement with the unpacked messages.
 */
#include "unit.h"

#include "reader_rig.h"
#include "tf_graph.pb-c.h"
#include "tfprof_log.pb-c.h"

#define OPLOG &tensorflow__tfprof__op_log_proto__descriptor

/* A model with the nodes a and b. */
static void open_nodes(struct rig *g)
{
	rig_open(g, false);
	assert_true(rig_read_text(g, read_graph, &tensorflow__graph_def__descriptor,
	        "node { name: 'a' op: 'A' } node { name: 'b' op: 'B' }"));
}

static bool read_text(struct rig *g, const char *text)
{
	return rig_read_text(g, read_oplog, OPLOG, text);
}

static void entries_reach_their_nodes(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g, "log_entries { name: 'a' types: 'T' types: '_x' float_ops: 7 }"
	                          "log_entries { name: 'nobody' types: 'U' float_ops: 9 }"
	                          "log_entries { types: 'V' float_ops: 0 name: 'b' }"));
	assert_true(rig_says(&g, "a = A on '' host '' flags 0 float_ops 7"));
	assert_true(rig_says(&g, "  types A T _x\n"));
	assert_true(rig_says(&g, "b = B on '' host '' flags 0 float_ops 0"));
	assert_true(rig_says(&g, "traces 0\n"));
	rig_close(&g);
}

static void later_float_ops_replace(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g, "log_entries { name: 'a' float_ops: 7 }"
	                          "log_entries { name: 'a' float_ops: -8 }"
	                          "log_entries { name: 'a' float_ops: 0 }"));
	assert_true(rig_says(&g, "float_ops -8"));
	rig_close(&g);
}

static void texts_may_come_late(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g,
	        "log_entries { name: 'a' code_def {"
	        " traces { file_id: 1 function_id: 2 line_id: 3 lineno: 10 func_start_line: 9 }"
	        " traces { file_id: 4 function_id: 2 line_id: -5 lineno: 20 } } }"
	        "id_to_string { key: 1 value: 'old.py' } id_to_string { key: 1 value: 'one.py' }"
	        "id_to_string { key: 2 value: 'f' } id_to_string { key: 3 value: 'f()' }"
	        "id_to_string { key: -5 value: 'negative' }"));
	assert_true(rig_says(&g, "  at :20 f(0) <negative> nowhere\n  at one.py:10 f(9) <f()>\n"));
	assert_true(rig_says(&g, "traces 1\n"));
	rig_close(&g);
}

static void empty_stack_counts(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g, "log_entries { name: 'a' code_def { } }"
	                          "log_entries { name: 'a' code_def { traces { lineno: 3 } } }"
	                          "log_entries { name: 'b' code_def { traces { lineno: 4 } } }"));
	assert_true(g.m->has_traces);
	assert_true(rig_says(&g, "a = A on '' host '' flags 4 "));
	assert_int_equal(g.m->nodes.v[0].frame, ID_NONE);
	assert_int_not_equal(g.m->nodes.v[1].frame, ID_NONE);
	rig_close(&g);
}

static void unknown_nodes_have_no_stacks(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g, "log_entries { name: 'nobody' code_def { } }"));
	assert_false(g.m->has_traces);
	rig_close(&g);
}

static void copies_of_a_stack_are_joined(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(rig_read(&g, read_oplog,
	        S("\x0a\x0f\x22\x04\x0a\x02\x10\x01\x0a\x01\x62\x22\x04\x0a\x02\x10\x02")));
	assert_true(rig_says(&g, "  at :2 (0) <> nowhere\n  at :1 (0) <> nowhere\n"));
	rig_close(&g);
}

static void equal_stacks_are_one(void **state)
{
	struct rig g;

	(void)state;
	open_nodes(&g);
	assert_true(read_text(&g, "log_entries { name: 'a' code_def { traces { lineno: 3 } } }"
	                          "log_entries { name: 'b' code_def { traces { lineno: 3 } } }"));
	assert_int_equal(g.m->frames.n, 1);
	assert_int_equal(g.m->nodes.v[0].frame, g.m->nodes.v[1].frame);
	rig_close(&g);
}

static void assert_refused(struct str bytes, const char *sentence)
{
	struct rig g;

	open_nodes(&g);
	assert_false(rig_read(&g, read_oplog, bytes));
	if (!str_contains(g.e.text, str_of(sentence)))
		fail_msg("%.*s", STR(g.e.text));
	assert_false(g.m->has_traces);
	rig_close(&g);
}

static void faults_are_refused(void **state)
{
	(void)state;
	assert_refused(S("\x0a\x03\x0a\x01\xff"), "OpLogProto cannot be parsed: text that is not");
	assert_refused(S("\x0a\x03\x1a\x01\xff"), "not valid UTF-8");    /* type */
	assert_refused(S("\x12\x03\x12\x01\xff"), "not valid UTF-8");    /* text */
	assert_refused(S("\x0a\x04\x22\x02\x0a\x01"), "truncated");      /* stack */
	assert_refused(S("\x0a\x05\x22\x03\x0a\x01\x30"), "byte");       /* in a trace */
	assert_refused(S("\x0a\x05\x0a\x01x"), "the input ends inside"); /* entry */
}

static void walk_agrees_with_unpacked(void **state)
{
	(void)state;
	rig_compare(read_oplog, twin_oplog, "testdata/recorded/function_0/op_log.pb", read_graph,
	        "testdata/recorded/function_0/graph.pb", 2000);
	rig_compare(read_oplog, twin_oplog, "testdata/recorded/synthetic_2/op_log.pb", read_graph,
	        "testdata/recorded/synthetic_2/graph.pb", 1000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_reach_their_nodes),
		cmocka_unit_test(later_float_ops_replace),
		cmocka_unit_test(texts_may_come_late),
		cmocka_unit_test(empty_stack_counts),
		cmocka_unit_test(unknown_nodes_have_no_stacks),
		cmocka_unit_test(copies_of_a_stack_are_joined),
		cmocka_unit_test(equal_stacks_are_one),
		cmocka_unit_test(faults_are_refused),
		cmocka_unit_test(walk_agrees_with_unpacked),
	};

	return unit_main(tests, argc, argv);
}
