/* SPDX-License-Identifier: Apache-2.0
 *
 * The checkers: their reports, and their answers for an empty model.
 */
#include "unit.h"
#include "view_rig.h"

static struct str advice(struct view_rig *r, unsigned checkers)
{
	struct advise ask = { .m = &r->m,
		.a = r->a,
		.notes = &r->notes,
		.checkers = checkers,
		.tree = rig_tree,
		.user = r };
	struct err e = { .a = r->a };
	struct sink *to = sink_memory(r->a);
	struct advice out;

	assert_true(advise_run(&ask, &out, &e));
	text_advice(&out, r->a, to);
	return sink_text(to);
}

/* Each node's last step counts; devices in byte order; one sentence for all low shares. */
static void test_utilization(void **state)
{
	struct view_rig *r = view_rig(*state);
	uint32_t a = rig_node(r, "a", "Op", ""), b = rig_node(r, "b", "Op", "");
	uint32_t c = rig_node(r, "c", "Op", ""), d = rig_node(r, "d", "Op", "");

	rig_device(r, a, "/w/gpu:1");
	rig_device(r, b, "/gpu:0");
	rig_device(r, c, "/gpu:0");
	rig_device(r, d, "/cpu:0");
	rig_ran(r, a, 0, 100, 100);
	rig_ran(r, a, 1, 1, 3);
	rig_ran(r, b, 0, 90, 10);
	rig_ran(r, c, 1, 0, 39);
	rig_ran(r, d, 0, 5, 5);
	rig_done(r);
	assert_str(advice(r, CHECK_BIT(CHECK_ACCELERATOR_UTILIZATION)),
	        "\nAcceleratorUtilizationChecker:\n"
	        "device: /gpu:0 low utilization: 0.49\n"
	        "device: /w/gpu:1 utilization: 0.75\n");
	assert_str(rig_notes(r), "");
}

/* Quirk 27: only the first FusedBatchNorm is known, and only as a type. */
static void test_operations(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "x/BatchNorm/mul", "FusedBatchNormV3", "");
	ingest_node(r->in, ingest_string(r->in, S("conv")), ingest_string(r->in, S("Conv2D")));
	ingest_flags(r->in, NODE_NHWC);
	rig_device(r, ingest_end_node(r->in), "/gpu:0");
	rig_done(r);
	assert_str(advice(r, CHECK_BIT(CHECK_OPERATION)),
	        "\nOperationChecker:\n"
	        "Maybe use faster FusedBatchNorm instead of BatchNorm\n"
	        "Found operation using NHWC data_format on GPU. Maybe NCHW is faster.\n");
}

static void test_nothing_to_report(void **state)
{
	struct view_rig *r = view_rig(*state);

	rig_node(r, "x/BatchNorm/mul", "FusedBatchNorm", "");
	ingest_node(r->in, ingest_string(r->in, S("conv")), ingest_string(r->in, S("Conv2D")));
	ingest_flags(r->in, NODE_NHWC);
	rig_device(r, ingest_end_node(r->in), "/cpu:0");
	rig_done(r);
	assert_str(advice(r, CHECK_ALL), "\nAcceleratorUtilizationChecker:\n\nOperationChecker:\n"
	                                 "\nExpensiveOperationChecker:\n");
	assert_str(rig_notes(r), "Missing RunMetadata info. Skip ExpensiveOperationChecker\n"
	                         "Missing run_meta for ExpensiveOperationChecker\n"
	                         "Missing op_log (code traces) for ExpensiveOperationChecker\n");
}

/* Lines that have one child are passed over; below the first that branches, three of each that cost
 * a millisecond. Quirk 26: scopes are named with their own times. */
