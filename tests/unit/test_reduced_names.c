/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduced names of C++ functions: different names stay different.
 */
#include "unit.h"

#include "base/reduced_names.h"

static void assert_reduced(
        void **state, const char *const *full, const char *const *expected, size_t n)
{
	struct arena *a = *state;
	struct str *in = ARENA_ARRAY(a, n, struct str), *out = ARENA_ARRAY(a, n, struct str);

	for (size_t i = 0; i < n; i++)
		in[i] = str_of(full[i]);
	reduce_names(a, in, out, n);
	for (size_t i = 0; i < n; i++)
		assert_str(out[i], expected[i]);
}

static void equal_names_show_two_arguments(void **state)
{
	static const char *const full[] = { "void at::f<float, float, 512, 6>(int)",
		"void at::f<float, float, 512, 6>(int)", "gemm", "void f<int>(int)" };
	static const char *const reduced[] = { "f<float, float, ...>", "f<float, float, ...>",
		"gemm", "f<int>" };

	assert_reduced(state, full, reduced, 4);
}

static void different_names_show_more_arguments(void **state)
{
	static const char *const full[] = { "void f<float, float, 512, 6, 8>(int)",
		"void f<float, float, 1024, 5, 5>(int)", "void f<float, float, 1024, 5, 6>(int)",
		"void g<float, float, 1024>(int)" };
	static const char *const reduced[] = { "f<float, float, 512, ...>",
		"f<float, float, 1024, 5, 5>", "f<float, float, 1024, 5, 6>",
		"g<float, float, ...>" };

	assert_reduced(state, full, reduced, 4);
}

/* Names that differ outside of their template arguments. */
static void other_differences_show_whole_names(void **state)
{
	static const char *const full[] = { "void a::f<int>(int)", "void b::f<int>(int)",
		"void a::f<int>(long)" };

	assert_reduced(state, full, full, 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(equal_names_show_two_arguments),
		unit_case(different_names_show_more_arguments),
		unit_case(other_differences_show_whole_names) };

	return unit_main(tests, argc, argv);
}
