/* SPDX-License-Identifier: Apache-2.0
 *
 * read_graph: the data it reads from a GraphDef, refusals, and agreement with the unpacked
 * messages.
 */
#include "unit.h"

#include "reader_rig.h"
#include "tf_graph.pb-c.h"

#define GRAPH &tensorflow__graph_def__descriptor

static bool read_text(struct rig *g, const char *text)
{
	return rig_read_text(g, read_graph, GRAPH, text);
}

static void inputs_are_cut(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g, "node { name: 'a' op: 'A' }"
	                         "node { name: 'b' op: 'B' input: 'a:3' input: '^a' input: '^a:1'"
	                         " input: '' input: ':x' input: '^^a' input: 'far' }"));
	assert_true(rig_says(g, "  in 0 'a' 0\n  in 1 'a' 0\n  in 2 'a' 0\n  in 3 ?'' 0\n"
	                        "  in 4 ?'' 0\n  in 5 ?'^a' 0\n  in 6 ?'far' 0\n"));
}

static void shapes_follow_the_rule(void **state)
{
	struct rig *g = *state;

	assert_true(
	        read_text(g, "node { name: 'scalar' attr { key: 'shape' value { shape { } } } }"
	                     "node { name: 'unknown' attr { key: 'shape' value { shape { "
	                     "unknown_rank: true } } } }"
	                     "node { name: 'part' attr { key: 'shape' value { shape { dim { size: "
	                     "-1 } dim { size: 4 }"
	                     " } } } }"
	                     "node { name: 'full' attr { key: 'shape' value { shape { dim { size: "
	                     "3 } dim { size: 4 }"
	                     " } } } attr { key: '_output_shapes' value { list { shape { dim { "
	                     "size: 7 } } shape { }"
	                     " shape { unknown_rank: true } } } } }"
	                     "node { name: 'text' attr { key: 'shape' value { s: 'x' } } }"));
	assert_true(
	        rig_says(g, "scalar =  on '' host '' flags 0 float_ops 0 params 1 shape [ 1 ]"));
	assert_true(rig_says(g, "unknown =  on '' host '' flags 0 float_ops 0 params 0 shape [ ]"));
	assert_true(
	        rig_says(g, "part =  on '' host '' flags 0 float_ops 0 params 0 shape [ -1 4 ]"));
	assert_true(
	        rig_says(g, "full =  on '' host '' flags 0 float_ops 0 params 12 shape [ 3 4 ]"));
	assert_true(rig_says(g, "  out 0 [ 7 ]\n  out 1 [ 1 ]\n  out 2 [ ]\n"));
	assert_true(rig_says(g, "text =  on '' host '' flags 0 float_ops 0 params 0 shape [ ]"));
}

static void last_of_a_key_counts(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g, "node { attr { key: 'shape' value { shape { dim { size: 9 } } } }"
	                         " attr { value { shape { dim { size: 5 } } } key: 'shape' }"
	                         " attr { key: 'data_format' value { s: 'NCHW' } }"
	                         " attr { key: 'data_format' value { s: 'NHWC' } } op: "
	                         "'New' name: 'n' }"));
	assert_true(rig_says(g, "n = New on '' host '' flags 2 float_ops 0 params 5 shape [ 5 ]"));
	assert_int_equal(g->m->attrs.n, 2);
	assert_true(rig_read(g, read_graph, S("\x0a\x09\x0a\x01x\x0a\x01y\x12\x01z")));
	assert_true(rig_says(g, "\ny = z"));
}

static void attribute_values_merge(void **state)
{
	/* shape { 2 } s "" shape { 3 } shape { 4 }: the text in between drops the first. */
	static const char value[] = "\x3a\x04\x12\x02\x08\x02\x12\x00\x3a\x04\x12\x02\x08\x03"
	                            "\x3a\x04\x12\x02\x08\x04";
	struct sb b;
	struct rig *g = *state;

	b = sb_in(&g->a);
	sb_put(&b, S("\x0a\x22\x0a\x01n\x2a\x1d\x0a\x05shape\x12\x14"));
	sb_put(&b, str_make(value, sizeof value - 1));
	assert_true(rig_read(g, read_graph, sb_str(&b)));
	assert_true(rig_says(g, "params 12 shape [ 3 4 ]"));
}

static void first_of_a_name_counts(void **state)
{
	struct rig *g = *state;

	assert_true(
	        read_text(g, "node { name: 'a' op: 'One' } node { name: 'a' op: 'Two' input: 'b' }"
	                     "node { name: 'b' op: 'Three' }"));
	assert_int_equal(g->m->nodes.n, 2);
	assert_int_equal(g->m->inputs.n, 0);
	assert_true(rig_says(g, "a = One"));
}

