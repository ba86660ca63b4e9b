/* SPDX-License-Identifier: Apache-2.0
 *
 * plan: the option string of the collector, word by word.
 */
#include "unit.h"

#include <stdio.h>

#include "collect/plan.h"
#include "collect/pool.h"

static struct plan plan_of(const char *options)
{
	struct plan p;
	const char *wrong = NULL;
	size_t n = 0;

	assert_true(plan_read(&p, options, &wrong, &n));
	return p;
}

static void test_defaults(void **state)
{
	const char *const nothing[] = { NULL, "", ",", ",,," };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct plan p = plan_of(nothing[i]);

		assert_int_equal(p.level, LEVEL_LAUNCHES);
		assert_true(p.nvtx && p.overhead);
		assert_false(p.memory || p.sync || p.graph_level || p.wait_for_start || p.verbose);
		assert_int_equal(p.delay_ns, 0);
		assert_int_equal(p.duration_ns, 0);
		assert_int_equal(p.max_bytes, (uint64_t)2 << 30);
		assert_int_equal(p.buffers, POOL_BUFFERS);
		assert_int_equal(p.buffer_bytes, POOL_BYTES);
	}
}

static void test_words(void **state)
{
	struct plan p = plan_of("level=kernels,graphs=graph,mem=1,sync,overhead=0,nvtx=0,delay=1.5,"
	                        "duration=0.25,start=ctl,max-size=64Ki,verbose,buffers=3");

	(void)state;
	assert_int_equal(p.level, LEVEL_KERNELS);
	assert_true(p.graph_level && p.memory && p.sync && p.wait_for_start && p.verbose);
	assert_false(p.overhead || p.nvtx);
	assert_int_equal(p.delay_ns, 1500000000);
	assert_int_equal(p.duration_ns, 250000000);
	assert_int_equal(p.max_bytes, 65536);
	assert_int_equal(p.buffers, 3);
	assert_int_equal(plan_of("max_size=3M").max_bytes, 3000000);
	assert_int_equal(plan_of("max_size=1Gi").max_bytes, 1 << 30);
	assert_int_equal(plan_of("max_size=0").max_bytes, 0);
	assert_true(plan_of("delay=20ms").delay_ns == 20000000);
	assert_true(plan_of("flush=0.2s").flush_ns == 200000000);
	assert_int_equal(plan_of("flush=50").flush_ns, 50000000);
	assert_true(plan_of("since=1795270989.283470223").since_ns == 1795270989283470223u);
	assert_true(plan_of("level=full").memory && plan_of("level=full").sync);
	assert_int_equal(plan_of("level=full,level=launches").level, LEVEL_LAUNCHES);
}

static void test_wrong(void **state)
{
	static const char *const words[] = { "level", "level=", "level=all", "graphs=nodes",
		"mem=2", "delay=", "delay=x", "delay=1m", "delay=-1", "delay=.",
		"delay=99999999999", "max_size=12x", "max_size=99999999999999999999", "buffers=0",
		"buffers=1025", "buffer_size=1000", "buffer_size=1G", "flush=1", "start=soon",
		"since=9999999999", "colour", "=", "mem=1=1" };

	(void)state;
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
		char text[64];
		const char *wrong = NULL;
		struct plan p;
		size_t n = 0;

		snprintf(text, sizeof text, "sync,%s,mem", words[i]);
		assert_false(plan_read(&p, text, &wrong, &n));
		assert_ptr_equal(wrong, text + 5);
		assert_int_equal(n, strlen(words[i]));
		assert_true(p.sync && p.memory);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_defaults), unit_case(test_words),
		unit_case(test_wrong) };

	return unit_main(tests, argc, argv);
}
