/* SPDX-License-Identifier: Apache-2.0
 *
 * The interner and the integer map against simple references.
 */
#include "unit.h"

#include "base/map.h"

static void ids_count_in_order_of_first_sight(void **state)
{
	struct intern t;

	(void)state;
	intern_init(&t, &unit_arena);
	assert_int_equal(intern_find(&t, S("a")), ID_NONE);
	assert_int_equal(intern_add(&t, S("a")), 0);
	assert_int_equal(intern_add(&t, S("")), 1);
	assert_int_equal(intern_add(&t, S("a")), 0);
	assert_int_equal(intern_add(&t, STR_NONE), 1);
	assert_int_equal(intern_add(&t, S("a\0")), 2);
	assert_int_equal(intern_find(&t, S("")), 1);
	assert_int_equal(intern_find(&t, S("b")), ID_NONE);
	assert_int_equal(t.n, 3);
}

static void bytes_are_copied_or_kept(void **state)
{
	char text[] = "abc";
	struct intern t;

	(void)state;
	intern_init(&t, &unit_arena);
	intern_add(&t, str_make(text, 2));
	intern_add_kept(&t, str_make(text, 3));
	assert_ptr_not_equal(intern_str(&t, 0).p, text);
	assert_ptr_equal(intern_str(&t, 1).p, text);
	text[0] = 'x';
	assert_true(str_eq(intern_str(&t, 0), S("ab")));
}

static void many_strings(void **state)
{
	const uint32_t n = 100000;
	struct intern t;

	(void)state;
	intern_init(&t, &unit_arena);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
		        intern_add(&t, str_fmt(&unit_arena, "scope_%u/node_%u", i % 7, i)), i);
	assert_int_equal(t.n, n);
	assert_true(t.n_slots < 4 * t.n);
	for (uint32_t i = 0; i < n; i++) {
		struct str s = str_fmt(&unit_arena, "scope_%u/node_%u", i % 7, i);

		assert_int_equal(intern_find(&t, s), i);
		assert_true(str_eq(intern_str(&t, i), s));
		assert_int_equal(intern_find(&t, str_fmt(&unit_arena, "scope_%u/nod_%u", i % 7, i)),
		        ID_NONE);
	}
}

/* Old tables must not stay in the arena after growing. */
static void growing_leaves_nothing_behind(void **state)
{
	struct intern t;
	struct arena texts;

	(void)state;
	arena_init(&texts, &unit_work);
	intern_init(&t, &unit_arena);
	for (uint32_t i = 0; i < 200000; i++)
		intern_add_kept(&t, str_fmt(&texts, "%06u", i));
	arena_free(&texts);
	assert_true(unit_account.used < t.n_slots * 8 + t.cap * 16 + (256 << 10));
}

/* Every byte, and the length, must reach both halves of the hash. */
static void hash_sees_every_bit(void **state)
{
	uint8_t text[70] = { 0 };

	(void)state;
	for (size_t n = 0; n <= 64; n++) {
		uint64_t h = hash_bytes(text, n);

		assert_int_equal(h, hash_bytes(text, n));
		assert_int_not_equal(h, hash_bytes(text, n + 1));
		for (size_t bit = 0; bit < 8 * n; bit++) {
			uint64_t g;

			text[bit / 8] ^= (uint8_t)(1 << bit % 8);
			g = hash_bytes(text, n) ^ h;
			text[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_true((uint32_t)g && g >> 32);
			assert_in_range(__builtin_popcountll(g), 8, 56);
		}
	}
}

static void hash_spreads_names(void **state)
{
	enum { N = 1 << 14 };
	uint8_t *count = arena_alloc(&unit_arena, N, 1);
	size_t most = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		struct str s = str_fmt(&unit_arena, "tower_%u/block%u/unit_%u/conv/weights", i % 4,
		        i / 4 % 64, i / 256);
		size_t at = hash_bytes(s.p, s.n) >> 32 & (N - 1);

		if (++count[at] > most)
			most = count[at];
	}
	assert_in_range(most, 2, 12);
}

static void integers(void **state)
{
	struct imap m;
	uint32_t v = 5;

	(void)state;
	imap_init(&m, &unit_arena);
	assert_false(imap_get(&m, 0, &v));
	assert_int_equal(v, 5);
	assert_true(imap_put(&m, 0, 1, false));
	assert_false(imap_put(&m, 0, 2, false));
	assert_true(imap_get(&m, 0, &v));
	assert_int_equal(v, 1);
	assert_false(imap_put(&m, 0, 2, true));
	assert_true(imap_get(&m, 0, &v));
	assert_int_equal(v, 2);
	for (uint64_t k = 1; k < 50000; k++)
		assert_true(imap_put(&m, k << 32 | k % 3, (uint32_t)k, true));
	for (uint64_t k = 1; k < 50000; k++) {
		assert_true(imap_get(&m, k << 32 | k % 3, &v));
		assert_int_equal(v, k);
		assert_false(imap_get(&m, k << 32 | 3, &v));
	}
	assert_true(imap_put(&m, UINT64_MAX, UINT32_MAX - 1, false));
	assert_true(imap_get(&m, UINT64_MAX, &v));
	assert_int_equal(v, UINT32_MAX - 1);
}

static void counted_ids(void **state)
{
	const uint64_t bases[] = { 0, 5, (uint64_t)7 << 40, UINT64_MAX - 3000 };
	struct idmap m;
	struct imap other;
	uint32_t v = 5, w;

	(void)state;
	idmap_init(&m, &unit_arena);
	imap_init(&other, &unit_arena);
	assert_false(idmap_get(&m, 0, &v));
	for (uint32_t i = 0; i < 3000; i++)
		for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
			uint64_t id = bases[k] + i * i % 2999;
			assert_int_equal(idmap_put(&m, id, i), imap_put(&other, id, i, false));
		}
	for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
		for (uint32_t i = 0; i < 3100; i++) {
			v = w = 9;
			assert_int_equal(idmap_get(&m, bases[k] + i, &v),
			        imap_get(&other, bases[k] + i, &w));
			assert_int_equal(v, w);
		}
	assert_true(idmap_put(&m, UINT64_MAX, UINT32_MAX - 1));
	assert_true(idmap_get(&m, UINT64_MAX, &v));
	assert_int_equal(v, UINT32_MAX - 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(ids_count_in_order_of_first_sight),
		unit_case(bytes_are_copied_or_kept),
		unit_case(many_strings),
		unit_case(growing_leaves_nothing_behind),
		unit_case(hash_sees_every_bit),
		unit_case(hash_spreads_names),
		unit_case(integers),
		unit_case(counted_ids),
	};

	return unit_main(tests, argc, argv);
}
