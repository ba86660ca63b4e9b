/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage of traces: slices are returned in order, whatever the order in which they were appended.
 */
#include "build_rig.h"

#include <stdlib.h>

#include "base/sort.h"

static void equal_things_are_one(void **state)
{
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t p = build_process(r.b, 7), q = build_process_named(r.b, S("7"));
	uint32_t d = build_device(r.b, p, DEVICE_KIND_GPU, 0, S("gpu:0"));

	(void)state;
	assert_int_not_equal(p, q);
	assert_int_equal(build_process(r.b, 7), p);
	assert_int_equal(build_process_named(r.b, S("7")), q);
	assert_int_equal(build_device(r.b, p, DEVICE_KIND_GPU, 0, S("gpu:0")), d);
	assert_int_not_equal(build_device(r.b, q, DEVICE_KIND_GPU, 0, S("gpu:0")), d);
	uint32_t k = build_track(r.b, p, d, TRACK_STREAM, -7);
	assert_int_equal(build_track(r.b, p, d, TRACK_STREAM, -7), k);
	assert_int_not_equal(build_track(r.b, p, ID_NONE, TRACK_STREAM, -7), k);
	assert_int_not_equal(build_track_named(r.b, p, d, TRACK_STREAM, S("-7")), k);
	assert_int_equal(r.t->tracks.n, 3);
	build_arg_int(r.b, ARG_BYTES, 3);
	uint32_t e = event(&r, "a");
	assert_int_not_equal(event(&r, "a"), e);
	build_arg_int(r.b, ARG_BYTES, 3);
	assert_int_equal(event(&r, "a"), e);
	build_seal(r.b);
}

static void arguments_come_back(void **state)
{
	struct rig r = rig_open(ARG_BITS_ALL & ~ARG_BIT(ARG_GRID));
	uint32_t k = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 1);
	uint32_t own = build_key(r.b, S("my key"));
	struct argument a;
	struct slice s;

	(void)state;
	build_arg_int(r.b, ARG_BYTES, -5);
	build_arg_text(r.b, ARG_SHAPES, S("[2, 3]"));
	uint32_t e = event(&r, "op");
	build_arg_uint(r.b, ARG_PROGRAM, UINT64_MAX);
	build_arg_real(r.b, own, 2.5);
	build_arg_text(r.b, ARG_GRID, S("1,1,1"));
	build_arg_int(r.b, ARG_BYTES, 9);
	build_arg_text(r.b, ARG_STEP, S("12"));
	build_slice(r.b, k, e, 0, 10, 0);
	build_slice(r.b, k, e, 20, 10, 0);
	build_seal(r.b);
	trace_slice(r.t, 0, &s);
	assert_int_equal(slice_int(r.t, &s, ARG_BYTES), 9);
	assert_int_equal(slice_int(r.t, &s, ARG_STEP), 12);
	assert_str(slice_text(r.t, &s, ARG_SHAPES), "[2, 3]");
	assert_true(slice_argument(r.t, &s, ARG_PROGRAM, &a) && a.u == UINT64_MAX);
	assert_true(slice_argument(r.t, &s, own, &a) && a.real == 2.5);
	assert_false(slice_argument(r.t, &s, ARG_GRID, &a));
	trace_slice(r.t, 1, &s);
	assert_int_equal(slice_int(r.t, &s, ARG_BYTES), -5);
	assert_false(slice_argument(r.t, &s, ARG_PROGRAM, &a));
	assert_null(slice_text(r.t, &s, ARG_BYTES).p);
}

static void lengths_are_clamped(void **state)
{
	struct rig r = rig_open(0);
	uint32_t k = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 1), e = event(&r, "op");
	struct slice s;

	(void)state;
	build_slice(r.b, k, e, INT64_MIN, -3, 0);
	build_slice(r.b, k, e, INT64_MAX - 1, 5, 0);
	build_seal(r.b);
	assert_int_equal(r.t->clamped, 2);
	trace_slice(r.t, 0, &s);
	assert_true(s.start == INT64_MIN && s.length == 0);
	trace_slice(r.t, 1, &s);
	assert_true(s.start == INT64_MAX - 1 && s.length == 1);
	assert_true(r.t->tracks.v[k].start == INT64_MIN && r.t->tracks.v[k].end == INT64_MAX);
}

/* The appended slices, for comparison. */
struct twin {
	int64_t start, length, correlation;
	uint32_t track, event, nth;
	enum slice_form form;
	size_t args;
};

static int compare_twins(const void *v, uint32_t a, uint32_t b)
{
	const struct twin *x = (const struct twin *)v + a, *y = (const struct twin *)v + b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->length < y->length) - (x->length > y->length);
}

static void append(struct rig *r, struct twin *w)
{
	char text[300];

	memset(text, 'x', sizeof text);
	if (w->args)
		build_arg_text(r->b, build_key(r->b, str_make(text, w->args)), S("v"));
	if (w->form == SLICE_COMPLETE)
		build_slice(r->b, w->track, w->event, w->start, w->length, w->correlation);
	else
		build_instant(r->b, w->track, w->event, w->start, w->correlation);
}

