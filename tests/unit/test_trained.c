/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs without an op log: which variables count as trainable, and what the notes say.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "api_rig.h"

#define SHAPE(n)       " attr { key: 'shape' value { shape { dim { size: " #n " } } } } }\n"
#define NODE(name, op) "node { name: '" name "' op: '" op "'"
#define VARIABLES                                                                                  \
	NODE("w", "VariableV2")                                                                    \
	SHAPE(3)                                                                                   \
	NODE("w/Momentum", "VariableV2")                                                           \
	SHAPE(3) NODE("r", "VarHandleOp") SHAPE(5) NODE("step", "Variable") SHAPE(1)
#define UPDATES                                                                                    \
	"node { name: 'u' op: 'ApplyMomentum' input: 'w:0' input: 'w/Momentum' }\n"                \
	"node { name: 'v' op: 'ResourceSparseApplyAdagrad' input: 'r' input: 'w' }\n"              \
	"node { name: 'x' op: 'Applying' input: 'step' }\n"
#define TRAINED "scope -account_type_regexes _trainable_variables -select params"

static struct tfp_session *loaded(int kind, const char *graph)
{
	struct tfp_session *s;

	assert_int_equal(tfp_open(&s, NULL), TFP_OK);
	assert_int_equal(rig_add(s, kind, graph, 0), TFP_OK);
	return s;
}

static void test_updated_variables(void **state)
{
	struct tfp_session *s = loaded(TFP_ANY, VARIABLES UPDATES);
	struct got got;

	(void)state;
	assert_int_equal(rig_line(s, "scope -select params", &got), TFP_OK);
	assert_string_equal(tfp_notes(s, NULL), "");
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/8 params)\n  r (5, 5/5 params)\n"));
	assert_string_equal(tfp_notes(s, NULL),
	        "note: no op log names the trainable variables; counted as "
	        "trainable: variables that an optimizer updates (2 of 4)\n");
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK); /* known from now on */
	assert_non_null(strstr(got.text, "_TFProfRoot (--/8 params)\n"));
	assert_string_equal(tfp_notes(s, NULL), "");
	tfp_close(s);
}

static void test_all_variables(void **state)
{
	struct tfp_session *s = loaded(TFP_ANY, VARIABLES);
	struct got got;

	(void)state;
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/12 params)\n"));
	assert_non_null(
	        strstr(tfp_notes(s, NULL), "counted as trainable: all variables (4 of 4)\n"));
	tfp_close(s);
	s = loaded(TFP_ANY, "node { name: 'a' op: 'Const' }");
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK);
	assert_non_null(strstr(tfp_notes(s, NULL), "the graph has no variables\n"));
	tfp_close(s);
}

/* The inputs of the original have the original's answer, and a note. */
static void test_words_of_the_original(void **state)
{
	struct tfp_session *s = loaded(TFP_GRAPH, VARIABLES UPDATES);
	struct got got;

	(void)state;
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/0 params)\n"));
	assert_non_null(strstr(tfp_notes(s, NULL), "the graph has 4 variables: -account_type_"));
	assert_int_equal(
	        rig_line(s, "scope -account_type_regexes Var.* -select params", &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/12 params)\n"));
	assert_string_equal(tfp_notes(s, NULL), "");
	assert_int_equal(rig_add(s, TFP_OP_LOG,
	                         "log_entries { name: 'w' types: '_trainable_variables' }", 0),
	        TFP_OK);
	assert_int_equal(rig_line(s, TRAINED, &got), TFP_OK);
	assert_non_null(strstr(got.text, "_TFProfRoot (--/3 params)\n"));
	assert_string_equal(tfp_notes(s, NULL), "");
	tfp_close(s);
}

static void test_float_ops(void **state)
{
	struct tfp_session *s = loaded(TFP_GRAPH, VARIABLES);
	struct got got;

	(void)state;
	assert_int_equal(rig_line(s, "scope -select float_ops", &got), TFP_OK);
	assert_non_null(strstr(tfp_notes(s, NULL), "note: a graph has no float operations"));
	assert_int_equal(rig_line(s, "scope -select float_ops,params", &got), TFP_OK);
	assert_string_equal(tfp_notes(s, NULL), "");
	assert_int_equal(
	        rig_add(s, TFP_OP_LOG, "log_entries { name: 'w' float_ops: 4 }", 0), TFP_OK);
	assert_int_equal(rig_line(s, "scope -select float_ops", &got), TFP_OK);
	assert_string_equal(tfp_notes(s, NULL), "");
	tfp_close(s);
}

/* A graph that the user names alone has TensorFlow's statistics; an op log replaces them. */
static void test_statistics(void **state)
{
	static const char graph[] =
	        "node { name: 'x' op: 'Placeholder' attr { key: '_output_shapes' value { list {"
	        " shape { dim { size: 2 } dim { size: 3 } } } } } }\n"
	        "node { name: 'w' op: 'Const' attr { key: '_output_shapes' value { list {"
	        " shape { dim { size: 2 } dim { size: 5 } } } } } }\n"
	        "node { name: 'p' op: 'MatMul' input: 'x' input: 'w'"
	        " attr { key: 'transpose_a' value { b: true } }"
	        " attr { key: '_output_shapes' value { list {"
	        " shape { dim { size: 3 } dim { size: 5 } } } } } }\n"
	        "node { name: 's' op: 'AddN' input: 'p' input: 'p' input: 'p' input: '^x'"
	        " attr { key: 'N' value { i: 3 } } attr { key: '_output_shapes' value { list {"
	        " shape { dim { size: 3 } dim { size: 5 } } } } } }\n"
	        "node { name: 'm' op: 'MaxPool' input: 'x' attr { key: 'ksize' value { list {"
	        " i: 1 i: 2 i: 3 i: 1 } } } attr { key: 'data_format' value { s: 'NHWC' } }"
	        " attr { key: '_output_shapes' value { list { shape { dim { size: 7 } } } } } }\n"
	        "node { name: 'n' op: 'Neg' input: 'q' }\n";
	struct tfp_session *s = loaded(TFP_ANY, graph);
	struct got got;

	(void)state;
	assert_int_equal(rig_line(s, "scope -select float_ops", &got), TFP_OK);
	assert_non_null(strstr(got.text, "p (60/60 flops)"));
	assert_non_null(strstr(got.text, "s (30/30 flops)"));
	assert_non_null(strstr(got.text, "m (42/42 flops)"));
	assert_non_null(strstr(tfp_notes(s, NULL), "TensorFlow's own statistics: 3 nodes"));
	assert_non_null(strstr(tfp_notes(s, NULL), "note: 1 node is not counted"));
	tfp_close(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updated_variables),
		cmocka_unit_test(test_all_variables),
		cmocka_unit_test(test_words_of_the_original),
		cmocka_unit_test(test_float_ops),
		cmocka_unit_test(test_statistics),
	};

	return unit_main(tests, argc, argv);
}
