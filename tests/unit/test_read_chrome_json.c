/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON traces: the result of each kind of event, old and new categories, headers. Traces are
 * compared as text, one line per slice.
 */
#include "unit.h"

#include "chrome_rig.h"

static int teardown(void **state)
{
	chrome_drop();
	return unit_teardown(state);
}

static void forms(void **state)
{
	(void)state;
	holds("{\"traceEvents\":[" OP "," OP2 "]}", OP_IS OP2_IS);
	silent();
	holds("[" OP "," OP2 "]", OP_IS OP2_IS);
	silent();
	holds("\xef\xbb\xbf[" OP "]\n", OP_IS);
	silent();
	holds("[" OP "]\n[" OP2 "]\n", OP_IS OP2_IS);
	noted("concatenated JSON texts: all were read (line 2, byte ");
	holds("{\"traceEvents\":[],\"otherData\":{\"x\":[1,{\"traceEvents\":[2]}]}}", "");
	silent();
	assert_int_equal(chrome_trace->source, TRACE_PLAIN);
	holds("{\"traceEvents\":[" OP ",{}]}", OP_IS);
	silent();
	holds("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" OP "],\"traceEvents\":[" OP2 "]}",
	        OP_IS OP2_IS);
	assert_int_equal(chrome_trace->source, TRACE_KINETO);
}

static void categories(void **state)
{
	(void)state;
	holds("[" GPU("kernel", "\"device\":3,\"stream\":4,\"correlation\":9") "]",
	        "gpu3.4 kernel k 1500+250 c9\n");
	holds("[" GPU("Kernel", "") "]", "gpu0.7 kernel k 1500+250\n");
	holds("[" GPU("gpu_memcpy", "\"bytes\":12") "," GPU("Memset", "\"bytes\":5") "]",
	        "gpu0.7 copy k 1500+250 bytes=12\ngpu0.7 set k 1500+250 bytes=5\n");
	holds("[" GPU("gpu_user_annotation", "") "," GPU("cuda_sync", "\"stream\":8") "]",
	        "gpu0.7 annotation k 1500+250\ngpu0.8 sync k 1500+250\n");
	/* A slice of a thread does not become device work because of its arguments. */
	holds("[" GPU("cpu_op", "\"device\":0,\"stream\":7,\"correlation\":3") "," GPU(
	              "cuda_runtime", "\"correlation\":3,\"stream\":7") "," GPU("python_function",
	              "") "," GPU("Trace", "") "]",
	        "0.7 op k 1500+250\n0.7 call k 1500+250 c3\n0.7 frame k 1500+250\n"
	        "0.7 other k 1500+250\n");
	holds("[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":2,\"tid\":\"stream 17\","
	      "\"ts\":1,\"dur\":1}]",
	        "gpu2.17 kernel k 1000+1000\n");
	holds("[{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"ProfilerStep#12\",\"pid\":1,\"tid\":"
	      "\"5\",\"ts\":1,\"dur\":1},"
	      "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: Linear_0\",\"pid\":"
	      "1,\"tid\":5,\"ts\":1,\"dur\":1}]",
	        "1.5 step ProfilerStep#12 1000+1000 step=12\n"
	        "1.5 module nn.Module: Linear_0 1000+1000\n");
	/* Unknown categories are plain slices. */
	holds("[{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"MatMul\",\"pid\":\"host\",\"ts\":1}]",
	        "0.0 op MatMul 1000+0\n");
	assert_int_equal(chrome_trace->source, TRACE_PLAIN);
	/* A NUL does not end a category. */
	holds("[{\"ph\":\"X\",\"cat\":\"kernel\\u0000\",\"name\":\"k\",\"pid\":2,\"ts\":1}]",
	        "2.0 op k 1000+0\n");
	assert_int_equal(chrome_trace->source, TRACE_PLAIN);
}

