/* SPDX-License-Identifier: Apache-2.0
 *
 * ProfileProto written and read again: the same model, from small and from recorded profiles;
 * omissions are reported.
 */
#include "unit.h"

#include <stdio.h>
#include "export/out.h"
#include "reader_rig.h"
#include "tfprof_log.pb-c.h"

#define PROFILE  &tensorflow__tfprof__profile_proto__descriptor
#define RECORDED "testdata/recorded/"

typedef Tensorflow__Tfprof__ProfileProto Profile;

static struct str write_again(struct rig *g)
{
	struct sink *to = sink_memory(&g->a);
	struct scratch own;

	assert_true(ingest_seal(g->in, &g->e));
	scratch_open(&own, &g->work);
	assert_true(profile_write(g->m, to, &own.a, &g->notes));
	scratch_close(&own);
	return sink_text(to);
}

/* Writes and reads a model, and compares it with the model read and with a second copy. */
static void round_trip(struct rig *g, bool keep_attrs)
{
	struct rig h;

	struct str bytes = write_again(g);
	rig_open(&h, keep_attrs);
	assert_true(rig_read(&h, read_profile, bytes));
	struct str before = rig_text(g), after = rig_text(&h), again = write_again(&h);
	assert_int_equal(before.n, after.n);
	assert_memory_equal(before.p, after.p, before.n);
	assert_int_equal(bytes.n, again.n);
	assert_memory_equal(bytes.p, again.p, bytes.n);
	rig_close(&h);
}

static const char everything[] =
        "nodes { key: 5 value { name: 'a' op: 'Op' id: 5 shape: 3 shape: -1 op_types: 'T' "
        "op_types: 'Z'"
        " float_ops: 7 canonical_device: '/gpu:0' host_device: '/cpu:0'"
        " inputs { key: 0 value: 9 } inputs { key: 3 value: 9 } inputs { key: 4 value: 5 }"
        " src_output_index { key: 9 value: 2 }"
        " attrs { key: 'data_format' value { s: 'NHWC' } } attrs { key: 'x' value { i: 4 } }"
        " output_shapes { key: 0 value { int64_values: 4 } } output_shapes { key: 2 value { } }"
        " trace { traces { file_id: 1 function_id: 2 lineno: 3 func_start_line: -1 line_id: 2 }"
        " traces { file_id: 2 function_id: 1 lineno: -4 } }"
        " execs { key: 3 value { run_count: 2 all_start_micros: 100 latest_end_micros: 150"
        " cpu_execs { key: '/gpu:0' value { times { int64_values: 100 int64_values: 10 }"
        " times { int64_values: 90 int64_values: 0 } } }"
        " accelerator_execs { key: '/a/stream:all' value { times { int64_values: 106 int64_values: "
        "4 } } }"
        " accelerator_execs { key: '/gpu:0/stream:all' value { times { int64_values: 105 "
        "int64_values: 3 } } }"
        " devices: '/gpu:0' devices: '/gpu:0/stream:7' devices: '/gpu:0/stream:all' devices: "
        "'/a/stream:all'"
        " memory_execs { memory_micros: 150 host_temp_bytes: 1 host_persistent_bytes: 2 "
        "accelerator_temp_bytes: 3"
        " accelerator_persistent_bytes: 4 requested_bytes: 5 peak_bytes: 6 residual_bytes: -7 "
        "output_bytes: 8"
        " allocator_bytes_in_use: 9 output_memory { key: 1 value { bytes: 10 ptr: "
        "18446744073709551615 } }"
        " output_memory { key: 0 value { } } }"
        " memory_execs { } allocations { alloc_micros: 11 alloc_bytes: -12 } allocations { } } }"
        " execs { key: -1 value { } } } } "
        "nodes { key: 9 value { name: 'b' op: 'b' trace { } } } "
        "has_trace: true steps: 3 steps: 8 steps: -1 miss_accelerator_stream: true "
        "id_to_string { key: 1 value: 'f.py' } id_to_string { key: 2 value: '' }";

