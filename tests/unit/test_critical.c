/* SPDX-License-Identifier: Apache-2.0
 *
 * Critical paths of small traces whose path is known, and of random ones, whose segments must tile
 * the window.
 */
#include "replay_rig.h"

struct expected {
	enum critical_kind kind;
	const char *name;
	int64_t start, end;
};

/* Finds the path of the whole trace, or of a step. */
static struct critical path_of(struct rig *r, size_t step)
{
	static struct replay replay;
	struct critical x;

	open_replay(r, &replay);
	assert_in_range(step, 0, replay.n_windows - 1);
	replay_path(&replay, &replay.recorded, step, &x, &unit_arena);
	return x;
}

/* The segments follow one another, fill the window, and add up by kind. */
static void assert_tiles(const struct critical *x)
{
	int64_t at = x->window.from, kinds[CRITICAL_KINDS] = { 0 };

	for (size_t i = 0; i < x->segments.n; i++) {
		const struct critical_segment *s = &x->segments.v[i];
		assert_int_equal(s->start, at);
		assert_true(s->end > s->start);
		kinds[s->kind] += s->end - s->start;
		at = s->end;
	}
	assert_int_equal(at, x->window.to);
	assert_memory_equal(kinds, x->kinds, sizeof kinds);
}

static void assert_path(const struct critical *x, const struct expected *want, size_t n)
{
	assert_tiles(x);
	assert_int_equal(x->segments.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct critical_segment *s = &x->segments.v[i];
		assert_int_equal(s->kind, want[i].kind);
		assert_int_equal(s->start, want[i].start);
		assert_int_equal(s->end, want[i].end);
		if (want[i].name)
			assert_str(trace_str(x->depend->t, x->depend->t->events.v[s->event].name),
			        want[i].name);
		else
			assert_int_equal(s->event, ID_NONE);
	}
}

#define ASSERT_PATH(x, ...)                                                                        \
	do {                                                                                       \
		static const struct expected want[] = { __VA_ARGS__ };                             \
		assert_path((x), want, sizeof want / sizeof *want);                                \
	} while (0)

/* Two ops launch short kernels: the host determines the time. */
static void a_slow_host_is_the_path(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "a", 0, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 80, 10, 1);
	rig_slice(&r, r.thread, CATEGORY_OP, "b", 120, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 200, 10, 2);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k1", 85, 5, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k2", 205, 20, 2);
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_OP, "a", 0, 80 }, { CRITICAL_CALL, "cudaLaunchKernel", 80, 90 },
	        { CRITICAL_OP, "a", 90, 100 }, { CRITICAL_OUTSIDE, NULL, 100, 120 },
	        { CRITICAL_OP, "b", 120, 200 }, { CRITICAL_LAUNCH, NULL, 200, 205 },
	        { CRITICAL_COMPUTE, "k2", 205, 225 });
}

/* Kernels are queued: the device determines the time after the first launch. */
static void a_full_queue_is_the_path(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	for (int i = 0; i < 3; i++) {
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 10 * i, 10, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 5 + 102 * i, 100, i + 1);
	}
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_LAUNCH, NULL, 0, 5 }, { CRITICAL_COMPUTE, "k", 5, 105 },
	        { CRITICAL_KERNEL_GAP, NULL, 105, 107 }, { CRITICAL_COMPUTE, "k", 107, 207 },
	        { CRITICAL_KERNEL_GAP, NULL, 207, 209 }, { CRITICAL_COMPUTE, "k", 209, 309 });
}

/* The path continues from a synchronisation with the kernel that it waits for; the time after the
 * kernel belongs to the host. */
static void a_synchronisation_leads_to_its_work(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	rig_append_wait(&r);
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_LAUNCH, NULL, 0, 5 }, { CRITICAL_COMPUTE, "k1", 5, 115 },
	        { CRITICAL_CALL, "cudaDeviceSynchronize", 115, 120 },
	        { CRITICAL_OP, "a", 120, 150 }, { CRITICAL_LAUNCH, NULL, 150, 155 },
	        { CRITICAL_COMPUTE, "k2", 155, 165 });
}

/* A copy that the host does not wait for is no reason to leave the thread, even if another kernel
 * ends meanwhile. */
static void an_asynchronous_copy_does_not_block(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 0, 2, 1);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaMemcpyAsync", 10, 30, 2);
	rig_slice(&r, r.thread, CATEGORY_OP, "a", 40, 60, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 95, 5, 3);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k1", 4, 20, 1);
	rig_slice(&r, r.stream[0], CATEGORY_COPY, "Memcpy DtoD", 45, 5, 2);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k3", 99, 5, 3);
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_CALL, "cudaLaunchKernel", 0, 2 },
	        { CRITICAL_OUTSIDE, NULL, 2, 10 }, { CRITICAL_CALL, "cudaMemcpyAsync", 10, 40 },
	        { CRITICAL_OP, "a", 40, 95 }, { CRITICAL_LAUNCH, NULL, 95, 99 },
	        { CRITICAL_COMPUTE, "k3", 99, 104 });
}

/* The main thread is in backward while another thread launches: the path goes through the other one
 * and back. */
