/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity of devices as unions of intervals.
 */
#include "build_rig.h"

#include "trace/pass/link.h"
#include "trace/pass/usage.h"

static void usage_adds_up_unions(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_links l;
	struct trace_usage u;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_CALL, "launch", 150, 8, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 0, 100, 0);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 200, 10, 1); /* launched late */
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 300, 10, 0);
	rig_slice(&r, r.stream[0], CATEGORY_SYNC, "wait", 100, 500, 0); /* no work */
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "ncclDevKernel_AllReduce", 50, 100, 0);
	build_arg_int(r.b, ARG_BYTES, 64);
	rig_slice(&r, r.stream[1], CATEGORY_COPY, "copy", 90, 20, 0);
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "far", 100000, 5, 0);
	build_seal(r.b);
	trace_link(r.t, &l, &unit_arena);
	trace_usage(r.t, &(struct usage_request){ .links = &l }, &u, &unit_arena);
	assert_int_equal(u.devices.n, 1);
	const struct device_usage *d = &u.devices.v[0];
	assert_int_equal(d->slices, 6);
	assert_int_equal(d->sum, 245);
	assert_int_equal(d->times.busy, 175);
	assert_int_equal(d->end - d->start - d->times.busy, 100005 - 175);
	assert_int_equal(d->times.by_class[USAGE_COMPUTE], 125);
	assert_int_equal(d->times.by_class[USAGE_COMMUNICATION], 100);
	assert_int_equal(d->times.by_class[USAGE_COPY], 20);
	assert_int_equal(usage_overlap(&d->times), 50);
	assert_int_equal(d->copy_bytes, 64);
	assert_int_equal(usage_exposed_communication(&d->times), 50);
	assert_int_equal(usage_exposed_copy(&d->times), 0);
	/* 150 to 200: launched at 150 to 158, so its latency of 50 is the base. */
	assert_int_equal(d->times.idle[IDLE_LAUNCH_LATENCY], 50);
	assert_int_equal(d->times.idle[IDLE_UNKNOWN_LAUNCH], 90 + 100000 - 310);
}

static void ops_on_a_line_count_once(void **state)
{
	struct rig r = rig_open_tracks(TRACE_XSPACE);
	struct trace_usage u;

	(void)state;
	rig_slice(&r, r.line, CATEGORY_OP, "while", 0, 100, 0);
	rig_slice(&r, r.line, CATEGORY_OP, "fusion", 10, 20, 0);
	rig_slice(&r, r.line, CATEGORY_COMMUNICATION, "all-reduce", 40, 30, 0);
	build_seal(r.b);
	trace_usage(r.t, &(struct usage_request){ .links = NULL }, &u, &unit_arena);
	const struct device_usage *d = &u.devices.v[0];
	assert_int_equal(d->sum, 100);
	assert_int_equal(d->times.busy, 100);
	assert_int_equal(d->times.by_class[USAGE_COMPUTE], 70); /* with the loop's own time */
	assert_int_equal(d->times.by_class[USAGE_COMMUNICATION], 30);
	assert_int_equal(usage_exposed_communication(&d->times), 30);
	assert_int_equal(usage_overlap(&d->times), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(usage_adds_up_unions),
		built_case(ops_on_a_line_count_once),
	};

	return unit_main(tests, argc, argv);
}
