/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch and the op of device work.
 */
#include "build_rig.h"

#include "trace/pass/link.h"

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
	s = rig_nth(r.t, r.stream[0], 0);
	assert_string_equal(op_of(&l, &s), "mm");
	assert_int_equal(link_launch(&l, &s)->start, 15);
	s = rig_nth(r.t, r.stream[0], 1);
	assert_string_equal(op_of(&l, &s), "forward");
	s = rig_nth(r.t, r.stream[0], 2);
	assert_string_equal(op_of(&l, &s), "");
	assert_non_null(link_launch(&l, &s));
	s = rig_nth(r.t, r.stream[0], 3);
	assert_null(link_launch(&l, &s));
	s = rig_nth(r.t, r.stream[1], 0);
	assert_string_equal(op_of(&l, &s), "elsewhere");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(work_finds_its_op),
	};

	return unit_main(tests, argc, argv);
}
