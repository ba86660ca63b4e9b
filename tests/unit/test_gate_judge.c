/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates evaluated over comparisons made by hand: requested comparisons, failures, changes excused
 * by steps, causes.
 */
#include "unit.h"

#include "compare/gate.h"

#define STEPS_MAX 4

/* The micros of node x in the steps of two sides, and which comparisons were asked for. */
struct world {
	struct arena *a;
	int64_t steps[2][STEPS_MAX];
	size_t n;
	struct sb asked;
	bool fails;
};

static void add_node(
        const struct world *w, struct side_maker *m, const char *path, const int64_t *steps)
{
	int64_t own[2 + 2 * STEPS_MAX] = { 0, (int64_t)w->n };

	for (size_t i = 0; i < w->n; i++) {
		own[0] += steps[i];
		own[2 + 2 * i] = steps[i];
		own[3 + 2 * i] = 1;
	}
	uint32_t entry = side_path(m, str_of(path));
	side_add(m, entry, own, SIDE_NODE);
	side_set_type(m, entry, S("Add"));
}

static bool compare(void *user, const struct view_ops *view, enum metric_id metric, bool with_steps,
        struct compare *c)
{
	static const int64_t nothing[STEPS_MAX];
	static const enum value v[2 + 2 * STEPS_MAX];
	struct world *w = user;
	struct side *sides = ARENA_ARRAY(w->a, 2, struct side);
	const struct side **list = ARENA_ARRAY(w->a, 2, const struct side *);
	const struct side_values values = { v, with_steps ? 2 + 2 * (uint32_t)w->n : 2 };

	sb_fmt(&w->asked, "%s.%s%s ", view->name, metrics[metric].name, with_steps ? "+" : "");
	for (size_t i = 0; i < 2; i++) {
		struct side_maker *m = side_begin(view->kind, &values, w->a);
		if (view->kind == VK_OP) {
			add_node(w, m, "Add", w->steps[i]);
		} else {
			add_node(w, m, "a/x", w->steps[i]);
			add_node(w, m, "a/y", nothing);
		}
		side_end(m, &sides[i]);
		list[i] = &sides[i];
	}
	compare_sides(c, list, 2, w->a);
	return !w->fails;
}

static struct gate_result judge(struct world *w, const char *rule, bool texts)
{
	struct err e = { .a = w->a };
	struct gate_ask ask = { .compare = compare,
		.user = w,
		.level = 0.05,
		.steps = 2 * w->n,
		.texts = texts,
		.e = &e };
	struct gate_result r = { .holds = false };
	struct gate g;

	w->asked = sb_in(w->a);
	assert_true(gate_parse(&g, str_of(rule), &e));
	assert_int_equal(gate_judge(&g, &ask, w->a, &r), !w->fails);
	return r;
}

static void test_holds(void **state)
{
	struct world w = { *state, { { 10, 10 }, { 10, 11 } }, 2, { 0 }, false };
	struct gate_result r = judge(&w, "total.micros<+10%", false);

	assert_true(r.holds);
	assert_str(r.text, "20us -> 21us (+1us, +5.00%)");
	assert_str(sb_str(&w.asked), "scope.micros ");
	assert_str(judge(&w, "scope:a/.*.micros<+10%", false).text, "2 nodes");
	r = judge(&w, "scope:b.micros<+10%", false);
	assert_true(!r.holds && str_eq(r.text, S("no node matches")));
}

/* A change that is sure, and one that steps make doubtful. */
static void test_steps(void **state)
{
	struct world w = { *state, { { 100, 101, 99 }, { 200, 201, 199 } }, 3, { 0 }, false };
	struct gate_result r = judge(&w, "total.micros<+5%", false);

	assert_false(r.holds);
	assert_true(str_contains(r.text, S("over 3 and 3 steps: p = ")));
	assert_true(str_ends(r.text, S("; caused by a/x (+300us)")));
	assert_str(sb_str(&w.asked), "scope.micros scope.micros+ ");
	w = (struct world){ *state, { { 100, 10, 300 }, { 200, 20, 320 } }, 3, { 0 }, false };
	r = judge(&w, "total.micros<+5%", false);
	assert_true(r.holds && str_starts(r.text, S("within the spread of the steps: ")));
	/* A limit of the number itself, or of a text, is not excused. */
	assert_false(judge(&w, "total.micros<1", false).holds);
	assert_false(judge(&w, "total.micros<+5%", true).holds);
	assert_str(sb_str(&w.asked), "scope.micros ");
}

/* Which nodes caused it says the scope view; a text has none. */
static void test_op(void **state)
{
	struct world w = { *state, { { 100, 101, 99 }, { 200, 201, 199 } }, 3, { 0 }, false };

	assert_true(
	        str_ends(judge(&w, "op:Add.micros<+5%", false).text, S("caused by a/x (+300us)")));
	assert_str(sb_str(&w.asked), "op.micros op.micros+ scope.micros ");
	assert_str(
	        judge(&w, "op:Add.micros<+5%", true).text, "Add 300us -> 600us (+300us, +100.00%)");
	w.fails = true;
	judge(&w, "op:Add.micros<+5%", false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_holds),
		unit_case(test_steps),
		unit_case(test_op),
	};

	return unit_main(tests, argc, argv);
}
