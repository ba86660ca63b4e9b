/* SPDX-License-Identifier: Apache-2.0
 *
 * read_profile: nodes that refer to later ones, executions, omissions with a note, and agreement
 * with the unpacked messages.
 */
#include "unit.h"

#include "reader_rig.h"
#include "tfprof_log.pb-c.h"

#define PROFILE &tensorflow__tfprof__profile_proto__descriptor

static bool read_text(struct rig *g, const char *text)
{
	return rig_read_text(g, read_profile, PROFILE, text);
}

static void node_is_taken_as_it_is(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g,
	        "nodes { key: 3 value { name: 'n' op: 'Op' shape: 3 shape: 4 float_ops: 5"
	        " op_types: 'Z' op_types: 'A' canonical_device: '/Device:CPU:0' host_device: '/h'"
	        " attrs { key: 'data_format' value { s: 'NHWC' } }"
	        " output_shapes { key: 2 value { int64_values: 8 } }"
	        " output_shapes { key: 1 value { } }"
	        " trace { traces { file_id: 7 lineno: 1 } } } }"
	        "has_trace: true id_to_string { key: 7 value: 'f.py' }"));
	/* NHWC, call stack, given types */
	assert_true(rig_says(g, "n = Op on '/Device:CPU:0' host '/h' flags 16 float_ops 5 params 12"
	                        " shape [ 3 4 ]\n  types A Z\n  out 1 [ ]\n  out 2 [ 8 ]\n"
	                        "  at f.py:1 (0) <>"));
	assert_true(g->m->has_traces);
}

static void inputs_name_nodes_by_key(void **state)
{
	struct rig *g = *state;

	assert_true(
	        read_text(g, "nodes { key: 0 value { name: 'n' inputs { key: 2 value: 9000000000 }"
	                     " inputs { key: 0 value: -4 } inputs { key: 1 value: 77 }"
	                     " inputs { key: 0 value: 5 } src_output_index { key: 5 value: 3 } } }"
	                     "nodes { key: 5 value { name: 'five' } }"
	                     "nodes { key: 9000000000 value { name: 'far' } }"));
	assert_true(rig_says(g, "  in 0 'five' 3\n  in 2 'far' -1\n"));
	assert_int_equal(g->notes.list.n, 1);
	assert_true(str_contains(g->notes.list.v[0].text, S("1 input from missing nodes")));
}

static void first_name_and_last_key_count(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g,
	        "nodes { key: 1 value { name: 'a' op: 'Gone' } }"
	        "nodes { key: 2 value { name: 'b' op: 'First' } }"
	        "nodes { key: 1 value { name: 'c' op: 'Kept' } }"
	        "nodes { key: 3 value { name: 'b' op: 'Second' inputs { value: 1 } } }"));
	assert_int_equal(g->m->nodes.n, 2);
	assert_true(rig_says(g, "b = First"));
	assert_true(rig_says(g, "c = Kept"));
	assert_int_equal(g->m->inputs.n, 0);
}

static void executions_become_cells(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g,
	        "nodes { value { name: 'n' execs { key: 4 value { run_count: 2 all_start_micros: 10"
	        " latest_end_micros: 30 devices: 'd' devices: 'seen' devices: 'seen'"
	        " cpu_execs { key: 'd' value { times { int64_values: 1 int64_values: 2 } } }"
	        " cpu_execs { key: 'd' value { times { int64_values: 10 int64_values: 5 }"
	        "   times { int64_values: 20 } times { int64_values: 21 int64_values: 9 "
	        "int64_values: 1 } } }"
	        " accelerator_execs { key: 's' value { times { int64_values: 11 int64_values: 6 } "
	        "} }"
	        " memory_execs { memory_micros: 12 host_temp_bytes: 1 host_persistent_bytes: 2"
	        "   accelerator_temp_bytes: 3 accelerator_persistent_bytes: 4 requested_bytes: 5"
	        "   peak_bytes: 6 residual_bytes: 7 output_bytes: 8 allocator_bytes_in_use: 9"
	        "   output_memory { key: 1 value { bytes: 64 ptr: 255 } }"
	        "   output_memory { key: 0 value { bytes: 32 } } }"
	        " allocations { alloc_micros: 13 alloc_bytes: -64 } } } } }"
	        "steps: 4 steps: 6"));
	assert_true(rig_says(g, "step 4\n n runs 2 10..30\n  span 1 's' 11 6\n  span 2 'd' 10 5\n"
	                        "  span 2 'd' 21 9\n  span 0 'seen' 0 0\n"
	                        "  mem 0 12: 5 6 7 8 use 9 temp 1 2 3 4 0:32@0 1:64@ff\n"
	                        "  mem 1 13: -64 0 0 0 use 0 temp 0 0 0 0\nstep 6\n"));
	assert_true(str_contains(g->notes.list.v[0].text, S("1 execution time without")));
}

