/* SPDX-License-Identifier: Apache-2.0
 *
 * A build without the page: its bytes are those that 'tools/web.sh 0' writes.
 */
#include "export/page/html.h"
#include "unit.h"

const uint8_t web_head[] = { 0 }, web_tail[] = { 0 };
const size_t web_head_size = sizeof web_head - 1, web_tail_size = sizeof web_tail - 1;

static void test_names_the_packages(void **state)
{
	struct err e = { .a = *state };

	assert_false(html_available(&e));
	assert_int_equal(e.code, ERR_UNIMPLEMENTED);
	assert_true(str_contains(e.text, S("install esbuild and node-d3-scale")));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_names_the_packages) };

	return unit_main(tests, argc, argv);
}
