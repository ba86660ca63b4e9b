/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch and the op of device work; launches as link and the two joins find them.
 */
#include "build_rig.h"

#include "base/sort.h"
#include "trace/pass/launch_join.h"
#include "trace/pass/link.h"
#include "trace/read/recording/recordings.h"

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

/* ---- three ways to find a launch ---- */

#define LAUNCHES 2000
#define WORKS    3000

/* A call, or device work: then index is its place, and found what was found, or 0. */
struct record {
	int64_t start, length, correlation;
	bool work;
	size_t index;
};
struct launches {
	struct record v[2 * LAUNCHES + WORKS];
	size_t n;
	int64_t found[WORKS]; /* start of the call, or 0 */
};

static int by_start(const void *records, uint32_t a, uint32_t b)
{
	const struct record *x = (const struct record *)records + a,
	                    *y = (const struct record *)records + b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (y->length > x->length) - (y->length < x->length);
}

/* Calls with another call of the same launch inside, calls without work, work without a call, work
 * that begins before its call, and launches with several pieces of work. */
static void make_launches(struct launches *x, uint64_t seed)
{
	x->n = 0;
	for (int64_t i = 0; i < LAUNCHES; i++) {
		x->v[x->n++] = (struct record){ 1000 + 100 * i, 50, 1 + i, false, 0 };
		if (unit_random(&seed) % 3 == 0)
			x->v[x->n++] = (struct record){ 1010 + 100 * i, 20, 1 + i, false, 0 };
	}
	for (size_t i = 0; i < WORKS; i++) {
		int64_t of = (int64_t)(unit_random(&seed) % (LAUNCHES + LAUNCHES / 10));
		int64_t late = (int64_t)(unit_random(&seed) % 900) - 90;
		x->v[x->n++] = (struct record){ 1000 + 100 * of + late, 5, 1 + of, true, i };
	}
	sort_array(&unit_arena, x->v, x->n, sizeof *x->v, by_start);
}

static void find_by_link(struct launches *x)
{
	struct rig r = rig_open_tracks(TRACE_NSYS);
	struct trace_links l;

	for (size_t i = 0; i < x->n; i++)
		rig_slice(&r, x->v[i].work ? r.stream[0] : r.thread,
		        x->v[i].work ? CATEGORY_KERNEL : CATEGORY_CALL, "a", x->v[i].start,
		        x->v[i].length, x->v[i].correlation);
	build_seal(r.b);
	trace_link(r.t, &l, &unit_arena);
	for (size_t i = 0; i < x->n; i++) {
		const struct slice work = { .track = r.stream[0],
			.correlation = x->v[i].correlation };
		const struct launch *launch = x->v[i].work ? link_launch(&l, &work) : NULL;
		if (x->v[i].work)
			x->found[x->v[i].index] = launch ? launch->start : 0;
	}
}

static void find_by_launch_join(struct launches *x)
{
	struct launch_join *j = launch_join_new(&unit_arena);
	struct launched call;
	struct slice work;

	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].work)
			launch_join_expect_work(j, 0, x->v[i].correlation);
		else
			launch_join_expect_call(j, 0, x->v[i].correlation);
	for (size_t i = 0; i < x->n; i++) {
		const struct record *r = &x->v[i];
		if (r->work) {
			work = (struct slice){ .correlation = r->correlation,
				.number = (uint32_t)r->index };
			x->found[r->index] = launch_join_work(j, 0, &work, &call) == LAUNCH_FOUND
			                             ? call.start
			                             : 0;
			continue;
		}
		call = (struct launched){ .start = r->start, .end = r->start + r->length };
		launch_join_call(j, 0, r->correlation, &call);
		while (launch_join_waiting(j, &work))
			x->found[work.number] = r->start;
	}
}

static void keep_call(void *user, const struct recorded_op *op, struct recorded_call *call)
{
	((struct launches *)user)->found[op->start] = call ? (int64_t)call->start : 0;
}

static void find_by_recording_join(struct launches *x)
{
	struct join *j = join_new(&unit_arena, keep_call, x);

	for (size_t i = 0; i < x->n; i++) {
		const struct record *r = &x->v[i];
		if (r->work)
			join_op(j, (uint32_t)r->correlation,
			        &(struct recorded_op){ .kind = SPOOL_KERNEL, .start = r->index });
		else
			join_call(j, (uint32_t)r->correlation,
			        &(struct recorded_call){ .start = (uint64_t)r->start,
			                .length = (uint64_t)r->length });
	}
	join_finish(j);
}

static void all_find_the_same_launches(void **state)
{
	static struct launches x;
	int64_t expected[WORKS];
	size_t alone = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		make_launches(&x, seed);
		find_by_link(&x);
		memcpy(expected, x.found, sizeof expected);
		for (size_t i = 0; i < x.n; i++)
			if (x.v[i].work && x.v[i].correlation <= LAUNCHES)
				assert_int_equal(
				        x.found[x.v[i].index], 900 + 100 * x.v[i].correlation);
		for (size_t i = 0; i < WORKS; i++)
			alone += !expected[i];
		find_by_launch_join(&x);
		assert_memory_equal(x.found, expected, sizeof expected);
		find_by_recording_join(&x);
		assert_memory_equal(x.found, expected, sizeof expected);
	}
	assert_in_range(alone, 1, WORKS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(work_finds_its_op),
		built_case(all_find_the_same_launches),
	};

	return unit_main(tests, argc, argv);
}
