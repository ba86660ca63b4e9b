/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU results as data: numbers at the ends of their types, names that are not UTF-8.
 */
#include "unit.h"

#include "export/gpu_tables.h"

static struct gpu_use odd_use(struct arena *a)
{
	static const struct recorded_gpu gpu = { .name = { "G\xff", 2 } };
	struct gpu_use u;

	gpu_use_init(&u, a);
	VEC_PUSH(a, &u.devices, ((struct gpu_device){ .gpu = &gpu, .busy = INT64_MAX }));
	u.devices.v[0].ways[WAY_HTOD] = (struct gpu_copies){ UINT64_MAX, INT64_MAX, 1 };
	VEC_PUSH(a, &u.kernels, ((struct gpu_times){ .name = S("a,\xc3(") }));
	hist_add(&u.kernels.v[0].h, a, INT64_MAX);
	return u;
}

static void json(void **state)
{
	struct gpu_use u = odd_use(*state);
	struct sink *to = sink_memory(*state);

	gpu_json(&u, 10, NULL, to);
	struct str text = sink_text(to);
	assert_true(str_contains(text, S("\"name\":\"G\\\\xff\"")));
	assert_true(str_contains(text, S("\"name\":\"a,\\\\xc3(\"")));
	assert_true(str_contains(text, S("\"bytes_per_second\":9223372036854775807")));
	assert_true(str_contains(text, S("\"average_ns\":9223372036854775807")));
}

static void csv(void **state)
{
	struct gpu_use u = odd_use(*state);
	struct sink *to = sink_memory(*state);

	gpu_csv(&u, 10, SHEET_CSV, to);
	struct str text = sink_text(to);
	assert_true(str_is_utf8(text));
	assert_true(
	        str_ends(text, S("kernel,,\"a,\\xc3(\",1,9223372036854775807,9223372036854775807,"
	                         "9223372036854775807,9223372036854775807,9223372036854775807,"
	                         "9223372036854775807,0,\n")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(json), unit_case(csv) };

	return unit_main(tests, argc, argv);
}
