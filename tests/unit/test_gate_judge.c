/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates evaluated over comparisons made by hand: requested comparisons, the three results, causes.
 */
#include "unit.h"

#include <math.h>

#include "compare/gate.h"

#define STEPS_MAX 8

/* The micros of node x in the steps of two sides, and the requested comparisons. */
struct world {
	struct arena *a;
	int64_t steps[2][STEPS_MAX];
	size_t n;
	struct sb asked;
	bool fails;
	struct str lack;
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

static bool compare(void *user, const struct view_ops *view, const struct gate *g, bool with_steps,
        struct compare *c, struct str *lack)
{
	static const int64_t nothing[STEPS_MAX];
	static const enum value v[2 + 2 * STEPS_MAX];
	struct world *w = user;
	struct side *sides = ARENA_ARRAY(w->a, 2, struct side);
	const struct side **list = ARENA_ARRAY(w->a, 2, const struct side *);
	const struct side_values values = {
		.v = v, .n = with_steps ? 2 + 2 * (uint32_t)w->n : 2, .ticks_per_us = 1
	};

	sb_fmt(&w->asked, "%s.%s%s ", view->name, metrics[g->metric].name, with_steps ? "+" : "");
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
	*lack = w->lack;
	return !w->fails;
}

static struct gate_result judge(struct world *w, const char *rule, bool texts)
{
	struct err e = { .a = w->a };
	struct gate_request request = { .compare = compare,
		.user = w,
		.level = 0.05,
		.steps = 2 * w->n,
		.texts = texts,
		.e = &e };
	struct gate_result r = { .verdict = GATE_INCONCLUSIVE };
	struct gate g;

