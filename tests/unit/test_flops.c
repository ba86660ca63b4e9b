/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations from shapes, against numbers computed by hand and counted by PyTorch or
 * TraceLens.
 */
#include "base/map.h"
#include "flops/peak.h"
#include "unit.h"

/* Returns the float operations, or the lack with a minus sign. */
static int64_t flops(const char *op, const char *shapes, const char *types, const char *values)
{
	const struct op_row *row = flops_find_op(str_of(op));

	assert_non_null(row);
	const struct op_call c =
	        flops_read_call(row, str_of(op), str_of(shapes), str_of(types), str_of(values));
	const struct flops f = flops_of_call(&c);
	return f.lack ? -(int64_t)f.lack : f.flops;
}

#define FLOAT2  "[\"float\",\"float\"]"
#define BFLOAT3 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]"

/* Decoding with latent attention: heads of 512 latent and 64 rotary elements, over the pairs of
 * generated tokens. */
static void test_latent_attention(void **state)
{
	static const struct paged_sums prompts = { 0, 0, 0, 0 }, generation = { 2, 300, 2, 300 };
	const char *name = "sgl_kernel::cutlass_mla_decode",
	           *shapes = "[[2,16,512],[2,16,512],[2,16,64],[40,128,576],[2],[2,3],[1],[],[]]";
	struct op_call c = flops_read_call(
	        flops_find_op(str_of(name)), str_of(name), str_of(shapes), S(""), S(""));

	(void)state;
	assert_int_equal(flops_of_call(&c).lack, LACK_DATA);
	c.prompts = &prompts;
	c.generation = &generation;
	assert_int_equal(flops_of_call(&c).flops, 2LL * 16 * (512 + 64 + 512) * 300);
	assert_int_equal(flops("sglang::deep_gemm_fp8_fp8_bf16_nt",
	                         "[[7,128],[7,1],[256,128],[2,1],[7,256]]", "", ""),
	        2 * 7 * 128 * 256);
}

/* Returns the float operations of a call in a step of a server, or the lack with a minus sign. */
static int64_t served(const char *op, const char *shapes, const char *values,
        const struct paged_sums *prompts, const struct paged_sums *generation)
{
	struct op_call c = flops_read_call(
	        flops_find_op(str_of(op)), str_of(op), str_of(shapes), S(""), str_of(values));

	c.prompts = prompts;
	c.generation = generation;
	const struct flops f = flops_of_call(&c);
	return f.lack ? -(int64_t)f.lack : f.flops;
}

/* Decoding over a paged cache in the layout [blocks, heads, ...], where one query of each request
 * attends to its keys. */
static void test_paged_decoding(void **state)
{
	static const struct paged_sums prompts = { 7, 7, 49, 49 }, generation = { 2, 300, 2, 300 };
	static const struct {
		const char *op, *shapes;
	} calls[] = {
		{ "_C::paged_attention_v1",
		        "[[2,8,64],[2,8,64],[9,4,8,16,8],[9,4,64,16],[],[],[2,9],[2]]" },
		{ "_C::paged_attention_v2",
		        "[[2,8,64],[2,8,3],[2,8,3],[2,8,3,64],[2,8,64],[9,4,8,16,8],[9,4,64,16]]" },
		{ "_rocm_C::paged_attention",
		        "[[2,8,64],[2,8,3],[2,8,3],[2,8,3,64],[2,8,64],[9,4,8,16,8],[9,4,64,16]]" },
		{ "aiter::paged_attention_v1",
		        "[[2,8,64],[999],[2,8,64],[9,4,8,16,8],[9,4,64,16]]" },
		{ "aiter::pa_fwd_asm", "[[2,8,64],[9,4,8,16,8],[9,4,64,16],[2,9],[2]]" },
		{ "flashinfer::batch_decode_with_kv_cache_dtype_q_bf16_run",
		        "[[999],[999],[],[2,8,64],[9,16,4,64],[9,16,4,64]]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		assert_int_equal(served(calls[i].op, calls[i].shapes, "", &prompts, &generation),
		        4LL * 8 * 64 * 300);
		assert_int_equal(served(calls[i].op, calls[i].shapes, "", NULL, NULL), -LACK_DATA);
	}
	/* the number of queries tells which requests a call of flashinfer serves */
	assert_int_equal(
	        served("flashinfer::batch_prefill_with_kv_cache_dtype_q_bf16_ragged_run",
	                "[[999],[999],[],[7,8,64],[7,4,64],[7,4,64]]", "", &prompts, &generation),
	        8 * 2 * 64 * (2 * 49 - 49));
	assert_int_equal(served("flashinfer::batch_prefill_with_kv_cache_dtype_q_bf16_paged_run",
	                         "[[999],[999],[],[9,8,64],[9,16,4,64],[9,16,4,64]]", "", &prompts,
	                         &generation),
	        8 * 2 * 64 * (2 * 49 - 49 + 2 * 300));
	assert_int_equal(served("flashinfer::batch_prefill_with_kv_cache_dtype_q_bf16_paged_run",
	                         "[[999],[999],[],[8,8,64],[9,16,4,64],[9,16,4,64]]", "", &prompts,
	                         &generation),
	        -LACK_DATA);
}

