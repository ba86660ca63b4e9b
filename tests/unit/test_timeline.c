/* SPDX-License-Identifier: Apache-2.0
 *
 * Timelines: boxes, lanes and arrows of graph, memory counters, flame charts of scope and code,
 * files and refusals.
 */
#include "unit.h"

#include <stdio.h>
#include "out_rig.h"

#define BEGIN "{\"traceEvents\":["
#define END   "]}\n"
#define ROW(n, pid)                                                                                \
	"{\"args\":{\"name\":\"" n "\"},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" pid "}"
#define AT(pid, tid, ts) ",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts "}"
#define BOX(n, dur, pid, tid, ts)                                                                  \
	"{\"args\":{\"name\":\"" n "\"},\"cat\":\"Op\",\"dur\":" dur ",\"name\":\"" n              \
	"\",\"ph\":\"X\"" AT(pid, tid, ts)
#define SCOPE(n, dur, pid, ts)                                                                     \
	"{\"args\":{\"name\":\"" n "\",\"op\":\"" n "\"},\"cat\":\"Op\",\"dur\":" dur              \
	",\"name\":\"" n "\",\"ph\":\"X\"" AT(pid, "0", ts)
#define FLOW(id, n, ph, pid, tid, ts)                                                              \
	"{\"cat\":\"DataFlow\",\"id\":" id ",\"name\":\"" n "_flow\",\"ph\":\"" ph                 \
	"\"" AT(pid, tid, ts)

#define CPU                        "/cpu:0"
#define GPU                        "/gpu:0"
#define ON(device)                 "canonical_device: '" device "' host_device: '/cpu:0' "
#define TIMES(list, device, times) list " { key: '" device "' value { " times " } } "
#define T(start, length)           "times { int64_values: " start " int64_values: " length " } "
#define EXEC(what)                 "execs { key: 0 value { run_count: 1 all_start_micros: 10 " what "} } "
#define NODE(key, name, what)      "nodes { key: " key " value { name: '" name "' op: 'Op' " what "} } "

#define STARS "******************************************************\n"

static void graph_has_boxes_lanes_and_arrows(void **state)
{
	struct out_rig x;
	char said[512];

	(void)state;
	/* a reads b, twice and as control; b's executions overlap; two begin at 20: the first
	 * counts */
	out_open(&x, NODE("1", "a",
	                     ON(CPU) "inputs { key: 0 value: 2 } inputs { key: 1 value: 2 } " EXEC(
	                             TIMES("cpu_execs", CPU, T("40", "5")))) NODE("2", "b",
	                     ON(GPU) EXEC(TIMES("accelerator_execs", "/gpu:0/stream:all",
	                             T("21", "4")) TIMES("cpu_execs", GPU,
	                             T("20", "10") T("20", "99") T("25", "5") T("30", "1")
	                                     T("10", "10")))) "steps: 0");
	out_set(&x, "step", "0");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	assert_text(out_file(&x, "t_0"),
	        BEGIN ROW("Op scheduling threads: /cpu:0", "0") "," ROW(
	                "Op scheduling threads: /gpu:0",
	                "1") "," ROW("Op execution threads: /gpu:0/stream:all", "2") "," BOX("a",
	                "5", "0", "0", "40") "," BOX("b", "10", "1", "0", "10") "," BOX("b", "10",
	                "1", "0", "20") "," BOX("b", "1", "1", "0", "30") "," BOX("b", "5", "1",
	                "1", "25") "," BOX("b", "4", "2", "0", "21") "," ROW("mem usage on:/gpu:0",
	                "3") "," ROW("mem usage on:/gpu:0 allocations", "4") "," FLOW("1", "b", "s",
	                "1", "0", "20") "," FLOW("1", "b", "t", "0", "0", "40") "," FLOW("2", "b",
	                "s", "1", "0", "20") "," FLOW("2", "b", "t", "0", "0", "40") "," FLOW("3",
	                "b", "s", "1", "0", "30") "," FLOW("3", "b", "t", "0", "0",
	                "40") "," FLOW("4", "b", "s", "1", "0", "30") "," FLOW("4", "b", "t", "0",
	                "0", "40") "," FLOW("5", "b", "s", "1", "0", "30") "," FLOW("5", "b", "t",
	                "0", "0", "40") "," FLOW("6", "b", "s", "1", "0", "30") "," FLOW("6", "b",
	                "t", "0", "0", "40") "," FLOW("7", "b", "s", "1", "0", "31") "," FLOW("7",
	                "b", "t", "0", "0", "40") "," FLOW("8", "b", "s", "1", "0",
	                "31") "," FLOW("8", "b", "t", "0", "0", "40") "," FLOW("9", "b", "s", "1",
	                "1", "30") "," FLOW("9", "b", "t", "0", "0", "40") "," FLOW("10", "b", "s",
	                "1", "1", "30") "," FLOW("10", "b", "t", "0", "0", "40") END);
	snprintf(said, sizeof said,
	        "generating trace file.\n/gpu:0 peak memory: 0.00 MB\n\n" STARS
	        "Timeline file is written to %s/t_0.\nOpen a Chrome browser, enter URL "
	        "chrome://tracing and load the timeline file.\n" STARS,
	        x.folder);
	assert_text(sink_text(x.out), said);
	out_close(&x);
}