static void arguments(void **state)
{
	(void)state;
	holds("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,"
	      "\"dur\":"
	      "1,\"args\":{\"External id\":4,\"Input Dims\":[[2, 3],\n []],\"Input type\":[\"a "
	      "b\", "
	      "\"\"],\"Call stack\":\"in(2): f;out(1): g\",\"Sequence "
	      "number\":5,\"unknown\":[1]}}]",
	        "1.1 op a 1000+1000 external=4 sequence=5 shapes='[[2,3],[]]' dtypes='[\"a "
	        "b\",\"\"]' "
	        "stack='out(1): g\nin(2): f'\n");
	holds("[" GPU("kernel", "\"grid\":[1, 2, 3],\"block\":\"[4,1,1]\"") "]",
	        "gpu0.7 kernel k 1500+250 grid='1,2,3' block='[4,1,1]'\n");
	holds("[{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":3,"
	      "\"args\":"
	      "{\"Addr\":77,\"Bytes\":-512,\"Device Type\":1,\"Device Id\":0}}]",
	        "1.1 !allocation [memory] 3000 bytes=-512 address=77 memory_kind=1 device=0\n");
	assert_true(chrome_read(
	        S("[" GPU("gpu_memcpy", "\"bytes\":12,\"stream\":3") "]"), 0, &unit_arena));
	assert_str(chrome_dumped(&unit_arena), "gpu0.3 copy k 1500+250\n");
}

static void times(void **state)
{
	(void)state;
	holds("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1700000000001012.250,\"dur\":\"1.875\"}]",
	        "0.0 op a 1700000000001012250+1875\n");
	holds("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-5}," OP "]",
	        "0.0 op a 1000+0\n" OP_IS);
	noted("negative duration");
	holds("[{\"ph\":\"X\",\"name\":\"a\"},{\"ph\":\"X\",\"ts\":\"later\"}," OP "]", OP_IS);
	noted("event without a time: ignored (line 1, byte 21; 2 in all)");
	holds("[" GPU("kernel", "\"correlation\":99999999999999999999999") "]",
	        "gpu0.7 kernel k 1500+250\n");
	noted("integer overflow");
}

static void pairs(void **state)
{
	(void)state;
	holds("[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1},"
	      "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":2},"
	      "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":3},"
	      "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":5},"
	      "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":6}]",
	        "1.2 op a 1000+4000\n1.2 op b 2000+1000\n");
	assert_int_equal(chrome_trace->unopened, 1);
	holds("[{\"ph\":\"b\",\"cat\":\"t\",\"id\":\"0x1\",\"name\":\"a\",\"pid\":1,\"ts\":1},"
	      "{\"ph\":\"b\",\"cat\":\"t\",\"id\":\"0x2\",\"name\":\"b\",\"pid\":1,\"ts\":2},"
	      "{\"ph\":\"e\",\"cat\":\"t\",\"id\":\"0x1\",\"pid\":1,\"ts\":3},"
	      "{\"ph\":\"e\",\"cat\":\"t\",\"id\":\"0x2\",\"pid\":1,\"ts\":4}]",
	        "1.'t 0x1' op a 1000+2000\n1.'t 0x2' op b 2000+2000\n");
	silent();
}

static void others(void **state)
{
	(void)state;
	holds("[{\"args\":{\"in "
	      "use\":5,\"free\":7.0},\"name\":\"memory\",\"pid\":1,\"ts\":1,\"ph\":"
	      "\"C\"},{\"ph\":\"I\",\"name\":\"mark\",\"pid\":1,\"tid\":3,\"ts\":2},"
	      "{\"ph\":\"s\",\"id\":1,\"pid\":1,\"tid\":3,\"ts\":2},{\"ph\":\"f\",\"id\":1,\"ts\":"
	      "3}]",
	        "1.'memory in use' other memory 1000 value=5\n"
	        "1.'memory free' other memory 1000 value=7\n"
	        "1.3 !other mark 2000\n");
	silent();
}

static void names(void **state)
{
	(void)state;
	holds("{\"schemaVersion\":1,\"baseTimeNanoseconds\":1700000000000000001,"
	      "\"deviceProperties\":[{\"id\":1,\"name\":\"H\\u0031\",\"totalGlobalMem\":80},3],"
	      "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"world_size\":8,\"pg\":[{}]},"
	      "\"traceEvents\":["
	      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"python\"}},"
	      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":8,\"args\":{\"name\":\"idle\"}},"
	      "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":\"4\",\"args\":{\"name\":"
	      "\"worker\"}}," GPU("kernel",
	              "\"device\":1,\"correlation\":2") ","
	                                                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\","
	                                                "\"name\":\"launch\",\"pid\":9,\"tid\":4,"
	                                                "\"ts\":1,"
	                                                "\"dur\":1,\"args\":{\"correlation\":2}}]}",
	        "gpu1.7 kernel k 1500+250 c2\n9.4 call launch 1000+1000 c2\n");
	assert_int_equal(chrome_trace->origin_ns, INT64_C(1700000000000000001));
	assert_int_equal(chrome_trace->processes.n, 1);
	assert_int_equal(chrome_trace->processes.v[0].rank, 3);
	assert_int_equal(chrome_trace->processes.v[0].world, 8);
	assert_str(trace_str(chrome_trace, chrome_trace->processes.v[0].name), "python");
	assert_str(trace_str(chrome_trace, chrome_trace->devices.v[0].model), "H1");
	assert_int_equal(chrome_trace->devices.v[0].memory, 80);
	/* Device work belongs to the process that launches it. */
	assert_int_equal(chrome_trace->tracks.v[0].process, 0);
	assert_int_equal(chrome_trace->devices.v[0].process, 0);
	assert_str(trace_str(chrome_trace, chrome_trace->tracks.v[1].name), "worker");
}

