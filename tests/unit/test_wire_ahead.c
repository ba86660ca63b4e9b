/* SPDX-License-Identifier: Apache-2.0
 *
 * wire_leaf_ahead: leaves that are read without the streaming cursor.
 */
#include "unit.h"

#include "io/wire.h"

static struct err err;

static void open_wire(struct wire *w, struct str bytes)
{
	struct src *s;

	err = (struct err){ .a = &unit_arena };
	assert_true(src_memory(&s, &unit_arena, S("run_meta"), bytes, &err));
	wire_init(w, s, "RunMetadata", &err);
}

/* wire_leaf_ahead reads leaves that are completely buffered and short; wire_next reads all others.
 */
static void ahead(void **state)
{
	const size_t sizes[] = { 0, 1, 127, 128, 16383, 16384, 3 };
	struct sb b = sb_in(&unit_arena), inner = sb_in(&unit_arena);
	const uint8_t tag = LEAF_TAG(4, WIRE_BYTES);
	uint8_t length[VARINT_MAX];
	size_t found = 0, next = 0;
	struct str leaf;
	struct wire w;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		sb_char(&inner, (char)tag);
		sb_put(&inner, str_make(length, (size_t)(varint_put(length, sizes[i]) - length)));
		for (size_t k = 0; k < sizes[i]; k++)
			sb_char(&inner, (char)('a' + i));
	}
	sb_put(&inner, S("\x08\x01"));
	sb_char(&b, LEAF_TAG(3, WIRE_BYTES));
	sb_put(&b, str_make(length, (size_t)(varint_put(length, inner.n) - length)));
	sb_put(&b, sb_str(&inner));
	sb_put(&b, S("\x22\x01x"));
	open_wire(&w, sb_str(&b));
	assert_false(wire_leaf_ahead(&w, tag, &leaf)); /* outside of a message */
	assert_true(wire_next(&w) && wire_enter(&w));
	for (;; next++) {
		for (; wire_leaf_ahead(&w, tag, &leaf); found++) {
			assert_int_equal(leaf.n, sizes[found + next]);
			assert_true(!leaf.n || leaf.p[leaf.n - 1] == (char)('a' + found + next));
		}
		if (!wire_next(&w))
			break;
		assert_true(wire_skip(&w));
	}
	assert_int_equal(found, 6);
	assert_int_equal(next, 2); /* the leaf of 16384 bytes, and the varint */
	assert_true(wire_leave(&w) && wire_next(&w) && wire_leaf(&w, &leaf));
	open_wire(&w, S("\x1a\x05\x22\x7f"
	                "abc")); /* the leaf is longer than its message */
	assert_true(wire_next(&w) && wire_enter(&w));
	assert_false(wire_leaf_ahead(&w, tag, &leaf));
}

int main(void)
{
	const struct CMUnitTest tests[] = { unit_case(ahead) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
