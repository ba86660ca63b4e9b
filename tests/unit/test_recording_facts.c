/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of launches, compared with the kernels of a recording.
 */
#include "unit.h"

#include "trace/read/recording/recording_internal.h"

/* Returns the facts of a closed recording with a number of kernels, and with a number of uncertain
 * launches. */
static struct recording_facts facts(uint64_t recorded, uint64_t certain, uint64_t unsure)
{
	struct recording_facts f = { .single = recorded, .ended = true };
	struct spool_count c = { .version = SPOOL_COUNT_VERSION, .flags = SPOOL_COUNT_ON };

	c.shard[0].kernels = certain;
	c.shard[1].unsure = unsure;
	recording_facts_count(&f, &c);
	return f;
}

static void expect(struct recording_facts f, uint64_t lost, bool bound, bool compared)
{
	assert_int_equal(f.lost.n[SPOOL_LOST_KERNELS], lost);
	assert_int_equal(recording_is_bound(&f.lost, SPOOL_LOST_KERNELS), bound);
	assert_int_equal(f.compared, compared);
}

/* If a launch is uncertain and its kernel is missing, the number is a lower bound, also if it is 0.
 */
static void test_unsure(void **state)
{
	(void)state;
	expect(facts(100, 100, 0), 0, false, true);
	expect(facts(90, 100, 0), 10, false, true);
	expect(facts(105, 100, 5), 0, false, true);
	expect(facts(104, 100, 5), 0, true, false);
	expect(facts(100, 100, 5), 0, true, false);
	expect(facts(90, 100, 5), 10, true, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_unsure) };

	return unit_main(tests, argc, argv);
}
