/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays of small traces whose new times are known, and of random ones: without changes the times
 * are the recorded ones.
 */
#include "replay_rig.h"

static struct replay_run run_with(const struct replay *x, const char *const *words, size_t n)
{
	struct replay_change changes[8];
	struct err e = { .a = &unit_arena };
	struct replay_run run;

	for (size_t i = 0; i < n; i++)
		if (!replay_parse(str_of(words[i]), &changes[i], &e))
			fail_msg("%.*s", STR(e.text));
	if (!replay_run(x, changes, n, &run, &unit_arena, &e))
		fail_msg("%.*s", STR(e.text));
	return run;
}

static int64_t after(const struct replay *x, const char *word)
{
	return run_with(x, &word, 1).after;
}

/* ---- known traces ---- */

/* Ops of 100 ticks each launch a kernel of 20: the host determines the time. */
static void append_slow_host(struct rig *r)
{
	for (int i = 0; i < 4; i++) {
		rig_slice(r, r->thread, CATEGORY_OP, i % 2 ? "b" : "a", 100 * i, 100, 0);
		rig_slice(r, r->thread, CATEGORY_CALL, "cudaLaunchKernel", 100 * i + 80, 10, i + 1);
		rig_slice(r, r->stream[0], CATEGORY_KERNEL, i % 2 ? "relu" : "gemm_f32",
		        100 * i + 85, 20, i + 1);
	}
}

static void a_faster_host_saves_its_time(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;

	(void)state;
	append_slow_host(&r);
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 405);
	assert_int_equal(after(&x, "host*0.5"), 3 * 50 + 40 + 5 + 20);
	assert_int_equal(after(&x, "kernel:gemm*0.5"), 405);
	assert_int_equal(after(&x, "kernel:relu*0.5"), 395);
	assert_int_equal(after(&x, "launch=0"), 400);
	assert_int_equal(after(&x, "op:^b$=0"), 200 + 5);
	assert_int_equal(after(&x, "call:Launch=0"), 405 - 30);
	assert_int_equal(after(&x, "host=0"), 5 + 20 * 4);
}

/* Kernels of 100 ticks are queued: the device determines the time, until the host does. */
static void shorter_kernels_save_until_the_host_is_late(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;

	(void)state;
	for (int i = 0; i < 10; i++) {
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 20 * i, 20, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 5 + 102 * i, 100, i + 1);
	}
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 5 + 102 * 9 + 100);
	assert_int_equal(after(&x, "kernel:gemm*0.5"), 5 + 52 * 9 + 50);
	assert_int_equal(after(&x, "kernel:gemm=0"), 20 * 9 + 5);
	assert_int_equal(after(&x, "kernel:gemm*2"), 5 + 202 * 9 + 200);
	assert_true(replay_error(&x) < 0.01);
}

/* A synchronisation waits for its kernel, and the host goes on after it. */
static void a_synchronisation_moves_with_its_work(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;

	(void)state;
	rig_append_wait(&r);
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 165);
	assert_int_equal(after(&x, "kernel:k1*0.5"), 165 - 55);
	assert_int_equal(after(&x, "kernel:k1*2"), 165 + 110);
	assert_int_equal(after(&x, "sync=0"), 115 + 10); /* k2 still follows k1 */
}

/* Work of a stream that was told to wait for another one. */
static void work_waits_for_an_event(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 0, 5, 1);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaEventRecord", 5, 2, 2);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaStreamWaitEvent", 10, 2, 3);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 15, 5, 4);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k1", 5, 100, 1);
	build_arg_int(r.b, ARG_WAIT_STREAM, 7);
	build_arg_int(r.b, ARG_WAIT_RECORD, 2);
	rig_slice(&r, r.stream[1], CATEGORY_SYNC, "Stream Wait Event", 10, 2, 3);
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "k2", 106, 50, 4);
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 156);
	assert_int_equal(after(&x, "kernel:k1*0.5"), 106);
	assert_int_equal(after(&x, "kernel:k1=0"), 15 + 5 + 50); /* its launch */
}

/* Without the event, the answer must state that data are missing. The wait is assumed to be for the
 * work of another stream that ended last before the start, if that explains the start. */
