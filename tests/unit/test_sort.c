/* SPDX-License-Identifier: Apache-2.0
 *
 * Both sorts compared with their definition, on random, ordered and hostile input.
 */
#include "unit.h"

#include "base/sort.h"

static uint64_t seed = 88172645463325252;

static const struct str *strings;
static uint32_t *v;

static uint32_t *count_up(size_t n)
{
	v = ARENA_ARRAY(&unit_arena, n, uint32_t);
	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	return v;
}

static void shuffle(size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = unit_random(&seed) % i;
		uint32_t t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

static int by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *keys = ctx;

	return (keys[a] > keys[b]) - (keys[a] < keys[b]);
}

static void merge_sort_is_stable(void **state)
{
	uint32_t keys[3000];

	(void)state;
	for (size_t n = 0; n < 3000; n = n * 3 / 2 + 1) {
		for (uint32_t range = 1; range < 5000; range *= 7) {
			for (size_t i = 0; i < n; i++)
				keys[i] = (uint32_t)(unit_random(&seed) % range);
			sort_stable(&unit_arena, count_up(n), n, by_key, keys);
			for (size_t i = 1; i < n; i++)
				assert_true(keys[v[i - 1]] < keys[v[i]] ||
				            (keys[v[i - 1]] == keys[v[i]] && v[i - 1] < v[i]));
		}
	}
}

/* An element whose size is odd. */
struct element {
	char key[3];
	uint16_t place;
};

static int by_first_letter(const void *ctx, uint32_t a, uint32_t b)
{
	const struct element *e = ctx;

	return e[a].key[0] - e[b].key[0];
}

static void elements(void **state)
{
	struct element e[500];
	uint32_t keys[500];

	(void)state;
	sort_array(&unit_arena, NULL, 0, sizeof *e, by_first_letter);
	int64_t numbers[] = { 3, INT64_MIN, -1, INT64_MAX, 0 };
	sort_array(&unit_arena, numbers, 5, sizeof *numbers, sort_ascending);
	for (size_t i = 1; i < 5; i++)
		assert_true(numbers[i - 1] < numbers[i]);
	for (uint16_t i = 0; i < 500; i++) {
		char c = (char)('a' + unit_random(&seed) % 7);
		e[i] = (struct element){ { c, (char)(i & 1), c }, i };
		keys[i] = (uint32_t)c;
	}
	const uint32_t *order = sort_order(&unit_arena, 500, by_key, keys);
	sort_array(&unit_arena, e, 500, sizeof *e, by_first_letter);
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(e[i].place, order[i]);
		assert_int_equal(e[i].key[0], (char)keys[order[i]]);
		assert_int_equal(e[i].key[1], e[i].place & 1);
		assert_int_equal(e[i].key[2], e[i].key[0]);
		assert_true(!i || e[i - 1].key[0] < e[i].key[0] || e[i - 1].place < e[i].place);
	}
}

static int count_compares(const void *ctx, uint32_t a, uint32_t b)
{
	++*(size_t *)(uintptr_t)ctx;
	return (a > b) - (a < b);
}

static void merge_sort_is_quick_on_order(void **state)
{
	size_t compares = 0;

	(void)state;
	sort_stable(&unit_arena, count_up(100000), 100000, count_compares, &compares);
	assert_true(compares < 120000);
}

static void scratch_is_given_back(void **state)
{
	struct str s[100];
	uint32_t keys[100] = { 0 };
	struct arena_mark m;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		s[i] = str_fmt(&unit_arena, "%zu", i * 7 % 100);
	count_up(100);
	m = arena_mark(&unit_arena);
	sort_stable(&unit_arena, v, 100, by_key, keys);
	sort_strings(&unit_arena, v, 100, s);
	assert_ptr_equal(arena_mark(&unit_arena).head, m.head);
	assert_int_equal(arena_mark(&unit_arena).used, m.used);
}

/* Sorts n strings in the order of v and checks the result; equal strings keep their order. */
static void check(size_t n)
{
	uint32_t *rank = ARENA_ARRAY(&unit_arena, n, uint32_t);

	for (size_t i = 0; i < n; i++)
		rank[v[i]] = (uint32_t)i;
	sort_strings(&unit_arena, v, n, strings);
	for (size_t i = 1; i < n; i++) {
		int c = str_cmp(strings[v[i - 1]], strings[v[i]]);

		assert_true(c < 0 || (c == 0 && rank[v[i - 1]] < rank[v[i]]));
	}
}

