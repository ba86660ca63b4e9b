/* SPDX-License-Identifier: Apache-2.0
 *
 * One model into another: a model merged into an empty one is that model, steps of workers and
 * those excluded_from_average, nodes in another order, other models; memory that ends at any point
 * while workers are read.
 */
#include "unit.h"

#include <stdlib.h>
#include "lib/session.h"
#include "reader_rig.h"

#define DATA "testdata/recorded/"

static void load(struct rig *g, unsigned role, const char *path)
{
	struct input_from from = { .name = str_of(path) };

	g->e = (struct err){ .a = &g->a };
	if (!input_load(g->in, role, &from, NULL, &g->work, &g->e))
		fail_msg("%.*s", STR(g->e.text));
}

static void load_text(struct rig *g, unsigned role, const char *text, int64_t step)
{
	struct input_step one = { { .name = S("text"), .bytes = str_of(text), .memory = true },
		step };
	struct input_steps steps = { .v = &one, .n = 1 };
	size_t folded;

	g->e = (struct err){ .a = &g->a };
	bool ok = role == ROLE_STEP ? input_load_steps(g->in, &steps, &folded, &g->work, &g->e)
	                            : input_load(g->in, role, &one.from, NULL, &g->work, &g->e);
	if (!ok)
		fail_msg("%.*s", STR(g->e.text));
}

static bool merge(struct rig *to, struct rig *from, uint32_t worker, bool excluded_from_average)
{
	to->e = (struct err){ .a = &to->a };
	return ingest_merge(to->in, from->in, worker, excluded_from_average, S("from"), &to->e);
}

static const char *const profiles[] = { DATA "cnn_0/profile.pb.gz", DATA "cnn_gpu/profile.pb.gz",
	DATA "function_0/profile.pb", DATA "mlp_0/profile.pb",
	DATA "mlp_gpu_old_names/profile.pb.gz", DATA "queue_0/profile.pb",
	DATA "synthetic_1/profile.pb", DATA "synthetic_3/profile.pb" };

static void assert_equal_texts(struct str a, struct str b)
{
	if (str_eq(a, b))
		return;
	for (size_t i = 0;; i++)
		if (i == a.n || i == b.n || a.p[i] != b.p[i])
			fail_msg("differ at %zu: %.*s\nand: %.*s", i, 200, a.p + i, 200, b.p + i);
}

static void into_nothing_is_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
		struct rig direct, from, to;
		rig_open(&direct, true);
		rig_open(&from, true);
		rig_open(&to, true);
		load(&direct, ROLE_PROFILE, profiles[i]);
		load(&from, ROLE_PROFILE, profiles[i]);
		assert_true(merge(&to, &from, 0, false));
		assert_equal_texts(rig_text(&direct), rig_text(&to));
		rig_close(&to);
		rig_close(&from);
		rig_close(&direct);
	}
}

/* Data after the nodes. */
static struct str steps_of(struct rig *g)
{
	struct str text = rig_text(g);

	return str_sub(text, str_find(text, S("\nstep ")) + 1, SIZE_MAX);
}

static void second_worker_has_the_same_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
		struct rig from, to;
		rig_open(&from, false);
		rig_open(&to, false);
		load(&to, ROLE_PROFILE, profiles[i]);
		struct str once = steps_of(&to);
		size_t nodes = to.m->nodes.n, steps = to.m->steps.n, types = to.m->type0.n;
		ingest_base(from.in, to.m);
		load(&from, ROLE_PROFILE, profiles[i]);
		assert_true(merge(&to, &from, 1, false));
		assert_equal_texts(steps_of(&to), str_fmt(&to.a, "%.*s%.*s", STR(once), STR(once)));
		assert_int_equal(to.m->nodes.n, nodes);
		assert_int_equal(to.m->steps.n, 2 * steps);
		assert_int_equal(to.m->averaged, 2 * steps);
		assert_int_equal(to.m->type0.n, types);
		rig_close(&to);
		rig_close(&from);
	}
}