static void waits_for_unknown_events_are_assumed(void **state)
{
	static const int64_t starts[] = { 106, 300 };
	static const int64_t halved[] = { 106, 350 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct replay x;
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 0, 5, 1);
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaStreamWaitEvent", 10, 2, 3);
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", starts[i] - 91, 5, 4);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k1", 5, 100, 1);
		rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "k2", starts[i], 50, 4);
		open_replay(&r, &x);
		assert_int_equal(x.depend.unknown_waits, 1);
		assert_int_equal(after(&x, "kernel:k1*0.5"), halved[i]);
	}
}

/* A call that first loads a module launches at its end: shorter, it lets the work start earlier,
 * also if the work starts just before the call ends. */
static void work_of_slow_calls_comes_as_much_earlier(void **state)
{
	static const int64_t starts[] = { 3002, 2998 };

	(void)state;
	for (unsigned k = 0; k < sizeof starts / sizeof *starts; k++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct replay x;
		for (int i = 0; i < 20; i++) { /* the usual latency is 6 */
			rig_slice(
			        &r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 100 * i, 5, i + 1);
			rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 100 * i + 6, 10, i + 1);
		}
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaModuleLaunch", 2000, 1000, 21);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "last", starts[k], 10, 21);
		open_replay(&r, &x);
		assert_int_equal(x.recorded.after, starts[k] + 10);
		assert_int_equal(after(&x, "call:cudaModuleLaunch*0.5"), 2512);
		assert_int_equal(after(&x, "call:cudaModuleLaunch=0"), 2016); /* usual latency */
	}
}

/* A call for an asynchronous copy waits only for memory that is not pinned; small copies to a
 * device are staged. */
static void asynchronous_copies_hold_their_calls_if_pageable(void **state)
{
	static const struct {
		const char *name;
		int64_t bytes, saved;
	} copies[] = {
		{ "Memcpy DtoH (Device -> Pinned)", 1 << 20, 0 },
		{ "Memcpy DtoD (Device -> Device)", 1 << 20, 0 },
		{ "Memcpy DtoH (Device -> Pageable)", 4, 30 },
		{ "Memcpy HtoD (Pageable -> Device)", 65536, 0 },
		{ "Memcpy HtoD (Pageable -> Device)", 65537, 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct replay x;
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaMemcpyAsync", 0, 50, 1);
		build_arg_int(r.b, ARG_BYTES, copies[i].bytes);
		rig_slice(&r, r.stream[0], CATEGORY_COPY, copies[i].name, 10, 30, 1);
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 50, 5, 2);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 60, 10, 2);
		open_replay(&r, &x);
		assert_int_equal(x.recorded.after - after(&x, "copy=0"), copies[i].saved);
		drop_scratch(state);
	}
}

/* 64 launches are pending at most: each later one waits for room. */
static void launches_wait_for_room_in_the_queue(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;
	int64_t at = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t room = 100 * (i - 64 + 1) + 5,
		        end = i >= 64 && room > at + 2 ? room : at + 2;
		rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", at, end - at, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 5 + 100 * i, 100, i + 1);
		at = end;
	}
	rig_slice(&r, r.thread, CATEGORY_OP, "last", at, 30000, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", at + 30000, 2, 1000);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "end", at + 30005, 10, 1000);
	open_replay(&r, &x);
	assert_int_equal(after(&x, "host*1"), x.recorded.after);
	/* The op starts when there is room for the last launch before it. */
	assert_in_range(x.recorded.after - after(&x, "kernel:^k$*0.5"), 6500, 6900);
}

/* A recording that began while work was pending does not have its launch. A call waits for the work
 * launched before it, not for that which had started before it. */
static void pending_work_of_unknown_launches_comes_first(void **state)
{
	struct rig r = rig_open_tracks(TRACE_NSYS);
	struct replay x;

	(void)state;
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "before", 0, 1000, 0);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "before", 1000, 1000, 0);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 2000, 10, 1);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 10, 5, 1);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaStreamSynchronize", 100, 1915, 2);
	rig_slice(&r, r.stream[0], CATEGORY_SYNC, "stream synchronize", 101, 1913, 2);
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 2015);
	assert_int_equal(after(&x, "kernel:before*0.5"), 1015);
}