/* Not drawn: without a start, without a device, without a host. */
static void graph_leaves_out_what_has_no_place(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x,
	        NODE("1", "a",
	                ON(CPU) "execs { key: 0 value { " TIMES(
	                        "cpu_execs", CPU, T("1", "1")) "} } ") NODE("2", "b",
	                "canonical_device: '/cpu:0' " EXEC(TIMES("cpu_execs", CPU, T("2", "1"))))
	                NODE("3", "c",
	                        "host_device: '/cpu:0' " EXEC(TIMES("cpu_execs", CPU, T("3", "1"))))
	                        NODE("4", "d", ON(CPU)));
	out_set(&x, "step", "0");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	assert_text(out_file(&x, "t_0"), BEGIN END);
	out_close(&x);
}

static void graph_writes_a_file_for_each_step(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "a",
	                     ON(CPU) EXEC(TIMES("cpu_execs", CPU,
	                             T("1", "1")))) "steps: 0 steps: 7 steps: -2");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	assert_int_equal(out_files(&x), 2);
	assert_true(out_file(&x, "t_0").n > out_file(&x, "t_7").n);
	assert_text(out_file(&x, "t_7"), BEGIN END);
	assert_text(
	        out_notes(&x), "Must specify -step option to generate timeline in graph view.\n");
	out_close(&x);
	out_open(&x, NODE("1", "a", ""));
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	assert_int_equal(out_files(&x), 0);
	assert_int_equal(sink_size(x.out), 0);
	out_close(&x);
}

/* A thousand boxes at the same time, then a box after the end of the first one, whose lane is
 * reused. */
static void lanes_are_used_again(void **state)
{
	struct out_rig x;
	struct sb b;

	(void)state;
	out_open(&x, "");
	b = sb_in(&x.g.a);
	sb_put(&b, S("nodes { key: 1 value { name: 'a' op: 'Op' " ON(
	                   CPU) "execs { key: 0 value { all_start_micros: 1 cpu_execs { key: '" CPU
	                        "' value { "));
	for (int i = 0; i < 1000; i++)
		sb_fmt(&b, T("%d", "%d"), i, i == 500 ? 1500 : 2000);
	sb_put(&b, S(T("2000", "5") T("2001", "7") "} } } } } }"));
	sb_char(&b, 0);
	char *text = b.p;
	struct out_rig y;
	out_open(&y, text);
	out_set(&y, "step", "0");
	out_to(&y, "timeline", "t");
	assert_true(out_request(&y, VK_GRAPH));
	struct str f = out_file(&y, "t_0");
	assert_true(str_contains(f, S(BOX("a", "2000", "0", "999", "999"))));
	assert_true(str_contains(f, S(BOX("a", "5", "0", "0", "2000"))));
	assert_true(str_contains(f, S(BOX("a", "7", "0", "1", "2001"))));
	out_close(&y);
	out_close(&x);
}