/* Random slices on random tracks are returned in order, each exactly once. */
static void random_slices_come_back_in_order(void **state)
{
	static const int64_t ranges[] = { 20, 100000, INT64_MAX / 4 };
	const uint32_t n = 20000;

	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		struct rig r = rig_open(ARG_BITS_ALL);
		struct twin *v = ARENA_ARRAY(&unit_arena, n, struct twin);
		uint32_t seen = 0;

		srand(round);
		for (uint32_t i = 0; i < 3; i++)
			build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, i);
		uint32_t a = event(&r, "a"), b = event(&r, "b");
		for (uint32_t i = 0; i < n; i++) {
			int64_t range = ranges[round % 3], far = rand() * (int64_t)rand();
			v[i] = (struct twin){ .start = round < 3 ? far % range : i / 3,
				.length = rand() % range,
				.correlation = rand() % 3 ? rand() : 0,
				.track = (uint32_t)rand() % 2,
				.event = rand() % 2 ? a : b,
				.nth = i,
				.args = rand() % 50 ? 0 : 1 + (size_t)rand() % 299 };
			if (rand() % 5 == 0) {
				v[i].form = SLICE_INSTANT;
				v[i].length = 0;
			}
			append(&r, &v[i]);
		}
		build_seal(r.b);
		sort_array(&unit_arena, v, n, sizeof *v, compare_twins);
		for (uint32_t k = 0; k < 3; k++) {
			struct slice_iter it = trace_slices(r.t, k);
			for (struct slice s, again; slice_next(&it, &s); seen++) {
				assert_int_equal(s.number, seen);
				assert_int_equal(s.track, v[seen].track);
				assert_int_equal(s.start, v[seen].start);
				assert_int_equal(s.length, v[seen].length);
				assert_int_equal(s.correlation, v[seen].correlation);
				assert_int_equal(s.event, v[seen].event);
				assert_int_equal(s.form, v[seen].form);
				assert_int_equal(s.args.n != 0, v[seen].args != 0);
				if (seen % 7)
					continue;
				trace_slice(r.t, seen, &again);
				assert_memory_equal(&again, &s, sizeof s);
			}
		}
		assert_int_equal(seen, n);
		assert_int_equal(r.t->n_slices, n);
	}
}

static void times_are_rounded_down(void **state)
{
	struct rig r = rig_open(0);

	(void)state;
	build_start(r.b, TRACE_XSPACE, 1000000);
	assert_int_equal(trace_ns(r.t, 1999), 1);
	assert_int_equal(trace_ns(r.t, -1), -1);
	assert_int_equal(trace_us(r.t, 1999999), 1);
	assert_true(trace_ns(r.t, INT64_MAX) == INT64_MAX / 1000);
	assert_true(trace_ns(r.t, INT64_MIN) == INT64_MIN / 1000 - 1);
	assert_true(trace_us(r.t, INT64_MIN) == INT64_MIN / 1000000 - 1);
	build_start(r.b, TRACE_KINETO, 1000);
	assert_true(trace_ns(r.t, INT64_MIN) == INT64_MIN);
}

/* A track without slices of a category is skipped. A slice without an end counts. */
static void tracks_know_their_categories(void **state)
{
	struct rig r = rig_open_tracks(TRACE_PLAIN);
	uint32_t other = build_track(r.b, ID_NONE, ID_NONE, TRACK_THREAD, 99);
	struct slice_iter it;
	struct slice s;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "late", 50, 5, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "early", 10, 5, 0);
	build_begin(
	        r.b, other, build_event(r.b, CATEGORY_STEP, build_string(r.b, S("open"))), 20, 0);
	build_end(r.b, other, 30);
	build_seal(r.b);
	it = trace_slices_if(r.t, r.thread, CATEGORY_BIT(CATEGORY_STEP));
	assert_false(slice_next(&it, &s));
	it = trace_slices_if(
	        r.t, r.thread, CATEGORY_BIT(CATEGORY_OP) | CATEGORY_BIT(CATEGORY_STEP));
	assert_true(slice_next(&it, &s) && s.category == CATEGORY_CALL);
	assert_true(slice_next(&it, &s) && s.category == CATEGORY_OP);
	it = trace_slices_if(r.t, other, CATEGORY_BIT(CATEGORY_STEP));
	assert_true(slice_next(&it, &s) && s.length == 10);
}

static void nodes_have_their_inputs(void **state)
{
	struct rig r = rig_open(ARG_BITS_ALL);
	uint32_t a = build_node(r.b, 1, S("a"), S("parameter"), S(""));
	uint32_t b = build_node(r.b, 1, S("b"), S("add"), S("loop fusion"));
	uint32_t c = build_node(r.b, 1, S("c"), S("mul"), S(""));

	(void)state;
	build_node_input(r.b, c, b);
	build_node_input(r.b, b, a);
	build_node_input(r.b, c, a);
	build_seal(r.b);
	const struct trace_node *v = r.t->nodes.v;
	assert_int_equal(r.t->nodes.n, 4);
	assert_int_equal(v[a].input0, 0);
	assert_int_equal(v[b].input0, 0);
	assert_int_equal(v[c].input0, 1);
	assert_int_equal(v[c + 1].input0, 3);
	assert_int_equal(r.t->inputs.v[0], a);
	assert_int_equal(r.t->inputs.v[1], b);
	assert_int_equal(r.t->inputs.v[2], a);
	assert_int_equal(v[a].category, ID_NONE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(equal_things_are_one),
		built_case(arguments_come_back),
		built_case(lengths_are_clamped),
		built_case(random_slices_come_back_in_order),
		built_case(times_are_rounded_down),
		built_case(tracks_know_their_categories),
		built_case(nodes_have_their_inputs),
	};

	return unit_main(tests, argc, argv);
}
