/* SPDX-License-Identifier: Apache-2.0
 *
 * Step time, and how it divides on a device.
 */
#include "build_rig.h"

#include "trace/pass/step_time.h"

static void step(struct rig *r, int64_t id, int64_t start, int64_t length)
{
	build_arg_int(r->b, ARG_STEP, id);
	rig_slice(r, r->thread, CATEGORY_STEP, "ProfilerStep", start, length, 0);
}

static void find(struct rig *r, struct trace_steps *steps, struct trace_usage *usage)
{
	build_seal(r->b);
	trace_find_steps(r->t, steps, &unit_arena);
	trace_usage(r->t, &(struct usage_request){ .steps = steps }, usage, &unit_arena);
}

static void assert_partition(struct usage_partition p, int64_t window, int64_t compute,
        int64_t communication, int64_t copy, int64_t idle)
{
	assert_int_equal(p.window, window);
	assert_int_equal(p.compute, compute);
	assert_int_equal(p.communication, communication);
	assert_int_equal(p.copy, copy);
	assert_int_equal(p.idle, idle);
}

/* Work that runs at the same time counts once: compute before communication before copies. */
static void parts_add_up(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_steps steps;
	struct trace_usage usage;

	(void)state;
	step(&r, 1, 100, 100);
	step(&r, 2, 200, 103);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 110, 30, 0);
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "ncclDevKernel", 130, 30, 0);
	rig_slice(&r, r.stream[1], CATEGORY_COPY, "Memcpy HtoD", 165, 10, 0);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 290, 40, 0); /* ends after the step */
	find(&r, &steps, &usage);
	struct step_wall time = step_time_of(&steps, &unit_arena);
	assert_true(time.marked);
	assert_int_equal(time.steps, 2);
	assert_int_equal(time.mean, 101);
	assert_int_equal(time.median, 100);
	assert_int_equal(time.shortest, 100);
	assert_int_equal(time.longest, 103);
	const struct device_usage *d = &usage.devices.v[0];
	assert_partition(step_time_partition(&steps, d), 101, 21, 10, 5, 65);
	assert_int_equal(d->window, 230);
	assert_partition(usage_partition(r.t, &d->times, d->window, 1), 230, 70, 20, 10, 130);
	assert_int_equal(d->times.idle[IDLE_BEFORE_FIRST], 10);
	assert_int_equal(d->times.idle[IDLE_AFTER_LAST], 0);
}

/* Without marks, the window is the whole trace, including records that are not slices. */
static void a_trace_without_marks_is_one_step(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_steps steps;
	struct trace_usage usage;

	(void)state;
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 50, 30, 0);
	build_cover(r.b, 10, 90);
	find(&r, &steps, &usage);
	struct step_wall time = step_time_of(&steps, &unit_arena);
	assert_false(time.marked);
	assert_int_equal(time.mean, 80);
	assert_int_equal(time.deviation, 0);
	assert_partition(step_time_partition(&steps, &usage.devices.v[0]), 80, 30, 0, 0, 50);
	assert_int_equal(usage.devices.v[0].times.idle[IDLE_BEFORE_FIRST], 40);
	assert_int_equal(usage.devices.v[0].times.idle[IDLE_AFTER_LAST], 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { built_case(parts_add_up),
		built_case(a_trace_without_marks_is_one_step) };

	return unit_main(tests, argc, argv);
}