#define KIND(ph, cat, name, ts, rest)                                                              \
	"{\"ph\":\"" ph "\",\"cat\":\"" cat "\",\"name\":\"" name                                  \
	"\",\"pid\":1,\"tid\":2,\"ts\":" ts rest "}"

/* Events share a kind only if everything that defines the kind is equal. */
static void kinds(void **state)
{
	struct sb text = sb_in(&unit_arena), expected = sb_in(&unit_arena);

	(void)state;
	holds("[" KIND("X", "cpu_op", "a", "1", ",\"dur\":1") "," KIND("i", "cpu_op", "a", "2",
	              "") "," KIND("X", "cpu_op", "a", "3", ",\"dur\":1") "]",
	        "1.2 op a 1000+1000\n1.2 !other a 2000\n1.2 op a 3000+1000\n");
	holds("[" KIND("X", "x", "a", "1", "") "," KIND("X", "x", "a", "2", "") "," KIND(
	              "X", "cpu_op", "a", "3", "") "," KIND("X", "x", "a", "4", "") "]",
	        "1.2 op a 1000+0\n1.2 op a 2000+0\n1.2 op a 3000+0\n1.2 other a 4000+0\n");
	holds("[" KIND("X", "cpu_op", "a", "1", ",\"args\":{\"scope\":\"s\",\"name\":1}") "," KIND(
	              "X", "cpu_op", "a", "2",
	              ",\"args\":{\"Input Dims\":[1],\"Input type\":[2]}") "," KIND("X", "cpu_op",
	              "a", "3",
	              ",\"args\":{\"Input Dims\":\"[1]\",\"Input type\":[2]}") "," KIND("X",
	              "cpu_op", "a", "4", ",\"args\":{\"Input Dims\":[2],\"Input type\":[1]}") "]",
	        "1.2 op a 1000+0\n1.2 op a 2000+0 shapes='[1]' dtypes='[2]'\n"
	        "1.2 op a 3000+0 shapes='[1]' dtypes='[2]'\n"
	        "1.2 op a 4000+0 shapes='[2]' dtypes='[1]'\n");
	holds("[" KIND("X", "cpu_op", "\\q", "1", "") "," KIND("X", "cpu_op", "\\q", "2", "") "]",
	        "1.2 op \\q 1000+0\n1.2 op \\q 2000+0\n");
	noted("bad escape in a string: kept as it is (line 1, byte 34; 2 in all)");
	sb_char(&text, '[');
	for (int i = 0; i < 9; i++) {
		struct sb name = sb_in(&unit_arena);
		sb_repeat(&name, 'n', (size_t)(1000 + i / 3 * 1000));
		sb_fmt(&text, "%s{\"ph\":\"X\",\"name\":\"%.*s\",\"ts\":%d}", i ? "," : "",
		        STR(sb_str(&name)), i);
		sb_fmt(&expected, "0.0 op %.*s %d+0\n", STR(sb_str(&name)), 1000 * i);
	}
	sb_char(&text, ']');
	sb_char(&expected, 0);
	assert_true(chrome_read(sb_str(&text), ARG_BITS_ALL, &unit_arena));
	assert_str(chrome_dumped(&unit_arena), expected.p);
	assert_int_equal(chrome_trace->events.n, 3);
}

int main(int argc, char **argv)
{
#define test(f) cmocka_unit_test_setup_teardown(f, unit_setup, teardown)
	const struct CMUnitTest tests[] = { test(forms), test(categories), test(arguments),
		test(times), test(pairs), test(others), test(names), test(kinds) };

	return unit_main(tests, argc, argv);
}
