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

/* The names that vLLM 0.11 to 0.33, SGLang 0.5.12 to 0.5.23 and TensorRT-LLM 0.19 to 1.2 write. */
static void reads_names_of_versions(void **state)
{
	struct serving_step x;

	(void)state;
	assert_step("execute_new_2_cached_0", PHASE_PREFILL, 2, -1);
	assert_step("execute_new_0_cached_3", PHASE_DECODE, 3, -1);
	assert_step("execute_new_1_cached_3", PHASE_MIXED, 4, -1);
	assert_step("execute_context_0(0)_generation_0(0)", PHASE_OTHER, 0, 0);
	assert_step("step[VERIFY bs=8 g_sq=32 g_sqsq=128 g_sqsk=9000 g_sk=2250 forward_id=7]",
	        PHASE_SPECULATIVE, 8, 32);
	assert_step("step[DRAFT bs=8]", PHASE_SPECULATIVE, 8, -1);
	x = parse("step[DRAFT_LOOP raw_bs=3 bs=4 topk=1]");
	assert_int_equal(x.requests, 3);
	assert_int_equal(x.padded, 4);
	x = parse("step[MIXED bs=5 c=2 g=3 c_sq=40 c_sk=50 c_sqsq=800 c_sqsk=1000 g_sq=3 g_sk=90 "
	          "g_sqsq=3 g_sqsk=90]");
	assert_int_equal(x.phase, PHASE_MIXED);
	assert_int_equal(x.prefills, 2);
	assert_int_equal(x.decodes, 3);
	assert_int_equal(x.tokens, 43);
	assert_step(
	        "step[EXTEND bs=1 toks=7 c_sq=7 c_sqsq=49 c_sqsk=49 c_sk=7]", PHASE_PREFILL, 1, 7);
	assert_step("step[ForwardMode.DECODE bs=2]", PHASE_DECODE, 2, 2);
	assert_step("ForwardMode.DECODE", PHASE_DECODE, -1, -1);
	assert_step("ForwardMode.EXTEND bs=2 toks=9", PHASE_PREFILL, 2, 9);
	assert_step("step[SOME_NEW_MODE bs=2]", PHASE_OTHER, 2, -1);
	assert_step("extend[bs=2 toks=9]", PHASE_PREFILL, 2, 9);
	assert_step("verify[bs=2 toks=8]", PHASE_SPECULATIVE, 2, 8);
	assert_step("[Executor] _forward_step 12: 1 ctx reqs, 3 gen reqs", PHASE_MIXED, 4, -1);
	assert_step("[Executor] _forward_step 12: 2 ctx reqs, 90 ctx tokens, 0 gen reqs",
	        PHASE_PREFILL, 2, 90);
	assert_step("_forward_step: 0 ctx reqs, 3 gen reqs", PHASE_DECODE, 3, 3);
	assert_step("executeStep: 0 ctx reqs, 8 gen reqs", PHASE_DECODE, 8, 8);
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
		"execute_context_99999999999999999999(1)_generation_0(0)", "execute_new_1",
		"ForwardMode.Decode", "ForwardMode.DECODE]", "ForwardMode.OTHER",
		"execute_new_1_cached_2_3", "step[Decode bs=1]", "step[DECODED]", "verify[x]",
		"_forward_step 1: 2 ctx reqs", "_forward_step 2",
		"executeStep: 1 ctx reqs, 2 gen reqs more", "[Executor] executeStep" };
	struct serving_step x;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_false(serving_parse(str_of(names[i]), &x));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_each_form),
		cmocka_unit_test(reads_names_of_versions), cmocka_unit_test(reads_sums),
		cmocka_unit_test(refuses_other_names) };

	return unit_main(tests, argc, argv);
}
