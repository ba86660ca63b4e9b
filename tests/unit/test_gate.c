/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates: parsing, places of faults, evaluation.
 */
#include "unit.h"

#include "compare/gate.h"
#include "why/why.h"

static struct gate gate(struct arena *a, const char *text)
{
	struct err e = { .a = a };
	struct gate g;

	assert_true(gate_parse(&g, str_of(text), &e));
	return g;
}

static struct str fault(struct arena *a, const char *text)
{
	struct err e = { .a = a };
	struct gate g;

	assert_false(gate_parse(&g, str_of(text), &e));
	return e.text;
}

static void test_parse(void **state)
{
	struct gate g = gate(*state, "scope:loss/.*<x.bytes<=+1MB");

	assert_int_equal(g.view, VK_SCOPE);
	assert_str(g.pattern, "loss/.*<x");
	assert_int_equal(g.metric, M_BYTES);
	assert_true(g.less && g.equal && g.change && !g.percent && !g.total);
	assert_int_equal(g.amount, 1000000);
	g = gate(*state, "total.micros<+5%");
	assert_true(g.total && g.percent && g.share == 0.05);
	g = gate(*state, "total.micros <= +5%"); /* blanks between */
	assert_true(g.total && g.equal && g.metric == M_MICROS && g.share == 0.05);
	g = gate(*state, "op:Conv2D.accelerator_micros>30ms");
	assert_true(!g.less && !g.change && g.amount == 30000);
	assert_int_equal(g.number, STEP_NONE);
}

static void test_numbers_of_steps(void **state)
{
	struct gate g = gate(*state, "step_time <+5%");

	assert_true(g.number == STEP_step_time && g.total && g.metric == M_MICROS);
	g = gate(*state, "kernels<=+0");
	assert_true(g.number == STEP_kernels && g.metric == M_OCCURRENCE);
	g = gate(*state, "exposed_communication<1ms"); /* the time, not the cause of this name */
	assert_true(g.number == STEP_exposed_communication && g.amount == 1000);
	g = gate(*state, "input_pipeline<1ms");
	assert_true(g.number == STEP_CAUSES + WHY_input_pipeline && g.amount == 1000);
	assert_true(str_contains(fault(*state, "input<1ms"), S("or a cause of why")));
}

static void test_faults(void **state)
{
	static const char *const bad[][2] = { { "total.micros", "column 13: <" },
		{ "", "column 1: <" }, { "micros<5", "column 1: a metric" },
		{ "total.nonsense<5", "column 7: not a numeric metric" },
		{ "total.device<5", "column 7: not a numeric metric" },
		{ "all.micros<5", "column 1: a rule begins" },
		{ "op:.micros<5", "column 4: a pattern" },
		{ "total.micros<", "column 14: a limit" },
		{ "total.micros<5%", "column 14: a percentage is" },
		{ "step_time<5%", "column 11: a percentage is" },
		{ "step_time_share<5%", "column 1: a metric" },
		{ "idle_share<+5%", "column 12: a share" },
		{ "total.micros<+x%", "column 14: not a percentage, such as 5%" },
		{ "total.bytes<+5ms", "column 13: not a size" },
		{ "total.params<+5MB", "column 14: not a number" } };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct str said = fault(*state, bad[i][0]);
		assert_true(str_contains(said, str_of(bad[i][1])));
	}
}

static void test_holds(void **state)
{
	struct gate g = gate(*state, "total.micros<+5%");

	assert_true(gate_holds(&g, 1, 100, 104, 0));
	assert_false(gate_holds(&g, 1, 100, 105, 0));
	assert_true(gate_holds(&g, 1, 100, 0, 0));
	assert_true(gate_holds(&g, 1, 0, 0, 0));
	assert_false(gate_holds(&g, 1, 0, 1, 0));
	g = gate(*state, "total.bytes<=+0");
	assert_true(gate_holds(&g, 1, 7, 7, 0));
	assert_false(gate_holds(&g, 1, 7, 8, 0));
	g = gate(*state, "total.micros<-10%");
	assert_false(gate_holds(&g, 1, 100, 100, 0));
	assert_true(!gate_holds(&g, 1, 0, 0, 0) && gate_holds(&g, 1, 100, 80, 0));
	g = gate(*state, "total.bytes<=-1");
	assert_false(gate_holds(&g, 1, 5, 5, 0));
	g = gate(*state, "total.micros<-10%");
	assert_true(gate_holds(&g, 1, 100, 80, 0));
	g = gate(*state, "total.params>=10");
	assert_true(gate_holds(&g, 1, 0, 10, 0));
	assert_false(gate_holds(&g, 1, 99, 9, 0));
	g = gate(*state, "total.residual_bytes<+50%");
	assert_true(gate_holds(&g, 1, -100, -60, 0));
	assert_false(gate_holds(&g, 1, -100, -40, 0));
	g = gate(*state, "op:Conv2D.micros<30%");
	assert_true(gate_is_share(&g) && gate_holds(&g, 1, 0, 29, 100));
	assert_false(gate_holds(&g, 1, 0, 30, 100));
	g = gate(*state, "idle_share<=10%");
	assert_true(g.number == STEP_idle && g.total && gate_holds(&g, 1, 0, 10, 100));
	assert_false(gate_holds(&g, 1, 0, 11, 100));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_parse),
		unit_case(test_numbers_of_steps),
		unit_case(test_faults),
		unit_case(test_holds),
	};

	return unit_main(tests, argc, argv);
}
