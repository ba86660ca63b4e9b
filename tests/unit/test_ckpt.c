/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: keys of slices, numbers of every type, tensors of both versions, slices assembled
 * along any dimension, faults reported by tensor and field.
 */
#include <math.h>

#include "checkpoint/ckpt.h"
#include "checkpoint/ckpt_internal.h"
#include "table_rig.h"
#include "unit.h"

static struct err e;
static struct arena own; /* of checkpoints */

static void test_keys(void **state)
{
	struct arena *a = *state;
	static const int64_t start[] = { 0, 3, 65, 8192 }, length[] = { -1, 2, 8127, 100000 };

	assert_memory_equal(
	        slice_key(a, S("x"), 2, start, length).p, "\0x\0\1\1\2\x80\x7f\x83\x82", 10);
	struct str key = slice_key(a, str_make("\0\xff", 2), 4, start, length);
	assert_int_equal(key.n, 23);
	assert_memory_equal(key.p,
	        "\0\0\xff\xff\0\0\1\1\4\x80\x7f\x83\x82\xc0\x41\xdf\xbf\xe0\x20\0\xe1\x86\xa0", 23);
	assert_memory_equal(slice_key(a, S(""), 0, NULL, NULL).p, "\0\0\1\0", 4);
}

static void assert_value(unsigned type, const char *bytes, double x)
{
	double got = dtype_double(dtype_find(type), (const uint8_t *)bytes);

	assert_true(isnan(x) ? isnan(got) : got == x);
}

static void test_types(void **state)
{
	(void)state;
	assert_value(1, "\0\0\xc0\x3f", 1.5);
	assert_value(2, "\0\0\0\0\0\0\xf8\xbf", -1.5);
	assert_value(5, "\xfe\xff", -2);
	assert_value(17, "\xfe\xff", 65534);
	assert_value(23, "\xff\xff\xff\xff\xff\xff\xff\xff", 18446744073709551616.0);
	assert_value(14, "\xc0\x3f", 1.5);
	assert_value(19, "\1\0", ldexp(1, -24));
	assert_value(19, "\0\xfc", -(double)INFINITY);
	assert_value(24, "\x7c", (double)INFINITY);
	assert_value(25, "\x7f", (double)NAN);
	assert_value(25, "\x7e", 448);
	assert_value(26, "\x80", (double)NAN);
	assert_value(27, "\x58", 1);
	assert_value(28, "\x40", 1);
	assert_value(29, "\xf8", -8);
	assert_value(31, "\2", -2);
	assert_value(33, "\7", 6);
	assert_null(dtype_find(0));
	assert_null(dtype_find(101));
}

/* Reads all values of a tensor of float32 or int32 as numbers. */
static size_t read_all(struct ckpt *c, struct arena *a, const char *name, double *to, size_t cap)
{
	struct ckpt_tensor t;
	struct ckpt_values v;
	size_t n = 0;

	e = (struct err){ .a = a };
	if (!ckpt_find(c, str_of(name), a, &t, &e))
		return 0;
	struct ckpt_read *r = ckpt_read(c, &t, a, &e);
	while (ckpt_read_next(r, &v))
		for (size_t i = 0; i < v.n && n < cap; i++)
			to[n++] = dtype_double(t.type, v.bytes + i * t.type->size);
	return e.code ? 0 : n;
}

static struct ckpt *open_path(struct arena *a, struct str path)
{
	struct ckpt *c = NULL;

	e = (struct err){ .a = a };
	return ckpt_open(&c, &own, path, &e) ? c : NULL;
}

/* int32 [2, 2] in two columns, both versions. The first column is 1 3, the second 2 4. */
#define EXTENT_ALL "\x0a\0"
#define COLUMN0    EXTENT_ALL "\x0a\2\x10\1"
#define COLUMN1    EXTENT_ALL "\x0a\4\x08\1\x10\1"
#define SHAPE_2x2  "\x12\x08\x12\2\x08\2\x12\2\x08\2"