/* Latent attention whose queries contain the rotary part: 576 = 512 + 64. */
static void test_whole_latent_attention(void **state)
{
	static const struct paged_sums none = { 0, 0, 0, 0 }, generation = { 2, 300, 2, 300 };
	const char *flash_mla = "[[2,1,16,576],[9,64,1,576],[],[2],[2,9],[],[],[5,8],[3],[],[]]",
	           *values = "[\"\",\"\",\"512\",\"\",\"\",\"0.1\",\"True\"]";

	(void)state;
	assert_int_equal(
	        served("sgl_kernel::fwd_kvcache_mla", flash_mla, values, &none, &generation),
	        2LL * 16 * (576 + 512) * 300);
	assert_int_equal(
	        served("_flashmla_C::fwd_kvcache_mla", flash_mla, values, NULL, NULL), -LACK_DATA);
	assert_int_equal(served("_flashmla_C::fwd_kvcache_mla", flash_mla, "", &none, &generation),
	        -LACK_SETTING);
	/* an older version has the values, which are None, before their size */
	assert_int_equal(
	        served("_flashmla_C::fwd_kvcache_mla",
	                "[[2,1,16,576],[9,64,1,576],[],[],[2],[2,9]]",
	                "[\"\",\"\",\"\",\"512\",\"\",\"\",\"0.1\",\"True\"]", &none, &generation),
	        2LL * 16 * (576 + 512) * 300);
	/* 2 * 1 queries of 16 heads with 2048 chosen keys each */
	assert_int_equal(
	        served("sgl_kernel::fwd_kvcache_mla",
	                "[[2,1,16,576],[9,64,1,656],[],[],[],[],[],[5,8],[3],[],[2,1,2048]]",
	                "[\"\",\"\",\"512\"]", NULL, NULL),
	        2LL * 2 * 16 * 2048 * (576 + 512));
	assert_int_equal(served("_flashmla_C::sparse_prefill_fwd",
	                         "[[100,128,576],[4000,1,576],[100,1,2048],[],[]]",
	                         "[\"\",\"\",\"\",\"0.1\",\"512\"]", NULL, NULL),
	        2LL * 100 * 128 * 2048 * (576 + 512));
	assert_int_equal(served("_flashmla_C::sparse_prefill_fwd",
	                         "[[100,128,576],[4000,1,576],[100,1,2048],[],[],[128],[100]]",
	                         "[\"\",\"\",\"\",\"0.1\",\"512\"]", NULL, NULL),
	        -LACK_DATA);
	/* the parts of the result show the size of a value */
	assert_int_equal(served("aiter::mla_decode_stage1_asm_fwd",
	                         "[[2,16,576],[900,1,1,576],[3],[3],[300],[2],[],[],[2,4,16,512],["
	                         "2,4,16,1]]",
	                         "", &none, &generation),
	        2LL * 16 * (576 + 512) * 300);
	assert_int_equal(served("trtllm::mla_custom_op_inplace", "[[2,7168],[2],[],[2,7168]]", "",
	                         &none, &generation),
	        -LACK_DATA);
}

/* Sparse attention (NSA): 10 queries and blocks of 4 keys. The queries 3 to 6 see one block, 7 to 9
 * see two. */
static void test_blocks(void **state)
{
	const char *shapes = "[[1,10,8,64],[1,3,2,64],[1,3,2,32],[],[]]",
	           *values = "[\"\",\"\",\"\",\"4\",\"0.1\"]";

	(void)state;
	assert_int_equal(flops("ParallelNSACompressionFunction", shapes, "", values),
	        2 * 8 * (4 + 2 * 3) * (64 + 32));
	assert_int_equal(flops("ParallelNSACompressionFunction", shapes, "", ""), -LACK_SETTING);
	assert_int_equal(flops("ParallelNSACompressionFunction",
	                         "[[1,10,8,64],[1,3,2,64],[1,3,2,32],[],[],[2]]", "", values),
	        -LACK_DATA);
	assert_int_equal(flops("ParallelNSACompressionFunctionBackward", shapes, "", values),
	        2 * 8 * (4 + 2 * 3) * (3 * 64 + 2 * 32));
	assert_int_equal(
	        flops("ParallelNSAFunction",
	                "[[1,10,8,64],[1,10,2,64],[1,10,2,32],[1,10,2,2],[],[]]", "", values),
	        -LACK_DATA);
	assert_int_equal(
	        flops("FusedRoPEFunc", "[[10,2,8,64],[10,1,1,64]]", "", ""), 3 * 10 * 2 * 8 * 64);
	assert_int_equal(
	        flops("ScaledUpperTriangMaskedSoftmax", "[[4,10,10],[]]", "", ""), 6 * 400);
	assert_int_equal(flops("sgl_kernel::dense_prefill_fwd",
	                         "[[999],[20,8,192],[20,8,192],[20,8,128],[3],[3],[20,8,128],[20,8]"
	                         ",[],[],[],[],[]]",
	                         "",
	                         "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"1\",\"0.1\",\"10\","
	                         "\"10\",\"True\"]"),
	        2 * 8 * 100 * (192 + 128));
}

