/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory counters of the graph timeline: their times, the allocations they name, and the order.
 */
#include "unit.h"

#include <stdio.h>
#include "out_rig.h"

#define GPU                   "/gpu:0"
#define ON(device)            "canonical_device: '" device "' host_device: '/cpu:0' "
#define EXEC(what)            "execs { key: 0 value { run_count: 1 all_start_micros: 10 " what "} } "
#define NODE(key, name, what) "nodes { key: " key " value { name: '" name "' op: 'Op' " what "} } "

/* Returns the value of the i-th counter of the top list with this key; empty if there is none. */
static struct str slot(struct str file, int i, const char *key)
{
	for (size_t at; (at = str_find(file, S("Not Displayed"))) != SIZE_MAX; i--) {
		file = str_sub(file, at, SIZE_MAX);
		struct str args = str_sub(file, 0, str_find_char(file, '}'));
		size_t k = str_find(args, str_of(key));
		if (i == 0 && k != SIZE_MAX) {
			args = str_sub(args, k + strlen(key) + 3, SIZE_MAX);
			return str_sub(args, 0, str_find_char(args, '"'));
		}
		if (i == 0)
			break;
		file = str_sub(file, 1, SIZE_MAX);
	}
	return STR_NONE;
}

#define ALLOC(at, bytes) "allocations { alloc_micros: " at " alloc_bytes: " bytes " } "
#define MEM(at, bytes)   "memory_execs { memory_micros: " at " allocator_bytes_in_use: " bytes " } "

static void memory_names_the_largest(void **state)
{
	struct out_rig x;
	struct str f;

	(void)state;
	out_open(&x,
	        NODE("1", "b",
	                ON(GPU) EXEC(ALLOC("100", "5000000") ALLOC("400", "-5000000") MEM("300",
	                        "9000000") MEM("399", "1") MEM("400", "1500000"))) NODE("2", "a",
	                ON(GPU) EXEC(ALLOC("150", "5000000") ALLOC("-3", "1000000")
	                                MEM("700", "20000000") MEM("0", "99000000"))) NODE("3", "c",
	                ON(GPU) EXEC(ALLOC("50", "300000") ALLOC("50", "33") MEM("401", "7"))));
	out_set(&x, "step", "0");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	f = out_file(&x, "t_0");
	/* At 300: a has 6, b 5, c 0.3; 9 in use: after a, b does not fit, c does. */
	assert_text(slot(f, 0, "Top Allocation 00"), "6 MB from a");
	assert_text(slot(f, 0, "Top Allocation 01"), "0.300033 MB from c");
	assert_text(slot(f, 0, "Top Allocation 02"), "N/A");
	assert_text(slot(f, 0, "Not Displayed"), "2.70 MB");
	/* At 400 (399 is too close, 401 too): bytes freed at 400 still count; a and b are larger.
	 */
	assert_text(slot(f, 1, "Top Allocation 00"), "0.300033 MB from c");
	assert_text(slot(f, 1, "Not Displayed"), "1.20 MB");
	/* At 700 b is gone. */
	assert_text(slot(f, 2, "Top Allocation 01"), "0.300033 MB from c");
	assert_text(slot(f, 3, "Not Displayed"), "");
	assert_true(str_starts(
	        sink_text(x.out), S("generating trace file.\n/gpu:0 peak memory: 20.00 MB\n")));
	out_close(&x);
}

/* Slot 00 is omitted if nothing fits. Equal sizes are sorted by name. At most ten are shown. */
static void memory_has_ten_slots(void **state)
{
	struct out_rig x;
	char text[12 * 512];
	int n = 0;

	(void)state;
	for (int i = 12; i > 0; i--)
		n += snprintf(text + n, sizeof text - (size_t)n,
		        NODE("%d", "n%02d",
		                ON(GPU) EXEC(
		                        "memory_execs { accelerator_persistent_bytes: 10 } %s")),
		        i, i, i == 1 ? MEM("200", "9") MEM("300", "1000") : "");
	out_open(&x, text);
	out_set(&x, "step", "0");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	struct str f = out_file(&x, "t_0");
	assert_text(slot(f, 0, "Top Allocation 00"), "");
	assert_text(slot(f, 0, "Top Allocation 01"), "N/A");
	assert_text(slot(f, 1, "Top Allocation 00"), "1e-05 MB from n01");
	assert_text(slot(f, 1, "Top Allocation 09"), "1e-05 MB from n10");
	assert_text(slot(f, 1, "Top Allocation 10"), "");
	out_close(&x);
}

/* Random sizes, names and times, compared with a simple walk over all nodes. */
#define NODES  60
#define EVENTS 6

struct naive {
	int at[NODES][EVENTS], by[NODES][EVENTS];
};

static int held(const struct naive *x, int node, int before)
{
	int sum = 0;

	for (int k = 0; k < EVENTS; k++)
		sum += x->at[node][k] < before ? x->by[node][k] : 0;
	return sum;
}

/* Returns the node that a simple walk finds for slot i at a time, or -1. */
static int expected(const struct naive *x, int moment, int in_use, int i)
{
	bool used[NODES] = { false };
	int left = in_use, last = -1;

	for (int k = 0; k <= i; k++) {
		int best = -1;
		for (int n = 0; n < NODES; n++) {
			int h = held(x, n, moment);
			if (!used[n] && h > 0 && h <= left &&
			        (best < 0 || h > held(x, best, moment)))
				best = n;
		}
		if (best < 0)
			return -1;
		used[best] = true;
		left -= held(x, best, moment);
		last = best;
	}
	return last;
}

static void memory_is_what_a_plain_walk_finds(void **state)
{
	struct naive v;
	struct out_rig x;
	static char text[NODES * 1024];
	int n = 0;
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < NODES; i++) {
		n += snprintf(text + n, sizeof text - (size_t)n,
		        "nodes { key: %d value { name: 'n%02d' " ON(
		                GPU) "execs { key: 0 value { all_start_micros: 10 ",
		        i + 1, i);
		for (int k = 0; k < EVENTS; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			v.at[i][k] = 100 + (int)(seed >> 40) % 900;
			v.by[i][k] = ((int)(seed >> 33) % 7 - 2) * 1000;
			n += snprintf(text + n, sizeof text - (size_t)n, ALLOC("%d", "%d"),
			        v.at[i][k], v.by[i][k]);
		}
		n += snprintf(text + n, sizeof text - (size_t)n, "%s} } } }",
		        i ? "" : MEM("200", "9000") MEM("500", "20000") MEM("900", "500000"));
	}
	out_open(&x, text);
	out_set(&x, "step", "0");
	out_to(&x, "timeline", "t");
	assert_true(out_request(&x, VK_GRAPH));
	struct str f = out_file(&x, "t_0");
	static const int moments[3][2] = { { 200, 9000 }, { 500, 20000 }, { 900, 500000 } };
	for (int m = 0; m < 3; m++) {
		for (int i = 0; i < 10; i++) {
			char key[48], name[48];
			int node = expected(&v, moments[m][0], moments[m][1], i);
			snprintf(key, sizeof key, "Top Allocation %02d", i);
			snprintf(name, sizeof name, "from n%02d", node);
			if (node < 0)
				assert_text(slot(f, m, key), i ? "N/A" : "");
			else
				assert_true(str_ends(slot(f, m, key), str_of(name)));
		}
	}
	out_close(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_names_the_largest),
		cmocka_unit_test(memory_has_ten_slots),
		cmocka_unit_test(memory_is_what_a_plain_walk_finds),
	};

	return unit_main(tests, argc, argv);
}
