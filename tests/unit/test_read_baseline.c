/* SPDX-License-Identifier: Apache-2.0
 *
 * Baselines: a written baseline is read as the same numbers, and written again as the same bytes.
 */
#include "unit.h"

#include "export/out.h"
#include "reader_rig.h"

static bool read_text(struct rig *g, const char *text)
{
	rig_open(g, false);
	return rig_read(g, read_baseline, str_of(text));
}

static struct str written(struct rig *g)
{
	struct sink *to = sink_memory(&g->a);

	assert_true(ingest_seal(g->in, &g->e));
	baseline_write(g->m, &(struct baseline_facts){ 0 }, to, &g->a);
	return sink_text(to);
}

static void says(struct str s, const char *z)
{
	assert_int_equal(s.n, strlen(z));
	assert_memory_equal(s.p, z, s.n);
}

#define WHOLE                                                                                      \
	"tfprof baseline 1\nstep\t0\nstep\t3\n"                                                    \
	"node\ta\tMatMul\t3x-1\t7\t/job:a/cpu:0\t/job:a/cpu:0|MatMul|my\\x7ctype\n"                \
	"run\t0\t2\t0\t5\t100\t200\t-3\t4\nrun\t3\t1\t9\t0\t0\t0\t0\t0\n"                          \
	"node\tb\\x09\\x5c\tAdd\t-\t0\t\tAdd\nend\t0f7519b8\n"

static void test_again(void **state)
{
	struct rig g;

	(void)state;
	assert_true(read_text(&g, WHOLE));
	says(written(&g), WHOLE);
	struct tally t = model_tallies(g.m, model_step(g.m, 0), g.m->a)[0];
	assert_int_equal(t.v[V_CPU_MICROS], 5);
	assert_int_equal(t.v[V_MICROS], 5);
	assert_int_equal(t.v[V_RUNS], 2);
	assert_int_equal(t.v[V_RESIDUAL_BYTES], -3);
	assert_int_equal(t.v[V_FLOAT_OPS], 14);
	t = model_tallies(g.m, model_step(g.m, 3), g.m->a)[0];
	assert_int_equal(t.v[V_ACCELERATOR_MICROS], 9);
	assert_true(str_eq(node_name(g.m, 1), S("b\t\\")));
	rig_close(&g);
}

/* A baseline of a trace keeps ticks, kernels and float operations, and averages over all steps.
 * Baselines of older versions have no number of uncounted calls. */
static void test_ticks(void **state)
{
#define HEAD                                                                                       \
	"tfprof baseline 1\nticks\t1000\nstep\t0\nstep\t1\nnode\ta\tA\t-\t0\t\tA\n"                \
	"run\t1\t3\t1500\t79\t0\t0\t0\t0\t2\t64\t100"
	static const char text[] = HEAD "\t5\nend\t68a78c5f\n", older[] = HEAD "\nend\t0bf1cf2f\n";
#undef HEAD
	struct rig g;

	(void)state;
	assert_true(read_text(&g, text));
	says(written(&g), text);
	struct tally t = model_tallies(g.m, NULL, g.m->a)[0];
	struct fraction time =
	        model_fraction(g.m, model_steps(g.m, g.m->averaged), V_MICROS, t.v[V_MICROS]);
	assert_int_equal(time.v, 1579);
	assert_int_equal(time.per, 2000);
	assert_int_equal(t.v[V_KERNELS], 2);
	assert_int_equal(t.v[V_FLOAT_OPS], 100);
	assert_int_equal(t.v[V_UNCOUNTED], 5);
	rig_close(&g);
	assert_true(read_text(&g, older));
	assert_int_equal(model_tallies(g.m, NULL, g.m->a)[0].v[V_UNCOUNTED], 0);
	rig_close(&g);
}

/* Every changed bit is noticed; line ends of other systems are not damage; files of older versions
 * have no checksum, which is noted. */
static void test_checksum(void **state)
{
	static const char old[] = "tfprof baseline 1\nnode\ta\tA\t-\t0\t\tA\nend\n";
	struct sb other = { 0 };
	struct rig g;

	(void)state;
	for (size_t bit = 0; bit < 8 * (sizeof WHOLE - 2);
	        bit++) { /* except for the last newline */
		char text[] = WHOLE;
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
		assert_false(read_text(&g, text));
		rig_close(&g);
	}
	rig_open(&g, false);
	other = sb_in(&g.a);
	for (const char *p = WHOLE; *p; p++)
		sb_put(&other, *p == '\n' ? S("\r\n") : str_make(p, 1));
	assert_true(rig_read(&g, read_baseline, sb_str(&other)));
	assert_int_equal(ingest_notes(g.in)->list.n, 0);
	rig_close(&g);
	assert_true(read_text(&g, old));
	assert_int_equal(ingest_notes(g.in)->list.n, 1);
	assert_true(str_contains(ingest_notes(g.in)->list.v[0].text, S("has no checksum")));
	rig_close(&g);
}

static void test_faults(void **state)
{
	static const char *const bad[][2] = {
		{ "", "it is empty" },
		{ "something\n", "line 1: a baseline begins" },
		{ "tfprof baseline 1\nfoo\n", "line 2: a line begins with step, node, run or end" },
		{ "tfprof baseline 1\nnode\ta\n", "line 2: a node has six fields" },
		{ "tfprof baseline 1\nnode\ta\tA\tx3q\t0\t\t\n", "not a shape, such as 3x3x64" },
		{ "tfprof baseline 1\nrun\t0\t1\t1\t1\t1\t1\t1\t1\n", "without a node" },
		{ "tfprof baseline 1\nnode\ta\tA\t-\t0\t\tA\nrun\t0\t1\n", "a run has eight" },
		{ "tfprof baseline 1\nnode\ta\tA\t-\t0\t\tA\nrun\t0\t1\t1\t1\t1\t1\t1\tx\n",
		        "not an integer" },
		{ "tfprof baseline 1\nnode\ta\tA\t-\t0\t\tA\nnode\ta\tA\t-\t0\t\tA\n",
		        "line 3: there is a node of this name" },
		{ "tfprof baseline "
		  "1\nnode\ta\tA\t-\t0\t\tA\nrun\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t0\n",
		        "a run has eight" },
		{ "tfprof baseline 1\nticks\t1000\nnode\ta\tA\t-\t0\t\tA\n"
		  "run\t0\t1\t1\t1\t1\t1\t1\t1\n",
		        "a run has twelve" },
		{ "tfprof baseline 1\nticks\t7\n",
		        "line 2: the second line may only state the ticks" },
		{ "tfprof baseline 1\nstep\t0\nticks\t1000\n",
		        "line 3: the second line may only state" },
		{ "tfprof baseline 1\n1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\n",
		        "too many fields" },
		{ "tfprof baseline 1\nstep\t0\n", "the line 'end' is missing" },
		{ "tfprof baseline 1\nend\nstep\t0\n", "line 3: text after the end" },
		{ "tfprof baseline 1\nend\t00000000\n", "line 2: checksum mismatch" },
		{ "tfprof baseline 1\nend\t\n", "line 2: checksum mismatch" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct rig g;
		assert_false(read_text(&g, bad[i][0]));
		assert_true(str_contains(g.e.text, str_of(bad[i][1])));
		rig_close(&g);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_faults),
	};

	return unit_main(tests, argc, argv);
}
