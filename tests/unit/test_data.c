/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers as data: their destination, the rows of each view, the origin in documents.
 */
#include "unit.h"

#include <stdio.h>
#include "export/data/document.h"
#include "model/input.h"
#include "out_rig.h"

#define TRACE(function, line) "traces { file_id: 1 function_id: " function " lineno: " line " } "
#define NODE(key, name, op, more)                                                                  \
	"nodes { key: " key " value { name: '" name "' op: '" op "' op_types: '" op "' " more "} " \
	"} "
#define RAN(us)                                                                                    \
	"execs { key: 0 value { run_count: 1 all_start_micros: 5 latest_end_micros: 9 "            \
	"cpu_execs { key: '/cpu:0' value { times { int64_values: [5, " us "] } } } } } "

static const char model[] =
        "has_trace: true steps: 0 id_to_string { key: 1 value: '/src/m.py' } "
        "id_to_string { key: 2 value: 'main' } id_to_string { key: 3 value: 'f,\"g\"' } " //
        NODE("1", "s/a", "Op", "trace { " TRACE("2", "1") TRACE("3", "7") "} " RAN("30"))
                NODE("2", "s/b", "Op", "trace { " TRACE("2", "1") "} " RAN("4"))
                        NODE("3", "c", "Var", "shape: 7 ");

static void open_model(struct out_rig *x)
{
	out_open(x, model);
	out_set(x, "select", "cpu_micros");
}

static void assert_csv(struct out_rig *x, enum vk kind, const char *text)
{
	out_set(x, "output", "csv");
	assert_true(out_request(x, kind));
	assert_text(sink_text(x->out), text);
}

#define HEAD   "type,types,device,accounted,"
#define VALUES "own_cpu_micros,total_cpu_micros\n"

static void test_scope(void **state)
{
	struct out_rig x;

	(void)state;
	open_model(&x);
	assert_csv(&x, VK_SCOPE,
	        "path,parent,depth," HEAD VALUES "_TFProfRoot,,0,,_kTFScopeParent,,false,0,34\n"
	        "c,_TFProfRoot,1,Var,Var,,true,0,0\n"
	        "s,_TFProfRoot,1,,_kTFScopeParent,,true,0,34\n"
	        "s/a,s,2,Op,Op,,true,30,30\n"
	        "s/b,s,2,Op,Op,,true,4,4\n");
	out_close(&x);
}

/* Own and total: of the type; cumulative: of the type and all types after it. The root is not a
 * row.
 */
static void test_op(void **state)
{
	struct out_rig x;

	(void)state;
	open_model(&x);
	out_set(&x, "order_by", "cpu_micros");
	assert_csv(&x, VK_OP,
	        "path,parent,depth," HEAD
	        "nodes,own_cpu_micros,total_cpu_micros,cumulative_cpu_micros\n"
	        "Op,,0,Op,Op,,true,2,34,34,34\n"
	        "Var,,0,Var,Var,,true,1,0,0,0\n");
	out_close(&x);
}

static void test_code(void **state)
{
	struct out_rig x;

	(void)state;
	open_model(&x);
	assert_csv(&x, VK_CODE,
	        "path,parent,depth,file,line,function,gradient," HEAD "nodes," VALUES
	        "_TFProfRoot,,0,,,,false,,,,false,0,0,34\n"
	        "m.py:1:main,_TFProfRoot,1,/src/m.py,1,main,false,,Op,,true,1,4,34\n"
	        "\"m.py:1:main/m.py:7:f,\"\"g\"\"\",m.py:1:main,2,/src/"
	        "m.py,7,\"f,\"\"g\"\"\",false,,"
	        "Op,,true,1,30,30\n");
	out_close(&x);
}

static void test_where_it_goes(void **state)
{
	struct out_rig x;

	(void)state;
	open_model(&x);
	out_to(&x, "md", "rows");
	assert_true(out_request(&x, VK_OP));
	assert_int_equal(sink_size(x.out), 0);
	assert_true(str_starts(out_file(&x, "rows"), S("| path | parent |")));
	out_set(&x, "output", "json:outfile=/no/such/folder/f");
	assert_false(out_request(&x, VK_OP));
	assert_int_equal(x.g.e.code, ERR_NOT_FOUND);
	assert_int_equal(out_files(&x), 1);
	out_set(&x, "output", "ndjson"); /* the previous output file is no longer used */
	assert_true(out_request(&x, VK_OP));
	assert_true(str_starts(sink_text(x.out), S("{\"path\":\"Op\",\"parent\":null,")));
	out_close(&x);
}

static void test_depth_is_written(void **state)
{
	struct out_rig x;

	(void)state;
	open_model(&x);
	out_set(&x, "max_depth", "2");
	out_set(&x, "output", "csv");
	assert_true(out_request(&x, VK_SCOPE));
	assert_text(out_notes(&x), "note: 2 entries below -max_depth 2 are not among the rows\n");
	out_set(&x, "output", "json");
	assert_true(out_request(&x, VK_SCOPE));
	assert_text(out_notes(&x), "");
	assert_true(str_contains(sink_text(x.out),
	        S("\"truncation\":{\"entries\":5,\"shown\":3,\"hidden_by\":{\"start\":0,"
	          "\"max_depth\":2,\"trim\":0,\"min\":0,\"top\":0,\"patterns\":0}}")));
	out_close(&x);
}

/* Notes of building a tree appear once in every document, whichever command built it. */
static void test_origin(void **state)
{
	struct source v[] = { { input_role(ROLE_GRAPH), S("a\"b"), 0 },
		{ input_role(ROLE_STEP), S("\xff"), 7 } };
	struct notes loading, building, command;
	struct out_rig x;
	struct document d;

	(void)state;
	out_open(&x, model);
	notes_init(&loading, &x.g.a);
	notes_init(&building, &x.g.a);
	notes_init(&command, &x.g.a);
	note_line(&loading, "loaded\n");
	note_line(&building, "built\n");
	note_line(&command, "built\n");
	note_kind(&command, 5, "odd");
	struct origin from = { v, 2, &loading, NOTES_ALL, &building, 1 };
	x.out = sink_memory(&x.g.a);
	document_begin(&d, x.out, &x.g.a, "tfprof/test", 3);
	document_sources(&d, &from);
	document_warnings(&d, &from, &command);
	document_end(&d);
	assert_text(sink_text(x.out),
	        "{\n\"schema\":{\"name\":\"tfprof/test\",\"version\":3},\n"
	        "\"tool\":{\"name\":\"tfprof\",\"version\":\"" TFPROF_VERSION "\"},\n"
	        "\"sources\":[{\"kind\":\"graph\",\"path\":\"a\\\"b\"},"
	        "{\"kind\":\"run_meta\",\"path\":\"\\\\xff\",\"step\":7}],\n"
	        "\"warnings\":[\"loaded\",\"built\",\"odd\"]\n}\n");
	out_close(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_op),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_where_it_goes),
		cmocka_unit_test(test_depth_is_written),
		cmocka_unit_test(test_origin),
	};

	return unit_main(tests, argc, argv);
}
