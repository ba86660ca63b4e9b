/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing of memory records.
 */
#include "unit.h"

#include "model/step.h"

static void test_packed_memory(void **state)
{
	uint8_t packed[2 * MEM_ITEM_MAX + 2 * MEM_OUTPUT_MAX], *p = packed;
	struct mem_item in = { .bytes = -5,
		.peak = INT64_MAX,
		.residual = INT64_MIN,
		.output = 1,
		.time = 77,
		.in_use = 9,
		.accelerator_temp = 3,
		.accelerator_persistent = 4,
		.n_outputs = 2 },
	                out;
	struct mem_output slot = { -1, 12, UINT64_MAX };

	(void)state;
	p = mem_put_output(mem_put_output(mem_put(p, &in), &slot), &slot);
	p = mem_put(p, &(struct mem_item){ .allocation = true, .bytes = 6, .time = 1 });
	mem_to_host(packed, (size_t)(p - packed));
	const uint8_t *at = packed;
	assert_true(mem_next(&at, p, &out));
	assert_true(out.bytes == -5 && out.peak == INT64_MAX && out.residual == INT64_MIN);
	assert_true(out.output == 1 && out.time == 77 && out.in_use == 9 && !out.allocation);
	assert_true(out.host_temp == 3 && out.host_persistent == 4);
	assert_true(out.accelerator_temp == 0 && out.accelerator_persistent == 0);
	assert_int_equal(out.n_outputs, 2);
	slot = (struct mem_output){ 0 };
	mem_next_output(&out.outputs, &slot);
	assert_true(slot.slot == -1 && slot.bytes == 12 && slot.ptr == UINT64_MAX);
	assert_true(mem_next(&at, p, &out));
	assert_true(out.allocation && out.bytes == 6 && out.time == 1);
	assert_false(mem_next(&at, p, &out));
}

/* The largest item fits in MEM_ITEM_MAX bytes. */
static void test_largest_item(void **state)
{
	const int64_t v = INT64_MIN;
	const struct mem_item in = { .bytes = v,
		.peak = v,
		.residual = v,
		.output = v,
		.kernels = v,
		.bytes_accessed = v,
		.flops = v,
		.uncounted = v,
		.critical = v,
		.time = v,
		.in_use = v,
		.host_temp = v,
		.host_persistent = v,
		.accelerator_temp = v,
		.accelerator_persistent = v };
	uint8_t packed[MEM_ITEM_MAX];
	const uint8_t *at = packed, *end = mem_put(packed, &in);
	struct mem_item out;

	(void)state;
	assert_true(end - packed <= MEM_ITEM_MAX);
	assert_true(mem_next(&at, end, &out));
	assert_true(out.bytes == v && out.uncounted == v && out.critical == v && out.time == v);
	assert_true(out.accelerator_persistent == v && !out.n_outputs && at == end);
}

/* A number of float operations lacks parts if some calls are not counted, and is unknown if no call
 * is counted. Other numbers are complete. */
static void test_uncounted(void **state)
{
	const struct tally part = { .v = { [V_FLOAT_OPS] = 7, [V_UNCOUNTED] = 1 } },
	                   none = { .v = { [V_BYTES] = 0, [V_UNCOUNTED] = 2 } },
	                   all = { .v = { [V_FLOAT_OPS] = 0 } };

	(void)state;
	assert_true(tally_lacks(&part, V_FLOAT_OPS) && !tally_is_unknown(&part, V_FLOAT_OPS));
	assert_true(tally_lacks(&none, V_FLOAT_OPS) && tally_is_unknown(&none, V_FLOAT_OPS));
	assert_false(tally_lacks(&all, V_FLOAT_OPS) || tally_is_unknown(&all, V_FLOAT_OPS));
	assert_false(tally_lacks(&none, V_BYTES));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_packed_memory),
		unit_case(test_largest_item),
		unit_case(test_uncounted),
	};

	return unit_main(tests, argc, argv);
}
