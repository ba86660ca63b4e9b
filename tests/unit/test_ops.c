/* SPDX-License-Identifier: Apache-2.0
 *
 * The ops of a trace: by hand, and invariants for random traces in any order of appending.
 */
#include "build_rig.h"

#include <stdlib.h>

#include "base/sort.h"
#include "trace/pass/ops.h"

static struct trace_ops find_ops_by(const struct trace *t, enum trace_by by)
{
	struct trace_links l;
	struct trace_steps s;
	struct trace_ops o;

	trace_link(t, &l, &unit_arena);
	trace_find_steps(t, &s, &unit_arena);
	trace_find_ops(t, &l, &s, by, &o, &unit_arena);
	return o;
}

static struct trace_ops find_ops(const struct trace *t)
{
	return find_ops_by(t, TRACE_BY_PATH);
}

/* A table as text, a line for each cell. */
static struct str table(const struct trace_ops *o)
{
	struct strs lines = { 0 };
	struct sb b = sb_in(&unit_arena);

	for (size_t i = 0; i < o->cells.n; i++) {
		const struct op_cell *c = &o->cells.v[i];
		const struct trace_op *op = &o->ops.v[c->op];
		strs_add(&unit_arena, &lines,
		        str_fmt(&unit_arena, "%.*s|%.*s|%u|%llu|%llu|%llu|%lld|%lld|%lld|%lld\n",
		                STR(intern_str(&o->strings, op->name)),
		                STR(intern_str(&o->strings, op->type)), c->step,
		                (unsigned long long)c->host_runs,
		                (unsigned long long)c->device_runs, (unsigned long long)c->kernels,
		                (long long)c->host_self, (long long)c->host_total,
		                (long long)c->device_self, (long long)c->start));
	}
	sort_list(&unit_arena, &lines);
	for (size_t i = 0; i < lines.n; i++)
		sb_put(&b, lines.v[i]);
	return sb_str(&b);
}

static void paths_follow_modules_and_ops(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_MODULE, "Linear_0", 0, 100, 0);
	rig_slice(&r, r.thread, CATEGORY_FRAME, "model.py(3): forward", 5, 90, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "aten::linear", 10, 80, 0);
	rig_slice(&r, r.thread, CATEGORY_OP, "aten::mm", 20, 30, 0);
	rig_slice(&r, r.thread, CATEGORY_CALL, "cudaLaunchKernel", 25, 5, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 30, 40, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "gemm", 35, 40, 1);
	rig_slice(&r, r.stream[1], CATEGORY_KERNEL, "lost", 30, 7, 2);
	build_seal(r.b);
	struct trace_ops o = find_ops(r.t);
	assert_str(table(&o), "(unattributed)/lost|(unattributed)|0|0|1|1|0|0|7|30\n"
	                      "Linear_0/aten::linear/aten::mm|aten::mm|0|1|0|2|30|30|80|20\n"
	                      "Linear_0/aten::linear|aten::linear|0|1|0|0|50|80|0|10\n"
	                      "Linear_0|module|0|1|0|0|20|100|0|0\n");
	assert_int_equal(o.unlinked, 1);
	assert_int_equal(o.unlinked_time, 7);
	assert_int_equal(o.ops.v[0].frame, ID_NONE);
	struct op_frame f = ops_frame(&o, o.ops.v[2].frame);
	assert_str(intern_str(&o.strings, f.text), "model.py(3): forward");
	assert_int_equal(f.parent, ID_NONE);
}