/* Strings over few letters, NUL among them, so that prefixes and repeats abound. */
static void random_strings(void **state)
{
	static const char letters[] = { 0, 'a', 'b', '\xff' };

	(void)state;
	for (size_t n = 0; n < 6000; n = n * 2 + 1) {
		for (size_t longest = 1; longest < 200; longest *= 5) {
			struct str *s = ARENA_ARRAY(&unit_arena, n, struct str);

			for (size_t i = 0; i < n; i++) {
				size_t length = unit_random(&seed) % (longest + 1);
				char *p = arena_alloc(&unit_arena, length, 1);

				for (size_t k = 0; k < length; k++)
					p[k] = letters[unit_random(&seed) % (1 + i % 4)];
				s[i] = str_make(p, length);
			}
			strings = s;
			count_up(n);
			check(n);
			check(n); /* now in order */
			shuffle(n);
			check(n);
		}
		arena_clear(&unit_arena);
	}
}

static void names(void **state)
{
	enum { N = 20000 };
	struct str *s = ARENA_ARRAY(&unit_arena, N, struct str);

	(void)state;
	for (unsigned i = 0; i < N; i++)
		s[i] = str_fmt(&unit_arena, "tower_%u/resnet/block%u/unit_%u/conv/weights/read_%u",
		        i % 4, i / 4 % 8, i / 32 % 50, i / 1600);
	strings = s;
	count_up(N);
	check(N);
	for (size_t i = 0; i < N / 2; i += 100) {
		uint32_t t = v[i];

		v[i] = v[N - 1 - i];
		v[N - 1 - i] = t;
	}
	check(N);
	shuffle(N);
	check(N);
}

/* Each string is a prefix of the next string, so the keys are equal at each level, and one string
 * ends at each. */
static void nested_prefixes(void **state)
{
	enum { N = 2000 };
	struct str *s = ARENA_ARRAY(&unit_arena, N, struct str);
	char *p = arena_alloc(&unit_arena, N * 50, 1);

	(void)state;
	memset(p, 'a', N * 50);
	for (size_t i = 0; i < N; i++)
		s[i] = str_make(p, 50 * (N - i));
	strings = s;
	count_up(N);
	check(N);
	shuffle(N);
	check(N);
}

/* A few large values where the pivot is chosen, and small values between them, so that many
 * partitions are unbalanced.
 */
static void organ_pipes(void **state)
{
	enum { N = 30000 };
	struct str *s = ARENA_ARRAY(&unit_arena, N, struct str);

	(void)state;
	strings = s;
	for (unsigned period = 2; period < 5000; period *= 9) {
		for (unsigned i = 0; i < N; i++) {
			unsigned k = i % period;

			s[i] = str_fmt(
			        &unit_arena, "%08u", (k < period / 2 ? k : period - k) * N + i / 2);
		}
		count_up(N);
		check(N);
	}
}

static void lists(void **state)
{
	struct strs l = str_split(&unit_arena, S("b,\xff,a,ab,b,B"), ','), none = { 0 };

	(void)state;
	sort_list(&unit_arena, &l);
	assert_true(str_eq(strs_join(&unit_arena, &l, S(",")), S("B,a,ab,b,b,\xff")));
	sort_list(&unit_arena, &none);
	assert_int_equal(none.n, 0);
}

static void counts(void **state)
{
	static const uint64_t ascending[] = { 0, 3, 3, 7, UINT64_MAX };
	static const struct {
		uint64_t key;
		size_t n;
	} cases[] = { { 0, 1 }, { 2, 1 }, { 3, 3 }, { 6, 3 }, { 7, 4 }, { UINT64_MAX, 5 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(sort_count(ascending, 5, cases[i].key), cases[i].n);
	assert_int_equal(sort_count(ascending + 1, 4, 2), 0);
	assert_int_equal(sort_count(NULL, 0, 2), 0);
}

/* Compares a bisection of each range of an array with a loop. */
static void bisects(void **state)
{
	static const int sorted[] = { -5, 0, 0, 3, 3, 3, 8 };

	(void)state;
	for (uint32_t from = 0; from <= 7; from++)
		for (uint32_t to = 0; to <= 7; to++)
			for (int key = -6; key < 10; key++) {
				uint32_t i, want = from;
				while (want < to && sorted[want] < key)
					want++;
				BISECT(i, from, to, sorted[i] < key);
				assert_int_equal(i, want);
			}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(merge_sort_is_stable),
		unit_case(elements),
		unit_case(merge_sort_is_quick_on_order),
		unit_case(scratch_is_given_back),
		unit_case(random_strings),
		unit_case(names),
		unit_case(nested_prefixes),
		unit_case(organ_pipes),
		unit_case(lists),
		unit_case(counts),
		unit_case(bisects),
	};

	return unit_main(tests, argc, argv);
}