static void test_products(void **state)
{
	(void)state;
	assert_int_equal(flops("aten::mm", "[[4,5],[5,6]]", "", ""), 240);
	assert_int_equal(flops("aten::addmm", "[[512],[141,512],[512,512],[],[]]", "", ""),
	        2 * 141 * 512 * 512);
	assert_int_equal(flops("aten::bmm", "[[3,4,5],[3,5,6]]", "", ""), 720);
	assert_int_equal(flops("aten::baddbmm", "[[3,4,6],[3,4,5],[3,5,6]]", "", ""), 720);
	assert_int_equal(flops("aten::linear", "[[2,4,5],[6,5],[6]]", "", ""), 480);
	assert_int_equal(flops("aten::mv", "[[4,5],[5]]", "", ""), 40);
	/* the second matrix is added to the product with the third */
	assert_int_equal(flops("mkldnn::_linear_pointwise", "[[8,16],[32,16],[32]]", "", ""), 8192);
	assert_int_equal(
	        flops("mkldnn::_linear_pointwise", "[[8,16],[8,32],[32,16],[]]", "", ""), 8192);
	assert_int_equal(flops("aten::dot", "[[5],[5]]", "", ""), 10);
	/* groups of rows; groups of columns */
	assert_int_equal(
	        flops("aten::_grouped_mm", "[[12,5],[3,5,6],[3]]", "", ""), 2 * 12 * 5 * 6);
	assert_int_equal(flops("aten::_grouped_mm", "[[4,5],[5,6],[3]]", "", ""), 2 * 4 * 5 * 6);
	assert_int_equal(flops("aten::mm", "[[4,5],[6,7]]", "", ""), -LACK_SENSE);
	assert_int_equal(flops("aten::bmm", "[[3,4,5],[2,5,6]]", "", ""), -LACK_SENSE);
	assert_int_equal(flops("aten::mm", "", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::mm", "[[4.5,5],[5,6]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::mm", "[[4,1e3],[5,6]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::addr", "[[4,5],[4],[5]]", "", ""), 40);
	/* 2 sequences of 8 steps with 16 channels, 4 states */
	assert_int_equal(
	        flops("SelectiveScanFn", "[[2,16,8],[2,16,8],[16,4]]", "", ""), 9 * 2 * 16 * 8 * 4);
	assert_int_equal(flops("aten::_thnn_fused_gru_cell", "[[2,12],[2,12],[2,4]]", "", ""), 96);
	assert_int_equal(flops("aten::logit_backward", "[[6],[6]]", "", ""), 30);
	assert_int_equal(
	        flops("fbgemm::int_nbit_split_embedding_codegen_lookup_function", "[]", "", ""),
	        -LACK_DATA);
}

static void test_stored_otherwise(void **state)
{
	(void)state;
	/* 16 rows, sums of 64, 32 columns in groups of 32 */
	assert_int_equal(
	        flops("aten::_weight_int4pack_mm", "[[16,64],[4,1,32,4],[],[2,32,2]]", "", ""),
	        2 * 16 * 64 * 32);
	assert_int_equal(flops("_C::awq_gemm", "[[16,64],[64,4],[2,32],[2,4],[]]", "", ""),
	        2 * 16 * 64 * 32);
	assert_int_equal(flops("_C::gptq_marlin_gemm", "[[16,64],[],[4,64],[],[2,32]]", "", ""),
	        2 * 16 * 64 * 32);
	assert_int_equal(flops("aten::_dyn_quant_matmul_4bit", "[[2,8,64],[1000],[],[],[]]", "",
	                         "[\"\",\"\",\"32\",\"64\",\"48\"]"),
	        2 * 16 * 64 * 48);
	/* two numbers of 4 bits in each stored element */
	assert_int_equal(flops("aiter::gemm_a4w4", "[[16,32],[48,32]]", "", ""), 2 * 16 * 64 * 48);
	assert_int_equal(flops("aten::_scaled_mm", "[[16,32],[32,48]]",
	                         "[\"c10::Float4_e2m1fn_x2\",\"c10::Float4_e2m1fn_x2\"]", ""),
	        2 * 16 * 64 * 48);
	assert_int_equal(flops("aten::_scaled_mm", "[[16,64],[64,48]]",
	                         "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"]", ""),
	        2 * 16 * 64 * 48);
	/* two of four elements are stored: 32 of 64 */
	assert_int_equal(
	        flops("aten::_sparse_semi_structured_mm", "[[16,32],[16,4],[64,48]]", "", ""),
	        2 * 16 * 32 * 48);
	assert_int_equal(
	        flops("aten::_sparse_semi_structured_linear", "[[2,8,64],[48,32],[48,4]]", "", ""),
	        2 * 16 * 32 * 48);
	assert_int_equal(flops("aten::_cslt_sparse_mm", "[[576],[64,48]]",
	                         "[\"c10::Half\",\"c10::Half\"]", ""),
	        2 * 16 * 32 * 48);
	assert_int_equal(flops("aten::_cslt_sparse_mm", "[[640],[64,48]]",
	                         "[\"signed char\",\"signed char\"]", ""),
	        2 * 16 * 32 * 48);
}

static void test_convolutions(void **state)
{
	const char *plain =
	        "[\"\",\"\",\"\",\"[16, 16]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\","
	        "\"1\"]";
	const char *padded = "[\"\",\"\",\"\",\"[2]\",\"[1]\",\"[2]\",\"False\",\"[0]\",\"2\"]";
	const char *both =
	        "[\"\",\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\","
	        "\"1\",\"[True, True, False]\"]";
	const char *kernel =
	        "[\"\",\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\","
	        "\"1\",\"[False, True, True]\"]";

	(void)state;
	assert_int_equal(
	        flops("aten::convolution", "[[4,3,224,224],[768,3,16,16],[768],[],[],[],[],[],[]]",
	                "", plain),
	        924844032);
	/* 9 wide, padded to 11, a kernel of 3 that spans 5: 4 places */
	assert_int_equal(flops("aten::convolution", "[[2,4,9],[6,2,3],[]]", "", padded),
	        2 * 2 * 6 * 2 * 3 * 4);
	assert_int_equal(flops("aten::convolution", "[[2,4,9],[6,2,3],[]]", "", ""), -LACK_SETTING);
	/* transposed: each element of the image reaches the kernel's 2 output channels, 3 wide */
	assert_int_equal(flops("aten::convolution", "[[2,4,9],[4,2,3],[]]", "",
	                         "[\"\",\"\",\"\",\"[2]\",\"[1]\",\"[2]\",\"True\"]"),
	        2 * 2 * 4 * 9 * 2 * 3);
	assert_int_equal(
	        flops("aten::convolution_backward", "[[2,8,5,5],[2,4,5,5],[8,4,3,3]]", "", both),
	        2 * 2 * (2 * 8 * 5 * 5) * (4 * 3 * 3));
	assert_int_equal(
	        flops("aten::convolution_backward", "[[2,8,5,5],[2,4,5,5],[8,4,3,3]]", "", kernel),
	        2 * (2 * 8 * 5 * 5) * (4 * 3 * 3));
	/* the kernel follows the image, or a tensor that is added */
	assert_int_equal(flops("mkldnn::_convolution_pointwise",
	                         "[[2,4,9,9],[6,4,3,3],[6],[],[],[],[],[],[],[]]", "",
	                         "[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"1\"]"),
	        2 * (2 * 6 * 9 * 9) * (4 * 3 * 3));
	assert_int_equal(flops("mkldnn::_convolution_pointwise",
	                         "[[2,4,9,9],[2,6,5,5],[6,4,3,3],[6],[],[],[],[],[]]", "",
	                         "[\"\",\"\",\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\"]"),
	        2 * (2 * 6 * 5 * 5) * (4 * 3 * 3));
	assert_int_equal(flops("mkldnn::_convolution_pointwise_",
	                         "[[2,6,5,5],[2,4,9,9],[6,4,3,3],[6],[],[],[],[],[]]", "",
	                         "[\"\",\"\",\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\"]"),
	        2 * (2 * 6 * 5 * 5) * (4 * 3 * 3));
	/* the counter of PyTorch counts twice as much for two groups */
	assert_int_equal(
	        flops("aten::convolution_backward", "[[2,6,6,6],[2,4,8,8],[6,2,3,3]]", "", both),
	        31104);
}

/* An op without strides gets its output from the op after it. */
static void test_outputs(void **state)
{
	struct op_call c = flops_read_call(flops_find_op(S("aten::cudnn_convolution")),
	        S("aten::cudnn_convolution"), S("[[2,4,9,9],[6,4,3,3],[],[]]"), STR_NONE, STR_NONE);
	struct op_call other =
	        flops_read_call(NULL, S(""), S("[[6],[3,6,4,4]]"), STR_NONE, STR_NONE);
	struct op_call next =
	        flops_read_call(NULL, S(""), S("[[6],[2,6,4,4]]"), STR_NONE, STR_NONE);
	struct flops f = flops_of_call(&c);

	(void)state;
	assert_int_equal(f.lack, LACK_SETTING);
	assert_true(flops_needs_output(&c, &f));
	assert_false(flops_take_output(&c, &other));
	assert_true(flops_take_output(&c, &next));
	f = flops_of_call(&c);
	assert_int_equal(f.flops, 2 * (2 * 6 * 4 * 4) * (4 * 3 * 3));
}

static void test_attention(void **state)
{
	const char *full = "[\"\",\"\",\"\"]";
	const char *four = "[[1,12,64,64],[1,12,64,64],[1,12,64,64]]";
	const char *causal = "[\"\",\"\",\"\",\"0.\",\"True\"]";
	const char *sequences = "[[96,8,64],[96,8,64],[96,8,64],[5],[5]]";

	(void)state;
	assert_int_equal(
	        flops("aten::_scaled_dot_product_flash_attention", four, BFLOAT3, full), 12582912);
	assert_int_equal(
	        flops("aten::_scaled_dot_product_flash_attention", four, BFLOAT3, causal), 6291456);
	/* without values, it may be causal */
	assert_int_equal(flops("aten::_scaled_dot_product_flash_attention", four, BFLOAT3, ""),
	        -LACK_SETTING);
	/* groups of queries share a head of keys */
	assert_int_equal(flops("aten::scaled_dot_product_attention",
	                         "[[4,8,128,64],[4,2,128,64],[4,2,128,64]]", BFLOAT3, full),
	        134217728);
	assert_int_equal(
	        flops("aten::_flash_attention_forward",
	                "[[8,4096,16,128],[8,4096,16,128],[8,4096,16,128],[],[]]", BFLOAT3, full),
	        1099511627776);
	assert_int_equal(flops("aten::_flash_attention_forward", sequences,
	                         "[\"float\",\"float\",\"float\",\"int\",\"int\"]", ""),
	        -LACK_DATA);
	/* one query of a causal call sees all 4096 keys, less half of its own; 100 of 200 see 100
	 */
	assert_int_equal(
	        flops("flash_attn::_flash_attn_forward", "[[1,1,1,64],[1,4096,1,64],[1,4096,1,64]]",
	                BFLOAT3, "[\"\",\"\",\"\",\"0.\",\"1.\",\"True\",\"-1\",\"-1\"]"),
	        (2 * 4096 - 1) * 128);
	assert_int_equal(
	        flops("flash_attn::_flash_attn_forward", "[[1,200,1,64],[1,100,1,64],[1,100,1,64]]",
	                BFLOAT3, "[\"\",\"\",\"\",\"0.\",\"1.\",\"True\",\"-1\",\"-1\"]"),
	        100 * 100 * 128);
	/* each sees its own key and nine before it: 2 * 100 * 10 - 10 * 10; and five after it */
	assert_int_equal(
	        flops("flash_attn::_flash_attn_forward", "[[1,100,1,64],[1,100,1,64],[1,100,1,64]]",
	                BFLOAT3, "[\"\",\"\",\"\",\"0.\",\"1.\",\"True\",\"9\",\"0\"]"),
	        1900 * 128);
	assert_int_equal(
	        flops("flash_attn::_flash_attn_forward", "[[1,100,1,64],[1,100,1,64],[1,100,1,64]]",
	                BFLOAT3, "[\"\",\"\",\"\",\"0.\",\"1.\",\"False\",\"9\",\"5\"]"),
	        (20000 - 90 * 90 - 95 * 95) * 128);
	/* 2.5 times the forward pass, a fifth of it again */
	const struct op_call c = flops_read_call(
	        flops_find_op(S("aten::_scaled_dot_product_flash_attention_backward")), S(""),
	        S("[[1,12,64,64],[1,12,64,64],[1,12,64,64],[1,12,64,64]]"), STR_NONE, str_of(full));
	const struct flops f = flops_of_call(&c);
	assert_int_equal(f.flops, 31457280);
	assert_int_equal(f.recomputed, 6291456);
}

static void test_flash_attention(void **state)
{
	const char *sequences = "[[96,8,64],[96,8,64],[96,8,64],[5],[5]]";

	(void)state;
	/* packed sequences: 4 * 24 queries are 4 sequences of 24, so all have the greatest length
	 */
	assert_int_equal(flops("flash_attn::_flash_attn_varlen_forward", sequences,
	                         "[\"float\",\"float\",\"float\",\"int\",\"int\"]",
	                         "[\"\",\"\",\"\",\"\",\"\",\"24\",\"24\",\"0.\",\"1.\",\"True\","
	                         "\"-1\",\"-1\"]"),
	        2 * 4 * 8 * (24 * 24) * 64);
	assert_int_equal(flops("flash_attn::_flash_attn_varlen_forward", sequences,
	                         "[\"float\",\"float\",\"float\",\"int\",\"int\"]",
	                         "[\"\",\"\",\"\",\"\",\"\",\"25\",\"24\",\"0.\",\"1.\",\"True\","
	                         "\"-1\",\"-1\"]"),
	        -LACK_DATA);
	/* a window as one setting of two numbers; old versions have a flag in this place */
	assert_int_equal(flops("FlashAttnFunc", "[[1,100,1,64],[1,100,1,64],[1,100,1,64]]", BFLOAT3,
	                         "[\"\",\"\",\"\",\"0.\",\"1.\",\"False\",\"[9, 5]\",\"0.\"]"),
	        (20000 - 90 * 90 - 95 * 95) * 128);
	assert_int_equal(flops("FlashAttnFunc", "[[1,100,1,64],[1,100,1,64],[1,100,1,64]]", BFLOAT3,
	                         "[\"\",\"\",\"\",\"0.\",\"1.\",\"False\",\"False\",\"False\"]"),
	        20000 * 128);
}

static void test_each_element(void **state)
{
	const char *window = "[\"\",\"[3, 3]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\"]";

	(void)state;
	assert_int_equal(flops("aten::add", "[[4,1],[5]]", FLOAT2, ""), 20);
	assert_int_equal(flops("aten::add_", "[[4,5],[]]", "[\"float\",\"Scalar\"]", ""), 20);
	assert_int_equal(flops("aten::relu", "", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::relu", "[[1,2,3,4,5,6,7,8,9]]", "[\"float\"]", ""), 362880);
	assert_int_equal(
	        flops("aten::relu", "[[1,2,3,4,5,6,7,8,9,1,1,1,1,1,1,1,1]]", "[\"float\"]", ""),
	        -LACK_SHAPE);
	assert_int_equal(flops("aten::add", "[[4,5],[-4,5]]", FLOAT2, ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::_embedding_bag", "[[50,8],[24],[6]]",
	                         "[\"float\",\"long int\",\"long int\"]", ""),
	        24 * 8);
	assert_int_equal(flops("aten::_softmax", "[[2,3]]", "[\"float\"]", ""), 30);
	assert_int_equal(flops("aten::_foreach_add_", "[[[2,3],[4]],[]]", "", ""), 10);
	assert_int_equal(flops("aten::copy_", "[[2,3],[2,3]]", FLOAT2, ""), 0);
	assert_int_equal(
	        flops("aten::max_pool2d_with_indices", "[[1,2,8,8]]", "[\"float\"]", window),
	        2 * 4 * 4 * 9);
	assert_int_equal(flops("aten::_fft_c2c", "[[4,8]]", "[\"c10::complex<float>\"]",
	                         "[\"\",\"[1]\",\"0\",\"True\"]"),
	        5 * 32 * 3);
	assert_int_equal(
	        flops("triton_poi_fused_add_cos_sin_0", "[[10,10],[10,10]]", FLOAT2, ""), 300);
	/* the lengths of the loops, if a tensor has as many elements */
	assert_int_equal(
	        flops("triton_poi_fused_mul_split_0", "[[4,6],[4,3],[],[]]",
	                "[\"float\",\"float\",\"Scalar\",\"Scalar\"]", "[\"\",\"\",\"7\",\"12\"]"),
	        12);
	assert_int_equal(flops("triton_red_fused_add_embedding_0", "[[5],[90,8],[5,8],[],[]]", "",
	                         "[\"\",\"\",\"\",\"5\",\"8\"]"),
	        40);
	assert_int_equal(
	        flops("triton_poi_fused_add_0", "[[4,6],[]]", FLOAT2, "[\"\",\"23\"]"), 24);
	assert_int_equal(flops("triton_poi_fused_add_mystery_0", "[[10]]", "[\"float\"]", ""),
	        -LACK_FORMULA);
	/* kernels whose names list no ops */
	assert_int_equal(flops("triton_for_fused_0", "[[10]]", "[\"float\"]", ""), -LACK_FORMULA);
	assert_null(flops_find_op(S("aten::mystery")));
	assert_null(flops_find_op(S("mm")));
}

static void test_templates(void **state)
{
	const char *product = "[[4,5],[5,6],[4,6]]";

	(void)state;
	assert_int_equal(flops("triton_tem_fused_mm_3", product, "", ""), 240);
	/* a bias before the factors, and an op on each element of the result */
	assert_int_equal(flops("triton_tem_fused_addmm_relu_1", "[[6],[4,5],[5,6],[4,6]]", "", ""),
	        240 + 24);
	assert_int_equal(
	        flops("triton_tem_fused_bmm_0", "[[3,4,5],[3,5,6],[3,4,6]]", "", ""), 3 * 240);
	assert_int_equal(
	        flops("triton_tem_fused_convolution_0", "[[2,4,9,9],[6,4,3,3],[2,6,7,7]]", "", ""),
	        2 * (2 * 6 * 7 * 7) * (4 * 3 * 3));
	assert_int_equal(
	        flops("triton_tem_fused_mm_3", "[[4,5],[6,7],[4,7]]", "", ""), -LACK_SENSE);
	assert_int_equal(flops("triton_tem_fused_mm_3", "", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("triton_tem_fused_flex_attention_0", product, "", ""), -LACK_DATA);
	assert_int_equal(flops("triton_tem_fused_mystery_0", product, "", ""), -LACK_FORMULA);
}

static void test_weights(void **state)
{
	(void)state;
	/* one layer: 4 * 20 rows of weights for 10 inputs and 20 states */
	assert_int_equal(
	        flops("aten::_cudnn_rnn", "[[7,3,10],[[80,10],[80,20],[80],[80]]]", "", ""),
	        2 * 7 * 3 * (800 + 1600));
	assert_int_equal(flops("aten::_cudnn_rnn_backward",
	                         "[[7,3,10],[[80,10],[80,20],[80],[80]]]", "", ""),
	        4 * 7 * 3 * (800 + 1600));
	assert_int_equal(flops("vllm::outplace_fused_experts",
	                         "[[6,16],[8,64,16],[8,16,32],[6,2],[6,2]]", "", ""),
	        2 * 6 * 2 * (64 * 16 + 16 * 32));
	/* two weights in each stored element */
	assert_int_equal(flops("vllm::outplace_fused_experts",
	                         "[[6,16],[8,64,8],[8,16,16],[6,2],[6,2]]", "", ""),
	        2 * 6 * 2 * (64 * 16 + 16 * 32));
	assert_int_equal(flops("vllm::outplace_fused_experts",
	                         "[[6,16],[8,64,12],[8,16,32],[6,2],[6,2]]", "", ""),
	        -LACK_SENSE);
	assert_int_equal(
	        flops("aiter::fmoe_fp8_blockscale_g1u1", "[[6,16],[6,16],[8,64,16],[8,16,32]]", "",
	                "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"2\"]"),
	        2 * 6 * 2 * (64 * 16 + 16 * 32));
	/* one of both products; its input has a row for each expert of a token */
	assert_int_equal(flops("aiter::ck_moe_stage1", "[[6,16],[8,64,16],[8,16,32]]", "",
	                         "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"2\"]"),
	        2 * 6 * 2 * 64 * 16);
	assert_int_equal(flops("aiter::ck_moe_stage2", "[[6,2,32],[8,64,16],[8,16,32]]", "",
	                         "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"2\"]"),
	        2 * 6 * 2 * 16 * 32);
	assert_int_equal(
	        flops("trtllm::fused_moe", "[[6,16],[6,2],[6,2],[8,64,16],[],[8,16,32]]", "", ""),
	        2 * 6 * 2 * (64 * 16 + 16 * 32));
	/* two ranks divide the experts */
	assert_int_equal(
	        flops("trtllm::fused_moe", "[[6,16],[6,2],[6,2],[8,64,16],[],[8,16,32]]", "",
	                "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
	                "\"1\",\"0\",\"2\"]"),
	        -LACK_DATA);
}

/* Linear attention and convolutions of each channel. */
static void test_recurrences(void **state)
{
	const char *inputs = "[[2,64,4,16],[2,64,4,16],[2,64,4,32]]";

	(void)state;
	assert_int_equal(flops("ChunkGLAFunction", inputs, "", ""), 4 * (2 * 64 * 4 * 32) * 16);
	assert_int_equal(
	        flops("ChunkGatedDeltaRuleFunction", inputs, "", ""), 6 * (2 * 64 * 4 * 32) * 16);
	assert_int_equal(flops("ChunkGatedDeltaRuleFunctionBackward", inputs, "", ""),
	        12 * (2 * 64 * 4 * 32) * 16);
	assert_int_equal(flops("ChunkGLAFunction", "[[2,64,4,16],[2,63,4,16],[2,64,4,32]]", "", ""),
	        -LACK_SENSE);
	assert_int_equal(flops("FusedRecurrentFunction", inputs, "", ""), -LACK_SETTING);
	assert_int_equal(flops("DaoAILab::_causal_conv1d_fwd_cpp", "[[2,8,64],[8,4]]", "", ""),
	        2 * (2 * 8 * 64) * 4);
	assert_int_equal(flops("DaoAILab::_causal_conv1d_bwd_cpp", "[[2,8,64],[8,4]]", "", ""),
	        2 * 2 * (2 * 8 * 64) * 4);
	assert_int_equal(
	        flops("DaoAILab::_causal_conv1d_update_cpp", "[[2,8],[2,8,3],[8,4]]", "", ""),
	        2 * (2 * 8) * 4);
	assert_int_equal(flops("CausalConv1dFunction", "[[2,64,8]]", "", ""), -LACK_SHAPE);
}

static void test_bytes(void **state)
{
	const struct op_call c = flops_read_call(
	        flops_find_op(S("aten::mm")), S(""), S("[[4,5],[5,6]]"), S(FLOAT2), STR_NONE);
	const struct op_call unknown = flops_read_call(
	        flops_find_op(S("aten::mm")), S(""), S("[[4,5],[5,6]]"), STR_NONE, STR_NONE);

	(void)state;
	assert_int_equal(flops_of_call(&c).read, 4 * (20 + 30));
	assert_int_equal(flops_of_call(&c).written, 4 * 24);
	assert_int_equal(flops_of_call(&unknown).read, -1);
	const struct op_call copy = flops_read_call(flops_find_op(S("aten::copy_")), S(""),
	        S("[[4,5],[4,5]]"), S("[\"float\",\"double\"]"), STR_NONE);
	assert_int_equal(flops_of_call(&copy).read, 8 * 20);
	assert_int_equal(flops_of_call(&copy).written, 4 * 20);
	/* of the table, 5 rows are read */
	const char *kernel = "triton_red_fused_add_embedding_0";
	const struct op_call rows = flops_read_call(flops_find_op(str_of(kernel)), str_of(kernel),
	        S("[[5],[90,8],[5,8],[],[]]"),
	        S("[\"long int\",\"float\",\"float\",\"Scalar\",\"Scalar\"]"),
	        S("[\"\",\"\",\"\",\"5\",\"8\"]"));
	assert_int_equal(flops_of_call(&rows).read, 5 * 8 + 40 * 4 + 40 * 4);
}

/* Whatever the texts are, nothing is read outside of them, and nothing overflows. */
static void test_hostile(void **state)
{
	static const char *const shapes[] = { "", "[", "[[", "[[1", "[[1,", "]", "[[]]", "[[],[]]",
		"[[[1,2],[3,4]],[[5]]]", "[[9223372036854775807,2],[2,9223372036854775807]]",
		"[[1,2,3,4,5,6,7,8,9,10],[1]]", "[[-1,-2],[-2,3]]", "[[a,b],[c]]", "[[1,2],[2,3]",
		"[[0,3,4,5],[1,3,0,0],[2,3,0,0]]", "[[[[[[[[[[[]]]" };
	static const char *const values[] = { "", "[", "[\"", "[\"\",\"", "[\"\",\"\",\"\",\"[\"]",
		"[\"\",\"\",\"\",\"[0]\",\"[-1]\",\"[9223372036854775807]\"]",
		"[\"\",\"[-5]\",\"[0]\",\"[-1]\",\"[9223372036854775807]\",\"[9]\"]" };
	static const char *const ops[] = { "aten::mm", "aten::convolution",
		"aten::convolution_backward", "aten::_grouped_mm",
		"aten::scaled_dot_product_attention", "aten::_flash_attention_backward",
		"aten::add", "aten::_softmax", "aten::max_pool2d_with_indices", "aten::_fft_c2r",
		"aten::_cudnn_rnn", "aten::_cdist_forward", "aiter::fused_moe_",
		"aten::_cslt_sparse_mm", "aten::_sparse_semi_structured_linear", "_C::awq_gemm",
		"flash_attn::_flash_attn_varlen_forward", "aiter::fmoe_fp8_blockscale_g1u1",
		"triton_tem_fused_mm_relu_0", "triton_tem_fused_convolution_0", "aten::embedding",
		"triton_poi_fused_add_0", "aten::copy_" };

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t k = 0; k < sizeof values / sizeof *values; k++)
			for (size_t j = 0; j < sizeof ops / sizeof *ops; j++)
				assert_true(flops(ops[j], shapes[i], "", values[k]) > -LACKS);
	assert_int_equal(flops("aten::mm", shapes[9], "", ""), -LACK_RANGE);
}

static const char *peak_name(const char *model)
{
	const struct peak *p = peak_find(str_of(model));

	return p ? p->name : "";
}

static void test_peaks(void **state)
{
	(void)state;
	assert_string_equal(peak_name("NVIDIA H100 80GB HBM3"), "H100 SXM");
	assert_string_equal(peak_name("NVIDIA H100 PCIe"), "H100 PCIe");
	assert_string_equal(peak_name("NVIDIA A100-SXM4-80GB"), "A100 SXM 80 GB");
	assert_string_equal(peak_name("NVIDIA A100-PCIE-40GB"), "A100 40 GB");
	assert_string_equal(peak_name("Tesla V100-SXM2-16GB"), "V100 SXM2");
	assert_string_equal(peak_name("AMD Instinct MI300X"), "MI300X");
	assert_string_equal(peak_name("NVIDIA L40S"), "L40S");
	assert_string_equal(peak_name("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 4090 D"), "");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 3080 Ti"), "RTX 3080 Ti");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 3080"), "RTX 3080");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 4070 Ti SUPER"), "RTX 4070 Ti SUPER");
	assert_string_equal(peak_name("NVIDIA GeForce RTX 4090 Ti"), "");
	assert_string_equal(
	        peak_name("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"), "");
	assert_string_equal(peak_name("NVIDIA A10G"), "");
	assert_string_equal(peak_name(""), "");
	/* float32 at the rate of TF32; no bfloat16 */
	assert_true(fabs(peak_flops(peak_find(S("NVIDIA A100")), NUMBERS_F32) - 156e12) < 1);
	assert_true(peak_flops(peak_find(S("Tesla T4")), NUMBERS_BF16) <= 0);
	assert_true(peak_flops(peak_find(S("Tesla T4")), NUMBERS_OTHER) <= 0);
}

/* Each op of the table has one row. */
static void test_names_are_unique(void **state)
{
	static const char *const names[] = {
#define OP(names, formula, ...) names,
#include "flops/op.def"
	};
	struct intern seen;
	size_t n = 0;

	intern_init(&seen, *state);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct strs words = str_split(*state, str_of(names[i]), ' ');
		for (size_t k = 0; k < words.n; k++)
			assert_int_equal(intern_add(&seen, words.v[k]), n++);
	}
}

/* Inputs that are None are not listed. */
static void test_autograd(void **state)
{
	const char *float_scale = "[\"\",\"\",\"\",\"0.\",\"0.125\",\"True\",\"0.\",\"False\"]";
	const char *no_scale = "[\"\",\"\",\"\",\"0.\",\"False\",\"0.\",\"True\"]";

	(void)state;
	assert_int_equal(
	        flops("FlashAttnFunc", "[[2,16,8,64],[2,16,2,64],[2,16,2,64],[],[],[],[],[]]",
	                BFLOAT3, float_scale),
	        2 * 8 * (16 * 16) * (64 + 64));
	assert_int_equal(flops("FlashAttnFunc", "[[2,16,8,64],[2,16,2,64],[2,16,2,64],[],[],[],[]]",
	                         BFLOAT3, no_scale),
	        2 * 8 * (2 * 16 * 16) * (64 + 64));
	assert_int_equal(
	        flops("FlashAttnFuncBackward", "[[2,16,8,64],[2,16,2,64],[2,16,2,64],[],[],[],[]]",
	                BFLOAT3, no_scale),
	        2 * 8 * (2 * 16 * 16) * 5 * 64);
	/* two sequences of 16 */
	assert_int_equal(
	        flops("FlashAttnVarlenFunc", "[[32,8,64],[32,2,64],[32,2,64],[3],[3],[],[],[],[]]",
	                "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"int\",\"int\"]",
	                "[\"\",\"\",\"\",\"\",\"\",\"16\",\"16\",\"0.\",\"False\"]"),
	        2 * 8 * (2 * 16 * 16) * (64 + 64));
	assert_int_equal(
	        flops("FusedAttnFunc", "[[],[],[],[3],[3],[2,16,8,64]]", "", ""), -LACK_SETTING);
	assert_true(flops_reads_forward(S("_LinearBackward")));
	assert_true(flops_reads_forward(S("FlashAttnFuncBackward")));
	assert_false(flops_reads_forward(S("AddmmBackward0")));
	assert_false(flops_reads_forward(S("FlashAttnFunc")));
	assert_false(flops_reads_forward(S("aten::_flash_attention_backward")));
	assert_null(flops_find_op(S("_linear")));
}

static void test_transformer_engine(void **state)
{
	(void)state;
	/* the weight, then the input; copies of the weight in float8 between them */
	assert_int_equal(flops("_Linear", "[[48,64],[4,8,64],[48],[]]", "", ""), 2 * 32 * 64 * 48);
	assert_int_equal(flops("_Linear", "[[48,64],[48,64],[64,48],[32,64],[48]]", "", ""),
	        2 * 32 * 64 * 48);
	assert_int_equal(
	        flops("_LinearBackward", "[[48,64],[32,64],[48]]", "", ""), 4 * 32 * 64 * 48);
	assert_int_equal(flops("_LayerNormLinear", "[[32,64],[64],[64],[48,64],[48]]", "", ""),
	        2 * 32 * 64 * 48);
	assert_int_equal(flops("_GroupedLinear", "[[32,64],[],[48,64],[48,64],[48,64]]", "", ""),
	        2 * 32 * 64 * 48);
	/* gated: the first weight has twice the rows that the second has columns */
	assert_int_equal(
	        flops("_LayerNormMLP", "[[32,64],[64],[256,64],[256],[64,128],[64]]", "", ""),
	        2 * 32 * (256 * 64 + 64 * 128));
	assert_int_equal(
	        flops("_LayerNormMLPBackward", "[[32,64],[64],[64],[256,64],[64,256]]", "", ""),
	        4 * 32 * (256 * 64 + 64 * 256));
	assert_int_equal(flops("_LayerNormMLP", "[[32,64],[64],[256,64]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("_Linear", "[[48,64],[32,63]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("_Linear", "[[48,0],[32,0]]", "", ""), -LACK_SENSE);
	assert_int_equal(flops("_Linear", "[]", "", ""), -LACK_SHAPE);
	assert_int_equal(
	        flops("_Linear", "[[4611686018427387904,4],[4611686018427387904,4]]", "", ""),
	        -LACK_RANGE);
}

/* Mamba 2: 2 sequences of 64 positions, 4 heads of 16, 1 group of 32 states, chunks of 16. */
static void test_chunks(void **state)
{
	const char *shapes = "[[2,64,4,16],[2,64,4],[4],[2,64,1,32],[2,64,1,32],[]]",
	           *values = "[\"\",\"\",\"\",\"\",\"\",\"16\"]";
	int64_t scores = 2 * 128 * 16 * 32, inside = 128 * 64 * 17, states = 2 * 128 * 64 * 32;

	(void)state;
	assert_int_equal(flops("MambaChunkScanCombinedFn", shapes, "", values),
	        scores + inside + 2 * states);
	assert_int_equal(flops("MambaChunkScanCombinedFnBackward", shapes, "", values),
	        2 * (scores + inside + 2 * states) + scores + states);
	assert_int_equal(flops("MambaChunkScanCombinedFn", shapes, "", ""), -LACK_SETTING);
	assert_int_equal(
	        flops("MambaChunkScanCombinedFn", shapes, "", "[\"\",\"\",\"\",\"\",\"\",\"0\"]"),
	        -LACK_SENSE);
	assert_int_equal(
	        flops("MambaChunkScanCombinedFn", "[[2,64,4,16],[],[],[2,63,1,32]]", "", values),
	        -LACK_SENSE);
	assert_int_equal(flops("SelectiveScanFnBackward", "[[2,16,8],[2,16,8],[16,4]]", "", ""),
	        18 * 2 * 16 * 8 * 4);
}

static void test_einsum(void **state)
{
	(void)state;
	assert_int_equal(flops("aten::einsum", "[[],[[2,3,4],[2,5,4]],[]]", "",
	                         "[\"bqd,bkd->bqk\",\"\",\"\"]"),
	        2 * 2 * 3 * 4 * 5);
	/* the first two factors are multiplied, and their result with the third: j is summed before
	 */
	assert_int_equal(flops("aten::einsum", "[[],[[4,5],[5,6],[6,7]],[]]", "",
	                         "[\"ij, jk, kl -> il\",\"\",\"\"]"),
	        2 * 4 * 5 * 6 + 2 * 4 * 6 * 7);
	assert_int_equal(flops("aten::einsum", "[[],[[4,5]],[]]", "", "[\"ij->ji\",\"\"]"), 0);
	assert_int_equal(flops("aten::einsum", "[[],[[4,5],[6,7]],[]]", "", "[\"ij,jk->ik\",\"\"]"),
	        -LACK_SENSE);
	assert_int_equal(
	        flops("aten::einsum", "[[],[[4,5],[5,6]],[]]", "", "[\"ij,jk,k->i\",\"\"]"),
	        -LACK_SENSE);
	assert_int_equal(
	        flops("aten::einsum", "[[],[[4,5],[5,6]],[]]", "", "[\"...j,jk->...k\",\"\"]"),
	        -LACK_SENSE);
	assert_int_equal(flops("aten::einsum", "[[],[[4,5],[5,6]],[]]", "", ""), -LACK_SETTING);
	assert_int_equal(flops("aten::einsum", "[[],[],[]]", "", "[\"i->i\",\"\"]"), -LACK_SHAPE);
}

static void test_decompositions(void **state)
{
	(void)state;
	assert_int_equal(
	        flops("aten::linalg_cholesky_ex", "[[6,9,9],[],[]]", "", ""), 6 * 9 * 9 * 9 / 3);
	assert_int_equal(flops("aten::linalg_lu_factor_ex", "[[9,9]]", "", ""), 2 * 9 * 9 * 9 / 3);
	assert_int_equal(flops("aten::linalg_qr", "[[12,6]]", "", ""), 2 * 12 * 36 - 2 * 216 / 3);
	assert_int_equal(flops("aten::linalg_qr", "[[6,12]]", "", ""), 2 * 12 * 36 - 2 * 216 / 3);
	assert_int_equal(flops("aten::_linalg_solve_ex", "[[9,9],[9,4]]", "", ""),
	        2 * 9 * 9 * 9 / 3 + 2 * 9 * 9 * 4);
	assert_int_equal(
	        flops("aten::linalg_solve_triangular", "[[9,9],[9,4]]", "", ""), 9 * 9 * 4);
	assert_int_equal(flops("aten::cholesky_solve", "[[9,4],[9,9]]", "", ""), 2 * 9 * 9 * 4);
	assert_int_equal(flops("aten::_linalg_solve_ex", "[[9,9]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::linalg_cholesky_ex", "[[9]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::linalg_cholesky_ex", "[[-9,9]]", "", ""), -LACK_SHAPE);
	assert_int_equal(flops("aten::linalg_cholesky_ex", "[[3037000500,3037000500]]", "", ""),
	        -LACK_RANGE);
}

/* Inside the table: sizes of types by factors of two, the same tensor rate for types of one size,
 * and memory. */
static void test_peaks_agree(void **state)
{
	static const struct {
		const char *name;
		double f64, f32, tf32, f16, bf16, f8, i8, f4, memory;
	} peaks[] = {
#define PEAK(words, name, f64, f32, tf32, f16, bf16, f8, i8, f4, memory, source)                   \
	{ (name), (f64), (f32), (tf32), (f16), (bf16), (f8), (i8), (f4), (memory) },
#include "flops/peak.def"
	};

	(void)state;
	for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
		double half = peaks[i].f16 > 0 ? peaks[i].f16 : peaks[i].bf16;
		bool old = strstr(peaks[i].name, "V100") || strstr(peaks[i].name, "T4") ||
		           strstr(peaks[i].name, "MI100");
		assert_true(half > peaks[i].f32 && peaks[i].memory > 0);
		assert_true(old || fabs(peaks[i].bf16 - half) < 0.01 * half);
		/* the data sheet of L40S rounds one of them; TPUs before v7 compute float8 as
		 * bfloat16 */
		if (peaks[i].f8 > 0 && peaks[i].f8 != half)
			assert_true(fabs(peaks[i].f8 - 2 * half) < 0.02 * peaks[i].f8);
		if (peaks[i].i8 > 0 && peaks[i].f8 > half && !strstr(peaks[i].name, "RTX 40") &&
		        !strstr(peaks[i].name, "RTX 50"))
			assert_true(fabs(peaks[i].i8 - peaks[i].f8) < 0.01 * peaks[i].i8);
		if (peaks[i].tf32 > 0)
			assert_true(peaks[i].tf32 >= 0.99 * peaks[i].f32 &&
			            peaks[i].tf32 <= 0.51 * half);
		if (peaks[i].f4 >
		        0) /* more than twice float8 only in Blackwell Ultra and GeForce */
			assert_true(peaks[i].f4 >= 1.99 * peaks[i].f8 &&
			            peaks[i].f4 <= 4.01 * peaks[i].f8);
		assert_true(peaks[i].f64 <= 1.01 * peaks[i].f32 || peaks[i].f32 == 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { unit_case(test_autograd), unit_case(test_recurrences),
		unit_case(test_transformer_engine), unit_case(test_chunks), unit_case(test_einsum),
		unit_case(test_decompositions), unit_case(test_peaks_agree),
		unit_case(test_products), unit_case(test_latent_attention),
		unit_case(test_paged_decoding), unit_case(test_whole_latent_attention),
		unit_case(test_blocks), unit_case(test_stored_otherwise),
		unit_case(test_convolutions), unit_case(test_outputs), unit_case(test_attention),
		unit_case(test_flash_attention), unit_case(test_each_element),
		unit_case(test_templates), unit_case(test_weights), unit_case(test_bytes),
		unit_case(test_hostile), unit_case(test_peaks), unit_case(test_names_are_unique) };

	return unit_main(tests, argc, argv);
}
