/* SPDX-License-Identifier: Apache-2.0
 *
 * Text format: the message that each accepted form gives, and the error for each fault.
 */
#include <float.h>
#include <math.h>

#include "arena_rig.h"
#include "io/pb.h"
#include "pb_twin.h"
#include "tf_graph.pb-c.h"

#define GRAPH  (&tensorflow__graph_def__descriptor)
#define NODE   (&tensorflow__node_def__descriptor)
#define TENSOR (&tensorflow__tensor_proto__descriptor)

/* Returns the message that a text describes, which must pass the gate unchanged. */
static void *read_text(const ProtobufCMessageDescriptor *d, struct str text)
{
	struct err e = { .a = &arena };
	struct str bytes;
	size_t at;

	if (!pbtext_encode(d, text, S("f"), &arena, &bytes, &e))
		fail_msg("%.*s", STR(e.text));
	assert_true(pb_gate(d, bytes, 0, &at));
	return pb_unpack(d, bytes, S("f"), &arena, &e);
}

/* Returns the error for a refused text. */
static const char *refusal(const ProtobufCMessageDescriptor *d, struct str text)
{
	struct err e = { .a = &arena };
	struct str bytes;

	assert_false(pbtext_encode(d, text, S("f"), &arena, &bytes, &e));
	assert_int_equal(e.code, ERR_DATA_LOSS);
	return str_z(&arena, e.text);
}

#define refused(d, text)           refusal(d, S(text))
#define assert_says(d, text, says) assert_string_equal(refused(d, text), says)

static void messages_and_separators(void **state)
{
	const Tensorflow__GraphDef *g;

	(void)state;
	g = read_text(GRAPH, S("# a graph\nnode { name: 'a' op: \"b\" }\n"
	                       "node: <name: 'c', input: ['x', 'y' 'z'];>, node [{}, <name:'d'>]\n"
	                       "versions { producer: 7 }; # end"));
	assert_int_equal(g->n_node, 4);
	assert_string_equal(g->node[0]->op, "b");
	assert_int_equal(g->node[1]->n_input, 2);
	assert_string_equal(g->node[1]->input[1], "yz");
	assert_string_equal(g->node[3]->name, "d");
	assert_int_equal(g->versions->producer, 7);
	assert_int_equal(((Tensorflow__GraphDef *)read_text(GRAPH, S("node: [] ")))->n_node, 0);
	assert_non_null(read_text(GRAPH, S("")));
}

static void map_entries(void **state)
{
	const Tensorflow__NodeDef *n;

	(void)state;
	n = read_text(NODE,
	        S("attr { key: 'k' value { b: true } } attr { value { list { i: [-1, 2] } } }"));
	assert_int_equal(n->n_attr, 2);
	assert_string_equal(n->attr[0]->key, "k");
	assert_true(n->attr[0]->value->b);
	assert_int_equal(n->attr[1]->value->list->i[0], -1);
	assert_says(NODE, "attr { key: '' key: 'a' }", "f:1:16: 'key' has a value already");
}

static void strings_and_escapes(void **state)
{
	const Tensorflow__TensorProto *t;
	static const char want[] =
	        "\a\b\f\n\r\t\v\\?'\"A\1018\xff"
	        "Z\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xed\xa0\x80\\U001fffff";

	(void)state;
	t = read_text(TENSOR,
	        S("tensor_content: '\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\'\\\"' \"\\x41\\1018\\Xff\" "
	          "'Z\\u00e9\\ud83d\\ude00\\U0001f600\\ud800\\U001FffFf'"));
	assert_int_equal(t->tensor_content.len, sizeof(want) - 1);
	assert_memory_equal(t->tensor_content.data, want, sizeof(want) - 1);
	assert_says(NODE, "name: 'a\\q'", "f:1:9: unknown escape sequence");
	assert_says(NODE, "name: 'a\\xg'", "f:1:11: a hexadecimal digit expected");
	assert_says(NODE, "name: '\\u12'", "f:1:8: 4 hexadecimal digits expected after '\\u'");
	assert_says(NODE, "op: 'b'\n name: 'a\n'", "f:2:8: the string has no closing quote");
	assert_says(NODE, "name: 'a' '\xff'", "f:1:7: the string is not UTF-8");
}

static void long_strings_get_long_lengths(void **state)
{
	char text[400] = "name: '", *p = text + 7;
	const Tensorflow__NodeDef *n;

	(void)state;
	memset(p, 'x', 300);
	memcpy(p + 300, "' op: 'y'", 9);
	n = read_text(NODE, str_make(text, 316));
	assert_int_equal(strlen(n->name), 300);
	assert_string_equal(n->op, "y");
}

