/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip in both directions: round trips in pieces of every size, members, padding, damage.
 */
#include "unit.h"

#include "io/gz.h"

static struct err err;

static int setup(void **state)
{
	err = (struct err){ .a = &unit_arena };
	return unit_setup(state);
}

static struct str pack(struct str bytes)
{
	struct sink *to = sink_memory(&unit_arena), *gz = gzip_sink(&unit_arena, to);

	sink_put(gz, bytes);
	assert_true(sink_close(gz, &err));
	assert_int_equal(sink_size(gz), bytes.n);
	return sink_text(to);
}

/* n bytes that pack badly. */
static struct str noise(size_t n)
{
	char *p = arena_alloc(&unit_arena, n, 1);
	uint32_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (char)(x >> 24);
	}
	return str_make(p, n);
}

/* Unpacks with at most step_in and step_out bytes at a time; *why is NULL when all went well. */
static struct str unpack(struct str in, size_t step_in, size_t step_out, const char **why)
{
	struct gunzip *g = gunzip_open(&unit_arena);
	struct sb out = sb_in(&unit_arena);
	uint8_t *p;
	struct str piece;
	size_t before;
	int rc;

	*why = NULL;
	while (in.n) {
		piece = str_sub(in, 0, step_in);
		before = piece.n;
		p = (uint8_t *)sb_room(&out, step_out);
		rc = gunzip_run(g, &piece, &p, p + step_out, why);
		if (rc < 0)
			return STR_NONE;
		out.n += (size_t)(p - (uint8_t *)out.p) - out.n;
		in = str_sub(in, before - piece.n, SIZE_MAX);
	}
	if (!gunzip_at_end(g))
		*why = "early";
	return sb_str(&out);
}

static void magic(void **state)
{
	(void)state;
	assert_true(gz_is(S("\x1f\x8b\x08\x00")));
	assert_false(gz_is(S("\x1f\x8b")));
	assert_false(gz_is(S("\x1f\x8b\x07")));
	assert_false(gz_is(S("")));
}

/* Flags 0, time 0: equal content gives equal files. */
static void header(void **state)
{
	struct str gz = pack(S("text"));

	(void)state;
	assert_true(gz_is(gz));
	assert_memory_equal(gz.p + 3, "\0\0\0\0\0", 5);
}

static void round_trips(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 65536, 300000 },
	                    steps[] = { 1, 7, 4096, 1 << 20 };
	const char *why;
	struct str text, gz;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		text = noise(sizes[i]);
		gz = pack(text);
		for (size_t j = 0; j < 4; j++) {
			assert_true(str_eq(unpack(gz, steps[j], steps[3 - j] + 1, &why), text));
			assert_null(why);
		}
	}
}

static void members(void **state)
{
	struct sb two = sb_in(&unit_arena);
	const char *why;

	(void)state;
	sb_put(&two, pack(S("one ")));
	sb_put(&two, pack(S("")));
	sb_put(&two, pack(S("two")));
	assert_true(str_eq(unpack(sb_str(&two), 3, 100, &why), S("one two")));
	sb_repeat(&two, '\0', 600);
	assert_true(str_eq(unpack(sb_str(&two), 100, 100, &why), S("one two")));
	assert_null(why);
	sb_char(&two, '\x1f');
	unpack(sb_str(&two), 100, 100, &why);
	assert_string_equal(why, "something else follows it");
}

static void damage(void **state)
{
	struct str gz = str_copy(&unit_arena, pack(S("some text that is packed")));
	const char *why;

	(void)state;
	for (size_t n = 1; n < gz.n; n++) {
		unpack(str_sub(gz, 0, n), SIZE_MAX, 100, &why);
		assert_string_equal(why, "early");
	}
	((char *)(uintptr_t)gz.p)[gz.n - 5] ^= 1;
	unpack(gz, SIZE_MAX, 100, &why);
	assert_string_equal(why, "the checksum does not match the data");
}

static bool refuse(void *user, const void *p, size_t n)
{
	(void)user;
	(void)p;
	(void)n;
	return false;
}

static void error_of_the_sink_below(void **state)
{
	struct sink *to = sink_call(&unit_arena, refuse, NULL), *gz = gzip_sink(&unit_arena, to);

	(void)state;
	sink_put(gz, noise(1 << 20));
	assert_false(sink_ok(gz));
	assert_false(sink_close(gz, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void restart(void **state)
{
	struct gunzip *g = gunzip_open(&unit_arena);
	uint8_t out[10];
	const char *why;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct str in = pack(S("again"));
		uint8_t *p = out;

		assert_int_equal(gunzip_run(g, &in, &p, out + 10, &why), 1);
		assert_true(gunzip_at_end(g) && p == out + 5);
		gunzip_restart(g);
		assert_false(gunzip_at_end(g));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(magic, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(header, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(round_trips, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(members, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(damage, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(error_of_the_sink_below, setup, unit_teardown),
		cmocka_unit_test_setup_teardown(restart, setup, unit_teardown),
	};

	return unit_main(tests, argc, argv);
}
