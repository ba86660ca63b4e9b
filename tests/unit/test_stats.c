/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics over steps, on numbers computed by hand; and properties of their parts: recomputed
 * answers, and the count of hidden entries.
 */
#include "unit.h"

#include <math.h>

#include "view_rig.h"

/* scope/x runs in steps 0, 2, 5 and 9, y in steps 2 and 9. */
static struct view_rig *rig_of(void **state)
{
	static const int64_t steps[] = { 0, 2, 5, 9 }, cpu[] = { 10, 40, 20, 30 };
	struct view_rig *r = view_rig(*state);
	uint32_t x = rig_node(r, "scope/x", "A", ""), y = rig_node(r, "y", "B", "scope/x");

	for (size_t i = 0; i < 4; i++) {
		rig_ran(r, x, steps[i], cpu[i], 0);
		if (steps[i] == 2 || steps[i] == 9)
			rig_ran(r, y, steps[i], 0, 8);
	}
	rig_done(r);
	return r;
}

/* Returns a statistic of the total cpu_micros of the named entry, or "-" if it has none. */
static struct str total_of(struct view_rig *r, enum vk kind, const char *name, const char *stat)
{
	struct sb b = sb_in(r->a);
	struct query q;
	struct result x;

	assert_true(rig_request(r, kind, &q, &x));
	for (size_t c = 0; c < x.n_extra; c++) {
		const struct extra *e = &x.extra[c];
		if (!str_eq(e->name, str_of(stat)) || (e->of != M_CPU_MICROS && e->of != M_NONE))
			continue;
		for (uint32_t i = 0; i < x.n; i++) {
			if (!str_eq(q.tree->name[q.kept.at[x.shown[i].kept]], str_of(name)))
				continue;
			if (e->whole && e->total[i].whole == FIGURE_NONE)
				return S("-");
			if (e->whole)
				sb_fmt(&b, "%lld", (long long)e->total[i].whole);
			else
				sb_fmt(&b, "%.4f", e->total[i].real);
			return sb_str(&b);
		}
	}
	return S("not there");
}

#define assert_stat(r, kind, name, stat, text)                                                     \
	assert_string_equal(str_z((r)->a, total_of(r, kind, name, stat)), text)

static void test_by_hand(void **state)
{
	struct view_rig *r = rig_of(state);

	rig_set(r, "stats", "n,p99,p95,std,max,min,median,cv,mean");
	assert_stat(r, VK_SCOPE, "scope/x", "mean", "25.0000");
	assert_stat(r, VK_SCOPE, "scope/x", "std", "11.1803"); /* sqrt(125) */
	assert_stat(r, VK_SCOPE, "scope/x", "cv", "44.7214");
	assert_stat(r, VK_SCOPE, "scope/x", "median", "20"); /* the second of four */
	assert_stat(r, VK_SCOPE, "scope/x", "min", "10");
	assert_stat(r, VK_SCOPE, "scope/x", "max", "40");
	assert_stat(r, VK_SCOPE, "scope/x", "p95", "40");
	assert_stat(r, VK_SCOPE, "scope/x", "n", "4");
	assert_stat(r, VK_SCOPE, "scope", "mean", "25.0000");
	assert_stat(r, VK_SCOPE, "y", "mean", "0.0000"); /* it has only accelerator time */
	assert_stat(r, VK_SCOPE, "y", "cv", "0.0000");
	assert_stat(r, VK_SCOPE, "y", "n", "2");
	assert_stat(r, VK_GRAPH, "y", "mean", "25.0000");
	assert_stat(r, VK_OP, "A", "mean", "25.0000");
}

static void test_chosen_steps(void **state)
{
	struct view_rig *r = rig_of(state);

	rig_set(r, "stats", "mean,max,n");
	rig_set(r, "step", "2..5,9");
	assert_stat(r, VK_SCOPE, "scope/x", "mean", "30.0000");
	assert_stat(r, VK_SCOPE, "y", "n", "2");
	rig_set(r, "step", "5");
	assert_stat(r, VK_SCOPE, "scope/x", "mean", "20.0000");
	assert_stat(r, VK_SCOPE, "y", "n", "0");
	rig_set(r, "step", "0,5");
	assert_stat(r, VK_SCOPE, "scope/x", "max", "20");
	rig_set(r, "select", "params");
	assert_stat(r, VK_SCOPE, "scope/x", "max", "not there");
}

static void test_no_steps(void **state)
{
	struct view_rig *r = view_rig(*state);
	struct query q;
	struct result x;

	rig_node(r, "x", "A", "");
	rig_done(r);
	rig_set(r, "stats", "mean,max,p95,n");
	assert_stat(r, VK_SCOPE, "x", "max", "-");
	assert_stat(r, VK_SCOPE, "x", "p95", "-");
	assert_stat(r, VK_SCOPE, "x", "n", "0");
	assert_true(rig_request(r, VK_SCOPE, &q, &x));
	assert_true(isnan(x.extra[0].total[1].real));
}