/* Base, with a changed copy of it merged, read beside it or not; empty if it was refused. */
static struct str merged_text(struct arena *a, const char *base, struct str copy, bool beside)
{
	struct rig to, from;
	struct str text = STR_NONE;

	rig_open(&to, false);
	rig_open(&from, false);
	load(&to, ROLE_PROFILE, base);
	if (beside)
		ingest_base(from.in, to.m);
	if (rig_read(&from, read_profile, copy) && merge(&to, &from, 1, false))
		text = str_copy(a, rig_text(&to));
	rig_close(&from);
	rig_close(&to);
	return text;
}

/* The single pass accepts everything that the two passes accept; it may accept more, because it
 * leaves parts unread. */
static void one_go_is_as_two_passes(void **state)
{
	static const char *const bases[] = { DATA "synthetic_1/profile.pb",
		DATA "synthetic_3/profile.pb", DATA "mlp_0/profile.pb" };
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;
	uint64_t seed = 7;
	size_t taken = 0;

	(void)state;
	arena_init(&a, &work);
	for (int i = 0; i < 240; i++) {
		const char *base = bases[i % 3];
		struct records r = rig_records(&a, rig_file(&a, base));
		struct str copy = rig_changed(&a, &r, &seed);
		struct str plain = merged_text(&a, base, copy, false);
		struct str quick = merged_text(&a, base, copy, true);
		if (plain.n)
			assert_equal_texts(plain, quick);
		taken += plain.n > 0;
		arena_clear(&a);
	}
	assert_true(taken > 20);
	arena_free(&a);
}

#define DEVICE(nodes) "step_stats { dev_stats { device: '/cpu:0' " nodes " } }"
#define RAN(name, start, length)                                                                   \
	" node_stats { node_name: '" name "' all_start_micros: " start                             \
	" op_end_rel_micros: " length " all_end_rel_micros: " length " }"

static int64_t micros(struct rig *g, const char *name, const struct step *s)
{
	uint32_t node = model_find(g->m, str_of(name));

	return model_tallies(g->m, s, g->m->a)[node].v[V_MICROS];
}

static void nodes_in_another_order(void **state)
{
	struct rig from, to;

	(void)state;
	rig_open(&from, false);
	rig_open(&to, false);
	load_text(&to, ROLE_GRAPH, "node { name: 'a' op: 'A' } node { name: 'b' op: 'B' }", 0);
	load_text(&to, ROLE_STEP, DEVICE(RAN("a", "10", "1") RAN("b", "11", "2")), 5);
	load_text(&from, ROLE_GRAPH,
	        "node { name: 'b' op: 'X' } node { name: 'c' op: 'C' input: 'b' input: 'gone' } "
	        "node { name: 'a' op: 'A' input: 'c' }",
	        0);
	load_text(&from, ROLE_STEP,
	        DEVICE(RAN("a", "20", "4") RAN("b", "24", "8") RAN("c", "32", "16")), 5);
	assert_true(merge(&to, &from, 1, false));
	assert_true(rig_says(&to, "\nb = B "));
	assert_true(rig_says(&to, "\nc = C on '/cpu:0'"));
	assert_true(rig_says(&to, "  in 0 'b' 0\n  in 1 ?'gone' 0\n"));
	const struct step *s = model_step_of(to.m, 1, 5, NULL);
	assert_non_null(s);
	for (uint32_t c = 1; c < s->n_cells; c++)
		assert_true(s->cell_node[c - 1] < s->cell_node[c]);
	assert_int_equal(micros(&to, "a", s), 4);
	assert_int_equal(micros(&to, "b", s), 8);
	assert_int_equal(micros(&to, "c", s), 16);
	assert_int_equal(micros(&to, "b", NULL), 5);
	assert_int_equal(micros(&to, "c", NULL), 16);
	rig_close(&to);
	rig_close(&from);
}

