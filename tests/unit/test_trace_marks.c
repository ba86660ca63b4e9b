/* SPDX-License-Identifier: Apache-2.0
 *
 * Begins and ends of slices pair when a trace is sealed.
 */
#include "build_rig.h"

static void begins_and_ends_pair(void **state)
{
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t k = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 1);
	struct slice s;

	(void)state;
	build_end(r.b, k, 1);
	build_arg_int(r.b, ARG_STEP, 4);
	uint32_t e = event(&r, "outer");
	build_arg_int(r.b, ARG_BYTES, 8);
	build_begin(r.b, k, e, 10, 7);
	build_begin(r.b, k, event(&r, "inner"), 20, 0);
	build_begin(r.b, k, event(&r, "open"), 25, 0);
	build_slice(r.b, k, event(&r, "leaf"), 26, 14, 0);
	build_seal(r.b);
	assert_int_equal(r.t->unclosed, 3);
	assert_int_equal(r.t->unopened, 1);
	assert_int_equal(r.t->n_slices, 4);
	trace_slice(r.t, 0, &s);
	assert_int_equal(slice_end(&s), 40);
	assert_int_equal(slice_int(r.t, &s, ARG_BYTES), 8);
	assert_int_equal(slice_int(r.t, &s, ARG_STEP), 4);
	assert_int_equal(s.correlation, 7);
	trace_slice(r.t, 2, &s);
	assert_int_equal(s.start, 25);
	assert_int_equal(s.length, 15);
}

/* Ends may come before their begins; marks of one time keep the order of the calls. */
static void marks_pair_by_time(void **state)
{
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t k = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 1);
	struct slice s;

	(void)state;
	build_arg_int(r.b, ARG_RESULT, 3);
	build_end(r.b, k, 90);
	build_begin(r.b, k, event(&r, "late"), 50, 0);
	build_end(r.b, k, 50);
	build_instant(r.b, k, event(&r, "instant"), 60, 0);
	build_begin(r.b, k, event(&r, "early"), 10, 0);
	build_begin(r.b, k, event(&r, "inner"), 20, 0);
	build_end(r.b, k, 30);
	build_seal(r.b);
	assert_int_equal(r.t->n_slices, 4);
	assert_int_equal(r.t->unclosed + r.t->unopened, 0);
	trace_slice(r.t, 0, &s);
	assert_true(s.start == 10 && s.length == 80);
	assert_int_equal(slice_int(r.t, &s, ARG_RESULT), 3);
	trace_slice(r.t, 1, &s);
	assert_true(s.start == 20 && s.length == 10);
	trace_slice(r.t, 2, &s);
	assert_true(s.start == 50 && s.length == 0 && s.form == SLICE_COMPLETE);
	trace_slice(r.t, 3, &s);
	assert_true(s.form == SLICE_INSTANT);
}

/* Slices with equal times are in the order of their begins: sampling profilers write a whole call
 * stack at one time. */
static void equal_times_nest_by_begin(void **state)
{
	static const char *const names[] = { "outer", "middle", "inner", "first", "second" };
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t k = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 1);
	struct slice s;

	(void)state;
	for (int i = 0; i < 3; i++)
		build_begin(r.b, k, event(&r, names[i]), 10, 0);
	for (int i = 0; i < 3; i++)
		build_end(r.b, k, 20);
	for (int i = 3; i < 5; i++) {
		build_begin(r.b, k, event(&r, names[i]), 30, 0);
		build_end(r.b, k, 30);
	}
	build_seal(r.b);
	assert_int_equal(r.t->n_slices, 5);
	for (uint32_t i = 0; i < 5; i++) {
		trace_slice(r.t, i, &s);
		assert_str(trace_str(r.t, r.t->events.v[s.event].name), names[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(begins_and_ends_pair),
		built_case(marks_pair_by_time),
		built_case(equal_times_nest_by_begin),
	};

	return unit_main(tests, argc, argv);
}