	w->asked = sb_in(w->a);
	assert_true(gate_parse(&g, str_of(rule), &e));
	assert_int_equal(gate_judge(&g, &request, w->a, &r), !w->fails);
	return r;
}

static void test_holds(void **state)
{
	struct world w = { *state, { { 100, 101, 102, 100 }, { 101, 102, 103, 101 } }, 4, { 0 },
		false, STR_NONE };
	struct gate_result r = judge(&w, "total.micros<+10%", false);

	assert_int_equal(r.verdict, GATE_HOLDS);
	assert_str(r.text,
	        "403us -> 407us (+4us, +0.99%); 95% interval -0.98% to +3.00% (rank test, 4 and 4 "
	        "steps); these steps can show a change of 1.99%");
	assert_true(r.steps[0] == 4 && r.steps[1] == 4 && r.high > 0.0299 && r.high < 0.0301 &&
	            !r.needed);
	assert_str(sb_str(&w.asked), "scope.micros+ ");
	assert_str(judge(&w, "scope:a/.*.micros<+10%", false).text,
	        "2 nodes; in each of them these steps can show a change of 1.99%");
	r = judge(&w, "scope:b.micros<+10%", false);
	assert_true(r.verdict == GATE_FAILS && str_eq(r.text, S("no node matches")));
}

/* A change beyond the limit, one that the steps cannot show, and too few steps. */
static void test_steps(void **state)
{
	struct world w = { *state, { { 100, 101, 99, 100 }, { 200, 201, 199, 5000 } }, 4, { 0 },
		false, STR_NONE };
	struct gate_result r = judge(&w, "total.micros<+5%", false);

	assert_int_equal(r.verdict, GATE_FAILS);
	assert_true(str_contains(r.text, S("(rank test, 4 and 4 steps)")));
	assert_true(str_ends(r.text, S("; caused by a/x (+5.2ms)")));
	assert_str(sb_str(&w.asked), "scope.micros+ ");
	w = (struct world){ *state, { { 100, 10, 300, 40 }, { 110, 20, 320, 40 } }, 4, { 0 }, false,
		STR_NONE };
	r = judge(&w, "total.micros<+20%", false);
	assert_true(r.verdict == GATE_INCONCLUSIVE && r.needed > 4 && isfinite(r.high));
	assert_true(str_contains(r.text, S(" steps on each side would be enough; caused by a/x")));
	assert_int_equal(judge(&w, "total.micros<-20%", false).verdict, GATE_INCONCLUSIVE);
	w = (struct world){ *state, { { 100 }, { 250 } }, 1, { 0 }, false, STR_NONE };
	r = judge(&w, "total.micros<+5%", false);
	assert_true(r.verdict == GATE_INCONCLUSIVE && r.needed == 4 && !r.steps[0]);
	assert_str(r.text, "100us -> 250us (+150us, +150.00%); 1 and 1 steps are too few to show "
	                   "how much steps vary; "
	                   "about 4 steps on each side would be enough; caused by a/x (+150us)");
	/* A printed text has no steps, a limit of the number itself needs none. */
	r = judge(&w, "total.micros<+500%", true);
	assert_true(r.verdict == GATE_INCONCLUSIVE && r.needed == 4);
	assert_str(sb_str(&w.asked), "scope.micros ");
	assert_int_equal(judge(&w, "total.micros<1", false).verdict, GATE_FAILS);
	assert_int_equal(judge(&w, "total.micros<=250us", false).verdict, GATE_HOLDS);
	assert_str(sb_str(&w.asked), "scope.micros ");
}

/* The average and most steps are on different sides of the limit: neither result would be true. */
static void test_outliers(void **state)
{
	struct world w = { *state,
		{ { 100, 101, 102, 100, 101, 102, 100, 100 },
		        { 101, 102, 103, 101, 900, 102, 100, 101 } },
		8, { 0 }, false, STR_NONE };
	struct gate_result r = judge(&w, "total.micros<+20%", false);

	assert_int_equal(r.verdict, GATE_INCONCLUSIVE);
	assert_true(str_contains(r.text, S("the average and most steps disagree")));
	/* The other way round: the base has the outlier, and every other step became slower. */
	w = (struct world){ *state,
		{ { 100, 101, 102, 100, 900, 102, 100, 100 },
		        { 141, 142, 143, 141, 142, 142, 140, 141 } },
		8, { 0 }, false, STR_NONE };
	assert_int_equal(judge(&w, "total.micros<+5%", false).verdict, GATE_INCONCLUSIVE);
}

/* The numbers alone decide about values that do not vary, at the limit too. */
static void test_constant(void **state)
{
	struct world w = { *state, { { 500, 500 }, { 501, 501 } }, 2, { 0 }, false, STR_NONE };

	assert_int_equal(judge(&w, "total.micros<=+0", false).verdict, GATE_FAILS);
	assert_int_equal(judge(&w, "total.micros<=+2", false).verdict, GATE_HOLDS);
	assert_int_equal(judge(&w, "total.micros<+2", false).verdict, GATE_FAILS);
	assert_int_equal(judge(&w, "total.params<=+0", false).verdict, GATE_FAILS);
	w.steps[1][0] = w.steps[1][1] = 500;
	assert_int_equal(judge(&w, "total.micros<=+0", false).verdict, GATE_HOLDS);
	assert_int_equal(judge(&w, "total.micros<-1%", false).verdict, GATE_FAILS);
}

/* The scope view has the nodes that caused the failure; a text has none. */
static void test_op(void **state)
{
	struct world w = { *state, { { 100, 101, 99, 100 }, { 200, 201, 199, 200 } }, 4, { 0 },
		false, STR_NONE };

	assert_true(
	        str_ends(judge(&w, "op:Add.micros<+5%", false).text, S("caused by a/x (+400us)")));
	assert_str(sb_str(&w.asked), "op.micros+ scope.micros ");
	assert_str(judge(&w, "op:Add.micros<500us", true).text,
	        "Add 400us -> 800us (+400us, +100.00%)");
	w.fails = true;
	judge(&w, "op:Add.micros<+5%", false);
}

/* A number that a side does not have. */
static void test_lack(void **state)
{
	struct world w = { *state, { { 1 }, { 1 } }, 1, { 0 }, false, S("no slices") };
	struct gate_result r = judge(&w, "garbage_collection<1ms", false);

	assert_int_equal(r.verdict, GATE_INCONCLUSIVE);
	assert_str(r.text, "no slices");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_holds),
		unit_case(test_steps),
		unit_case(test_outliers),
		unit_case(test_constant),
		unit_case(test_op),
		unit_case(test_lack),
	};

	return unit_main(tests, argc, argv);
}