static void aside_is_not_in_the_average(void **state)
{
	struct rig from, to;

	(void)state;
	rig_open(&from, false);
	rig_open(&to, false);
	load_text(&to, ROLE_GRAPH, "node { name: 'a' op: 'A' } node { name: 'b' op: 'B' }", 0);
	load_text(&to, ROLE_STEP, DEVICE(RAN("a", "10", "6")), 2);
	load_text(&from, ROLE_STEP, DEVICE(RAN("a", "10", "100") RAN("b", "10", "7")), 1);
	load_text(&from, ROLE_STEP, DEVICE(RAN("a", "10", "200")), 2);
	assert_true(merge(&to, &from, 0, true));
	assert_true(merge(&to, &from, 0, true)); /* again changes nothing */
	assert_int_equal(to.m->averaged, 1);
	assert_int_equal(micros(&to, "a", NULL), 6);
	assert_int_equal(micros(&to, "b", NULL), 0);
	assert_int_equal(micros(&to, "a", model_step(to.m, 1)), 100);
	assert_int_equal(micros(&to, "a", model_step(to.m, 2)), 6);
	assert_false(to.m->nodes.v[model_find(to.m, S("b"))].flags & NODE_RAN);
	assert_int_equal(to.m->step_ids.n, 2);
	assert_int_equal(to.m->step_ids.v[0], 1);
	assert_int_equal(to.m->step_ids.v[1], 2);
	load_text(&to, ROLE_STEP, DEVICE(RAN("a", "10", "10")), 3);
	assert_int_equal(micros(&to, "a", NULL), 8);
	rig_close(&to);
	rig_close(&from);
}

static void other_models_are_refused(void **state)
{
	struct rig from, to;

	(void)state;
	rig_open(&from, false);
	rig_open(&to, false);
	load_text(&to, ROLE_GRAPH, "node { name: 'a' op: 'A' }", 0);
	load_text(&from, ROLE_GRAPH, "node { name: 'A' op: 'A' }", 0);
	assert_false(merge(&to, &from, 1, false));
	assert_int_equal(to.e.code, ERR_FAILED);
	assert_int_equal(to.m->nodes.n, 1);
	rig_close(&from);
	rig_open(&from, false);
	assert_true(merge(&to, &from, 1, false)); /* nothing is like anything */
	rig_close(&to);
	rig_close(&from);
}

/* ---- memory ---- */

static bool load_three(struct session *s, void *ctx)
{
	struct input_step step = { { .name = S(DATA "mlp_0/run_meta_0.pb") }, 7 };
	struct input_worker v[3] = { { .profile = S(DATA "mlp_0/profile.pb") },
		{ .profile = S(DATA "mlp_0/profile.pb"), .worker = 1 },
		{ .graph = S(DATA "mlp_0/graph.pb"), .steps = &step, .n_steps = 1, .worker = 2 } };
	struct str words[] = { S("a"), S("b"), S("c") };
	struct strs names = { words, 3, 3 };

	(void)ctx;
	return session_load_workers(s, &names, v, 3) && session_seal(s);
}

static void memory_ends_anywhere(void **state)
{
	bool ok = false;

	(void)state;
	for (size_t limit = 1 << 16; !ok; limit += limit / 4) {
		struct session *s = session_new(limit);
		if (!s)
			continue;
		s->threads = 2;
		ok = session_guard(s, load_three, NULL);
		if (!ok)
			assert_int_equal(s->error.code, ERR_RESOURCE);
		else
			assert_int_equal(s->model.steps.n, 7);
		session_free(s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(into_nothing_is_the_same),
		cmocka_unit_test(second_worker_has_the_same_steps),
		cmocka_unit_test(one_go_is_as_two_passes),
		cmocka_unit_test(nodes_in_another_order),
		cmocka_unit_test(aside_is_not_in_the_average),
		cmocka_unit_test(other_models_are_refused),
		cmocka_unit_test(memory_ends_anywhere),
	};

	return unit_main(tests, argc, argv);
}
