/* SPDX-License-Identifier: Apache-2.0
 *
 * Sides as one tree: by path, by hand, and on random sides against a plain way of doing it.
 */
#include "unit.h"

#include "compare/compare.h"

static const enum value one_value[] = { V_MICROS };

/* A side of paths with blanks between them; path k has the own number 1 << k. */
static struct side *side(struct arena *a, enum vk kind, const char *paths)
{
	struct side_values values = { .v = one_value, .n = 1, .ticks_per_us = 1 };
	struct side_maker *w = side_begin(kind, &values, a);
	struct strs v = str_split(a, str_of(paths), ' ');
	struct side *s = ARENA_NEW(a, struct side);

	for (size_t i = 0; i < v.n; i++) {
		int64_t own = (int64_t)1 << i;
		uint32_t entry = side_path(w, v.v[i]);
		side_add(w, entry, &own, SIDE_NODE);
		side_set_type(w, entry, S("Op"));
	}
	side_end(w, s);
	return s;
}

/* name=total,total for each entry; - where a side lacks it. */
static struct str text_of(const struct compare *c, struct arena *a)
{
	struct sb b = sb_in(a);

	for (uint32_t i = 1; i < c->n; i++) {
		sb_fmt(&b, "%s%.*s=", i > 1 ? " " : "", STR(c->name[i]));
		for (uint32_t s = 0; s < c->sides; s++) {
			const int64_t *total = compare_total(c, s, i);
			if (total)
				sb_fmt(&b, "%s%lld", s ? "," : "", (long long)*total);
			else
				sb_fmt(&b, "%s-", s ? "," : "");
		}
	}
	return sb_str(&b);
}

static struct str merged(struct arena *a, const char *x, const char *y, const char *z)
{
	const struct side *sides[] = { side(a, VK_SCOPE, x), side(a, VK_SCOPE, y),
		z ? side(a, VK_SCOPE, z) : NULL };
	struct compare c;

	compare_sides(&c, sides, z ? 3 : 2, a);
	return text_of(&c, a);
}

static void test_paths(void **state)
{
	assert_str(merged(*state, "a/x b", "a/y b", NULL), "a=1,1 a/x=1,- a/y=-,1 b=2,2");
	assert_str(merged(*state, "b a", "a c b", "d"), "a=2,1,- b=1,4,- c=-,2,- d=-,-,1");
	assert_str(merged(*state, "a", "", NULL), "a=1,-");
	assert_str(merged(*state, "a-b a/b ab", "a/b a-b", NULL), "a=2,1 a/b=2,1 a-b=1,2 ab=4,-");
}

/* A path that occurs twice is added up; a node may have others below it. */
static void test_sums(void **state)
{
	struct side *s = side(*state, VK_SCOPE, "a a/b a/b");

	assert_int_equal(s->n, 3);
	assert_int_equal(s->total[0], 7);
	assert_int_equal(s->total[1], 7);
	assert_int_equal(s->self[1], 1);
	assert_int_equal(s->self[2], 6);
}

static bool upper(void *user, struct str from, struct arena *a, struct str *to, struct err *e)
{
	(void)user;
	(void)e;
	*to = str_eq(from, S("a/b")) ? str_copy(a, S("c/d/b")) : from;
	return true;
}

static void test_rename(void **state)
{
	const struct side *s = side(*state, VK_SCOPE, "a/b a/c"),
	                  *t = side_rename(s, upper, NULL, *state, NULL);
	struct compare c;

	compare_sides(&c, &t, 1, *state);
	assert_str(text_of(&c, *state), "a=2 a/c=2 c=1 c/d=1 c/d/b=1");
	assert_str(side_given(t, 5), "a/b");
	s = side(*state, VK_SCOPE, "x y");
	assert_true(side_rename(s, upper, NULL, *state, NULL) == s);
}

/* Many sides: the position of every entry follows from its path. */
static void test_many(void **state)
{
	const struct side *sides[50];
	uint64_t r = 1;
	struct compare c;

	for (size_t s = 0; s < 50; s++) {
		struct sb b = sb_in(*state);
		for (int i = 0; i < 40; i++) {
			r = r * 6364136223846793005u + 1442695040888963407u;
			sb_fmt(&b, "%c/%c%u ", (char)('a' + (r >> 40) % 3),
			        (char)('a' + (r >> 50) % 4), (unsigned)(r >> 60));
		}
		sides[s] = side(*state, VK_SCOPE, str_z(*state, sb_str(&b)));
	}
	compare_sides(&c, sides, 50, *state);
	for (uint32_t s = 0; s < 50; s++) {
		uint32_t found = 0;
		for (uint32_t i = 0; i < c.n; i++) {
			if (!compare_has(&c, s, i))
				continue;
			found++;
			assert_true(i == 0 || str_eq(c.name[i], sides[s]->name[c.at[s][i]]));
			assert_true(i == 0 || compare_has(&c, s, c.parent[i]));
		}
		assert_int_equal(found, sides[s]->n);
	}
	for (uint32_t i = 1; i < c.n; i++)
		assert_true(c.parent[i] < i && c.end[i] <= c.end[c.parent[i]]);
}