static void compiled_ops_have_names_runs_and_stacks(void **state)
{
	struct rig r = rig_open_tracks(TRACE_XSPACE);
	static const char *const names[] = { "fusion.1", "fusion.2", "while", "copy.1" };

	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		build_arg_int(r.b, ARG_PROGRAM, 9);
		build_arg_int(r.b, ARG_FLOPS, 100);
		if (i < 2) {
			build_arg_text(r.b, ARG_SCOPE, S("jit(f)/mul"));
			build_arg_text(r.b, ARG_OP_TYPE, S("mul"));
			build_arg_text(r.b, ARG_STACK, S("a.py:1:2\nb.py:3:4\n"));
		}
		if (i != 2)
			build_arg_text(r.b, ARG_OP_CATEGORY, S("copy"));
		build_arg_text(r.b, ARG_MODULE_NAME, S("jit_f"));
		uint32_t e = build_event(r.b, CATEGORY_OP, build_string(r.b, str_of(names[i])));
		for (int64_t n = 0; n <= i && i < 2; n++)
			build_slice(r.b, r.line, e, 10 + 20 * i + 5 * n, 5, 0);
		if (i >= 2)
			build_slice(r.b, r.line, e, i == 2 ? 0 : 200, i == 2 ? 100 : 9, 0);
	}
	build_seal(r.b);
	struct trace_ops o = find_ops(r.t);
	assert_str(table(&o), "jit(f)/mul|mul|0|0|2|3|0|0|15|10\n"
	                      "jit_f/copy.1|copy|0|0|1|1|0|0|9|200\n"
	                      "jit_f/while|Unknown|0|0|1|1|0|0|85|0\n");
	const struct trace_op *mul = &o.ops.v[0];
	assert_int_equal(mul->flops, 300);
	assert_int_equal(mul->runs, 2);
	struct op_frame inner = ops_frame(&o, mul->frame);
	assert_str(intern_str(&o.strings, inner.text), "b.py:3:4");
	assert_str(intern_str(&o.strings, ops_frame(&o, inner.parent).text), "a.py:1:2");
}

static uint64_t sum_of_runs(const struct trace_ops *o)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < o->ops.n; i++)
		sum += o->ops.v[i].runs;
	return sum;
}

/* Two kernels of one op that different call stacks launched are one execution of the op, or none if
 * the op ran on the host. */
static void stacks_divide_executions_without_adding_any(void **state)
{
	(void)state;
	for (int host = 0; host < 2; host++) {
		struct rig r = rig_open_tracks(TRACE_XSPACE);
		for (int64_t i = 0; i < 2; i++) {
			build_arg_text(r.b, ARG_SCOPE, S("f/add"));
			build_arg_text(r.b, ARG_STACK, i ? S("a.py:1:2\n") : S("b.py:3:4\n"));
			uint32_t e = build_event(
			        r.b, CATEGORY_KERNEL, build_string(r.b, i ? S("loop") : S("tail")));
			for (int64_t n = 0; n <= 2 * i; n++)
				build_slice(r.b, r.stream[0], e, 10 + 20 * i + 5 * n, 5, 0);
		}
		build_arg_text(r.b, ARG_SCOPE, S("f/add"));
		uint32_t on_host = build_event(
		        r.b, CATEGORY_OP, build_string(r.b, host ? S("f/add") : S("g")));
		build_slice(r.b, r.thread, on_host, 0, 5, 0);
		build_seal(r.b);
		struct trace_ops paths = find_ops(r.t);
		struct trace_ops stacks = find_ops_by(r.t, TRACE_BY_STACK);
		assert_true(stacks.ops.n > paths.ops.n);
		assert_int_equal(sum_of_runs(&stacks), sum_of_runs(&paths));
	}
}

/* A random slice, to be appended in any order. */
struct random_slice {
	enum trace_category category;
	uint32_t track;
	char name[8];
	int64_t start, length, correlation;
};

static size_t random_slices(const struct rig *r, struct random_slice *v, size_t max)
{
	static const enum trace_category host[] = { CATEGORY_OP, CATEGORY_MODULE,
		CATEGORY_ANNOTATION };
	size_t n = 0;

	for (int64_t i = 0; n + 3 < max; i++) {
		int64_t start = 100 * i;
		for (int64_t depth = 0; depth < 3; depth++) {
			v[n] = (struct random_slice){ .category = host[rand() % 3],
				.track = r->thread,
				.start = start + depth * 10 + rand() % 5,
				.length = 90 - depth * 30 };
			v[n++].name[0] = (char)('a' + rand() % 4);
		}
		if (rand() % 2) {
			v[n] = (struct random_slice){ CATEGORY_CALL, r->thread, "call", start + 40,
				2, i + 1 };
			n++;
		}
		if (n < max) {
			v[n] = (struct random_slice){ CATEGORY_KERNEL, r->stream[rand() % 2], "k",
				start + 50 + rand() % 99, rand() % 70, i + 1 };
			n++;
		}
	}
	return n;
}