static void a_thread_waits_for_the_one_that_it_started(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	uint32_t other =
	        build_track(r.b, r.t->tracks.v[r.thread].process, ID_NONE, TRACK_THREAD, 2);
	struct critical x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_FRAME, "backward", 0, 100, 0);
	rig_slice(&r, other, CATEGORY_OP, "grad", 20, 60, 0);
	rig_slice(&r, other, CATEGORY_CALL, "cudaLaunchKernel", 70, 10, 1);
	rig_slice(&r, r.thread, CATEGORY_OP, "step", 100, 50, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 140, 10, 2);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k1", 75, 5, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k2", 145, 10, 2);
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_PYTHON, "backward", 0, 20 }, { CRITICAL_OP, "grad", 20, 70 },
	        { CRITICAL_CALL, "cudaLaunchKernel", 70, 80 },
	        { CRITICAL_PYTHON, "backward", 80, 100 }, { CRITICAL_OP, "step", 100, 140 },
	        { CRITICAL_LAUNCH, NULL, 140, 145 }, { CRITICAL_COMPUTE, "k2", 145, 155 });
}

/* A kernel that starts long after its launch, on an empty stream, waited for something that the
 * file does not tell. */
static void a_long_delay_is_not_known(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	for (int i = 0; i < 10; i++) {
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 100 * i, 2, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 100 * i + (i == 9 ? 60 : 5), 10,
		        i + 1);
	}
	x = path_of(&r, 0);
	assert_tiles(&x);
	assert_int_equal(x.kinds[CRITICAL_UNKNOWN], 55);
	assert_int_equal(x.kinds[CRITICAL_LAUNCH], 5);
	assert_int_equal(x.kinds[CRITICAL_COMPUTE], 10);
}

/* An op that ends after the frame around it is cut where less is lost. */
static void overlaps_are_cut_at_the_smaller_excess(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_FRAME, "f", 0, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "a", 10, 93, 0);
	rig_slice(&r, r.thread, CATEGORY_FRAME, "g", 110, 50, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "b", 155, 45, 0);
	x = path_of(&r, 0);
	ASSERT_PATH(&x, { CRITICAL_PYTHON, "f", 0, 10 }, { CRITICAL_OP, "a", 10, 100 },
	        { CRITICAL_OUTSIDE, NULL, 100, 110 }, { CRITICAL_PYTHON, "g", 110, 155 },
	        { CRITICAL_OP, "b", 155, 200 });
	assert_int_equal(x.depend->cut, 2);
	assert_int_equal(x.depend->cut_ticks, 3 + 5);
}

/* The second step's window starts where the device ended the first step, not at the mark. */
static void a_step_reaches_to_the_end_of_its_work(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct critical x;

	(void)state;
	for (int i = 0; i < 2; i++) {
		build_arg_int(r.b, ARG_STEP, i);
		rig_slice(&r, r.thread, CATEGORY_STEP, i ? "ProfilerStep#1" : "ProfilerStep#0",
		        50 * i, 50, 0);
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 50 * i + 10, 10, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 15 + 100 * i, 100, i + 1);
	}
	x = path_of(&r, 1);
	ASSERT_PATH(&x, { CRITICAL_COMPUTE, "k", 115, 215 });
}

/* If the work of a step ends after that of the next one, the windows still tile the time. */
static void windows_of_overlapping_steps_tile(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	const int64_t start[] = { 15, 65, 115 }, end[] = { 60, 300, 200 };
	static struct replay x;

	(void)state;
	for (int i = 0; i < 3; i++) {
		build_arg_int(r.b, ARG_STEP, i);
		rig_slice(&r, r.thread, CATEGORY_STEP, "ProfilerStep", 50 * i, 50, 0);
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 50 * i + 10, 5, i + 1);
		rig_slice(&r, r.stream[i % 2], CATEGORY_KERNEL, "k", start[i], end[i] - start[i],
		        i + 1);
	}
	open_replay(&r, &x);
	assert_int_equal(x.n_windows, 3);
	assert_int_equal(x.windows[1].from, 200);
	assert_int_equal(x.windows[1].to, 300);
	assert_int_equal(x.windows[2].from, 60);
	assert_int_equal(x.windows[2].to, 200);
	for (size_t i = 1; i < 3; i++)
		assert_int_equal(x.recorded.windows[i].from, x.windows[i].from);
}

/* ---- random traces ---- */

static void segments_tile_the_window(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct critical x;
		rig_append_random(&r, seed);
		x = path_of(&r, 0);
		assert_tiles(&x);
		assert_true(x.segments.n > 0);
		drop_scratch(state);
	}
}

#define path_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, drop_scratch)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		path_case(a_slow_host_is_the_path),
		path_case(a_full_queue_is_the_path),
		path_case(a_synchronisation_leads_to_its_work),
		path_case(an_asynchronous_copy_does_not_block),
		path_case(a_thread_waits_for_the_one_that_it_started),
		path_case(a_long_delay_is_not_known),
		path_case(overlaps_are_cut_at_the_smaller_excess),
		path_case(a_step_reaches_to_the_end_of_its_work),
		path_case(windows_of_overlapping_steps_tile),
		path_case(segments_tile_the_window),
	};

	return unit_main(tests, argc, argv);
}
