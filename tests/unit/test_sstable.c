/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables: every entry is found and listed; damage is refused with its place.
 */
#include "io/sstable.h"
#include "table_rig.h"
#include "unit.h"

#define KEYS 57

static struct err e;

static struct pair *pairs(struct arena *a)
{
	struct pair *v = ARENA_ARRAY(a, KEYS, struct pair);

	for (int i = 1; i < KEYS; i++) /* the first key is empty */
		v[i].key = str_fmt(a, "layer/%c/%02d", 'a' + i / 10, i);
	for (int i = 0; i < KEYS; i++)
		v[i].value = str_fmt(a, "value %d", i);
	return v;
}

static bool open_bytes(struct sstable *t, struct arena *a, struct str bytes)
{
	struct str path = table_rig_file(a, "t", bytes);

	e = (struct err){ .a = a };
	return table_open(t, a, path, NULL, &e);
}

static void test_all_entries(void **state)
{
	struct arena *a = *state;
	struct pair *v = pairs(a);
	struct sstable t;
	struct table_at c, f;

	for (size_t per = 1; per < 70; per += 17) {
		assert_true(open_bytes(&t, a, table_rig_make(a, v, KEYS, per)));
		table_at_init(&c, &t, a, &e);
		table_at_init(&f, &t, a, &e);
		c.strict = true;
		for (int i = 0; i < KEYS; i++) {
			assert_true(table_next(&c));
			assert_true(str_eq(c.key, v[i].key) && str_eq(c.value, v[i].value));
			int j = (i * 23) % KEYS;
			assert_true(table_find(&f, v[j].key));
			assert_true(str_eq(f.value, v[j].value));
		}
		assert_false(table_next(&c));
		assert_false(c.bad);
		assert_true(table_verify_end(&c));
		assert_false(table_find(&f, S("layer/b/1")));
		assert_false(table_find(&f, S("zebra")));
		assert_false(f.bad);
		table_close(&t);
	}
}

/* Lists a table strictly. Returns the error for the first fault, or "". */
static const char *fault(struct arena *a, struct str bytes)
{
	struct sstable t;
	struct table_at c;

	if (open_bytes(&t, a, bytes)) {
		table_at_init(&c, &t, a, &e);
		c.strict = true;
		while (table_next(&c))
			;
		if (!c.bad)
			table_verify_end(&c);
	}
	table_close(&t);
	return e.code ? str_z(a, e.text) : "";
}

static void test_every_bit(void **state)
{
	struct arena *a = *state;
	struct str whole = table_rig_make(a, pairs(a), 5, 2);
	char *bytes = arena_copy(a, whole.p, whole.n);

	assert_string_equal(fault(a, whole), "");
	for (size_t i = 0; i < 8 * whole.n; i++) {
		bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
		assert_string_not_equal(fault(a, str_make(bytes, whole.n)), "");
		bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
	}
	for (size_t n = 0; n < whole.n; n++)
		assert_string_not_equal(fault(a, str_make(bytes, n)), "");
}

static void assert_fault(struct arena *a, struct str bytes, const char *part)
{
	const char *said = fault(a, bytes);

	if (!strstr(said, part))
		fail_msg("'%s' has no '%s'", said, part);
}

/* A single block, with the given index handle. */
static struct str table_of(struct arena *a, struct str contents, char type)
{
	struct sb b = sb_in(a), footer = sb_in(a);

	table_rig_block(&b, contents, type);
	sb_put(&footer, str_make("\0\0\0", 3));
	sb_char(&footer, (char)contents.n);
	sb_repeat(&footer, 0, 36);
	sb_put(&b, sb_str(&footer));
	sb_put(&b, S("\x57\xfb\x80\x8b\x24\x75\x47\xdb"));
	return sb_str(&b);
}

static void test_sentences(void **state)
{
	struct arena *a = *state;
	struct pair twice[] = { { S("b"), S("1") }, { S("a"), S("2") } };

	assert_fault(a, S("short"), "file is too short to be an sstable");
	assert_fault(a, str_make("................................................", 48),
	        "not an sstable (bad magic number)");
	assert_fault(a, table_of(a, str_make("\0\0\0\0\1\0\0\0", 8), 9), "byte 0: bad block type");
	assert_fault(a, table_of(a, S("\xff\xff\xff\xff"), 0), "byte 0: bad block contents");
	assert_fault(a, table_of(a, S("\x80\x80\x80\x80\x08\0"), 1),
	        HAVE_SNAPPY ? "corrupted compressed block contents" : "no snappy");
	assert_fault(a, table_rig_make(a, twice, 2, 2), "bad entry in block");
	assert_fault(a, table_rig_make(a, twice, 2, 1), "bad entry in block");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_all_entries),
		unit_case(test_every_bit),
		unit_case(test_sentences),
	};
	int failed = unit_main(tests, argc, argv);

	table_rig_remove();
	return failed;
}
