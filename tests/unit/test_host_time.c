/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity of threads over time, compared with the nodes of threads in the graph of
 * dependencies.
 */
#include "replay_rig.h"

#include "trace/pass/host_time.h"

static void open_both(struct rig *r, struct replay *x, struct host_time *h)
{
	open_replay(r, x);
	host_time_find(r->t, x->depend.links, h, &unit_arena);
}

/* Returns the innermost event of an activity that its kind has a field for. */
static uint32_t innermost(const struct trace *t, const struct host_activity *x, uint32_t event)
{
	switch (t->events.v[event].category) {
	case CATEGORY_FRAME: return x->frame;
	case CATEGORY_CALL: return x->call;
	default: return x->op;
	}
}

/* Each node is inside one or several tiles of the same slices; gaps are gaps. */
static void nodes_are_made_of_tiles(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct rig r = rig_open_tracks(TRACE_KINETO);
		struct host_time h;
		struct replay x;
		uint64_t compared = 0;
		rig_append_random(&r, seed);
		open_both(&r, &x, &h);
		for (size_t i = 0; i < x.depend.nodes.n; i++) {
			const struct depend_node *n = &x.depend.nodes.v[i];
			const struct host_thread *k = &h.threads[n->track];
			for (int64_t at = n->start; n->host && at < n->end;) {
				const struct host_tile *tile = host_time_at(k, at);
				const struct host_activity *a = host_time_activity(&h, tile);
				assert_int_equal(host_tile_is_gap(tile), n->event == ID_NONE);
				if (!host_tile_is_gap(tile))
					assert_int_equal(innermost(r.t, a, n->event), n->event);
				at = host_time_end(k, tile);
				compared++;
			}
		}
		assert_true(compared > 100);
		drop_scratch(state);
	}
}

/* The main thread is inside backward() while another thread runs it. */
static void a_thread_waits_for_the_one_that_it_started(void **state)
{
	struct rig r = rig_open_tracks(TRACE_KINETO);
	uint32_t other =
	        build_track(r.b, r.t->tracks.v[r.thread].process, ID_NONE, TRACK_THREAD, 10);
	struct host_time h;
	struct replay x;

	(void)state;
	rig_slice(&r, r.thread, CATEGORY_OP, "backward", 100, 200, 0);
	rig_slice(&r, other, CATEGORY_OP, "AddBackward", 20, 30, 0);
	rig_slice(&r, other, CATEGORY_OP, "MulBackward", 120, 130, 0);
	rig_slice(&r, other, CATEGORY_CALL, "cudaLaunchKernel", 200, 10, 1);
	rig_slice(&r, r.stream[0], CATEGORY_KERNEL, "k", 205, 200, 1);
	open_both(&r, &x, &h);
	assert_int_equal(host_time_at(&h.threads[r.thread], 119)->other, ID_NONE);
	assert_int_equal(host_time_at(&h.threads[r.thread], 120)->other, other);
	assert_int_equal(host_time_at(&h.threads[r.thread], 249)->other, other);
	assert_int_equal(host_time_at(&h.threads[r.thread], 250)->other, ID_NONE);
	assert_int_equal(host_time_at(&h.threads[other], 100)->other, r.thread);
	const struct depend *d = &x.depend;
	const struct depend_node *main = &d->nodes.v[d->tracks[r.thread].first];
	assert_int_equal(d->tracks[r.thread].n, 2);
	assert_int_equal(main[0].end, 120);
	assert_int_equal(main[1].start, 250);
	const struct depend_node *gap = &d->nodes.v[d->tracks[other].first + 1];
	assert_int_equal(gap->start, 120); /* the gap before is a wait, too */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes_are_made_of_tiles, unit_setup, drop_scratch),
		cmocka_unit_test_setup_teardown(
		        a_thread_waits_for_the_one_that_it_started, unit_setup, drop_scratch),
	};

	return unit_main(tests, argc, argv);
}
