/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs that the gate accepts, and bytes that it cleans because protobuf-c would misread them.
 * Bytes are written by hand; GraphDef.node is field 1, NodeDef.name 1, .op 2, .attr 5.
 */
#include "unit.h"

#include "pb_twin.h"
#include "tf_graph.pb-c.h"
#include "tfprof_log.pb-c.h"

#define GRAPH (&tensorflow__graph_def__descriptor)
#define NODE  (&tensorflow__node_def__descriptor)
#define ATTR  (&tensorflow__attr_value__descriptor)

static bool judge(const ProtobufCMessageDescriptor *d, struct str bytes)
{
	size_t at;
	return pb_gate(d, bytes, 0, &at);
}

static void *unpack(const ProtobufCMessageDescriptor *d, struct str bytes)
{
	struct err e = { .a = &unit_arena };
	void *m;

	assert_true(judge(d, bytes));
	assert_true(judge(d, pb_clean(d, bytes, &unit_arena)));
	m = pb_unpack(d, bytes, S("f"), &unit_arena, &e);
	assert_non_null(m);
	return m;
}

/* Refused, with the fault at this byte. */
static void refused(const ProtobufCMessageDescriptor *d, struct str bytes, size_t byte)
{
	size_t at;

	assert_false(pb_gate(d, bytes, 0, &at));
	assert_int_equal(at, byte);
}

static void good_bytes_pass(void **state)
{
	(void)state;
	assert_true(judge(GRAPH, S("")));
	assert_true(judge(GRAPH, S("\n\6\n\1a\22\1b")));
	assert_true(judge(GRAPH, S("\n\0\n\0")));            /* repeated: may occur twice */
	assert_true(judge(NODE, S("\270\4\1\n\2\303\251"))); /* unknown number, e acute */
}

static void broken_bytes_are_refused(void **state)
{
	(void)state;
	refused(NODE, S("\0"), 0);
	refused(NODE, S("\n\1a\n\5a"), 3);
	refused(NODE, S("\n\2\303\50"), 0);
	refused(NODE, S("\74"), 0);
	refused(NODE, S("\73"), 1);
	assert_false(judge(NODE, S("\73\104"))); /* the end of another group */
	assert_false(judge(NODE, S("\16")));     /* wire type 6 */
	assert_false(judge(NODE, S("\230\6\200")));
	assert_false(judge(NODE, S("\230\6\200\200\200\200\200\200\200\200\200\200\1")));
	assert_false(judge(NODE, S("\212\200\200\200\200\0\1a"))); /* tag of six bytes */
	assert_false(judge(NODE, S("\n\377\377\377\377\10")));     /* length of 2 GiB */
	assert_false(judge(NODE, S("\235\6abc")));
}

/* A chain of n messages NodeDef > AttrEntry > AttrValue > list > func > ..., or of groups. */
static struct str chain(int n, bool groups)
{
	static const char loop[] = { 10 << 3 | 2, 2 << 3 | 2, 2 << 3 | 2 };
	static char buf[2048];
	char *p = buf + 1024, *end = p;

	for (int i = n - 1; i >= 0; i--) {
		size_t len = (size_t)(end - p);
		if (groups) {
			*--p = 0x7b;
			*end++ = 0x7c;
			continue;
		}
		if (len >= 128) {
			*--p = (char)(len >> 7);
			*--p = (char)(len | 0x80);
		} else {
			*--p = (char)len;
		}
		*--p = loop[i % 3];
	}
	return str_make(p, (size_t)(end - p));
}

static void depth_is_that_of_the_file(void **state)
{
	size_t at;

	(void)state;
	assert_true(judge(ATTR, chain(100, false)));
	assert_false(judge(ATTR, chain(101, false)));
	assert_true(judge(ATTR, chain(100, true)));
	assert_false(judge(ATTR, chain(101, true)));
	assert_true(pb_gate(ATTR, chain(97, false), 3, &at));
	assert_false(pb_gate(ATTR, chain(98, false), 3, &at));
	assert_false(pb_gate(ATTR, S(""), 101, &at));
}

