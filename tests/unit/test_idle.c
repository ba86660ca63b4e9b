/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of idle time, and which work is communication.
 */
#include "build_rig.h"

#include "trace/pass/communication.h"
#include "trace/pass/link.h"
#include "trace/pass/trace_steps.h"
#include "trace/pass/usage.h"

static const struct device_usage *usage_of(struct rig *r, struct trace_usage *u)
{
	struct trace_links *l = ARENA_NEW(&unit_arena, struct trace_links);

	build_seal(r->b);
	trace_link(r->t, l, &unit_arena);
	trace_usage(r->t, &(struct usage_request){ .links = l }, u, &unit_arena);
	return &u->devices.v[0];
}

/* Adds a kernel and its call. */
static void launch(struct rig *r, uint32_t stream, int64_t call, int64_t length, int64_t start,
        int64_t end, int64_t id)
{
	rig_slice(r, r->thread, CATEGORY_CALL, "cudaLaunchKernel", call, length, id);
	rig_slice(r, stream, CATEGORY_KERNEL, "k", start, end - start, id);
}

static void each_gap_has_its_cause(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_usage u;
	int64_t id = 1;

	(void)state;
	launch(&r, r.stream[0], 0, 5, 10, 100, id++); /* a latency of 10, the base */
	launch(&r, r.stream[0], 20, 5, 103, 200, id++);
	for (int64_t at = 203; at < 240; at += 10) /* launched in time: gaps of 3, the base */
		launch(&r, r.stream[0], at / 10, 1, at, at + 7, id++);
	launch(&r, r.stream[0], 30, 5, 290, 300, id++);   /* a gap of 3 and a wait of 47 */
	launch(&r, r.stream[0], 350, 5, 360, 400, id++);  /* host 50, latency 10 */
	launch(&r, r.stream[0], 450, 20, 600, 700, id++); /* host 70, latency 10, wait 120 */
	rig_slice(&r, r.stream[0], CATEGORY_SYNC, "Stream Wait Event", 500, 1, 0);
	rig_slice(&r, r.stream[0], CATEGORY_SYNC, "Stream Sync", 515, 1, 0);
	launch(&r, r.stream[0], 510, 5, 750, 800,
	        id++); /* a gap of 3, a wait for the event of 47 */
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "alone", 850, 10, 0);
	launch(&r, r.stream[0], 520, 5, 900, 910, id++); /* the event was for the work before */
	const struct device_usage *d = usage_of(&r, &u);
	assert_int_equal(d->times.idle[IDLE_HOST_LATE], 50 + 70);
	assert_int_equal(d->times.idle[IDLE_LAUNCH_LATENCY], 10 + 10);
	assert_int_equal(d->times.idle[IDLE_KERNEL_GAP], 8 * 3);
	assert_int_equal(d->times.idle[IDLE_EVENT_WAIT], 47);
	assert_int_equal(d->times.idle[IDLE_OTHER_PROCESS], 0);
	assert_int_equal(d->times.idle[IDLE_UNKNOWN_WAIT], 47 + 120 + 37);
	assert_int_equal(d->times.idle[IDLE_UNKNOWN_LAUNCH], 50);
	assert_int_equal(d->end - d->start - d->times.busy, 120 + 20 + 24 + 47 + 204 + 50);
}

/* A device changes to another process; the device of the base values is the same. */
static void processes_share_a_device(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	uint32_t other = build_process(r.b, 2);
	uint32_t thread = build_track(r.b, other, ID_NONE, TRACK_THREAD, 1);
	uint32_t stream = build_track(r.b, other, 0, TRACK_STREAM, 7);
	struct trace_usage u;

	(void)state;
	launch(&r, r.stream[0], 0, 5, 10, 100, 1);
	rig_slice(&r, thread, CATEGORY_CALL, "cudaLaunchKernel", 50, 5, 1);
	rig_slice(&r, stream, CATEGORY_KERNEL, "k", 150, 10, 1);
	const struct device_usage *d = usage_of(&r, &u);
	assert_int_equal(d->times.idle[IDLE_OTHER_PROCESS], 50);
	assert_int_equal(d->end - d->start - d->times.busy, 50);
}

/* A single launch or gap may be a wait, so the lengths of the calls limit the bases. */
static void few_samples_have_limits(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	const int64_t us = r.t->ticks_per_us;
	struct trace_usage u;

	(void)state;
	launch(&r, r.stream[0], 0, us, 300 * us, 400 * us, 1);
	launch(&r, r.stream[0], 2 * us, us, 900 * us, 950 * us, 2);      /* long before */
	launch(&r, r.stream[0], 1000 * us, us, 1500 * us, 1510 * us, 3); /* on an empty stream */
	const struct device_usage *d = usage_of(&r, &u);
	assert_int_equal(d->times.idle[IDLE_KERNEL_GAP], IDLE_FEW_GAP * us);
	assert_int_equal(d->times.idle[IDLE_HOST_LATE], 51 * us);
	assert_int_equal(d->times.idle[IDLE_LAUNCH_LATENCY], IDLE_FEW_LATENCY * us);
	assert_int_equal(d->times.idle[IDLE_UNKNOWN_WAIT],
	        (500 - IDLE_FEW_GAP + 499 - IDLE_FEW_LATENCY) * us);
}

