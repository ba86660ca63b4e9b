/* SPDX-License-Identifier: Apache-2.0
 *
 * The pickle reader: every opcode of plain data, refused opcodes, limits, truncation at every byte.
 * Containers are written as text: a list as [a b], a dict as {k v}, a tuple as (a b).
 */
#include "unit.h"

#include "io/pickle.h"

struct reading {
	struct intern texts;
	VEC(struct str) made; /* texts of the containers; ids of objects */
	unsigned calls;
};

static struct err err;

static void put_value(struct reading *r, struct sb *b, const struct pickle_value *v)
{
	static const char *const names[] = { "None", "", "", "", "", "bytes" };

	if (v->type == PICKLE_INT)
		sb_fmt(b, "%lld", (long long)v->i);
	else if (v->type == PICKLE_BOOL)
		sb_put(b, v->i ? S("True") : S("False"));
	else if (v->type == PICKLE_REAL)
		sb_fmt(b, "%g", v->real);
	else if (v->type == PICKLE_TEXT)
		sb_put(b, intern_str(&r->texts, (uint32_t)v->id));
	else if (v->type == PICKLE_OBJECT)
		for (uint32_t i = 0; i < v->n; i++)
			sb_fmt(b, "%s%.*s", i ? " " : "", STR(r->made.v[v->id + i]));
	else
		sb_put(b, str_of(names[v->type]));
}

static bool close_container(void *user, const struct pickle_container *c, struct pickle_value *out)
{
	const char *brackets = c->type == PICKLE_LIST ? "[]" : c->type == PICKLE_DICT ? "{}" : "()";
	struct reading *r = user;
	struct sb b = sb_in(&unit_arena);

	sb_char(&b, brackets[0]);
	for (size_t i = 0; i < c->n; i++) {
		sb_put(&b, i ? S(" ") : S(""));
		put_value(r, &b, &c->v[i]);
	}
	sb_char(&b, brackets[1]);
	if (!c->whole)
		sb_char(&b, '!');
	r->calls++;
	*out = (struct pickle_value){ .type = PICKLE_OBJECT, .n = 1, .id = r->made.n };
	VEC_PUSH(&unit_arena, &r->made, str_copy(&unit_arena, sb_str(&b)));
	return true;
}

/* Reads a pickle; returns its value as text, or the error. */
static struct str read_pickle(struct str bytes, bool recover)
{
	struct reading r = { .calls = 0 };
	struct notes notes;
	const struct pickle_caller caller = { close_container, &r, &r.texts, &notes, "list" };
	struct pickle_value root;
	struct sb b = sb_in(&unit_arena);
	struct src *s;
	bool cut;

	intern_init(&r.texts, &unit_arena);
	notes_init(&notes, &unit_arena);
	err = (struct err){ .a = &unit_arena };
	assert_true(src_memory(&s, &unit_arena, S("p"), bytes, &err));
	s->e = &err;
	s->damage->recover = recover;
	if (!pickle_read_either(s, &caller, &root, &cut, &unit_arena)) {
		assert_int_not_equal(err.code, ERR_NONE);
		return err.text;
	}
	assert_int_equal(cut, err.code != ERR_NONE);
	put_value(&r, &b, &root);
	return sb_str(&b);
}

#define check(bytes, expected) assert_str(read_pickle(S(bytes), false), expected)
#define check_error(bytes, part)                                                                   \
	do {                                                                                       \
		struct str text = read_pickle(S(bytes), false);                                    \
		if (err.code != ERR_DATA_LOSS || !str_contains(text, S(part)))                     \
			fail_msg("%.*s", STR(text));                                               \
	} while (0)

static void test_json(void **state)
{
	(void)state;
	check("{\"a\": [1, true, null, \"x\\u20ac\"], \"b\": {\"c\": [[-2.6], []]}}",
	        "{a [1 True None x\xe2\x82\xac] b {c [[-3] []]}}");
	check(" \n{}", "{}");
	check_error("{\"a\": [1, ", "truncated at byte 10: the rest of a list was expected");
	check_error("{\"a\": ]}", "bad JSON at byte 6");
	assert_str(read_pickle(S("{\"a\": [1, 2"), true), "{a [1]!}!");
	assert_str(read_pickle(S("{\"a\": [{\"b\": 1}, {\"b\""), true), "{a [{b 1}]!}!");
}