/* A launch that the file calls blocked by a full queue ends after the work that made room. */
static void full_queues_of_the_file_block_launches(void **state)
{
	struct rig r = rig_open_tracks(TRACE_NSYS);
	struct replay x;

	(void)state;
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "before", 0, 990, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 100, 900, 1);
	rig_slice(&r, r.thread, CATEGORY_OVERHEAD, "Command Buffer Full", 110, 885, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "op", 1000, 500, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 1500, 5, 2);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 1000, 10, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 1505, 10, 2);
	open_replay(&r, &x);
	assert_int_equal(x.recorded.after, 1515);
	assert_int_equal(after(&x, "kernel:before*0.5"), 1515 - 495);
}

/* The mean over steps, each of which begins at the end of the work of the step before. */
static void steps_have_a_mean(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;
	const uint32_t second[] = { 1 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		build_arg_int(r.b, ARG_STEP, i);
		rig_slice(&r, r.thread, CATEGORY_STEP, "ProfilerStep#0", 200 * i, 200, 0);
		rig_slice(
		        &r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 200 * i + 100, 10, i + 1);
		rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 200 * i + 105, 40, i + 1);
	}
	open_replay(&r, &x);
	assert_int_equal(x.n_windows, 3);
	assert_int_equal(x.recorded.after, (145 + 200 + 200) / 3);
	assert_int_equal(after(&x, "host*0.5"), (50 + 45 + 100 + 100) / 3);
	replay_choose(&x, second, 1);
	assert_int_equal(x.recorded.after, 200);
	assert_int_equal(after(&x, "host*0.5"), 100);
}

/* The parts add up to the window, before and after. */
static void parts_add_up(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;
	size_t n;

	(void)state;
	append_slow_host(&r);
	open_replay(&r, &x);
	const char *word = "kernel:gemm=0";
	struct replay_run run = run_with(&x, &word, 1);
	const struct replay_part *p = replay_partition(&x, &run, &n, &unit_arena);
	assert_int_equal(n, 1);
	assert_int_equal(p->compute, 40);
	assert_int_equal(p->compute + p->communication + p->copy + p->idle, run.after);
}

static void the_largest_saving_comes_first(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;
	size_t n, left_out;

	(void)state;
	append_slow_host(&r);
	open_replay(&r, &x);
	const struct replay_saving *v = replay_rank(&x, EACH_OP, 0, &n, &left_out, &unit_arena);
	assert_int_equal(n, 2);
	assert_str(v[0].name, "a");
	assert_int_equal(v[0].removed, 200);
	assert_int_equal(v[0].halved, 100);
	assert_str(v[1].name, "b");
	assert_int_equal(v[1].removed, 405 - after(&x, "op:b=0"));
	v = replay_rank(&x, EACH_KERNEL, 1, &n, &left_out, &unit_arena);
	assert_int_equal(n, 1);
	assert_str(v[0].name, "relu");
	assert_int_equal(v[0].removed, 20);
}

/* ---- words ---- */

static void words_are_read(void **state)
{
	static const char *const good[] = { "kernel:a*b*0.5", "op:aten::copy_=0", "copy=0",
		"line:train.py:88=0", "host*2" };
	static const char *const bad[] = { "kernel:*0.5", "kernel:gemm", "host*-1", "host=0.5",
		"sync*0.5", "host*1001", "nothing*0.5", "rank:3=median", "copy:x*0.5" };
	struct replay_change c;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct err e = { .a = &unit_arena };
		assert_true(replay_is_change(str_of(good[i])));
		assert_true(replay_parse(str_of(good[i]), &c, &e));
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = { .a = &unit_arena };
		assert_false(replay_parse(str_of(bad[i]), &c, &e));
		assert_true(e.text.n > 0);
	}
	struct err e = { .a = &unit_arena };
	assert_true(replay_parse(S("kernel:a*b*0.25"), &c, &e));
	assert_str(c.pattern, "a*b");
	assert_true(c.factor == 0.25);
	assert_false(replay_is_change(S("trace.json")));
	assert_false(replay_is_change(S("hosts*.json")));
}

/* A line names a Python function as PyTorch and JAX write it; a file is found by the end of its
 * path. */
static void lines_of_functions_are_found(void **state)
{
	static const char *const names[] = { "lib/train.py(88): step", "$lib/train.py:88 step",
		"lib/train.py:88" };
	static const char *const words[] = { "line:train.py:88=0", "line:lib/train.py:88=0" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct replay x;
		size_t n, left_out;
		append_slow_host(&r);
		rig_slice(&r, r.thread, CATEGORY_FRAME, names[i], 100, 100, 0);
		rig_slice(&r, r.thread, CATEGORY_FRAME, "b/train.py(8): other", 300, 100, 0);
		open_replay(&r, &x);
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			assert_int_equal(after(&x, words[k]), 405 - 100);
		const struct replay_saving *v =
		        replay_rank(&x, EACH_LINE, 0, &n, &left_out, &unit_arena);
		assert_int_equal(n, 2);
		assert_str(v[0].name, "lib/train.py:88");
		assert_int_equal(v[0].removed, 100);
		drop_scratch(state);
	}
}

