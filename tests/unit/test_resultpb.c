/* SPDX-License-Identifier: Apache-2.0
 *
 * Result messages: fields, children, depth.
 */
#include "unit.h"

#include <stdio.h>
#include "io/wire.h"
#include "out_rig.h"
#include "tfprof_output.pb-c.h"

typedef Tensorflow__Tfprof__GraphNodeProto Graph;
typedef Tensorflow__Tfprof__MultiGraphNodeProto Multi;
typedef Tensorflow__Tfprof__AdviceProto Advice;

#define CPU "/cpu:0"
#define NODE(key, name, op, more)                                                                  \
	"nodes { key: " key " value { name: '" name "' op: '" op "' op_types: '" op                \
	"' canonical_device: '/cpu:0' " more "} } "
#define RAN(micros)                                                                                \
	"execs { value { run_count: 2 all_start_micros: 1 cpu_execs { key: '/cpu:0' value { "      \
	"times "                                                                                   \
	"{ int64_values: 1 int64_values: " micros " } } } memory_execs { requested_bytes: 8 "      \
	"peak_bytes: 9 residual_bytes: 10 output_bytes: 11 } } } "

static struct str message(struct out_rig *x, enum vk kind)
{
	struct sink *to = sink_memory(&x->g.a);

	assert_true(out_view(x, kind));
	assert_true(result_write(&x->r, to, &x->g.e));
	return sink_text(to);
}

static Graph *graph(struct str s)
{
	Graph *p = tensorflow__tfprof__graph_node_proto__unpack(NULL, s.n, (const uint8_t *)s.p);
	assert_non_null(p);
	return p;
}

static Multi *multi(struct str s)
{
	Multi *p =
	        tensorflow__tfprof__multi_graph_node_proto__unpack(NULL, s.n, (const uint8_t *)s.p);
	assert_non_null(p);
	return p;
}

/* Packing the decoded message again gives the same bytes: fields are in order, zeros are absent. */
static void assert_canonical(const ProtobufCMessage *m, struct str s)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *p = test_malloc(n + 1);

	protobuf_c_message_pack(m, p);
	assert_int_equal(n, s.n);
	assert_memory_equal(p, s.p, n);
	test_free(p);
}

static void scope_is_a_tree_of_nodes(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "s/a", "Op",
	                     RAN("5") "shape: 4 float_ops: 3 output_shapes { value { int64_values: "
	                              "6 int64_values: 7 } } ") NODE("2", "s/b", "Op",
	                     RAN("7") "inputs { key: 1 value: 1 } inputs { key: 2 value: 2 } "
	                              "src_output_index { key: 1 value: 0 } "));
	struct str s = message(&x, VK_SCOPE);
	Graph *root = graph(s);
	assert_canonical(&root->base, s);
	assert_string_equal(root->name, "_TFProfRoot");
	assert_int_equal(root->exec_micros, 0);
	assert_int_equal(root->total_exec_micros, 12);
	assert_int_equal(root->total_definition_count, 3);
	assert_int_equal(root->n_children, 1);
	assert_string_equal(root->children[0]->name, "s");
	assert_int_equal(root->children[0]->n_devices, 0);
	assert_int_equal(root->children[0]->n_children, 2);
	const Graph *a = root->children[0]->children[0], *b = root->children[0]->children[1];
	assert_string_equal(a->devices[0], CPU);
	assert_int_equal(a->exec_micros, 5);
	assert_int_equal(a->total_cpu_exec_micros, 5);
	assert_int_equal(a->parameters, 4);
	assert_int_equal(a->float_ops, 6); /* of two runs */
	assert_int_equal(a->run_count, 2);
	assert_int_equal(a->requested_bytes, 8);
	assert_int_equal(a->total_peak_bytes, 9);
	assert_int_equal(a->residual_bytes, 10);
	assert_int_equal(a->total_output_bytes, 11);
	assert_int_equal(b->n_input_shapes, 2);
	assert_int_equal(b->input_shapes[0]->key, 1);
	assert_int_equal(b->input_shapes[0]->value->n_dim, 2);
	assert_int_equal(b->input_shapes[0]->value->dim[1]->size, 7);
	assert_true(b->input_shapes[1]->value->unknown_rank);
	tensorflow__tfprof__graph_node_proto__free_unpacked(root, NULL);
	out_close(&x);
}

/* Each entry of op is the only child of the entry before it, and the root is included. */
static void op_is_a_chain(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "a", "Mul", RAN("5")) NODE("2", "b", "Add", RAN("7"))
	                     NODE("3", "c", "Mul", RAN("1")));
	out_set(&x, "order_by", "name");
	struct str s = message(&x, VK_OP);
	Multi *root = multi(s);
	assert_canonical(&root->base, s);
	assert_string_equal(root->name, "_TFProfRoot");
	assert_int_equal(root->total_exec_micros, 13);
	assert_int_equal(root->n_children, 1);
	const Multi *add = root->children[0], *mul = add->children[0];
	assert_string_equal(add->name, "Add");
	assert_int_equal(add->total_exec_micros, 13);
	assert_int_equal(add->n_graph_nodes, 1);
	assert_string_equal(mul->name, "Mul");
	assert_int_equal(mul->exec_micros, 6);
	assert_int_equal(mul->n_children, 0);
	assert_int_equal(mul->n_graph_nodes, 2);
	assert_string_equal(mul->graph_nodes[1]->name, "c");
	assert_int_equal(mul->graph_nodes[1]->total_exec_micros, 1);
	assert_int_equal(mul->graph_nodes[1]->total_definition_count, 1);
	tensorflow__tfprof__multi_graph_node_proto__free_unpacked(root, NULL);
	out_set(&x, "account_type_regexes", "nothing");
	s = message(&x, VK_OP);
	assert_text(str_sub(s, 2, SIZE_MAX), "_TFProfRoot");
	out_close(&x);
}