/* ---- scope and code ---- */

#define RAN(micros) EXEC(TIMES("cpu_execs", CPU, T("5", micros)))

static void scope_stands_side_by_side(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "s/a", ON(CPU) RAN("3")) NODE("2", "s/b", ON(CPU)) NODE("3",
	                     "s/c\\303\\251", ON(CPU) RAN("4")) NODE("4", "t", ON(CPU) RAN("5")));
	out_set(&x, "order_by", "micros");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_SCOPE));
	assert_text(out_file(&x, "t_-1"),
	        BEGIN ROW("Scope:0", "0") "," SCOPE("_TFProfRoot", "12", "0", "0") "," ROW(
	                "Scope:1", "1") "," SCOPE("s", "7", "1", "0") "," ROW("Scope:2",
	                "2") "," SCOPE("s/c\\u00e9", "4", "2", "0") "," SCOPE("s/a", "3", "2",
	                "4") "," SCOPE("t", "5", "1", "7") END);
	assert_text(out_notes(&x), "");
	out_close(&x);
}

/* Times that decrease: a scope is as wide as its contents, and a note is added. */
static void scope_is_as_wide_as_its_children(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "s", ON(CPU) RAN("-3")) NODE("2", "s/a", ON(CPU) RAN("10"))
	                     NODE("3", "t", ON(CPU) RAN("-100")) NODE("4", "u", ON(CPU) RAN("1")));
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_SCOPE));
	assert_text(out_file(&x, "t_-1"),
	        BEGIN ROW("Scope:0", "0") "," SCOPE("_TFProfRoot", "11", "0", "0") "," ROW(
	                "Scope:1", "1") "," SCOPE("s", "10", "1", "0") "," ROW("Scope:2",
	                "2") "," SCOPE("s/a", "10", "2", "0") "," SCOPE("u", "1", "1", "10") END);
	assert_true(str_contains(out_notes(&x), S("wider than its time")));
	out_close(&x);
}

/* ---- files and refusals ---- */

static void a_failed_file_leaves_nothing(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "a", ON(CPU) RAN("3")));
	out_to(&x, "timeline", "no/t");
	assert_false(out_request(&x, VK_SCOPE));
	assert_true(str_contains(x.g.e.text, S("/no/t_-1': No such file")));
	assert_int_equal(sink_size(x.out), 0);
	assert_int_equal(out_files(&x), 0);
	out_close(&x);
}

static void op_has_no_timeline(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "a", ON(CPU) RAN("3")));
	out_to(&x, "timeline", "t");
	assert_false(out_request(&x, VK_OP));
	assert_int_equal(x.g.e.code, ERR_STEP);
	assert_text(out_notes(&x),
	        "op view doesn't support timeline yet. Consider graph/scope/code view.\n");
	out_set(&x, "step", "3"); /* said first */
	assert_false(out_request(&x, VK_OP));
	assert_true(str_starts(out_notes(&x), S("Options -step=3 not found.")));
	assert_int_equal(out_files(&x), 0);
	out_close(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graph_has_boxes_lanes_and_arrows),
		cmocka_unit_test(graph_leaves_out_what_has_no_place),
		cmocka_unit_test(graph_writes_a_file_for_each_step),
		cmocka_unit_test(lanes_are_used_again),
		cmocka_unit_test(scope_stands_side_by_side),
		cmocka_unit_test(scope_is_as_wide_as_its_children),
		cmocka_unit_test(a_failed_file_leaves_nothing),
		cmocka_unit_test(op_has_no_timeline),
	};

	return unit_main(tests, argc, argv);
}
