/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels: their paths, long and hostile ones among them.
 */
#include "unit.h"

#include "base/demangle.h"

/* The path of a mangled name, its parts joined by '/'. */
static struct str path_of(struct arena *a, const char *mangled)
{
	size_t budget = DEMANGLE_BUDGET;
	struct strs path = { 0 };

	demangle_path(a, str_of(mangled), demangle(a, str_of(mangled), &budget), &path);
	return strs_join(a, &path, S("/"));
}

static void paths(void **state)
{
	static const char *const plain[][2] = {
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail"
		  "5ArrayIPcLi1EEEEEviT0_T1_",
		        "at/native/vectorized_elementwise_kernel" },
		{ "_Z6vecaddPKfS0_Pfi", "vecadd" },
		{ "_ZN12_GLOBAL__N_19my_kernelIfEEvPT_", "anonymous/my_kernel" },
		{ "ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn" },
		{ "_Zgarbage", "_Zgarbage" },
		{ "", "" },
	};

	static const char *const of_runtime[][2] = {
		{ "_ZZN2ns1fEiENKUliE_clEi", "ns/f/lambda#1/operator()" },
		{ "_ZN1AlsIiEERS_T_", "A/operator<<" },
	};

	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		assert_str(path_of(*state, plain[i][0]), plain[i][1]);
	for (size_t i = 0; HAVE_DEMANGLE && i < sizeof of_runtime / sizeof *of_runtime; i++)
		assert_str(path_of(*state, of_runtime[i][0]), of_runtime[i][1]);
}

/* The runtime refuses it: the path comes from the mangled form. */
static void long_names(void **state)
{
	struct sb b = sb_in(*state);

	sb_put(&b, S("_ZN7cutlass6KernelINS_4gemm4GemmI"));
	for (unsigned i = 0; i < 2000; i++)
		sb_put(&b, S("1a"));
	sb_put(&b, S("EEEEvNT_6ParamsE"));
	sb_char(&b, 0);
	assert_str(path_of(*state, b.p), "cutlass/Kernel");
}

/* Each level doubles the name: it would be endless. */
static void hostile_names(void **state)
{
	struct sb b = sb_in(*state);

	sb_put(&b, S("_Z1fI1A"));
	for (unsigned i = 0; i < 60; i++)
		sb_fmt(&b, "1BIS%c_S%c_E", 'A' + i % 26, 'A' + i % 26);
	sb_put(&b, S("Evv"));
	sb_char(&b, 0);
	assert_str(path_of(*state, b.p), "f");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(paths),
		unit_case(long_names),
		unit_case(hostile_names),
	};

	return unit_main(tests, argc, argv);
}
