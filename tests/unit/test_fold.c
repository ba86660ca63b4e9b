/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps into the model: the fold of batches, packed memory, sums over steps.
 */
#include "unit.h"

#include "model/ingest.h"

#define GPU    "/job:w/device:GPU:0"
#define CPU    "/job:w/device:CPU:0"
#define STREAM "/job:w/device:GPU:0/stream:all"

struct rig {
	struct model m;
	struct notes notes;
	struct ingest *in;
	struct arena *a;
	struct batch *b;
};

static struct rig *rig_of(void **state)
{
	struct rig *r = ARENA_NEW(*state, struct rig);

	r->a = *state;
	notes_init(&r->notes, r->a);
	r->m.a = r->a;
	r->in = ingest_open(&r->m, &r->notes, false);
	ingest_begin(r->in, r->a);
	ingest_node(r->in, ingest_string(r->in, S("a")), ingest_string(r->in, S("MatMul")));
	ingest_end_node(r->in);
	ingest_node(r->in, ingest_string(r->in, S("b")), ingest_string(r->in, S("Add")));
	ingest_end_node(r->in);
	ingest_commit(r->in);
	return r;
}

static void begin(struct rig *r, int64_t step)
{
	r->b = batch_new(r->a, &r->m, step, 1);
}

static void record(
        struct rig *r, const char *name, const char *device, int64_t start, int64_t length)
{
	uint32_t d = batch_device(r->b);

	batch_name_device(r->b, d, str_of(device));
	batch_record(r->b, &(struct record){ .node = batch_node(r->b, str_of(name)),
	                           .device = d,
	                           .start = start,
	                           .length = length,
	                           .label = str_of(name) });
}

static void fold(struct rig *r)
{
	struct err e = { .a = r->a };

	assert_true(ingest_fold(r->in, r->b, &e));
	assert_true(ingest_seal(r->in, &e));
}

static struct tally tally_of(struct rig *r, const char *name, int64_t step)
{
	const struct step *s = step < 0 ? NULL : model_step(&r->m, step);

	return model_tallies(&r->m, s, r->m.a)[model_find(&r->m, str_of(name))];
}

static void test_times_by_kind(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	record(r, "a", GPU, 100, 7);
	record(r, "a", STREAM, 110, 30);
	record(r, "a", GPU, 200, 0); /* counts as 1 */
	record(r, "a", "/device:XLA_GPU:0", 300, 50);
	fold(r);
	struct tally t = tally_of(r, "a", 0);
	assert_int_equal(t.v[V_CPU_MICROS], 8);
	assert_int_equal(t.v[V_ACCELERATOR_MICROS], 30);
	assert_int_equal(t.v[V_MICROS], 38);
	assert_int_equal(t.v[V_RUNS], 2);
	const struct step *s = model_step(&r->m, 0);
	assert_int_equal(s->n_cells, 1);
	assert_int_equal(s->cell_start[0], 100);
	assert_int_equal(s->cell_end[0], 350);
}

/* The first canonical device wins; later records of another device are dropped. */
static void test_device_never_changes(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	record(r, "a", CPU, 10, 5);
	record(r, "a", GPU, 20, 9);
	fold(r);
	assert_str(device_name(&r->m, r->m.nodes.v[0].device), "/job:w/device:cpu:0");
	assert_int_equal(tally_of(r, "a", 0).v[V_MICROS], 5);
}

static void test_unknown_names_become_nodes(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	record(r, "new", CPU, 10, 5);
	fold(r);
	uint32_t node = model_find(&r->m, S("new"));
	assert_int_equal(node, 2);
	assert_str(model_str(&r->m, r->m.nodes.v[node].op), "new");
	assert_true(model_coverage(&r->m) < 0.01);
	begin(r, 1);
	record(r, "new", CPU, 10, 5);
	record(r, "b", CPU, 10, 5);
	fold(r);
	assert_true(model_coverage(&r->m) > 0.66 && model_coverage(&r->m) < 0.67);
}

static void test_average_is_over_own_steps(void **state)
{
	struct rig *r = rig_of(state);

	for (int64_t step = 0; step < 3; step++) {
		begin(r, step);
		record(r, "a", CPU, 10, 10 + 4 * step);
		if (step == 2)
			record(r, "b", CPU, 10, 6);
		fold(r);
	}
	assert_int_equal(tally_of(r, "a", -1).v[V_MICROS], 14);
	assert_int_equal(tally_of(r, "b", -1).v[V_MICROS], 6);
	assert_int_equal(tally_of(r, "b", 0).v[V_MICROS], 0);
}

/* If a step is added again, its numbers are added up, also in the sums. */
static void test_same_step_again(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 5);
	record(r, "b", CPU, 100, 3);
	fold(r);
	begin(r, 5);
	record(r, "b", CPU, 50, 4);
	record(r, "a", GPU, 60, 1);
	fold(r);
	assert_int_equal(r->m.steps.n, 1);
	assert_int_equal(tally_of(r, "b", 5).v[V_MICROS], 7);
	assert_int_equal(tally_of(r, "b", -1).v[V_MICROS], 7);
	assert_int_equal(tally_of(r, "b", 5).v[V_RUNS], 2);
	assert_int_equal(model_step(&r->m, 5)->cell_start[1], 50);
}