static void wrong_types_and_groups_are_dropped(void **state)
{
	const Tensorflow__NodeDef *n;

	(void)state;
	n = unpack(NODE, S("\n\1a\10\5\22\1b")); /* name as a varint */
	assert_string_equal(n->name, "a");
	assert_string_equal(n->op, "b");
	n = unpack(NODE, S("\73\n\1x\103\104\74\n\1a")); /* nested groups */
	assert_string_equal(n->name, "a");
	n = unpack(NODE, S("\212\200\200\200\160\1a")); /* bits of the tag beyond the 32nd */
	assert_string_equal(n->name, "a");
}

static void copies_of_a_submessage_are_merged(void **state)
{
	const Tensorflow__GraphDef *g;
	const Tensorflow__NodeDef *n;

	(void)state;
	/* versions { producer 7, bad_consumers 1 } node {} versions { min_consumer 9, bad 2 } */
	g = unpack(GRAPH, S("\42\4\10\7\30\1\n\0\42\4\20\11\30\2"));
	assert_int_equal(g->n_node, 1);
	assert_int_equal(g->versions->producer, 7);
	assert_int_equal(g->versions->min_consumer, 9);
	assert_int_equal(g->versions->n_bad_consumers, 2);
	/* also in a map entry: attr { value { shape {..} } value { shape { unknown_rank } } } */
	n = unpack(NODE, S("*\20\22\6:\4\22\2\10\3\22\6:\4\30\1\22\0"));
	assert_int_equal(n->attr[0]->value->shape->n_dim, 2);
	assert_int_equal(n->attr[0]->value->shape->dim[0]->size, 3);
	assert_true(n->attr[0]->value->shape->unknown_rank);
}

static void the_last_member_of_a_oneof_wins(void **state)
{
	const Tensorflow__AttrValue *v;

	(void)state;
	v = unpack(ATTR, S("\30\5\22\1a")); /* i, then s */
	assert_int_equal(v->value_case, TENSORFLOW__ATTR_VALUE__VALUE_S);
	/* shape, i, shape: only the last copy counts */
	v = unpack(ATTR, S(":\2\30\1\30\5:\2\22\0"));
	assert_int_equal(v->value_case, TENSORFLOW__ATTR_VALUE__VALUE_SHAPE);
	assert_int_equal(v->shape->n_dim, 1);
	assert_false(v->shape->unknown_rank);
	/* shape, shape, i: the copies are gone */
	v = unpack(ATTR, S(":\2\30\1:\2\30\1\30\5"));
	assert_int_equal(v->value_case, TENSORFLOW__ATTR_VALUE__VALUE_I);
	assert_int_equal(v->i, 5);
}

static void packed_lists(void **state)
{
	const ProtobufCMessageDescriptor *list = &tensorflow__attr_value__list_value__descriptor;
	const Tensorflow__AttrValue__ListValue *l;

	(void)state;
	l = unpack(list, S("\30\5\32\3\1\254\2"));
	assert_int_equal(l->n_i, 3); /* one unpacked, two packed */
	assert_int_equal(l->i[2], 300);
	assert_false(judge(list, S("\32\2\1\200")));
	assert_false(judge(list, S("\42\5abcde"))); /* floats of four bytes */
	assert_true(judge(list, S("*\2\0\1")));
	l = unpack(list, S("*\5\0\2\200\0\1")); /* other encodings of true */
	assert_int_equal(l->n_b, 4);
	assert_int_equal(l->b[1], 1);
	assert_int_equal(l->b[2], 0);
}

static void entries_without_value_are_left_to_the_reader(void **state)
{
	const Tensorflow__NodeDef *n;

	(void)state;
	n = unpack(NODE, S("*\0"));
	assert_string_equal(n->attr[0]->key, "");
	assert_null(n->attr[0]->value);
}

static void packing_is_the_way_back(void **state)
{
	struct str bytes = S("\n\6\n\1a\22\1b");

	(void)state;
	assert_true(str_eq(pb_pack(unpack(GRAPH, bytes), &unit_arena), bytes));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(good_bytes_pass),
		unit_case(broken_bytes_are_refused), unit_case(depth_is_that_of_the_file),
		unit_case(wrong_types_and_groups_are_dropped),
		unit_case(copies_of_a_submessage_are_merged),
		unit_case(the_last_member_of_a_oneof_wins), unit_case(packed_lists),
		unit_case(entries_without_value_are_left_to_the_reader),
		unit_case(packing_is_the_way_back) };

	return unit_main(tests, argc, argv);
}
