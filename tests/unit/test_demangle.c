/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels: their paths, long and hostile ones among them.
 */
#include "unit.h"

#include "base/demangle.h"

/* Returns the path of a mangled name, its parts joined by '/'. */
static struct str path_of(struct arena *a, const char *mangled)
{
	size_t budget = DEMANGLE_BUDGET;
	struct strs path = { 0 };

	demangle_path(a, str_of(mangled), demangle(a, str_of(mangled), &budget), &path);
	return strs_join(a, &path, S("/"));
}

/* Names and their reduced forms; NULL: the whole name. */
static const char *const reduced_names[][2] = {
	{ "void at::native::vectorized_elementwise_kernel<4, "
	  "at::native::CUDAFunctor_add<float>, "
	  "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, "
	  "std::array<char*, 3ul>)",
	        "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>" },
	{ "void at::native::(anonymous namespace)::copy<float>(float const*)", "copy<float>" },
	{ "void k<a::f(int)::{lambda()#1}::operator()() const::{lambda(float)#2}>(int)",
	        "k<f::lambda#1::lambda#2>" },
	{ "void k<unsigned int, (bool)1>(int) [clone .kd]", "k<unsigned int, 1>" },
	{ "void a::F<float>::run<2>(a::F<float>*)", "F<float>::run<2>" },
	{ "int& A::operator<< <int>(int)", "operator<<<int>" },
	{ "gemm_kernel(float*, int)", "gemm_kernel" },
	{ "void a::(anonymous namespace)::apply<a::List<4>>", "apply<List<4>>" },
	{ "nn.Linear/a.py(12): f/void n::gemm<float>(float*)",
	        "nn.Linear/a.py(12): f/gemm<float>" },
	/* as Nsight Systems writes names */
	{ "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, "
	  "(bool)0, "
	  "float>(int, T2, const T1 *, T2 *)",
	        "vectorized_layer_norm_kernel<BFloat16, 0, ...>" },
	{ "void k<(int)4, f(A &)::[lambda() (instance 3)]::operator ()() "
	  "const::[lambda(int) "
	  "(instance 12)]>(int, T1)",
	        "k<4, f::lambda#3::lambda#12>" },
	{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)",
	        "ncclDevKernel_SendRecv" },
	/* kernels of Eigen */
	{ "void "
	  "Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<"
	  "Eigen::TensorMap<Eigen::Tensor<Eigen::half, 1, 1, long>, 16>, "
	  "Eigen::TensorConversionOp<Eigen::half, Eigen::TensorMap<Eigen::Tensor<float, "
	  "1>, "
	  "16> const> const> const, Eigen::GpuDevice>, long>(int)",
	        "EigenMetaKernel<TensorConversionOp<half, ...>>" },
	{ "void Eigen::EigenMetaKernel<Eigen::TensorAssignOp<int>>(int)",
	        "EigenMetaKernel<TensorAssignOp<int>>" },
	{ "void EigenMetaKernel<TensorAssignOp<int, A, B<int>>>(int)",
	        "EigenMetaKernel<TensorAssignOp<int, A, ...>>" },
	/* mangled: a type or a length that the runtime refuses */
	{ "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_PT_b",
	        "aiter::add_rmsnorm_quant_kernel" },
	{ "_Zgarbage", NULL },
	/* not functions of C++ */
	{ "Memcpy HtoD (Pageable -> Device)", NULL },
	{ "torch/nn/modules/module.py(1532): _call_impl", NULL },
	{ "forward(layer1)", NULL },
	{ "forward pass(layer::one)", NULL },
	{ "<built-in method run of Tensor object at 0x7>", NULL },
	{ "aten::addmm", NULL },
	{ "jit(step)/jit(main)/dot_general", NULL },
	{ "execute_8_context_0(0)_generation_8(8)", NULL },
	{ "autograd::engine::evaluate_function: AddmmBackward0<int>", NULL },
	/* damaged */
	{ "void k<int, ", NULL },
	{ "void k<int>>(int)", NULL },
	{ "void k(", NULL },
	{ "void k<{", NULL },
	{ "<", NULL },
	{ "::(", NULL },
};

static void reduced(void **state)
{
	struct sb deep = sb_in(*state);

	for (size_t i = 0; i < sizeof reduced_names / sizeof *reduced_names; i++)
		assert_str(demangle_reduce(*state, str_of(reduced_names[i][0]), REDUCED_ARGUMENTS),
		        reduced_names[i][1] ? reduced_names[i][1] : reduced_names[i][0]);
	assert_str(demangle_reduce(*state, S("void n::k<n::A, 2, n::B<3> >(int)"), SIZE_MAX),
	        "k<A, 2, B<3>>");
	sb_put(&deep, S("void "));
	for (int i = 0; i < 100000; i++)
		sb_put(&deep, S("k<"));
	assert_int_equal(demangle_reduce(*state, sb_str(&deep), 2).n, deep.n);
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
		unit_case(reduced),
		unit_case(long_names),
		unit_case(hostile_names),
	};

	return unit_main(tests, argc, argv);
}