/* Sums that reach the end of the type still have a mean. */
static void test_huge(void **state)
{
	struct view_rig *r = view_rig(*state);
	uint32_t x = rig_node(r, "x", "A", "");

	for (int64_t step = 0; step < 4; step++)
		rig_ran(r, x, step, (int64_t)1 << 62, 0);
	rig_ran(r, x, 4, -10, 0); /* leads back from the end */
	rig_done(r);
	rig_set(r, "stats", "mean,std,cv");
	assert_stat(r, VK_SCOPE, "x", "mean", "3689348814741910528.0000");
	rig_set(r, "step", "0..3");
	assert_stat(r, VK_SCOPE, "x", "mean", "4611686018427387904.0000");
	assert_stat(r, VK_SCOPE, "x", "std", "0.0000");
	assert_stat(r, VK_SCOPE, "x", "cv", "0.0000");
}

/* The numbers of steps may be the limits of their type. */
static void test_last_step(void **state)
{
	struct view_rig *r = view_rig(*state);
	uint32_t x = rig_node(r, "x", "A", "");

	rig_ran(r, x, INT64_MAX, 2, 0);
	rig_ran(r, x, INT64_MIN, 1, 0);
	rig_done(r);
	assert_int_equal(r->m.step_ids.n, 2);
	assert_true(r->m.step_ids.v[0] == INT64_MIN && r->m.step_ids.v[1] == INT64_MAX);
	rig_set(r, "step", "5..9223372036854775807");
	rig_set(r, "stats", "max");
	assert_stat(r, VK_SCOPE, "x", "max", "2");
}

/* ---- properties on random models ---- */

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % n;
}

static struct view_rig *random_rig(struct arena *a)
{
	static const char *const parts[] = { "a", "b", "a/b", "c/d/e", "f" };
	static const char *const stacks[] = { "m:main", "m:main n:g", "m:main n:h", "o:k" };
	struct view_rig *r = view_rig(a);
	uint32_t n = 2 + pick(20);

	for (uint32_t i = 0; i < n; i++) {
		struct str name = str_fmt(a, "%s/%u", parts[pick(5)], (unsigned)i);
		uint32_t node = rig_node(r, str_z(a, name), pick(2) ? "A" : "B", "");
		rig_stack(r, node, stacks[pick(4)]);
		if (pick(3))
			rig_device(r, node, pick(2) ? "/cpu:0" : "/gpu:0");
		for (int64_t step = 0; step < 3; step++)
			if (pick(4))
				rig_ran(r, node, step, 1 + pick(100), pick(50));
	}
	rig_done(r);
	return r;
}

static void random_options(struct view_rig *r)
{
	static const char *const choices[][2] = { { "max_depth", "3" }, { "max_depth", "0" },
		{ "min_micros", "60" }, { "show_name_regexes", ".*[02468]" },
		{ "hide_name_regexes", "a.*" }, { "trim_name_regexes", "c|A" },
		{ "start_name_regexes", "a.*,.*n:g" }, { "account_type_regexes", "A,A.*" },
		{ "account_type_regexes", "/cpu:0" }, { "order_by", "micros" },
		{ "account_displayed_op_only", "true" }, { "device_regexes", "/gpu.*" },
		{ "step", "1" }, { "step", "0..1" } };

	for (int i = 0; i < 3; i++) {
		const char *const *c = choices[pick(sizeof choices / sizeof *choices)];
		rig_set(r, c[0], c[1]);
	}
}

/* Recomputing an answer from its own tallies gives the same numbers, and each kept entry is shown
 * or counted as hidden. */
static void test_random(void **state)
{
	for (seed = 1; seed < 400; seed++) {
		uint32_t of = seed;
		struct view_rig *r = random_rig(*state);
		random_options(r);
		for (enum vk kind = 0; kind < VK_N; kind++) {
			struct query q;
			struct result x;
			uint32_t hidden = 0;
			if (!rig_request(r, kind, &q, &x)) { /* nothing ran in that step */
				assert_int_equal(r->e.code, ERR_STEP);
				continue;
			}
			struct recompute_values again = view_recompute(&x, q.tallies, r->a);
			for (uint32_t i = 0; i < x.n; i++) {
				assert_memory_equal(
				        &again.own[i], x.shown[i].self, sizeof *again.own);
				assert_memory_equal(
				        &again.total[i], x.shown[i].total, sizeof *again.total);
			}
			for (int i = 0; i < HIDDEN_N; i++)
				hidden += x.hidden[i];
			assert_int_equal(x.n + hidden, q.kept.n - (kind == VK_OP));
		}
		seed = of;
		arena_clear(*state);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_by_hand), unit_case(test_chosen_steps),
		unit_case(test_no_steps), unit_case(test_huge), unit_case(test_last_step),
		unit_case(test_random) };

	return unit_main(tests, argc, argv);
}