static void test_expensive(void **state)
{
	static const struct {
		const char *name, *op, *stack;
		int64_t cpu;
	} nodes[] = {
		{ "s/a", "A", "m:main m:run m:a m:a1", 1500 },
		{ "s/b", "A", "m:main m:run m:a m:a2", 2500 },
		{ "t", "B", "m:main m:run m:b", 999 },
		{ "u", "C", "m:main m:run m:c", 1000 },
		{ "v", "D", "m:main m:run m:d", 900 },
	};
	struct view_rig *r = view_rig(*state);

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		uint32_t node = rig_node(r, nodes[i].name, nodes[i].op, "");
		rig_stack(r, node, nodes[i].stack);
		rig_ran(r, node, 0, nodes[i].cpu, 0);
	}
	rig_done(r);
	assert_str(advice(r, CHECK_BIT(CHECK_EXPENSIVE_OPERATION)),
	        "\nExpensiveOperationChecker:\n"
	        "top 1 operation type: A, cpu: 4.00ms, accelerator: 0us, total: 4.00ms (57.98%)\n"
	        "top 2 operation type: C, cpu: 1.00ms, accelerator: 0us, total: 1.00ms (14.49%)\n"
	        "top 3 operation type: B, cpu: 999us, accelerator: 0us, total: 999us (14.48%)\n"
	        "top 1 graph node: s, cpu: 0us, accelerator: 0us, total: 0us\n"
	        "top 2 graph node: u, cpu: 1.00ms, accelerator: 0us, total: 1.00ms\n"
	        "top 3 graph node: t, cpu: 999us, accelerator: 0us, total: 999us\n"
	        "m:1:a, cpu: 4.00ms, accelerator: 0us, total: 4.00ms\n"
	        "  m:1:a2, cpu: 2.50ms, accelerator: 0us, total: 2.50ms\n"
	        "  m:1:a1, cpu: 1.50ms, accelerator: 0us, total: 1.50ms\n"
	        "m:1:c, cpu: 1.00ms, accelerator: 0us, total: 1.00ms\n");
	assert_str(rig_notes(r), "");
}

/* For a trace, device time and host time are separate lists, and steps have their lengths. */
static void test_parallel_times(void **state)
{
	struct view_rig *r = view_rig(*state);
	uint32_t a = rig_node(r, "s/a", "A", ""), b = rig_node(r, "s/b", "B", "");

	ingest_parallel_times(r->in);
	rig_ran(r, a, 0, 10, 300);
	rig_ran(r, b, 0, 400, 0);
	rig_ran(r, a, 1, 10, 300);
	rig_ran(r, b, 1, 900, 0);
	rig_done(r);
	assert_str(advice(r, CHECK_BIT(CHECK_EXPENSIVE_OPERATION) | CHECK_OURS),
	        "\nExpensiveOperationChecker:\n"
	        "top 1 operation type: A, device: 300us (100.00%), host: 10us (1.52%)\n"
	        "top 2 operation type: B, device: 0us (0.00%), host: 650us (98.48%)\n"
	        "\nHottestChecker:\n"
	        "top 1 node by device time: s/a, 300us (100.00%)\n"
	        "top 1 scope by host time: s, 660us (100.00%)\n"
	        "top 1 node by host time: s/b, 650us (98.48%)\n"
	        "top 2 node by host time: s/a, 10us (1.52%)\n"
	        "\nSlowestStepChecker:\n"
	        "slowest of 2 steps: 1, 900us; median: step 0, 400us\n"
	        "  s/b, on the host: 900us, in the median step 400us (+500us)\n");
}

/* Types that read inputs are added up, also those below a millisecond; others are not. */
static void test_inputs(void **state)
{
	static const struct {
		const char *name, *op;
		int64_t cpu;
	} nodes[] = {
		{ "a", "DecodeJpeg", 500 },
		{ "b", "DecodeJpeg", 200 },
		{ "c", "ParallelMapDatasetV2", 100 },
		{ "d", "QueueDequeueManyV2", 50 },
		{ "e", "QueueEnqueueV2", 25 },
		{ "f", "MatMul", 125 },
	};
	struct view_rig *r = view_rig(*state);

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
		rig_ran(r, rig_node(r, nodes[i].name, nodes[i].op, ""), 0, nodes[i].cpu, 0);
	rig_done(r);
	assert_str(advice(r, CHECK_BIT(CHECK_INPUT_PIPELINE)),
	        "\nInputPipelineChecker:\n"
	        "operations that read and decode inputs: 850us (85.00%)\n"
	        "  DecodeJpeg: 700us (70.00%)\n"
	        "  ParallelMapDatasetV2: 100us (10.00%)\n"
	        "  QueueDequeueManyV2: 50us (5.00%)\n");
}

static void test_names(void **state)
{
	(void)state;
	for (enum checker_id i = 0; i < CHECK_N; i++)
		assert_int_equal(advise_find(str_of(advise_name(i))), CHECK_BIT(i));
	assert_int_equal(advise_find(S("JobChecker")), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_utilization),
		unit_case(test_operations),
		unit_case(test_nothing_to_report),
		unit_case(test_expensive),
		unit_case(test_parallel_times),
		unit_case(test_inputs),
		unit_case(test_names),
	};

	return unit_main(tests, argc, argv);
}
