/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors as text: blocks of every rank, six digits, the limit of 10000 bytes, statistics,
 * messages.
 */
#include "base/crc32c.h"
#include "base/sort.h"
#include "export/out.h"
#include "table_rig.h"
#include "unit.h"

static struct arena own; /* of checkpoints */
static struct err e;

/* Returns the text of a bundle with one tensor "x" of raw bytes. */
static struct shown_tensor show(
        struct arena *a, unsigned type, struct str shape, struct str bytes, struct tensor_want want)
{
	struct sb row = sb_in(a);
	struct ckpt *c = NULL;
	struct ckpt_tensor t;
	struct shown_tensor got = { 0 };
	uint32_t crc = crc32c_mask(crc32c(bytes.p, bytes.n));
	uint8_t size[VARINT_MAX];

	sb_fmt(&row, "\x08%c\x12%c", (char)type, (char)(4 * shape.n));
	for (size_t i = 0; i < shape.n; i++)
		sb_put(&row, str_make((char[]){ 0x12, 2, 8, shape.p[i] }, 4));
	sb_char(&row, 0x28);
	sb_put(&row, str_make(size, (size_t)(varint_put(size, bytes.n) - size)));
	sb_char(&row, 0x35);
	sb_put(&row, str_make(&crc, 4));
	struct pair v[] = { { S(""), S("\x08\1") }, { S("x"), sb_str(&row) } };
	struct str path = table_rig_file(a, "t.index", table_rig_make(a, v, 2, 2));
	table_rig_file(a, "t.data-00000-of-00001", bytes);
	e = (struct err){ .a = a };
	if (!ckpt_open(&c, &own, str_sub(path, 0, path.n - 6), &e) ||
	        !ckpt_find(c, S("x"), a, &t, &e) || !tensor_read(c, &t, &want, a, &got, &e))
		fail_msg("%.*s", STR(e.text));
	ckpt_close(c);
	return got;
}

static const struct tensor_want all = { -1, true };
#define FLOATS(...) str_make((float[]){ __VA_ARGS__ }, sizeof((float[]){ __VA_ARGS__ }))

static void test_blocks(void **state)
{
	struct arena *a = *state;

	assert_str(show(a, 1, S("\2\2"), FLOATS(1, 2, 3, 4), all).text,
	        "[[1.00 2.00 ],\n[3.00 4.00 ],\n],\n");
	assert_str(show(a, 3, S(""), str_make("\xfb\xff\xff\xff", 4), all).text, "[-5 ],\n");
	assert_str(
	        show(a, 1, S("\1\2\1"), FLOATS(1, 2), all).text, "[[[1.00 ],\n[2.00 ],\n],\n],\n");
	assert_str(show(a, 1, str_make("\0\3", 2), S(""), all).text, "[],\n");
	assert_str(show(a, 1, str_make("\2\0\3", 3), S(""), all).text, "[[],\n[],\n],\n");
	assert_str(show(a, 8, S("\1"), FLOATS(1.5f, -2), all).text, "[(1.50,-2.00) ],\n");
	assert_str(show(a, 10, S("\2"), str_make("\1\0", 2), all).text, "[1 0 ],\n");
}

static void test_six_digits(void **state)
{
	struct arena *a = *state;
	struct shown_tensor t = show(a, 1, S("\2"), FLOATS(1234567.9f, -0.000534315078f), all);
	double x[2];

	assert_str(t.text, "[1234570.00 -0.00 ],\n");
	assert_int_equal(t.message.n, 20);
	assert_memory_equal(t.message.p, "\x08\1\x12\x10", 4);
	memcpy(x, t.message.p + 4, sizeof x);
	assert_true(x[0] == 1234570 && x[1] == -0.000534315);
	assert_memory_equal(
	        show(a, 3, S("\1"), str_make("\7\0\0\0", 4), all).message.p, "\x08\3\x1a\1\7", 5);
}

static void test_limit(void **state)
{
	struct arena *a = *state;
	struct tensor_want want = { .limit = 1 };
	struct str four = FLOATS(1, 0, 3, (float)__builtin_nan(""));

	assert_str(show(a, 1, S("\2\2"), four, want).text,
	        "[[1.00 ],\n],\n4 values, min 0, max 3, mean 1.33333, standard deviation 1.24722, "
	        "1 zeros, 1 NaN, 0 infinite\n");
	want.limit = 4;
	assert_str(show(a, 1, S("\2\2"), four, want).text, "[[1.00 0.00 ],\n[3.00 nan ],\n],\n");
}

/* 60 rows of 40 values have more than 12000 bytes: the text is cut, and a message says so. */
static void test_cut(void **state)
{
	struct arena *a = *state;
	char *zeros = arena_alloc(a, 9600, 4);
	struct str text = show(a, 1, S("\x3c\x28"), str_make(zeros, 9600), all).text;

	assert_int_equal(text.n, 10000 + 3 + 25);
	assert_true(str_ends(text, S("],\n...omitted from display\n\n")));
	assert_memory_equal(text.p + 197, "0.00 ],\n[", 9);
	/* 84 rows of 23 values have exactly 10000 bytes: nothing is cut, but the message is
	 * printed. */
	text = show(a, 1, S("\x54\x17"), str_make(zeros, 7728), all).text;
	assert_int_equal(text.n, 10000 + 25);
	assert_true(str_ends(text, S("0.00 ],\n],\n...omitted from display\n\n")));
}

/* Data in one piece and in many pieces have the same statistics. */
static void test_stats(void **state)
{
	struct arena *a = *state;
	float x[1000];
	struct tensor_stats one = { 0 }, many = { 0 };
	const struct dtype *d = dtype_find(DT_FLOAT);

	for (int i = 0; i < 1000; i++)
		x[i] = (float)(1e6 + (i * 37) % 1000);
	tensor_stats_add(&one, d, &(struct ckpt_values){ 1000, (const uint8_t *)x, NULL });
	for (size_t i = 0; i < 1000; i += 8)
		tensor_stats_add(
		        &many, d, &(struct ckpt_values){ 8, (const uint8_t *)(x + i), NULL });
	struct sb b = sb_in(a), c = sb_in(a);
	tensor_stats_put(&b, d, &one);
	tensor_stats_put(&c, d, &many);
	assert_str(sb_str(&b),
	        "1000 values, min 1e+06, max 1.001e+06, mean 1.0005e+06, standard deviation "
	        "288.675, 0 zeros, 0 NaN, 0 infinite\n");
	assert_true(str_eq(sb_str(&b), sb_str(&c)));
}

static int close_all(void **state)
{
	arena_free(&own);
	return unit_teardown(state);
}
#define tensor_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		tensor_case(test_blocks),
		tensor_case(test_six_digits),
		tensor_case(test_limit),
		tensor_case(test_cut),
		tensor_case(test_stats),
	};

	arena_init(&own, &unit_work);
	int failed = unit_main(tests, argc, argv);
	table_rig_remove();
	return failed;
}
