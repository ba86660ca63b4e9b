/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps by marks, groups and runs.
 */
#include "build_rig.h"

#include "trace/pass/trace_steps.h"
#include "trace/pass/link.h"

static void step_slice(struct rig *r, uint32_t key, int64_t id, int64_t start, int64_t length)
{
	enum trace_category c = key == ARG_STEP ? CATEGORY_STEP : CATEGORY_OP;
	uint32_t event = build_event(r->b, c, build_string(r->b, S("step")));

	build_arg_int(r->b, key, id);
	build_slice(r->b, r->thread, event, start, length, 0);
}

static void steps_come_from_marks_groups_and_runs(void **state)
{
	static const struct {
		uint32_t key;
		enum steps_by by;
	} rows[] = { { ARG_STEP, STEPS_BY_MARK }, { ARG_GROUP, STEPS_BY_GROUP },
		{ ARG_RUN, STEPS_BY_RUN } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct trace_steps s;
		step_slice(&r, rows[i].key, 6, 200, 50);
		step_slice(&r, rows[i].key, 5, 100, 50);
		rig_slice(&r, r.thread, CATEGORY_OP, "before", 10, 5, 0);
		rig_slice(&r, r.thread, CATEGORY_OP, "inside", 110, 5, 0);
		rig_slice(&r, r.thread, CATEGORY_OP, "between", 160, 5, 0);
		rig_slice(&r, r.thread, CATEGORY_OP, "after", 300, 5, 0);
		build_seal(r.b);
		trace_find_steps(r.t, &s, &unit_arena);
		assert_int_equal(s.by, rows[i].by);
		assert_int_equal(s.steps.n, 2);
		assert_int_equal(s.steps.v[0].id, 5);
		assert_int_equal(s.steps.v[1].start, 200);
		static const uint32_t expected[] = { 0, 0, 0, 0, 1, 1 };
		for (uint32_t n = 0; n < 6; n++) {
			struct slice slice = rig_nth(r.t, r.thread, n);
			assert_int_equal(trace_step_of(&s, &slice, NULL), expected[n]);
		}
		struct slice kernel = { .track = r.stream[0], .start = 120 };
		struct launch launch = { .start = 210 };
		assert_int_equal(trace_step_of(&s, &kernel, &launch), 1);
	}
}

static void one_step_ignores_marks(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_steps s;

	(void)state;
	step_slice(&r, ARG_STEP, 6, 200, 50);
	step_slice(&r, ARG_STEP, 5, 100, 50);
	build_seal(r.b);
	trace_one_step(r.t, &s, &unit_arena);
	assert_int_equal(s.by, STEPS_UNKNOWN);
	assert_int_equal(s.steps.n, 1);
	assert_int_equal(s.steps.v[0].start, 100);
	assert_int_equal(s.steps.v[0].end, 250);
	struct slice slice = rig_nth(r.t, r.thread, 1);
	assert_int_equal(trace_step_of(&s, &slice, NULL), 0);
}

static void without_marks_there_is_one_step(void **state)
{
	struct rig r = rig_open_tracks(TRACE_PLAIN);
	struct trace_steps s;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "a", 10, 5, 0);
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "k", 20, 9, 0);
	build_seal(r.b);
	trace_find_steps(r.t, &s, &unit_arena);
	assert_int_equal(s.by, STEPS_UNKNOWN);
	assert_int_equal(s.steps.n, 1);
	assert_int_equal(s.steps.v[0].start, 10);
	assert_int_equal(s.steps.v[0].end, 29);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(steps_come_from_marks_groups_and_runs),
		built_case(one_step_ignores_marks),
		built_case(without_marks_there_is_one_step),
	};

	return unit_main(tests, argc, argv);
}
