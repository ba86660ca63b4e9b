/* SPDX-License-Identifier: Apache-2.0
 *
 * Nesting of slices: by hand, and invariants for any track.
 */
#include "build_rig.h"

#include <stdlib.h>

#include "trace/pass/nest.h"

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
	rig_slice(&r, r.thread, CATEGORY_OVERHEAD, "x", 60, 10, 0); /* not read */
	rig_slice(&r, r.thread, CATEGORY_OP, "d", 130, 10, 0);
	build_seal(r.b);
	nest_init(&n, r.t, r.thread, CATEGORY_BIT(CATEGORY_OP), &unit_arena);
	while ((what = nest_next(&n, &level)))
		if (what == NEST_CLOSE) {
			assert_str(trace_str(r.t, level->s.name), expected[i].name);
			assert_int_equal(nest_self(level), expected[i++].self);
		}
	assert_int_equal(i, 5);
	assert_int_equal(n.overlaps, 1);
}

/* Makes a random trace of one thread whose slices are nested or disjoint. */
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		built_case(self_times_and_overlaps),
		built_case(self_times_add_up_to_the_union),
	};

	return unit_main(tests, argc, argv);
}
