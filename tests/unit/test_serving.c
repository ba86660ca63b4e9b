/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations of LLM servers.
 */
#include "unit.h"

#include "trace/pass/serving.h"

static struct serving_step parse(const char *name)
{
	struct serving_step x;

	assert_true(serving_parse(str_of(name), &x));
	return x;
}

static void assert_step(
        const char *name, enum serving_phase phase, int64_t requests, int64_t tokens)
{
	struct serving_step x = parse(name);

	assert_int_equal(x.phase, phase);
	assert_int_equal(x.requests, requests);
	assert_int_equal(x.tokens, tokens);
}

static void reads_each_form(void **state)
{
	(void)state;
	assert_step("execute_9_context_1(sq8sk9sqsq64sqsk72)_generation_1(sq1sk7sqsq1sqsk7)",
	        PHASE_MIXED, 2, 9);
	assert_step("execute_context_2(14721)_generation_0(0)", PHASE_PREFILL, 2, 14721);
	assert_step("execute_context_0(0)_generation_5(5)", PHASE_DECODE, 5, 5);
	assert_step("step[EXTEND bs=15 toks=15360]", PHASE_PREFILL, 15, 15360);
	assert_step("step[DECODE bs=32]", PHASE_DECODE, 32, 32);
	assert_step("step[TARGET_VERIFY bs=4 toks=16]", PHASE_SPECULATIVE, 4, 16);
	assert_step("prefill[bs=2 toks=70]", PHASE_PREFILL, 2, 70);
	assert_step("execute_diffusion_1_256x256", PHASE_OTHER, -1, -1);
	assert_int_equal(parse("decode[bs=117/128 toks=117]").padded, 128);
	assert_int_equal(parse("step[MIXED bs=3 toks=9]").prefills, -1);
}

static void reads_sums(void **state)
{
	struct serving_step x =
	        parse("execute_9_context_1(sq8sk9sqsq64sqsk72)_generation_1(sq1sk7sqsq1sqsk7)");

	(void)state;
	assert_true(x.sums);
	assert_int_equal(x.context.q, 8);
	assert_int_equal(x.context.k, 9);
	assert_int_equal(x.context.qq, 64);
	assert_int_equal(x.context.qk, 72);
	assert_int_equal(x.generation.qk, 7);
	assert_false(parse("execute_context_2(14721)_generation_0(0)").sums);
	x = parse("decode[bs=4 g_sq=4 g_sk=90 g_sqsq=4 g_sqsk=90]");
	assert_true(x.sums);
	assert_int_equal(x.generation.k, 90);
}

static void refuses_other_names(void **state)
{
	static const char *const names[] = { "", "e", "execute_", "step[", "step[]", "step[3]",
		"step[DECODE bs=1", "decode", "execute_4_context_1(sq4)_generation_0(sq0)",
		"execute_context_2(14721)_generation_0(0) more",
		"execute_context_99999999999999999999(1)_generation_0(0)" };
	struct serving_step x;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_false(serving_parse(str_of(names[i]), &x));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_each_form),
		cmocka_unit_test(reads_sums), cmocka_unit_test(refuses_other_names) };

	return unit_main(tests, argc, argv);
}