static void last_execution_of_a_step_counts(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g, "nodes { value { name: 'n' execs { key: 1 value { run_count: 7 } }"
	                         " execs { key: 0 value { run_count: 8 } }"
	                         " execs { key: 1 value { run_count: 9 } } } }"));
	assert_true(rig_says(g, "step 0\n n runs 8 0..0\nstep 1\n n runs 9 0..0\n"));
	assert_int_equal(g->m->steps.n, 2);
}

static void stack_is_always_there(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g, "nodes { value { name: 'n' } } miss_accelerator_stream: true"));
	assert_true(rig_says(g, "n =  on '' host '' flags 14 "));
	assert_false(g->m->has_traces);
	assert_false(g->m->misses_streams);
}

static void attributes_are_kept_if_wanted(void **state)
{
	struct rig *g = *state;

	assert_true(read_text(g,
	        "nodes { value { name: 'n' attrs { key: 'x' value { i: 1 } }"
	        " attrs { key: 'y' value { i: 2 } } attrs { key: 'x' value { s: 'abc' } }"
	        " } }"));
	assert_true(rig_says(g, "  attr y 2 bytes\n  attr x 5 bytes\n"));
}

static void faults_are_refused(void **state)
{
	(void)state;
	rig_refuses(read_profile, S("\x0a\x05\x12\x03\x0a\x01\xff"),
	        "byte 6: ProfileProto cannot be parsed: text");
	rig_refuses(read_profile, S("\x1a\x01\xff"), "truncated");                 /* steps */
	rig_refuses(read_profile, S("\x0a\x05\x12\x03\x22\x01\xff"), "truncated"); /* shape */
	rig_refuses(
	        read_profile, S("\x0a\x07\x12\x05\x62\x03\x12\x01\x08"), "truncated"); /* exec */
	rig_refuses(read_profile, S("\x0a\x08\x12\x06\x62\x04\x12\x02\x2a\x01"),
	        "truncated"); /* cpu_execs */
	rig_refuses(read_profile, S("\x0a\x08\x12\x06\x62\x04\x12\x02\x3a\x01"),
	        "truncated"); /* memory */
	rig_refuses(read_profile, S("\x0a\x08\x12\x06\x62\x04\x12\x02\x5a\x01"),
	        "truncated"); /* allocation */
	rig_refuses(read_profile, S("\x0a\x08\x12\x06\x7a\x04\x12\x02\x0a\x01"),
	        "truncated");                                                 /* output shape */
	rig_refuses(read_profile, S("\x0a\x05\x12\x03\x52\x01\x0a"), "byte"); /* trace */
}

/* Copies of a message that are each malformed stay malformed, even if they would fit together. */
static void copies_are_judged_alone(void **state)
{
	(void)state;
	rig_refuses(read_profile,
	        S("\x0a\x0d\x12\x01\x39\x12\x08\x12\x06"
	          "abcdef"),
	        "truncated");
	rig_refuses(read_profile,
	        S("\x0a\x11\x12\x02\x0a\x00\x12\x01\x39\x12\x08\x12\x06"
	          "abcdef"),
	        "truncated");
}

static void walk_agrees_with_unpacked(void **state)
{
	(void)state;
	rig_compare(read_profile, twin_profile, "testdata/recorded/function_0/profile.pb", NULL,
	        NULL, 6000);
	rig_compare(read_profile, twin_profile, "testdata/recorded/synthetic_4/profile.pb", NULL,
	        NULL, 6000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rig_case(node_is_taken_as_it_is),
		rig_case(inputs_name_nodes_by_key),
		rig_case(first_name_and_last_key_count),
		rig_case(executions_become_cells),
		rig_case(last_execution_of_a_step_counts),
		rig_case(stack_is_always_there),
		rig_case_attrs(attributes_are_kept_if_wanted),
		cmocka_unit_test(faults_are_refused),
		cmocka_unit_test(copies_are_judged_alone),
		cmocka_unit_test(walk_agrees_with_unpacked),
	};

	return unit_main(tests, argc, argv);
}