/* The base values are fixed after IDLE_SAMPLES gaps; the rule stays the same. */
static void many_gaps(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	const int64_t n = IDLE_SAMPLES + 100;
	struct trace_usage u;

	(void)state;
	for (int64_t i = 0; i < n; i++)
		launch(&r, r.stream[0], 100 * i, 5, 100 * i + 10, 100 * i + 20, i + 1);
	const struct device_usage *d = usage_of(&r, &u);
	assert_int_equal(d->times.idle[IDLE_HOST_LATE], (n - 1) * 80);
	assert_int_equal(d->times.idle[IDLE_LAUNCH_LATENCY], (n - 1) * 10);
	assert_int_equal(d->end - d->start - d->times.busy, (n - 1) * 90);
}

/* A step has the sums of each device, for two devices on which communication and compute never
 * overlap. */
static void steps_add_up_devices(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_steps s;
	struct trace_usage u;

	(void)state;
	build_arg_int(r.b, ARG_STEP, 1);
	rig_slice(&r, r.thread, CATEGORY_STEP, "1", 0, 100, 0);
	build_arg_int(r.b, ARG_STEP, 2);
	rig_slice(&r, r.thread, CATEGORY_STEP, "2", 100, 100, 0);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 10, 100, 0);
	rig_slice(&r, r.line, CATEGORY_COMMUNICATION, "all-reduce", 20, 120, 0);
	build_seal(r.b);
	trace_find_steps(r.t, &s, &unit_arena);
	assert_int_equal(s.steps.n, 2);
	struct step_usage *by = ARENA_ARRAY(&unit_arena, s.steps.n, struct step_usage);
	trace_usage(r.t, &(struct usage_request){ .steps = &s, .by_step = by }, &u, &unit_arena);
	assert_int_equal(u.devices.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(usage_overlap(&by[i].times), 0);
		assert_int_equal(by[i].times.busy, i ? 10 + 40 : 90 + 80);
		assert_int_equal(usage_exposed_communication(&by[i].times), i ? 40 : 80);
		assert_int_equal(by[i].times.idle[IDLE_BEFORE_FIRST], i ? 0 : 10 + 20);
		assert_int_equal(by[i].times.idle[IDLE_AFTER_LAST], i ? 90 + 60 : 0);
	}
}

/* ---- communication ---- */

static void kernels_of_communication(void **state)
{
	static const char *const yes[] = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
		"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "nvshmemi_put", "rcclKernel",
		"_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
		"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, "
		"16>(c10::BFloat16*)",
		"void c10d::symmetric_memory::(anonymous "
		"namespace)::two_shot_all_reduce_kernel<float>(int)",
		"one_shot_all_reduce_kernel",
		"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::X)",
		"void deep_ep::intranode::dispatch<8, 768>(int4*)",
		"deep_ep::internode_ll::combine", "void mscclpp_kernel<float>(int)",
		"tensorrt_llm::kernels::twoShotAllReduceKernel<float>",
		"void "
		"flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>"
	};
	static const char *const no[] = { "sgemm", "", "void",
		"deep_ep::layout::get_dispatch_layout",
		"void at::native::elementwise_kernel<4, symm_mem::Copy>(int)",
		"reduce_kernel(nccl)", "_Z", "(anonymous namespace)" };

	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		if (!communication_is_kernel(str_of(yes[i])))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (communication_is_kernel(str_of(no[i])))
			fail_msg("%s", no[i]);
	assert_true(communication_is_op(S("c10d::allreduce_")));
	assert_true(communication_is_op(S("nccl:all_reduce")));
	assert_false(communication_is_op(S("aten::mm")));
}

/* A kernel belongs to the class of the op that launched it, or of its process group. */
static void work_of_collectives(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	struct trace_usage u;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "c10d::allreduce_", 0, 10, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "aten::mm", 20, 10, 0);
	launch(&r, r.stream[0], 1, 2, 10, 15, 1);
	launch(&r, r.stream[0], 21, 2, 30, 32, 2);
	build_arg_text(r.b, ARG_PROCESS_GROUP, S("default_pg"));
	uint32_t own = build_event(r.b, CATEGORY_KERNEL, build_string(r.b, S("custom")));
	build_slice(r.b, r.stream[0], own, 40, 7, 0);
	const struct device_usage *d = usage_of(&r, &u);
	assert_int_equal(d->times.by_class[USAGE_COMMUNICATION], 5 + 7);
	assert_int_equal(d->times.by_class[USAGE_COMPUTE], 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(each_gap_has_its_cause),
		built_case(processes_share_a_device),
		built_case(few_samples_have_limits),
		built_case(many_gaps),
		built_case(steps_add_up_devices),
		built_case(kernels_of_communication),
		built_case(work_of_collectives),
	};

	return unit_main(tests, argc, argv);
}