static void test_columns_v1(void **state)
{
	struct arena *a = *state;
	struct pair v[] = {
		{ S(""), S("\x0a\x23\x0a\x21\x0a\1x" SHAPE_2x2 "\x18\3\x22\6" COLUMN0
		           "\x22\x08" COLUMN1) },
		{ S("\0x\0\1\1\2\x80\x7f\x80\x81"),
		        S("\x12\x11\x0a\1x\x12\6" COLUMN0 "\x1a\4\x3a\2\1\3") },
		{ S("\0x\0\1\1\2\x80\x7f\x81\x81"),
		        S("\x12\x13\x0a\1x\x12\x08" COLUMN1 "\x1a\4\x38\2\x38\4") },
	};
	double x[5];

	struct ckpt *c = open_path(a, table_rig_file(a, "v1", table_rig_make(a, v, 3, 2)));
	assert_non_null(c);
	assert_false(ckpt_is_bundle(c));
	assert_int_equal(read_all(c, a, "x", x, 5), 4);
	assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4);
	assert_true(ckpt_verify(c, NULL, a, &e));
	assert_int_equal(read_all(c, a, "y", x, 5), 0);
	assert_str(e.text, "y not found in checkpoint file");
	ckpt_close(c);
	v[2].value = S("\x12\x11\x0a\1x\x12\x08" COLUMN1 "\x1a\2\x38\2");
	c = open_path(a, table_rig_file(a, "v1", table_rig_make(a, v, 3, 2)));
	assert_int_equal(read_all(c, a, "x", x, 5), 0);
	assert_true(str_contains(e.text, S("tensor 'x': data.int_val: ")));
	ckpt_close(c);
}

static void test_bundle(void **state)
{
	struct arena *a = *state;
	/* The checksum of 01 00 00 00 02 00 00 00, masked. */
	static const char row[] = "\x08\3\x12\4\x12\2\x08\2\x28\x08\x35\xbf\xdf\xdb\x7a";
	struct pair v[] = {
		{ S(""), S("\x08\1\x1a\2\x08\1") },
		{ S("x"), { row, sizeof row - 1 } },
		{ S("y"), S("\x08\3\x12\4\x12\2\x08\2\x20\4\x28\x08\x35\0\0\0\0") },
		{ S("z"), S("\x08\3\x12\4\x12\2\x08\2\x28\x07") },
	};
	struct ckpt_tensor t;
	double x[3];

	table_rig_file(a, "b.data-00000-of-00001", str_make("\1\0\0\0\2\0\0\0", 8));
	struct str path = table_rig_file(a, "b.index", table_rig_make(a, v, 4, 2));
	struct ckpt *c = open_path(a, str_sub(path, 0, path.n - 6));
	assert_non_null(c);
	assert_int_equal(read_all(c, a, "x", x, 3), 2);
	assert_true(x[0] == 1 && x[1] == 2);
	assert_int_equal(read_all(c, a, "y", x, 3), 0);
	assert_true(str_contains(e.text, S("tensor 'y': its values end outside the file")));
	assert_int_equal(read_all(c, a, "z", x, 3), 0);
	assert_true(str_contains(
	        e.text, S("Invalid size in bundle entry: key z; stored size 7; expected size 8")));
	assert_int_equal(read_all(c, a, "w", x, 3), 0);
	assert_str(e.text, "Key w not found in checkpoint");
	struct ckpt_list *l = ckpt_list(c, a, &e);
	assert_true(ckpt_next(l, a, &t));
	assert_str(t.name, "x");
	ckpt_close(c);
	table_rig_file(a, "b.data-00000-of-00001", str_make("\1\0\0\0\3\0\0\0", 8));
	c = open_path(a, str_sub(path, 0, path.n - 6));
	assert_int_equal(read_all(c, a, "x", x, 3), 0);
	assert_true(str_contains(e.text, S("shard 0 (8 bytes): Checksum does not match: stored ")));
	ckpt_close(c);
}

static void test_no_file(void **state)
{
	struct arena *a = *state;

	assert_null(open_path(a, S("/tmp/no*such/checkpoint")));
	assert_str(e.text,
	        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files "
	        "for /tmp/no*such/checkpoint");
	struct str path =
	        table_rig_file(a, "odd", S("012345678901234567890123456789012345678901234567"));
	assert_null(open_path(a, path));
	assert_true(
	        str_ends(e.text, S("not an sstable (bad magic number): perhaps your file is in a "
	                           "different file format and you need to use a different restore "
	                           "operator?")));
}

static int close_all(void **state)
{
	arena_free(&own);
	return unit_teardown(state);
}
#define ckpt_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ckpt_case(test_keys),
		ckpt_case(test_types),
		ckpt_case(test_columns_v1),
		ckpt_case(test_bundle),
		ckpt_case(test_no_file),
	};

	arena_init(&own, &unit_work);
	int failed = unit_main(tests, argc, argv);
	table_rig_remove();
	return failed;
}
