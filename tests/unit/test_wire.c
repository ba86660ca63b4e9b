/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire cursor on bytes written by hand: accepted and refused bytes, with the error. Both
 * cursors are checked for each case.
 */
#include "unit.h"

#include "io/wire.h"

#define B(literal) S(literal)

static struct err err;

static int setup(void **state)
{
	err = (struct err){ .a = &unit_arena };
	return unit_setup(state);
}

static struct wire open_wire(struct str bytes)
{
	struct src *s;
	struct wire w;

	err = (struct err){ .a = &unit_arena };
	assert_true(src_memory(&s, &unit_arena, S("run_meta"), bytes, &err));
	wire_init(&w, s, "RunMetadata", &err);
	return w;
}

static bool skip_all_streamed(struct str bytes)
{
	struct wire w = open_wire(bytes);

	while (wire_next(&w))
		wire_skip(&w);
	assert_int_equal(w.bad, err.code == ERR_DATA_LOSS);
	return !w.bad;
}

static bool skip_all_in_leaf(struct str bytes)
{
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l))
		leaf_skip(&l);
	assert_true(l.bad || l.p == l.end);
	return !l.bad;
}

static void good(struct str bytes)
{
	assert_true(skip_all_streamed(bytes));
	assert_true(skip_all_in_leaf(bytes));
}

/* Both cursors refuse the bytes; the error of the streaming cursor is this text after "run_meta:
 * byte ". */
static void bad(struct str bytes, const char *sentence)
{
	struct str want = str_fmt(&unit_arena, "run_meta: byte %s", sentence);

	assert_false(skip_all_in_leaf(bytes));
	assert_false(skip_all_streamed(bytes));
	assert_string_equal(str_z(&unit_arena, err.text), str_z(&unit_arena, want));
}

#define CANNOT ": RunMetadata cannot be parsed: "

static void tags(void **state)
{
	(void)state;
	good(B(""));
	good(B("\x08\x00\x0d\x01\x02\x03\x04\x09\x01\x02\x03\x04\x05\x06\x07\x08\x12\x00"));
	good(B("\x88\x80\x80\x80\x00\x05")); /* five bytes for field 1 */
	good(B("\xf8\xff\xff\xff\x7f\x05")); /* bits above the 32nd are dropped */
	bad(B("\x88\x80\x80\x80\x80\x00\x05"), "0" CANNOT "a tag is longer than 5 bytes");
	bad(B("\x08\x01\x00\x01"), "2" CANNOT "field number 0");
	bad(B("\x80\x80\x80\x80\x10\x01"), "0" CANNOT "field number 0");
	bad(B("\x0e"), "0" CANNOT "field 1 has wire type 6, which does not exist");
	bad(B("\x8f\x01"), "0" CANNOT "field 17 has wire type 7, which does not exist");
	bad(B("\x08\x01\x0c"), "2" CANNOT "group 1 ends but did not start");
	bad(B("\x84\x01"), "0" CANNOT "group 16 ends but did not start");
	bad(B("\x08\x01\x88"), "2" CANNOT "the input ends inside a tag");
}

