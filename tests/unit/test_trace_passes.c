/* SPDX-License-Identifier: Apache-2.0
 *
 * Nesting, links, steps and usage of traces: by hand, and invariants for any trace.
 */
#include "build_rig.h"

#include <stdlib.h>

#include "trace/pass/link.h"
#include "trace/pass/nest.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

/* ---- nesting ---- */

static void self_times_and_overlaps(void **state)
{
	struct rig r = rig_open_tracks(TRACE_PLAIN);
	static const struct {
		const char *name;
		int64_t self;
	} expected[] = { { "b", 20 }, { "c", 30 }, { "a", 50 }, { "late", 40 }, { "d", 10 } };
	struct nest_level *level;
	enum nest_what what;
	struct nest n;
	size_t i = 0;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "late", 90, 40, 0); /* ends after a */
	rig_slice(&r, r.thread, CATEGORY_OP, "a", 0, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "b", 0, 20, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "c", 20, 30, 0);
	rig_slice(&r, r.thread, CATEGORY_OVERHEAD, "x", 60, 10, 0); /* not looked at */
	rig_slice(&r, r.thread, CATEGORY_OP, "d", 130, 10, 0);
	build_seal(r.b);
	nest_init(&n, r.t, r.thread, NEST_BIT(CATEGORY_OP), &unit_arena);
	while ((what = nest_next(&n, &level)))
		if (what == NEST_CLOSE) {
			assert_str(trace_str(r.t, level->s.name), expected[i].name);
			assert_int_equal(nest_self(level), expected[i++].self);
		}
	assert_int_equal(i, 5);
	assert_int_equal(n.overlaps, 1);
}

/* A random trace of a thread whose slices nest or are apart. */
static int64_t append_tree(struct rig *r, int64_t from, int64_t to, unsigned depth)
{
	int64_t end = from;

	while (end < to) {
		int64_t start = end + rand() % 5, length = 1 + rand() % (to - from);
		if (start + length > to)
			break;
		rig_slice(r, r->thread, CATEGORY_OP, "op", start, length, 0);
		if (depth)
			append_tree(r, start, start + length, depth - 1);
		end = start + length;
	}
	return end;
}

static void self_times_add_up_to_the_union(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		struct rig r = rig_open_tracks(TRACE_PLAIN);
		struct nest_level *level;
		enum nest_what what;
		struct nest n;
		int64_t self = 0, covered = 0, until = INT64_MIN;

		srand(seed);
		append_tree(&r, 0, 2000, 4);
		build_seal(r.b);
		nest_init(&n, r.t, r.thread, NEST_ALL, &unit_arena);
		while ((what = nest_next(&n, &level)))
			self += what == NEST_CLOSE ? nest_self(level) : 0;
		struct slice_iter it = trace_slices(r.t, r.thread);
		for (struct slice s; slice_next(&it, &s);) {
			int64_t from = s.start > until ? s.start : until;
			covered += slice_end(&s) > from ? slice_end(&s) - from : 0;
			until = slice_end(&s) > until ? slice_end(&s) : until;
		}
		assert_int_equal(n.overlaps, 0);
		assert_int_equal(self, covered);
	}
}

/* ---- links ---- */

static struct slice nth(const struct trace *t, uint32_t track, uint32_t n)
{
	struct slice s;

	trace_slice(t, t->tracks.v[track].first + n, &s);
	return s;
}

static const char *op_of(const struct trace_links *l, const struct slice *work)
{
	uint32_t op = link_op(l, work, link_launch(l, work));
	struct slice s;

	if (op == ID_NONE)
		return "";
	trace_slice(l->t, op, &s);
	return str_z(&unit_arena, trace_str(l->t, s.name));
}

static void work_finds_its_op(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_links l;
	struct slice s;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_ANNOTATION, "forward", 0, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "linear", 0, 50, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "mm", 10, 20, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 15, 5, 11);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cuLaunchKernel", 16, 2, 11);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaGraphLaunch", 60, 5, 12);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 200, 5, 13);
	build_arg_int(r.b, ARG_EXTERNAL, 77);
	rig_slice(&r, r.thread, CATEGORY_OP, "elsewhere", 300, 5, 0);
	for (int64_t c = 11; c <= 14; c++)
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 1000 + c, 1, c);
	uint32_t event = build_event(r.b, CATEGORY_KERNEL, build_string(r.b, S("k")));
	build_arg_int(r.b, ARG_EXTERNAL, 77);
	build_slice(r.b, r.stream[1], event, 2000, 1, 13);
	build_seal(r.b);
	trace_link(r.t, &l, &unit_arena);
	s = nth(r.t, r.stream[0], 0);
	assert_string_equal(op_of(&l, &s), "mm");
	assert_int_equal(link_launch(&l, &s)->start, 15);
	s = nth(r.t, r.stream[0], 1);
	assert_string_equal(op_of(&l, &s), "forward");
	s = nth(r.t, r.stream[0], 2);
	assert_string_equal(op_of(&l, &s), "");
	assert_non_null(link_launch(&l, &s));
	s = nth(r.t, r.stream[0], 3);
	assert_null(link_launch(&l, &s));
	s = nth(r.t, r.stream[1], 0);
	assert_string_equal(op_of(&l, &s), "elsewhere");
}

/* ---- steps ---- */

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
			struct slice slice = nth(r.t, r.thread, n);
			assert_int_equal(trace_step_of(&s, &slice, NULL), expected[n]);
		}
		struct slice kernel = { .track = r.stream[0], .start = 120 };
		struct launch launch = { .start = 210 };
		assert_int_equal(trace_step_of(&s, &kernel, &launch), 1);
	}
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

/* ---- usage ---- */

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

#define pass_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, drop_scratch)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		pass_case(self_times_and_overlaps),
		pass_case(self_times_add_up_to_the_union),
		pass_case(work_finds_its_op),
		pass_case(steps_come_from_marks_groups_and_runs),
		pass_case(without_marks_there_is_one_step),
		pass_case(usage_adds_up_unions),
		pass_case(ops_on_a_line_count_once),
	};

	return unit_main(tests, argc, argv);
}