/* A metric without a field of its own is written if it is selected. */
static void other_metrics(void **state)
{
	struct out_rig x;

	(void)state;
	out_open(&x, NODE("1", "a", "Mul", RAN("5")));
	out_set(&x, "select", "micros,kernels,bytes_accessed,self_micros");
	struct str s = message(&x, VK_SCOPE);
	Graph *root = graph(s);
	assert_canonical(&root->base, s);
	assert_int_equal(root->n_metrics, 3);
	assert_string_equal(root->metrics[0]->name, "self_micros");
	assert_int_equal(root->metrics[0]->own, 0);
	assert_int_equal(root->metrics[0]->total, 5);
	assert_string_equal(root->metrics[2]->name, "bytes_accessed");
	assert_int_equal(root->children[0]->metrics[0]->own, 5);
	tensorflow__tfprof__graph_node_proto__free_unpacked(root, NULL);
	s = message(&x, VK_OP);
	Multi *op = multi(s);
	assert_canonical(&op->base, s);
	assert_int_equal(op->children[0]->metrics[0]->own, 5);
	assert_int_equal(op->children[0]->graph_nodes[0]->metrics[0]->own, 5);
	tensorflow__tfprof__multi_graph_node_proto__free_unpacked(op, NULL);
	out_close(&x);
}

/* Returns the nesting depth of messages in field f. */
static uint32_t depth_of(struct str s, unsigned f)
{
	uint32_t depth = 0;
	bool deeper = true;

	while (deeper) {
		struct leaf l = leaf_of(s);
		deeper = false;
		while (leaf_next(&l)) {
			if (l.tag != LEAF_TAG(f, WIRE_BYTES)) {
				leaf_skip(&l);
				continue;
			}
			s = leaf_bytes(&l);
			deeper = true;
		}
		assert_false(l.bad);
		depth += deeper;
	}
	return depth;
}

/* 20,000 types, which form a chain of this depth, and as many nested scopes. */
static void depth_needs_no_stack(void **state)
{
	struct out_rig x;
	struct arena a;
	struct work w = { .account = &(struct account){ 0 } };
	enum { DEEP = 20000 };

	(void)state;
	arena_init(&a, &w);
	struct sb b = sb_in(&a);
	for (int i = 1; i <= DEEP; i++)
		sb_fmt(&b, "nodes { key: %d value { name: 'n%d' op: 'op%d' } } ", i, i, i);
	sb_put(&b, S("nodes { key: 0 value { name: 's"));
	for (int i = 1; i < DEEP; i++)
		sb_put(&b, S("/s"));
	sb_put(&b, S("' op: 'z' } }"));
	sb_char(&b, 0);
	out_open(&x, b.p);
	out_set(&x, "order_by", "name");
	assert_int_equal(depth_of(message(&x, VK_OP), 11), DEEP + 1);
	out_set(&x, "show_name_regexes", "s.*");
	assert_int_equal(depth_of(message(&x, VK_SCOPE), 12), DEEP);
	out_close(&x);
	arena_free(&a);
}

static void advice_is_a_map_of_reports(void **state)
{
	struct out_rig x;
	struct advice a;
	struct sink *to;

	(void)state;
	out_open(&x, "");
	memset(&a, 0, sizeof a);
	a.asked[CHECK_OPERATION] = a.asked[CHECK_ACCELERATOR_UTILIZATION] = true;
	strs_add(&x.g.a, &a.reports[CHECK_OPERATION], S("one"));
	strs_add(&x.g.a, &a.reports[CHECK_OPERATION], S(""));
	to = sink_memory(&x.g.a);
	advice_write(&a, to, &x.g.a);
	struct str s = sink_text(to);
	Advice *p = tensorflow__tfprof__advice_proto__unpack(NULL, s.n, (const uint8_t *)s.p);
	assert_int_equal(p->n_checkers, 2);
	assert_string_equal(p->checkers[0]->key, "AcceleratorUtilizationChecker");
	assert_int_equal(p->checkers[0]->value->n_reports, 0);
	assert_string_equal(p->checkers[1]->key, "OperationChecker");
	assert_int_equal(p->checkers[1]->value->n_reports, 2);
	assert_string_equal(p->checkers[1]->value->reports[0], "one");
	tensorflow__tfprof__advice_proto__free_unpacked(p, NULL);
	to = sink_memory(&x.g.a);
	result_write_refused(to);
	assert_text(sink_text(to), "\n\013_TFProfRoot");
	out_close(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scope_is_a_tree_of_nodes),
		cmocka_unit_test(op_is_a_chain),
		cmocka_unit_test(other_metrics),
		cmocka_unit_test(depth_needs_no_stack),
		cmocka_unit_test(advice_is_a_map_of_reports),
	};

	return unit_main(tests, argc, argv);
}
