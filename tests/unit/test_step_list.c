/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of steps of one file, several files and workers, whatever their order.
 * Baselines are the shortest files with steps.
 */
#include "reader_rig.h"
#include "unit.h"

#define HEAD   "tfprof baseline 1\n"
#define NODE_A "node\ta\tA\t-\t0\t\tA\n"

static void read_more(struct rig *g, const char *text)
{
	if (!rig_read(g, read_baseline, str_of(text)))
		fail_msg("%.*s", STR(g->e.text));
}

static void numbers_are(const struct rig *g, const int64_t *all, size_t n)
{
	assert_int_equal(g->m->step_ids.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(g->m->step_ids.v[i], all[i]);
}

static int64_t micros_of_a(struct rig *g, const struct step *s)
{
	assert_true(ingest_seal(g->in, &g->e));
	return model_tallies(g->m, s, g->m->a)[0].v[V_CPU_MICROS];
}

/* Some steps twice, some without records; then other steps between them. */
static void any_order(void **state)
{
	static const int64_t first[] = { -4, 3, 5, 7, 9 }, all[] = { -5, -4, 3, 4, 5, 7, 9, 10 };
	struct rig g;

	(void)state;
	rig_open(&g, false);
	read_more(&g, HEAD "step\t9\nstep\t-4\nstep\t9\n" NODE_A
	                   "run\t7\t1\t0\t5\t0\t0\t0\t0\nrun\t3\t1\t0\t8\t0\t0\t0\t0\n"
	                   "step\t5\nstep\t3\nend\n");
	numbers_are(&g, first, 5);
	assert_int_equal(g.m->averaged, 5);
	assert_int_equal(micros_of_a(&g, model_step(g.m, 3)), 8);
	assert_int_equal(micros_of_a(&g, model_step(g.m, 7)), 5);
	read_more(&g, HEAD "step\t10\nstep\t4\nstep\t-5\nstep\t9\nend\n");
	numbers_are(&g, all, 8);
	assert_int_equal(g.m->averaged, 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(g.m->steps.v[i]->id, all[i]);
	assert_int_equal(micros_of_a(&g, NULL), 6); /* 13 / 2 */
	rig_close(&g);
}

/* The second worker's steps are before, between and after the first's. */
static void of_all_workers(void **state)
{
	static const char *const text[] = { HEAD NODE_A "step\t5\nstep\t3\nstep\t8\nend\n",
		HEAD NODE_A "step\t9\nstep\t8\nstep\t4\nstep\t1\nend\n" };
	static const int64_t all[] = { 1, 3, 4, 5, 8, 9 };
	struct rig from[2], to;

	(void)state;
	rig_open(&to, false);
	for (uint32_t w = 0; w < 2; w++) {
		rig_open(&from[w], false);
		read_more(&from[w], text[w]);
		to.e = (struct err){ .a = &to.a };
		assert_true(ingest_merge(to.in, from[w].in, w, false, S("from"), &to.e));
	}
	numbers_are(&to, all, 6);
	assert_int_equal(to.m->steps.n, 7);
	for (size_t i = 1; i < 7; i++) {
		const struct step *a = to.m->steps.v[i - 1], *b = to.m->steps.v[i];
		assert_true(a->worker < b->worker || (a->worker == b->worker && a->id < b->id));
	}
	rig_close(&to);
	rig_close(&from[0]);
	rig_close(&from[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(any_order),
		unit_case(of_all_workers),
	};

	return unit_main(tests, argc, argv);
}