static struct trace_ops ops_of_slices(
        struct rig *r, const struct random_slice *v, const uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct random_slice *s = &v[order ? order[i] : i];
		rig_slice(r, s->track, s->category, s->name, s->start, s->length, s->correlation);
	}
	build_seal(r->b);
	return find_ops(r->t);
}

static void sums_lose_nothing_in_any_order(void **state)
{
	enum { N = 600 };
	static struct random_slice v[N];
	uint32_t order[N];

	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		int64_t work = 0, host = 0, device_self = 0, host_self = 0;
		srand(seed);
		size_t n = random_slices(&r, v, N);
		for (size_t i = 0; i < n; i++) {
			work += v[i].category == CATEGORY_KERNEL ? v[i].length : 0;
			order[i] = (uint32_t)i;
		}
		struct trace_ops o = ops_of_slices(&r, v, NULL, n);
		struct str first = str_copy(&unit_arena, table(&o));
		for (size_t i = 0; i < o.cells.n; i++) {
			device_self += o.cells.v[i].device_self;
			host_self += o.cells.v[i].host_self;
		}
		struct slice_iter it = trace_slices(r.t, r.thread);
		int64_t until = INT64_MIN;
		for (struct slice s; slice_next(&it, &s);) {
			if (s.category == CATEGORY_CALL)
				continue;
			host += slice_end(&s) - (s.start > until                ? s.start
			                                : until < slice_end(&s) ? until
			                                                        : slice_end(&s));
			until = slice_end(&s) > until ? slice_end(&s) : until;
		}
		assert_int_equal(device_self, work);
		if (!o.overlaps)
			assert_int_equal(host_self, host);
		for (size_t i = n; i-- > 1;) {
			size_t j = (size_t)rand() % (i + 1);
			uint32_t swap = order[i];
			order[i] = order[j];
			order[j] = swap;
		}
		r = rig_open_tracks(TRACE_KINETO);
		o = ops_of_slices(&r, v, order, n);
		struct str again = table(&o);
		assert_int_equal(again.n, first.n);
		assert_memory_equal(again.p, first.p, first.n);
	}
}

/* Numbers of groups are independent of the numbers of marks. */
static void marks_that_share_numbers_are_steps_each(void **state)
{
	static const char *const names[] = { "train", "eval", "train" };
	struct rig r = rig_open_tracks(TRACE_XSPACE);
	struct trace_steps s;

	(void)state;
	for (int64_t i = 0; i < 3; i++) {
		uint32_t event =
		        build_event(r.b, CATEGORY_STEP, build_string(r.b, str_of(names[i])));
		build_arg_int(r.b, ARG_STEP, i / 2);
		build_slice(r.b, r.thread, event, 100 * i, 50, 0);
		build_arg_int(r.b, ARG_GROUP, 0); /* numbered independently of the marks */
		rig_slice(&r, r.thread, CATEGORY_OP, "inside", 100 * i + 10, 5, 0);
	}
	build_seal(r.b);
	trace_find_steps(r.t, &s, &unit_arena);
	assert_true(s.by_start);
	assert_int_equal(s.steps.n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct slice slice;
		trace_slice(r.t, 2 * i + 1, &slice);
		assert_int_equal(s.steps.v[i].id, i);
		assert_int_equal(trace_step_of(&s, &slice, NULL), i);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(paths_follow_modules_and_ops),
		built_case(compiled_ops_have_names_runs_and_stacks),
		built_case(stacks_divide_executions_without_adding_any),
		built_case(sums_lose_nothing_in_any_order),
		built_case(marks_that_share_numbers_are_steps_each),
	};

	return unit_main(tests, argc, argv);
}