static void everything_comes_back(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, true);
	assert_true(rig_read_text(&g, read_profile, PROFILE, everything));
	round_trip(&g, true);
	struct str s = write_again(&g);
	Profile *p = tensorflow__tfprof__profile_proto__unpack(NULL, s.n, (const uint8_t *)s.p);
	assert_non_null(p);
	assert_true(p->has_trace);
	assert_false(p->miss_accelerator_stream); /* quirk 20 */
	assert_int_equal(p->n_steps, 3);
	assert_int_equal(p->steps[0], -1);
	assert_int_equal(p->n_nodes, 2);
	assert_int_equal(p->nodes[1]->key, 1);
	assert_int_equal(p->nodes[1]->value->id, 1);
	const Tensorflow__Tfprof__ProfileNode *n = p->nodes[0]->value;
	assert_int_equal(n->n_inputs, 3);
	assert_int_equal(n->inputs[1]->key, 3);
	assert_int_equal(n->inputs[1]->value, 1);
	assert_int_equal(n->n_src_output_index, 1); /* the slot of 'a' itself was never recorded */
	assert_int_equal(n->src_output_index[0]->value, 2);
	assert_int_equal(n->n_attrs, 2);
	assert_int_equal(n->n_execs, 2);
	const Tensorflow__Tfprof__ExecProfile *x = n->execs[1]->value;
	assert_int_equal(n->execs[1]->key, 3);
	assert_int_equal(x->n_devices, 4);
	assert_string_equal(x->devices[0], "/a/stream:all");
	assert_string_equal(x->devices[2], "/gpu:0/stream:7");
	assert_int_equal(x->n_accelerator_execs, 2);
	assert_int_equal(x->cpu_execs[0]->value->times[1]->int64_values[0], 90);
	assert_int_equal(x->n_memory_execs, 2);
	assert_int_equal(x->n_allocations, 2);
	tensorflow__tfprof__profile_proto__free_unpacked(p, NULL);
	rig_close(&g);
}

/* The attribute that advice needs is written even if no attributes are kept. */
static void data_format_is_never_lost(void **state)
{
	struct rig g;

	(void)state;
	rig_open(&g, false);
	assert_true(rig_read_text(&g, read_profile, PROFILE, everything));
	round_trip(&g, false);
	rig_close(&g);
}

static void recorded_profiles_come_back(void **state)
{
	static const char *const names[] = { "mlp_0", "queue_0", "synthetic_3", "synthetic_4" };
	struct rig g;
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, RECORDED "%s/profile.pb", names[i]);
		rig_open(&g, true);
		assert_true(rig_read(&g, read_profile, rig_file(&g.a, path)));
		round_trip(&g, true);
		assert_int_equal(g.notes.list.n, 0);
		rig_close(&g);
	}
}

static void unknown_inputs_are_told(void **state)
{
	struct rig g, h;

	(void)state;
	rig_open(&g, true);
	/* NodeDefs n (input m, which does not exist) and k (input n). */
	assert_true(rig_read(&g, read_graph,
	        S("\n\011\n\001n\022\001O\032\001m\n\011\n\001k\022\001O\032\001n")));
	struct str bytes = write_again(&g);
	assert_int_equal(g.notes.list.n, 1);
	assert_true(str_contains(g.notes.list.v[0].text, S("1 inputs name no node")));
	assert_true(str_contains(g.notes.list.v[0].text, S("'m' of 'n'")));
	rig_open(&h, true);
	assert_true(rig_read(&h, read_profile, bytes));
	assert_true(rig_says(&h, "  in 0 'n' "));
	assert_int_equal(h.m->inputs.n, 1);
	rig_close(&h);
	rig_close(&g);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(data_format_is_never_lost),
		cmocka_unit_test(recorded_profiles_come_back),
		cmocka_unit_test(unknown_inputs_are_told),
	};

	return unit_main(tests, argc, argv);
}