static struct str matched(struct arena *a, const char *x, const char *y)
{
	const struct side *sides[] = { side(a, VK_SCOPE, x), side(a, VK_SCOPE, y) };
	struct alias *aliases;
	struct compare c;

	compare_sides(&c, sides, 2, a);
	match_renamed(&c, &aliases, a);
	struct str text = text_of(&c, a);
	struct sb b = sb_in(a);
	sb_put(&b, text);
	for (; aliases->entry != ID_NONE; aliases++)
		sb_fmt(&b, " %.*s>%.*s", STR(c.name[aliases->entry]), STR(aliases->name));
	return sb_str(&b);
}

static void test_renamed(void **state)
{
	assert_str(matched(*state, "t/a t/b t/c t/d", "u/a u/b u/c u/d"),
	        "t=15,15 t/a=1,1 t/b=2,2 t/c=4,4 t/d=8,8 t>u");
	/* Too few nodes to decide, and too few in common. */
	assert_str(matched(*state, "t/a t/b", "u/a u/b"),
	        "t=3,- t/a=1,- t/b=2,- u=-,3 u/a=-,1 u/b=-,2");
	assert_true(
	        str_contains(matched(*state, "t/a t/b t/c t/d", "u/a u/q u/r u/s"), S("t=15,-")));
	/* Two candidates: none is matched. */
	assert_true(
	        str_contains(matched(*state, "t/a t/b t/c t/d", "u/a u/b u/c u/d v/a v/b v/c v/d"),
	                S("t=15,-")));
	/* Equal counts on both sides: matched in order of their numbers. */
	assert_true(
	        str_contains(matched(*state, "t_1/a t_1/b t_1/c t_1/d t_10/a t_10/b t_10/c t_10/d",
	                             "u_1/a u_1/b u_1/c u_1/d u_10/a u_10/b u_10/c u_10/d"),
	                S(" t_1>u_1 t_10>u_10")));
	/* Nodes of one side only do not hide common ones, at any position. */
	for (char extra = 'A'; extra <= 'Z'; extra++) {
		char right[] = "u/a u/b u/c u/d u/?";
		right[sizeof right - 2] = extra;
		assert_true(str_contains(matched(*state, "t/a t/b t/c t/d", right), S(" t>u")));
	}
	/* A rename seen once is applied elsewhere, where less evidence would not suffice. */
	assert_true(str_contains(
	        matched(*state, "t/a t/b t/c t/d g/t/x", "u/a u/b u/c u/d g/u/x"), S(" g/t>g/u")));
}

/* A node with different positions on the sides is one entry, and totals add up. */
static void test_graph(void **state)
{
	const struct side *sides[] = { side(*state, VK_GRAPH, "a a/b"),
		side(*state, VK_GRAPH, "b") };
	struct side_values values = { .v = one_value, .n = 1, .ticks_per_us = 1 };
	struct side_maker *w = side_begin(VK_GRAPH, &values, *state);
	struct side turned;
	struct compare c;
	int64_t own = 5;

	side_add(w, side_child(w, side_child(w, 0, S("new")), S("a")), &own, SIDE_NODE);
	side_end(w, &turned);
	sides[1] = &turned;
	compare_graph(sides, 2, *state);
	compare_sides(&c, sides, 2, *state);
	for (uint32_t s = 0; s < 2; s++)
		assert_int_equal(*compare_total(&c, s, 0), s ? 5 : 3);
	uint32_t nodes = 0;
	for (uint32_t i = 1; i < c.n; i++)
		nodes += str_eq(c.name[i], S("a"));
	assert_int_equal(nodes, 1);
}

/* Reasons why nothing matches: names in another case, a scope around one side. */
static void test_lonely(void **state)
{
	const struct side *sides[] = { side(*state, VK_SCOPE, "both A/B c/d"),
		side(*state, VK_SCOPE, "both a/b e"), side(*state, VK_SCOPE, "m/both m/c/d") };
	struct compare c;
	struct unmatched l;

	compare_sides(&c, sides, 2, *state);
	unmatched_find(&l, &c, *state);
	assert_int_equal(l.first.n, 2);
	assert_int_equal(l.last.n, 2);
	assert_int_equal(l.n_case, 1);
	assert_str(l.one, "A/B");
	assert_str(l.two, "a/b");
	assert_str(unmatched_prefix(&l), "");
	sides[1] = sides[2];
	compare_sides(&c, sides, 2, *state);
	unmatched_find(&l, &c, *state);
	assert_int_equal(l.n_case, 0);
	assert_str(unmatched_prefix(&l), "m");
	sides[1] = sides[0];
	sides[0] = sides[2];
	compare_sides(&c, sides, 2, *state);
	unmatched_find(&l, &c, *state);
	assert_str(unmatched_prefix(&l), "m");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_paths),
		unit_case(test_sums),
		unit_case(test_rename),
		unit_case(test_many),
		unit_case(test_renamed),
		unit_case(test_graph),
		unit_case(test_lonely),
	};

	return unit_main(tests, argc, argv);
}
