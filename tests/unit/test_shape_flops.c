/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations from shapes, against numbers computed by hand and counted by TraceLens' reports.
 */
#include "trace/pass/ops.h"
#include "unit.h"

static int64_t flops(const char *op, const char *shapes, const char *values)
{
	return shape_flops(str_of(op), str_of(shapes), str_of(values));
}

static void test_products(void **state)
{
	(void)state;
	assert_int_equal(flops("aten::mm", "[[4,5],[5,6]]", ""), 240);
	assert_int_equal(
	        flops("aten::addmm", "[[512],[141,512],[512,512],[],[]]", ""), 2 * 141 * 512 * 512);
	assert_int_equal(flops("aten::bmm", "[[3,4,5],[3,5,6]]", ""), 720);
	assert_int_equal(flops("aten::baddbmm", "[[3,4,6],[3,4,5],[3,5,6]]", ""), 720);
	assert_int_equal(flops("aten::mm", "[[4,5],[6,7]]", ""), 0);
	assert_int_equal(flops("aten::bmm", "[[3,4,5],[2,5,6]]", ""), 0);
	assert_int_equal(flops("aten::add", "[[4,5],[5,6]]", ""), 0);
}

static void test_convolutions(void **state)
{
	const char *plain =
	        "[\"\",\"\",\"\",\"[16, 16]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\","
	        "\"1\"]";
	const char *padded = "[\"\",\"\",\"\",\"[2]\",\"[1]\",\"[2]\",\"False\",\"[0]\",\"2\"]";

	(void)state;
	assert_int_equal(flops("aten::convolution",
	                         "[[4,3,224,224],[768,3,16,16],[768],[],[],[],[],[],[]]", plain),
	        924844032);
	/* 9 wide, padded to 11, a kernel of 3 that spans 5: 4 places */
	assert_int_equal(
	        flops("aten::convolution", "[[2,4,9],[6,2,3],[]]", padded), 2 * 2 * 6 * 2 * 3 * 4);
	assert_int_equal(flops("aten::convolution", "[[2,4,9],[6,2,3],[]]", ""), 0);
	assert_int_equal(flops("aten::convolution", "[[2,4,9],[6,2,3],[]]",
	                         "[\"\",\"\",\"\",\"[2]\",\"[1]\",\"[2]\",\"True\"]"),
	        0);
}

/* Whatever the texts are, nothing is read outside of them, and nothing overflows. */
static void test_hostile(void **state)
{
	static const char *const shapes[] = { "", "[", "[[", "[[1", "[[1,", "]", "[[]]", "[[],[]]",
		"[[[1,2],[3,4]],[[5]]]", "[[9223372036854775807,2],[2,9223372036854775807]]",
		"[[1,2,3,4,5,6,7,8,9,10],[1]]", "[[-1,-2],[-2,3]]", "[[a,b],[c]]", "[[1,2],[2,3]" };
	static const char *const values[] = { "", "[", "[\"", "[\"\",\"", "[\"\",\"\",\"\",\"[\"]",
		"[\"\",\"\",\"\",\"[0]\",\"[-1]\",\"[9223372036854775807]\"]" };

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
			assert_true(flops("aten::mm", shapes[i], values[k]) >= 0);
			assert_true(flops("aten::convolution", shapes[i], values[k]) >= 0);
		}
	assert_int_equal(flops("aten::mm", shapes[9], ""), INT64_MAX);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_products), unit_case(test_convolutions),
		unit_case(test_hostile) };

	return unit_main(tests, argc, argv);
}
