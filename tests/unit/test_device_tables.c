/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of devices: numbers at the ends of their types, names that are not UTF-8.
 */
#include "unit.h"

#include "export/table/device_tables.h"

static void odd(void **state)
{
	static const struct recorded_gpu gpu = { .name = { "G\xff", 2 } };
	struct arena *a = *state;
	struct trace_links links;
	struct trace_steps steps;
	struct trace *t = trace_new(a);
	struct sink *to = sink_memory(a), *page = sink_memory(a);
	struct device_use u;
	size_t n;

	t->ticks_per_us = 1000;
	trace_link(t, &links, a);
	trace_find_steps(t, &steps, a);
	device_use_trace(&u, &links, &steps, a);
	VEC_PUSH(a, &u.devices, ((struct gpu_device){ .gpu = &gpu, .to = UINT64_MAX }));
	u.devices.v[0].usage.times.busy = INT64_MAX;
	u.devices.v[0].ways[WAY_HTOD] = (struct gpu_copies){ UINT64_MAX, INT64_MAX, 1 };
	VEC_PUSH(a, &u.kernels, ((struct gpu_times){ .name = S("a,\xc3(") }));
	hist_add(&u.kernels.v[0].h, a, INT64_MAX);
	const struct table *v = device_sections(
	        &(struct device_workers){ &(struct device_worker){ .u = &u }, 1 }, &n, a);
	for (size_t i = 0; i < n; i++) {
		struct sheet sheet;
		if (!v[i].rows)
			continue;
		sheet_open(&sheet, SHEET_CSV, to, a, v[i].columns, v[i].n_columns);
		table_put_rows(&v[i], 0, &sheet);
		sheet_close(&sheet);
		table_put_text(&v[i], 0, 0, page);
	}
	struct str text = sink_text(to);
	assert_true(str_contains(sink_text(page), S("9223372037s  100.0%      1  ")));
	assert_true(str_is_utf8(text));
	assert_true(str_contains(text, S(",G\\xff,\n")));
	assert_true(str_contains(text, S("0,1,9223372036854775807,9223372036854775807,"
	                                 "9223372036854775807,HtoD\n")));
	assert_true(str_contains(text, S("9223372036854775807,0,\"a,\\xc3(\"\n")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(odd) };

	return unit_main(tests, argc, argv);
}