static void values(void **state)
{
	(void)state;
	good(B("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"));
	bad(B("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	        "1" CANNOT "a varint is longer than 10 bytes");
	bad(B("\x08"), "1" CANNOT "the input ends inside a varint");
	bad(B("\x08\x80\x80"), "1" CANNOT "the input ends inside a varint");
	bad(B("\x0d\x01\x02\x03"), "1" CANNOT "the input ends inside a 4-byte number");
	bad(B("\x09\x01\x02\x03\x04\x05\x06\x07"),
	        "1" CANNOT "the input ends inside an 8-byte number");
	good(B("\x0a\x83\x80\x80\x80\x00yes"));
	bad(B("\x0a\x83\x80\x80\x80\x80\x00yes"), "1" CANNOT "a length is longer than 5 bytes");
	bad(B("\x0a\x03no"), "2" CANNOT "the input ends inside a value");
	bad(B("\x0a\x83"), "1" CANNOT "the input ends inside a length");
	bad(B("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	        "1" CANNOT "a length is longer than 5 bytes");
}

/* Makes n nested groups of field 1. */
static struct str nested(unsigned n)
{
	struct sb b = sb_in(&unit_arena);

	sb_repeat(&b, '\x0b', n);
	sb_put(&b, B("\x10\x01"));
	sb_repeat(&b, '\x0c', n);
	return sb_str(&b);
}

static void groups(void **state)
{
	struct leaf l;

	(void)state;
	good(B("\x0b\x0c"));
	good(B("\x08\x01\x0b\x10\x01\x13\x1a\x02\x0c\x0c\x14\x0c\x08\x01"));
	bad(B("\x0b\x14"), "1" CANNOT "group 1 ends with the end tag of group 2");
	bad(B("\x0b\x10\x01"), "3" CANNOT "the input ends inside a tag");
	bad(B("\x0b\x00\x0c"), "1" CANNOT "field number 0");
	bad(B("\x0b\x0f\x0c"), "1" CANNOT "field 1 has wire type 7, which does not exist");
	good(nested(100));
	bad(nested(101), "100" CANNOT "nested more than 100 levels deep");
	l = leaf_of(nested(99));
	l.depth = 2;
	assert_true(leaf_next(&l));
	leaf_skip(&l);
	assert_true(l.bad);
}

/* 1: { 1: { 2: 5 } 2: "leaf" 3: 7 } 2: 9 */
static const struct str tree = { "\x0a\x0c\x0a\x02\x10\x05\x12\x04leaf\x18\x07\x10\x09", 16 };

static void levels(void **state)
{
	struct wire w = open_wire(tree);
	struct str leaf = STR_NONE;
	uint64_t v = 0;

	(void)state;
	assert_true(wire_next(&w) && w.field == 1 && w.type == WIRE_BYTES && wire_enter(&w));
	assert_true(wire_next(&w) && wire_enter(&w) && w.depth == 2);
	assert_true(wire_next(&w) && w.field == 2 && wire_u64(&w, &v) && v == 5);
	assert_false(wire_next(&w));
	assert_true(wire_leave(&w) && wire_next(&w) && wire_leaf(&w, &leaf));
	assert_true(str_eq(leaf, S("leaf")));
	assert_true(wire_next(&w) && w.field == 3);
	assert_true(wire_leave(&w)); /* beyond its value */
	assert_true(wire_next(&w) && wire_u64(&w, &v) && v == 9);
	assert_false(wire_next(&w));
	assert_false(w.bad);
}

/* Enters field 1 twice and skips the rest. */
static const char *fault(struct str bytes)
{
	struct wire w = open_wire(bytes);

	assert_true(wire_next(&w) && wire_enter(&w) && wire_next(&w));
	if (w.type == WIRE_BYTES && !wire_enter(&w))
		return str_z(&unit_arena, err.text);
	if (w.type != WIRE_BYTES)
		wire_skip(&w);
	while (wire_next(&w))
		wire_skip(&w);
	assert_true(w.bad);
	assert_false(wire_next(&w) || wire_leave(&w) || wire_skip(&w));
	return str_z(&unit_arena, err.text);
}

#define IS(bytes, at, text) assert_string_equal(fault(B(bytes)), "run_meta: byte " at CANNOT text)

static void parents(void **state)
{
	(void)state;
	IS("\x0a\x04\x0a\x09zz", "3", "length 9 goes past the end of its message (byte 6)");
	IS("\x0a\x04\x0a\x02\x10\x80\x01", "5", "the message ends (byte 6) inside a varint");
	IS("\x0a\x05\x0a\x03\x15zz..", "5", "the message ends (byte 7) inside a 4-byte number");
	IS("\x0a\x03\x0a\x01\x90\x01\x01", "4", "the message ends (byte 5) inside a tag");
	IS("\x0a\x03\x0a\x01\x0b\x0c\x0c", "5", "the message ends inside group 1");
	IS("\x0a\x02\x10\x80\x01", "3", "the message ends (byte 4) inside a varint");
	IS("\x0a\x64\x0a\x60\x10\x01", "6", "the input ends inside a message");
}

static void long_lengths(void **state)
{
	struct wire w =
	        open_wire(B("\x0a\x80\x80\x80\x80\x08\x08\x01")); /* 2 GiB, without these bytes */
	struct str leaf = STR_NONE;
	uint64_t v = 0;

	(void)state;
	assert_true(wire_next(&w) && wire_enter(&w) && wire_next(&w) && wire_u64(&w, &v));
	assert_false(wire_leave(&w));
	w = open_wire(B("\x0a\x80\x80\x80\x80\x08\x08\x01"));
	assert_true(wire_next(&w));
	assert_false(wire_leaf(&w, &leaf));
	assert_true(
	        str_ends(err.text, S("length 2147483648 is over the limit of 2147483647 bytes")));
	assert_true(unit_account.peak < (size_t)16 << 20);
}

static void leaves(void **state)
{
	struct leaf l = leaf_of(B("\x08\x96\x01\x12\x02hi\x1d\x04\x03\x02\x01\x21\x08\x07\x06\x05"
	                          "\x04\x03\x02\x01\x12\x80\x01"));

	(void)state;
	assert_true(leaf_next(&l) && l.tag == LEAF_TAG(1, WIRE_VARINT));
	assert_int_equal(leaf_varint(&l), 150);
	assert_true(leaf_next(&l) && str_eq(leaf_bytes(&l), S("hi")));
	assert_true(leaf_next(&l) && leaf_fixed32(&l) == 0x01020304);
	assert_true(leaf_next(&l) && leaf_fixed64(&l) == 0x0102030405060708);
	assert_true(leaf_next(&l));
	assert_int_equal(leaf_bytes(&l).n, 0);
	assert_true(l.bad && !leaf_next(&l));
	l = leaf_of(B("abc"));
	assert_true(leaf_fixed32(&l) == 0 && l.bad);
	l = leaf_of(B("abcdefg"));
	assert_true(leaf_fixed64(&l) == 0 && l.bad);
}

/* The text of a read error is not replaced. */
static void broken_input(void **state)
{
	struct err of_src = { .a = &unit_arena };
	struct wire w = open_wire(B("\x1f\x8b\x08\x00"));
	struct str leaf;

	(void)state;
	w.s->e = &of_src;
	assert_false(wire_next(&w));
	assert_true(w.bad && str_eq(err.text, of_src.text));
	assert_true(str_starts(err.text, S("run_meta: byte 4: the gzip data")));
	w = open_wire(B("\x0a\x03no"));
	assert_false(wire_next(&w) && wire_leaf(&w, &leaf));
	assert_true(w.bad && str_ends(err.text, S("the input ends inside a value")));
}

/* All lengths of varints, at all distances from the end of memory. */
static void varints(void **state)
{
	uint8_t bytes[VARINT_MAX + 9], *end;
	const uint8_t *p;
	uint64_t v, got = 0;

	(void)state;
	for (unsigned bits = 0; bits < 64; bits++) {
		v = (UINT64_C(0xa5c396f00f96c3a5) | UINT64_C(1) << 63) >> bits;
		memset(bytes, 0xff, sizeof bytes);
		end = varint_put(bytes, v);
		assert_int_equal(end - bytes, varint_size(v));
		for (size_t more = 0; more < 9; more++) {
			p = bytes;
			assert_true(varint_get(&p, end + more, &got));
			assert_true(got == v && p == end);
		}
		p = bytes;
		assert_false(varint_get(&p, end - 1, &got));
		assert_ptr_equal(p, bytes);
	}
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, unit_teardown)
	const struct CMUnitTest tests[] = { TEST(tags), TEST(values), TEST(groups), TEST(levels),
		TEST(parents), TEST(long_lengths), TEST(leaves), TEST(broken_input),
		TEST(varints) };

	return unit_main(tests, argc, argv);
}