static void faults_are_refused(void **state)
{
	(void)state;
	rig_refuses(read_graph, S("\x0a\x05\x0a\x03z"), "in: byte");
	rig_refuses(read_graph, S("\x0a\x03\x0a\x01n\x0a\x03\x0a\x01\xff"),
	        "byte 9: GraphDef cannot be parsed: "
	        "text that is not valid UTF-8");
	rig_refuses(read_graph, S("\x0a\x03\x1a\x01\xff"), "not valid UTF-8");         /* input */
	rig_refuses(read_graph, S("\x0a\x03\x22\x01\xff"), "not valid UTF-8");         /* device */
	rig_refuses(read_graph, S("\x0a\x05\x2a\x03\x0a\x01\xff"), "not valid UTF-8"); /* key */
	rig_refuses(read_graph, S("\x0a\x07\x2a\x05\x12\x03\x4a\x01\xff"),
	        "not valid UTF-8");                                           /* placeholder */
	rig_refuses(read_graph, S("\x0a\x05\x32\x03\x0a\x01\xff"), "byte 4"); /* debug info */
	rig_refuses(read_graph, S("\x0a\x06\x2a\x04\x12\x02\x42\x01"), "truncated"); /* tensor */
	rig_refuses(
	        read_graph, S("\x0a\x07\x2a\x05\x12\x03\x42\x01\x08"), "byte"); /* in the tensor */
	rig_refuses(read_graph, S("\x0a\x09\x2a\x07\x12\x05\x0a\x03\x1a\x01\xff"),
	        "truncated");                                   /* packed list */
	rig_refuses(read_graph, S("\x0a\x02\x0c\x00"), "byte"); /* stray group end */
}

static void unread_parts_are_skipped(void **state)
{
	struct rig *g = *state;

	assert_true(rig_read(g, read_graph, S("\x2a\x02\xff\xff\x0a\x03\x0a\x01n\x18\x05")));
	assert_int_equal(g->m->nodes.n, 1);
	rig_refuses(
	        read_graph, S("\x12\x02\xff\xff\x0a\x03\x0a\x01n"), "GraphDef cannot be parsed");
}

#define META_INFO "\x0a\x0d\x12\x05\x0a\x03\x0a\x01n\"\x01s\"\x01t" /* with two tags */
#define GRAPH_ONE "\x12\x05\x0a\x03\x0a\x01x"
/* One node, and two functions of three nodes. */
#define GRAPH_LIB "\x12\x13\x0a\x03\x0a\x01x\x12\x0c\x0a\x04\x1a\x00\x1a\x00\x0a\x04\x1a\x00\"\x00"

static void graphs_lie_in_others(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, false);
	assert_true(rig_read(&g, read_graph, S(META_INFO GRAPH_ONE)));
	assert_true(rig_says(&g, "x = "));
	assert_int_equal(g.m->nodes.n, 1);
	assert_int_equal(g.notes.list.n, 0);
	rig_close(&g);
	rig_open(&g, false);
	assert_true(rig_read(&g, read_graph,
	        S("\x08\x01\x12\x24" META_INFO GRAPH_LIB "\x12\x07\x12\x05\x0a\x03\x0a\x01y")));
	assert_int_equal(g.m->nodes.n, 1);
	assert_int_equal(g.notes.list.n, 2);
	assert_true(str_contains(
	        g.notes.list.v[0].text, S("contains 2 graphs; the first (s, t) is used")));
	assert_true(str_contains(
	        g.notes.list.v[1].text, S("functions, which are not shown (2 with 3 nodes)")));
	rig_close(&g);
	rig_refuses(read_graph, S("\x08\x01\x12\x20" META_INFO GRAPH_ONE),
	        "SavedModel cannot be parsed");
	rig_refuses(read_graph, S(META_INFO "\x12\x05\x0a\x03\x0a\x01"),
	        "MetaGraphDef cannot be parsed");
	rig_refuses(read_graph, S(META_INFO "\x12\x05\x0a\x04\x0a\x01x"), "goes past");
	rig_refuses(
	        read_graph, S("\x0a\x0b\x12\x05\x0a\x03\x0a\x01n\"\x05s" GRAPH_ONE), "goes past");
}

static void walk_agrees_with_unpacked(void **state)
{
	(void)state;
	rig_compare(
	        read_graph, twin_graph, "testdata/recorded/function_0/graph.pb", NULL, NULL, 4000);
	rig_compare(read_graph, twin_graph, "testdata/recorded/mlp_0/graph.pb", NULL, NULL, 4000);
	rig_compare(
	        read_graph, twin_graph, "testdata/recorded/synthetic_2/graph.pb", NULL, NULL, 3000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rig_case(inputs_are_cut),
		rig_case(shapes_follow_the_rule),
		rig_case_attrs(last_of_a_key_counts),
		rig_case(attribute_values_merge),
		rig_case(first_of_a_name_counts),
		cmocka_unit_test(faults_are_refused),
		rig_case(unread_parts_are_skipped),
		cmocka_unit_test(graphs_lie_in_others),
		cmocka_unit_test(walk_agrees_with_unpacked),
	};

	return unit_main(tests, argc, argv);
}
