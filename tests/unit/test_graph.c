/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph view: parents, omitted nodes, moved children; depth.
 */
#include "unit.h"
#include "view_rig.h"

/* Two sinks share b; b and c feed each other's neighbours. */
static struct view_rig *diamond(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "z", "Z", "b c"); /* 1 */
	rig_node(r, "a", "A",
	        "^b"); /* 2; the reader removes '^', here it is part of an unknown name */
	rig_node(r, "b", "B", "d");     /* 4 */
	rig_node(r, "c", "C", "d e b"); /* 8 */
	rig_node(r, "d", "D", "far");   /* 16 */
	rig_node(r, "e", "E", "e d");   /* 32 */
	rig_done(r);
	return r;
}

static void test_first_visitor_owns(void **state)
{
	struct view_rig *r = diamond(state);

	assert_str(
	        rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .a=2 .z=61 ..b=20 ...d=16 ..c=40 ...e=32");
}

/* A cycle without readers outside is omitted; so is a node that reads only itself. */
static void test_cycles(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "sink", "Op", "x");
	rig_node(r, "x", "Op", "y");
	rig_node(r, "y", "Op", "x");
	rig_node(r, "p", "Op", "q");
	rig_node(r, "q", "Op", "p");
	rig_node(r, "own", "Op", "own");
	rig_done(r);
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=7 .sink=7 ..x=6 ...y=4");
	assert_int_equal(rig_tree(r, VK_GRAPH)->n, 4);
}

/* For inputs that the original cannot read, a cycle is at the top with its first node. */
static void test_cycles_of_new_inputs(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "sink", "Op", "x");
	rig_node(r, "x", "Op", "y");
	rig_node(r, "y", "Op", "x");
	rig_node(r, "a", "Op", "q"); /* only q and p lead to it */
	rig_node(r, "p", "Op", "a q");
	rig_node(r, "q", "Op", "p far");
	rig_node(r, "below", "Op", "below");
	rig_node(r, "over", "Op", "over below");
	ingest_new_input(r->in);
	rig_done(r);
	assert_str(rig_shown(r, VK_GRAPH),
	        "_TFProfRoot=255 .a=56 ..q=48 ...p=16 .over=192 ..below=64 .sink=7 ..x=6 ...y=4");
}

/* Every node is in the totals of every view, whatever the edges. */
static void test_random_totals(void **state)
{
	uint64_t seed = 1;

	for (unsigned turn = 0; turn < 300; turn++) {
		struct view_rig *r = view_rig(*state);
		unsigned n = 1 + turn % 12;
		for (unsigned i = 0; i < n; i++) {
			struct sb inputs = sb_in(r->a);
			for (unsigned k = 0; k < turn % 3; k++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				sb_fmt(&inputs, " n%u", (unsigned)(seed >> 33) % (n + 1));
			}
			rig_node(r, str_fmt(r->a, "n%u", i).p, i % 2 ? "A" : "B",
			        inputs.n ? inputs.p + 1 : "");
		}
		ingest_new_input(r->in);
		rig_done(r);
		assert_int_equal(rig_tree(r, VK_GRAPH)->n, n + 1);
		struct str total = str_fmt(r->a, "_TFProfRoot=%llu ", (1ull << n) - 1);
		assert_true(str_starts(rig_shown(r, VK_GRAPH), total));
		assert_true(str_starts(rig_shown(r, VK_SCOPE), total));
	}
}

/* The structure does not depend on the accounted nodes: d stays below b, though b itself is
 * dropped. */
static void test_dropped_nodes_hand_up(void **state)
{
	struct view_rig *r = diamond(state);

	rig_set(r, "account_type_regexes", "Z,C,D");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=25 .z=25 ..c=8 ..d=16");
	rig_set(r, "account_type_regexes", "D");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=16 .d=16");
	rig_set(r, "account_type_regexes", "''");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=0");
}

/* Quirk 29: a node first reached too deep does not appear on a shorter path. */
static void test_too_deep_stays_away(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "s", "Op", "a b");
	rig_node(r, "a", "Op", "m");
	rig_node(r, "m", "Op", "b");
	rig_node(r, "b", "Op", "");
	rig_done(r);
	rig_set(r, "max_depth", "3");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=15 .s=15 ..a=14");
	rig_set(r, "max_depth", "0");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=15");
}