/* Numbers at their ends go out of the sums as they came in. */
static void test_extreme_step_again(void **state)
{
	static const int64_t ends[] = { INT64_MAX, -INT64_MAX };

	for (int i = 0; i < 2; i++) {
		struct rig *r = rig_of(state);
		begin(r, 4); /* sums begin with the second step */
		record(r, "a", CPU, 100, 1);
		fold(r);
		assert_int_equal(r->m.sums.n, 0);
		for (int again = 0; again < 2; again++) {
			begin(r, 5);
			record(r, "b", CPU, 100, again ? 0 : ends[i]);
			fold(r);
			/* A length of 0 counts as 1. */
			assert_int_equal(r->m.sums.v[1].v[V_MICROS], num_add(ends[i], again));
			assert_int_equal(r->m.sums.v[1].steps, 1);
		}
	}
}

static void test_no_start_is_a_note(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	record(r, "a", CPU, 0, 5);
	fold(r);
	assert_str(notes_text(r->a, &r->notes), "a has no start time, skipping\n");
	assert_int_equal(model_step(&r->m, 0)->n_cells, 1);
	assert_int_equal(tally_of(r, "a", 0).v[V_MICROS], 0);
}

static void test_missing_streams(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	record(r, "a", GPU, 10, 5);
	record(r, "a", STREAM, 10, 5);
	fold(r);
	assert_false(r->m.misses_streams);
	begin(r, 1);
	record(r, "a", GPU, 10, 5);
	fold(r);
	assert_true(r->m.misses_streams);
}

static void test_too_many_devices(void **state)
{
	struct rig *r = rig_of(state);
	struct err e = { .a = r->a };

	begin(r, 0);
	for (uint32_t i = 0; i <= STEP_DEVICES_MAX; i++)
		batch_device(r->b);
	assert_false(ingest_fold(r->in, r->b, &e));
	assert_str(e.text, "step 0 has 65536 devices; at most 65535 can be held");
	assert_int_equal(r->m.steps.n, 0);
}

static void memory(struct rig *r, const char *device, int64_t bytes)
{
	uint8_t packed[MEM_ITEM_MAX];
	uint32_t d = batch_device(r->b);
	struct mem_item item = { .bytes = bytes, .time = 1 };

	batch_name_device(r->b, d, str_of(device));
	batch_record(r->b, &(struct record){ .node = batch_node(r->b, S("a")),
	                           .device = d,
	                           .start = 10,
	                           .length = 1,
	                           .mem = packed,
	                           .mem_n = (size_t)(mem_put(packed, &item) - packed) });
}

/* While a node has no device, a device without a name counts as its device, so its memory counts.
 */
static void test_device_without_name(void **state)
{
	struct rig *r = rig_of(state);

	begin(r, 0);
	memory(r, "", 1);
	memory(r, STREAM, 2);
	memory(r, GPU, 4);
	memory(r, "", 8);
	memory(r, GPU, 16);
	fold(r);
	assert_int_equal(tally_of(r, "a", 0).v[V_BYTES], 21);
	begin(r, 1);
	memory(r, "", 1);
	fold(r);
	assert_int_equal(tally_of(r, "a", 1).v[V_BYTES], 0);
}

/* Averages divide as if nothing were negative, and products stop at the ends of the type. */
static void test_odd_numbers(void **state)
{
	struct rig *r = rig_of(state);

	ingest_begin(r->in, r->a);
	ingest_set_float_ops(r->in, 0, 3);
	ingest_commit(r->in);
	for (int64_t step = 0; step < 2; step++) {
		begin(r, step);
		record(r, "a", CPU, 10, step ? -4 : 1);
		fold(r);
	}
	assert_int_equal(tally_of(r, "a", 1).v[V_MICROS], -4);
	assert_int_equal(tally_of(r, "a", -1).v[V_MICROS], INT64_MAX - 1); /* sum of -3 */
	assert_int_equal(tally_of(r, "a", -1).v[V_FLOAT_OPS], 3);
	r->m.sums.v[0].v[V_MICROS] = INT64_MAX;
	assert_int_equal(tally_of(r, "a", -1).v[V_MICROS], INT64_MAX);
	r->m.nodes.v[0].float_ops = INT64_MAX;
	r->m.sums.v[0].v[V_RUNS] = 4;
	assert_int_equal(tally_of(r, "a", -1).v[V_FLOAT_OPS], INT64_MAX);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_times_by_kind),
		unit_case(test_device_never_changes),
		unit_case(test_unknown_names_become_nodes),
		unit_case(test_average_is_over_own_steps),
		unit_case(test_same_step_again),
		unit_case(test_extreme_step_again),
		unit_case(test_no_start_is_a_note),
		unit_case(test_missing_streams),
		unit_case(test_too_many_devices),
		unit_case(test_device_without_name),
		unit_case(test_odd_numbers),
	};

	return unit_main(tests, argc, argv);
}