static void test_protocol_0(void **state)
{
	(void)state;
	check("I12\n.", "12");
	check("I01\n.", "True");
	check("I00\n.", "False");
	check("L-5L\n.", "-5");
	check("F0.5\n.", "0.5");
	check("N.", "None");
	check("Vcaf\xe9 \\u20ac \\U0001f600 \\x\np0\n.",
	        "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\x");
	check("(lp0\nI1\naI2\na.", "[1 2]");
	check("(dp0\nVa\np1\nI1\nsVb\np2\ng1\ns.", "{a 1 b a}");
	check("(I1\nI2\ntp0\n.", "(1 2)");
	check("(I1\nI2\nl.", "[1 2]");
	check("(I1\nI2\nd.", "{1 2}");
}

static void test_binary(void **state)
{
	(void)state;
	check("\x80\x02K\xff.", "255");
	check("M\x01\x02.", "513");
	check("J\xff\xff\xff\xff.", "-1");
	check("\x8a\x00.", "0");
	check("\x8a\x01\xff.", "-1");
	check("\x8a\x05\x00\x00\x00\x00\x01.", "4294967296");
	check("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", "9223372036854775807");
	check("\x8b\x01\x00\x00\x00\x07.", "7");
	check("G\x3f\xe0\x00\x00\x00\x00\x00\x00.", "0.5");
	check("\x88.", "True");
	check("\x89.", "False");
	check("X\x02\x00\x00\x00hi.", "hi");
	check("\x8c\x02hi.", "hi");
	check("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi.", "hi");
	check("C\x02hi.", "bytes");
	check("B\x02\x00\x00\x00hi.", "bytes");
	check("\x96\x02\x00\x00\x00\x00\x00\x00\x00hi.", "bytes");
	check(").", "()");
	check("K\x01\x85.", "(1)");
	check("K\x01K\x02\x86.", "(1 2)");
	check("K\x01K\x02K\x03\x87.", "(1 2 3)");
	check("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02"
	      "e.",
	        "[1 2]");
	check("}q\x00(\x8c\x01"
	      "aK\x01\x8c\x01"
	      "bK\x02u.",
	        "{a 1 b 2}");
}

static void test_memo(void **state)
{
	(void)state;
	/* [d, d] whose d is not stored when it is used again */
	check("\x80\x04]\x94(}\x94\x8c\x01"
	      "aK\x01sh\x01"
	      "e.",
	        "[{a 1} {a 1}]");
	/* [[d], d] */
	check("](](}q\x01\x8c\x01"
	      "aK\x01s"
	      "eh\x01"
	      "e.",
	        "[[{a 1}] {a 1}]");
	check("](\x8c\x01xr\x03\x00\x00\x00j\x03\x00\x00\x00"
	      "e.",
	        "[x x]");
	/* (t, t) */
	check("(K\x01\x85q\x00h\x00t.", "((1) (1))");
	check_error("]\x94h\x00"
	            "a.",
	        "a list was expected");
	check_error("](h\x00"
	            "e.",
	        "no such entry");
	check_error("]q\x00(h\x00"
	            "e.",
	        "contains itself");
	check_error("]\x94(}\x94(\x8c\x01xh\x00u"
	            "e.",
	        "contains itself");
	check_error("K\x01q\x00.", "memoized number");
	check_error("r\x01\x00\x00\x00.", "the stack is empty where a value is memoized");
	check_error("]r\xff\xff\xff\xff.", "too large");
	check_error("]q\x00q\x01.", "second memo entry");
	check_error("(\x8c\x01xq\x00\x8c\x01yq\x00t.", "written twice");
	check_error("gx\n.", "not the number");
	check_error("g-1\n.", "not the number");
}

static void test_refuses_code(void **state)
{
	(void)state;
	check_error("cos\nsystem\n(S'id'\ntR.", "byte 0, opcode GLOBAL of os.system");
	check_error("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93.",
	        "byte 19, opcode STACK_GLOBAL of posix.system");
	check_error("(ios\nsystem\n.", "opcode INST of os.system");
	check_error("NNR.", "opcode REDUCE");
	check_error("NNb.", "opcode BUILD");
	check_error("(No.", "opcode OBJ");
	check_error("N)\x81.", "opcode NEWOBJ");
	check_error("N)}\x92.", "opcode NEWOBJ_EX");
	check_error("\x82\x01.", "opcode EXT1");
	check_error("\x83\x01\x00.", "opcode EXT2");
	check_error("\x84\x01\x00\x00\x00.", "opcode EXT4");
	check_error("P7\n.", "opcode PERSID of 7");
	check_error("NQ.", "opcode BINPERSID");
	check_error("\x97.", "opcode NEXT_BUFFER");
	check_error("N\x98.", "opcode READONLY_BUFFER");
}