static void test_start_trim_hide(void **state)
{
	struct view_rig *r = diamond(state);

	rig_set(r, "start_name_regexes", "c,d");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .c=40 ..e=32 .d=16");
	rig_set(r, "start_name_regexes", ".*");
	rig_set(r, "trim_name_regexes", "b");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .a=2 .z=61 ..b=20 ..c=40 ...e=32");
	rig_set(r, "trim_name_regexes", "''");
	rig_set(r, "hide_name_regexes", "z,c");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .a=2 .b=20 ..d=16 .e=32");
	rig_set(r, "account_displayed_op_only", "true");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=54 .a=2 .b=20 ..d=16 .e=32");
}

/* Children of one parent by total, equal ones as the inputs name them. */
static void test_order(void **state)
{
	struct view_rig *r = diamond(state);

	rig_set(r, "order_by", "float_ops");
	assert_str(
	        rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .z=61 ..c=40 ...e=32 ..b=20 ...d=16 .a=2");
	rig_set(r, "order_by", "bytes");
	assert_str(
	        rig_shown(r, VK_GRAPH), "_TFProfRoot=63 .a=2 .z=61 ..b=20 ...d=16 ..c=40 ...e=32");
}

/* The type of the root, which no node defines. */
static void test_root_type(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "n", "Op", "");
	rig_done(r);
	rig_set(r, "select", "op_types,occurrence");
	assert_str(rig_lines(r, VK_GRAPH), "node name | op types | op count (run|defined)\n"
	                                   "_TFProfRoot (_TFGraphParent, --/0|--/1)\n"
	                                   "  n (Op, 0/0|1/1)\n");
}

/* Counts of runs and definitions are shortened like all counts. */
static void test_occurrence(void **state)
{
	struct view_rig *r = view_rig(*state);
	struct cell_in often = { .runs = 12345, .start = 1, .end = 2 };

	ingest_cell(r->in, 0, rig_node(r, "n", "Op", ""), &often);
	rig_done(r);
	rig_set(r, "select", "occurrence");
	assert_str(rig_lines(r, VK_GRAPH), "node name | op count (run|defined)\n"
	                                   "_TFProfRoot (--/12.35k|--/1)\n"
	                                   "  n (12.35k/12.35k|1/1)\n");
}

/* ".*" alone matches everything; as one of two patterns it does not match a newline. */
static void test_newline_in_name(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "two\nlines", "Op", "");
	rig_done(r);
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=1 .two\nlines=1");
	rig_set(r, "show_name_regexes", ".*,x");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=1");
}

/* A chain of 200,000 nodes: no recursion anywhere. */
static void test_deep(void **state)
{
	const uint32_t levels = 200000;
	struct view_rig *r = view_rig(*state);

	for (uint32_t i = 0; i < levels; i++) {
		struct str name = str_fmt(r->a, "n%u", i), next = str_fmt(r->a, "n%u", i + 1);
		ingest_node(r->in, ingest_string(r->in, name), ingest_string(r->in, S("Op")));
		ingest_input(r->in, 0, ingest_string(r->in, next), 0);
		ingest_set_float_ops(r->in, ingest_end_node(r->in), 1);
	}
	rig_done(r);
	rig_set(r, "max_depth", "1000000");
	rig_set(r, "show_name_regexes", "n199999");
	assert_str(rig_shown(r, VK_GRAPH), "_TFProfRoot=200000 .n199999=1");
	assert_int_equal(rig_tree(r, VK_GRAPH)->n, levels + 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_first_visitor_owns),
		unit_case(test_cycles),
		unit_case(test_cycles_of_new_inputs),
		unit_case(test_random_totals),
		unit_case(test_dropped_nodes_hand_up),
		unit_case(test_too_deep_stays_away),
		unit_case(test_start_trim_hide),
		unit_case(test_order),
		unit_case(test_root_type),
		unit_case(test_occurrence),
		unit_case(test_newline_in_name),
		unit_case(test_deep),
	};

	return unit_main(tests, argc, argv);
}