static void integers(void **state)
{
	const Tensorflow__TensorProto *t;

	(void)state;
	t = read_text(TENSOR,
	        S("int64_val: [0x7fffffffffffffff, - 9223372036854775808, 010, 0, -0]"
	          "int_val: -2147483648 uint32_val: 0XFFFFFFFF "
	          "uint64_val: 18446744073709551615 dtype: DT_INT64 bool_val: [t, False, 1]"));
	assert_true(t->int64_val[0] == INT64_MAX && t->int64_val[1] == INT64_MIN);
	assert_int_equal(t->int64_val[2], 8);
	assert_true(t->int_val[0] == INT32_MIN && t->uint32_val[0] == UINT32_MAX);
	assert_true(t->uint64_val[0] == UINT64_MAX);
	assert_int_equal(t->dtype, TENSORFLOW__DATA_TYPE__DT_INT64);
	assert_true(t->bool_val[0] && !t->bool_val[1] && t->bool_val[2]);
	t = read_text(TENSOR, S("dtype: 77"));
	assert_int_equal(t->dtype, 77);
	assert_says(TENSOR, "int_val: 2147483648", "f:1:10: the number is out of range");
	assert_says(TENSOR, "uint32_val: -1", "f:1:13: found '-', an integer expected");
	assert_says(
	        TENSOR, "uint64_val: 18446744073709551616", "f:1:13: the number is out of range");
	assert_says(TENSOR, "int_val: 08",
	        "f:1:11: an octal digit expected, because the number begins with 0");
	assert_says(TENSOR, "int_val: 1x", "f:1:11: a space expected after the number");
	assert_says(TENSOR, "bool_val: 2", "f:1:11: the number is out of range");
	assert_says(TENSOR, "bool_val: yes", "f:1:11: found 'yes', true or false expected");
	assert_says(TENSOR, "dtype: DT_FLOA", "f:1:8: DataType has no value named 'DT_FLOA'");
}

static void reals(void **state)
{
	(void)state;
	const Tensorflow__TensorProto *t = read_text(
	        TENSOR, S("double_val: [.5, 1., 1f, 12e-1F, -inf, Infinity, nan, 0.1, "
	                  "1e400, 4.9e-324, 123456789012345678901234567890, 9007199254740993, "
	                  "0.25, 2.2250738585072011e-308]"));
	const double *d = t->double_val;
	assert_true(d[0] == .5 && d[1] == 1 && d[2] == 1 && d[3] == 1.2);
	assert_true(isinf(d[4]) && d[4] < 0 && isinf(d[5]) && isnan(d[6]) && d[7] == 0.1);
	assert_true(isinf(d[8]) && d[9] == 4.9e-324 && d[10] == 123456789012345678901234567890.0);
	assert_true(
	        d[11] == 9007199254740992.0 && d[12] == 0.25 && d[13] == 2.2250738585072011e-308);
	t = read_text(TENSOR, S("float_val: [3.4028235e38, 3.5e38, -3.4028235e38]"));
	d = (double[]){ t->float_val[0], t->float_val[1], t->float_val[2] };
	assert_true(d[0] == FLT_MAX && isinf(d[1]) && d[2] == -FLT_MAX);
	assert_says(TENSOR, "float_val: infx", "f:1:12: found 'infx', a number expected");
	assert_says(TENSOR, "float_val: 0x1", "f:1:12: found '0x1', a decimal number expected");
	assert_says(TENSOR, "float_val: 01", "f:1:12: found '01', a decimal number expected");
	assert_says(TENSOR, "float_val: 1e", "f:1:14: a digit of the exponent expected");
	assert_says(TENSOR, "float_val: 1.2.3", "f:1:15: a space expected after the number");
}

static void singular_fields_have_one_value(void **state)
{
	(void)state;
	assert_says(NODE, "name: 'a' name: 'b'", "f:1:11: 'name' has a value already");
	assert_non_null(read_text(
	        NODE, S("name: '' name: 'b'"))); /* the default does not count as a value */
	assert_says(GRAPH, "versions {} versions {}", "f:1:13: 'versions' has a value already");
	assert_says(
	        NODE, "attr { value { i: 0 b: true } }", "f:1:21: 'b' cannot be combined with 'i'");
}