static void test_refuses_odd(void **state)
{
	(void)state;
	check_error("N0.", "opcode POP)");
	check_error("(1.", "opcode POP_MARK");
	check_error("]2.", "opcode DUP");
	check_error("\x8f.", "opcode EMPTY_SET");
	check_error("S'a'\n.", "opcode STRING");
	check_error("\xff.", "opcode unknown");
	check_error("\x80\x06N.", "protocols 0 to 5");
	check_error(".", "one value was expected");
	check_error("NN.", "one value was expected");
	check_error("(N.", "one value was expected");
	check_error("e.", "a MARK is missing");
	check_error("Na.", "outside of a container");
	check_error("](a.", "outside of a container");
	check_error("}K\x01"
	            "a.",
	        "a list was expected");
	check_error("]K\x01K\x02s.", "a dict was expected");
	check_error("}(K\x01u.", "a key without a value");
	check_error("}(]K\x01u.", "a list or a dict as a key");
	check_error("(}Nd.", "a list or a dict as a key");
	check_error("(K\x01"
	            "d.",
	        "a key without a value");
	check_error("\x85.", "a tuple without its values");
	check_error("K\x01(\x85.", "a tuple without its values");
	check_error("Ix\n.", "not a number");
	check_error("F1x\n.", "not a number");
	check_error("V\\u12\n.", "bad escape");
	check_error("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "more than 64 bits");
	check_error("\x8b\xff\xff\xff\xff.", "more than 1 MiB");
	check_error("\x8d\x00\x00\x00\x00\x01\x00\x00\x00.", "more than 1 MiB");
}

static struct str repeated(char c, size_t n)
{
	struct sb b = sb_in(&unit_arena);

	sb_repeat(&b, c, n);
	return sb_str(&b);
}

static void test_limits(void **state)
{
	(void)state;
	assert_true(str_contains(read_pickle(repeated('(', 2000), false), S("1000 deep")));
	assert_true(str_contains(read_pickle(repeated(']', 20000), false), S("16384 containers")));
	assert_true(str_contains(read_pickle(repeated('N', 2000000), false), S("1048576 values")));
}

#define SAMPLE                                                                                     \
	"\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01x\x94]\x94(}\x94(\x8c\x01"      \
	"a\x94K\x01"                                                                               \
	"h\x01K\x02u}\x94\x8c\x01yK\x03se\x8c\x01z\x94K\x01K\x02\x86\x94u."

static void test_every_prefix(void **state)
{
	(void)state;
	struct str whole = S(SAMPLE);

	check(SAMPLE, "{x [{a 1 x 2} {y 3}] z (1 2)}");
	for (size_t n = 0; n < whole.n; n++) {
		struct str text = read_pickle(str_sub(whole, 0, n), false);
		assert_int_equal(err.code, ERR_DATA_LOSS);
		assert_true(str_contains(text, S("truncated at byte ")));
		read_pickle(str_sub(whole, 0, n), true); /* a value or an error, without a leak */
	}
}

static void test_recover(void **state)
{
	struct str whole = S(SAMPLE);
	size_t second = str_find(whole, S("}\x94\x8c\x01y")),
	       pair = str_find(whole, S("\x8c\x01z"));

	(void)state;
	assert_str(read_pickle(str_sub(whole, 0, second), true), "{x [{a 1 x 2}!]!}!");
	assert_str(read_pickle(str_sub(whole, 0, pair), true), "{x [{a 1 x 2} {y 3}]!}!");
	assert_str(read_pickle(S("(dp0\nVa\np1\n(lp2\n(dp3\nVk\np4\nI1\nsa(dp5\nVk"), true),
	        "{a [{k 1} {}!]!}!");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_json),
		unit_case(test_protocol_0),
		unit_case(test_binary),
		unit_case(test_memo),
		unit_case(test_refuses_code),
		unit_case(test_refuses_odd),
		unit_case(test_limits),
		unit_case(test_every_prefix),
		unit_case(test_recover),
	};

	return unit_main(tests, argc, argv);
}