/* A name that matches nothing that can change is an error, which states what it matches. */
static void a_name_of_something_else_is_an_error(void **state)
{
	static const struct {
		const char *word, *text;
	} wrong[] = {
		{ "kernel:conv*0.5", "'kernel:conv*0.5' matches nothing in the trace: "
		                     "'tfprof what-if FILE --each=kernel' lists the kernels" },
		{ "kernel:^a$*0.5", "'kernel:^a$*0.5' matches no kernel, but 1 op: "
		                    "'op:^a$*0.5' expected" },
		{ "op:gemm=0",
		        "'op:gemm=0' matches no op, but 1 kernel: 'kernel:gemm=0' expected" },
		{ "kernel:cop=0", "'kernel:cop=0' matches no kernel, but 2 copies: "
		                  "'copy=0' expected" },
		{ "kernel:train|Launch*2", "'kernel:train|Launch*2' matches no kernel, but 1 line, "
		                           "1 call: 'line:train.py:8*2' or "
		                           "'call:train|Launch*2' expected" },
		{ "line:train.py:9=0", "'line:train.py:9=0' matches nothing in the trace: "
		                       "'tfprof what-if FILE --each=line' lists the lines" },
	};
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct replay x;

	(void)state;
	append_slow_host(&r);
	rig_slice(&r, r.thread, CATEGORY_FRAME, "train.py(8): step", 0, 400, 0);
	rig_slice(&r, r.stream[1], CATEGORY_COPY, "copy in", 200, 5, 0);
	rig_slice(&r, r.stream[1], CATEGORY_COPY, "copy out", 210, 5, 0);
	open_replay(&r, &x);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err e = { .a = &unit_arena };
		struct replay_change c;
		struct replay_run run;
		assert_true(replay_parse(str_of(wrong[i].word), &c, &e));
		assert_false(replay_run(&x, &c, 1, &run, &unit_arena, &e));
		assert_str(e.text, wrong[i].text);
	}
}

/* ---- random traces ---- */

static void without_changes_the_times_are_the_recorded_ones(void **state)
{
	for (unsigned seed = 0; seed < 200; seed++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct replay x;
		rig_append_random(&r, seed);
		open_replay(&r, &x);
		const char *same = "host*1";
		const struct depend_times times = run_with(&x, &same, 1).times;
		for (size_t i = 0; i < x.depend.nodes.n; i++) {
			assert_int_equal(times.start[i], x.depend.nodes.v[i].start);
			assert_int_equal(times.end[i], x.depend.nodes.v[i].end);
		}
		assert_int_equal(x.recorded.after, x.windows[0].to - x.windows[0].from);
		assert_true(after(&x, "host*0.5") <= x.recorded.after);
		assert_true(after(&x, "kernel:k*2") >= x.recorded.after);
		drop_scratch(state);
	}
}

#define replay_case(f) cmocka_unit_test_setup_teardown(f, unit_setup, drop_scratch)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		replay_case(a_faster_host_saves_its_time),
		replay_case(shorter_kernels_save_until_the_host_is_late),
		replay_case(a_synchronisation_moves_with_its_work),
		replay_case(work_waits_for_an_event),
		replay_case(waits_for_unknown_events_are_assumed),
		replay_case(work_of_slow_calls_comes_as_much_earlier),
		replay_case(asynchronous_copies_hold_their_calls_if_pageable),
		replay_case(launches_wait_for_room_in_the_queue),
		replay_case(pending_work_of_unknown_launches_comes_first),
		replay_case(full_queues_of_the_file_block_launches),
		replay_case(steps_have_a_mean),
		replay_case(parts_add_up),
		replay_case(the_largest_saving_comes_first),
		replay_case(words_are_read),
		replay_case(lines_of_functions_are_found),
		replay_case(a_name_of_something_else_is_an_error),
		replay_case(without_changes_the_times_are_the_recorded_ones),
	};

	return unit_main(tests, argc, argv);
}