static void faults_of_structure(void **state)
{
	(void)state;
	assert_says(GRAPH, "node {\n  nam: 'a' }", "f:2:3: NodeDef has no field named 'nam'");
	assert_says(GRAPH, "node { name 'a' }", "f:1:13: found a string, ':' expected");
	assert_says(GRAPH, "node { name: 5 }", "f:1:14: found '5', a quoted string expected");
	assert_says(GRAPH, "node { name: 'a'", "f:1:17: unexpected end of the text: '}' expected");
	assert_says(GRAPH, "node { >", "f:1:8: found '>', '}' expected");
	assert_says(GRAPH, "}", "f:1:1: found '}', the name of a field expected");
	assert_says(GRAPH, "node: 5", "f:1:7: found '5', '{' expected");
	assert_says(GRAPH, "node: [{}", "f:1:10: unexpected end of the text: ',' or ']' expected");
	assert_says(GRAPH, "version: 1,,", "f:1:12: found ',', the name of a field expected");
	assert_says(GRAPH, "[a.b]: 1", "f:1:1: extensions and Any are not supported");
	assert_says(GRAPH, "\tversion: 1\1", "f:1:12: found the byte 0x01");
}

static void nesting_has_a_limit(void **state)
{
	struct sb b = sb_in(&arena);

	(void)state;
	for (int i = 0; i < 50; i++)
		sb_put(&b, S("args { "));
	struct str open = str_fmt(&arena, "%.*s%.*s", STR(sb_str(&b)), STR(sb_str(&b)));
	b = sb_in(&arena);
	sb_repeat(&b, '}', 100);
	const ProtobufCMessageDescriptor *d = &tensorflow__full_type_def__descriptor;
	assert_non_null(read_text(d, str_fmt(&arena, "%.*s%.*s", STR(open), STR(sb_str(&b)))));
	assert_string_equal(refusal(d, str_fmt(&arena, "%.*sargs {", STR(open))),
	        "f:1:706: messages are nested more than 100 levels deep");
}

static void sniffing(void **state)
{
	(void)state;
	assert_int_equal(pbtext_sniff(S("# c\n node {")), 100);
	assert_int_equal(pbtext_sniff(S("version: 1")), 100);
	assert_int_equal(pbtext_sniff(S("node\0{")), 0);
	assert_int_equal(pbtext_sniff(S("\n\6\n\1a\22\1b")), 0);
	assert_true(pbtext_sniff(S("nod")) > 0);
	assert_true(pbtext_sniff(S(" # ")) > 0);
	assert_int_equal(pbtext_sniff(S("{\"a\": 1}")), 0);
	assert_int_equal(pbtext_sniff(str_make("nodes:", 4)), 60); /* not the s */
}

/* The first bytes of a text: only complete lines can be refused. */
static void beginnings(void **state)
{
	struct err e = { .a = &arena };

	(void)state;
	assert_true(
	        pbtext_begins(GRAPH, S("node { name: 'a' }\nnode {\n op: "), S("x"), &arena, &e));
	assert_true(pbtext_begins(GRAPH, S("bad"), S("x"), &arena, &e));
	assert_true(pbtext_begins(GRAPH, S("node { name:\n"), S("x"), &arena, &e));
	assert_true(pbtext_begins(GRAPH, S("node {\n op: 'cut "), S("x"), &arena, &e));
	assert_int_equal(e.code, ERR_NONE);
	assert_false(pbtext_begins(GRAPH, S("node { }\nbad: 1\n"), S("x"), &arena, &e));
	assert_string_equal(str_z(&arena, e.text), "x:2:1: GraphDef has no field named 'bad'");
}

/* Returns the error, which is empty if the text is accepted. */
static struct str outcome(struct str text)
{
	struct err e = { .a = &arena };
	struct str bytes;

	return pbtext_encode(NODE, text, S("f"), &arena, &bytes, &e) ? S("") : e.text;
}

/* The meaning of a truncated text does not depend on the bytes after its end. */
static void nothing_behind_the_end(void **state)
{
	static const char text[] =
	        "attr { key: \"\\x41\\101\\u20ac\" value { f: -.5 } } attr { "
	        "key: 'b' value { i: 0x1F } }\n"
	        "attr { key: 'c' value: < list { f: 1.5e+3f, i: 017 b: true } > } # "
	        "end\nop: 'x' 'y' input: ['i', 'j']";
	static const char behind[] = "5a.'\"}>]\\:#x+\n";
	char other[sizeof text + 8];

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		for (size_t i = 0; behind[i]; i++) {
			memcpy(other, text, n);
			memset(other + n, behind[i], 8);
			struct str a = outcome(str_make(text, n)), b = outcome(str_make(other, n));
			if (!str_eq(a, b))
				fail_msg("%zu before %c: %.*s; %.*s", n, behind[i], STR(a), STR(b));
			arena_clear(&arena);
		}
	}
	assert_true(str_eq(outcome(str_of(text)), S("")));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { T(messages_and_separators), T(map_entries),
		T(strings_and_escapes), T(long_strings_get_long_lengths), T(integers), T(reals),
		T(singular_fields_have_one_value), T(faults_of_structure), T(nesting_has_a_limit),
		T(sniffing), T(beginnings), T(nothing_behind_the_end) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
