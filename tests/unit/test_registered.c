/* SPDX-License-Identifier: Apache-2.0
 *
 * TensorFlow's registered statistics "flops": every one, with TensorFlow's own numbers for the same
 * shapes.
 */
#include "flops/flops.h"
#include "unit.h"

/* Reads "8x28x28x3"; "": a scalar, which files of a graph state as one element. */
static struct op_tensor shape_of(const char *text)
{
	struct op_tensor t = { .known = true, .elements = 1, .rank = *text ? 0 : 1, .dim = { 1 } };
	struct strs dims = { 0 };

	if (*text)
		dims = str_split(&unit_arena, str_of(text), 'x');
	for (size_t i = 0; i < dims.n; i++) {
		assert_true(num_parse_i64(dims.v[i], &t.dim[t.rank]));
		t.elements *= t.dim[t.rank++];
	}
	return t;
}

struct statistic {
	const char *op;
	const char *in[2], *out;
	int64_t flops;
	size_t inputs; /* 0: the number of shapes */
	int64_t window, stride;
	bool transposed;
};

static const struct statistic statistics[] = {
	{ "Reciprocal", { "3x4", NULL }, "3x4", .flops = 12 },
	{ "Square", { "3x4", NULL }, "3x4", .flops = 12 },
	{ "Log", { "3x4", NULL }, "3x4", .flops = 12 },
	{ "Neg", { "3x4", NULL }, "3x4", .flops = 12 },
	{ "AssignSub", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "AssignAdd", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "BiasAdd", { "8x28x14x8", "8" }, "8x28x14x8", .flops = 25088 },
	{ "Rsqrt", { "3x4", NULL }, "3x4", .flops = 24 },
	{ "Softmax", { "8x10", NULL }, "8x10", .flops = 400 },
	{ "L2Loss", { "8x2x2x16", NULL }, "", .flops = 1535 },
	{ "Add", { "3x4", "4" }, "3x4", .flops = 12 },
	{ "AddV2", { "4", "3x4" }, "3x4", .flops = 12 },
	{ "Sub", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Mul", { "3x4", "" }, "3x4", .flops = 12 },
	{ "RealDiv", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Maximum", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Minimum", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Pow", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "GreaterEqual", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Greater", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "LessEqual", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Less", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "Equal", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "NotEqual", { "3x4", "3x4" }, "3x4", .flops = 12 },
	{ "SquaredDifference", { "3x4", "3x4" }, "3x4", .flops = 24 },
	{ "RsqrtGrad", { "3x4", "3x4" }, "3x4", .flops = 48 },
	{ "AddN", { "3x4", "3x4" }, "3x4", .flops = 24, .inputs = 3 },
	{ "Mean", { "8", "1" }, "", .flops = 8 },
	{ "Sum", { "8x10", "1" }, "8", .flops = 72 },
	{ "ArgMax", { "8x10", "" }, "8", .flops = 72 },
	{ "ArgMin", { "8x10", "" }, "8", .flops = 72 },
	{ "BiasAddGrad", { "8x28x14x8", NULL }, "8", .flops = 25080 },
	{ "AvgPool", { "8x28x28x8", NULL }, "8x14x14x8", .flops = 50176, .window = 4 },
	{ "MaxPool", { "8x28x28x8", NULL }, "8x14x14x8", .flops = 50176, .window = 4 },
	{ "AvgPoolGrad", { "4", "8x14x14x8" }, "8x28x28x8", .flops = 100352, .window = 4 },
	{ "MaxPoolGrad", { "8x28x28x8", "8x14x14x8" }, "8x28x28x8", .flops = 62720, .window = 4 },
	{ "Conv2D", { "8x28x28x3", "3x3x3x8" }, "8x14x14x8", .flops = 677376 },
	{ "Conv3D", { "1x4x4x4x2", "2x2x2x2x3" }, "1x4x4x4x3", .flops = 6144 },
	{ "DepthwiseConv2dNative", { "8x4x4x8", "3x3x8x2" }, "8x4x4x16", .flops = 36864 },
	{ "Dilation2D", { "1x5x5x1", "2x2x1" }, "1x5x5x1", .flops = 200 },
	{ "Conv2DBackpropInput", { "4", "3x3x3x8" }, "8x28x28x3", .flops = 677376, .stride = 4 },
	{ "Conv2DBackpropFilter", { "8x28x28x3", "4" }, "3x3x3x8", .flops = 677376, .stride = 4 },
	{ "MatMul", { "8x64", "64x10" }, "8x10", .flops = 10240 },
	{ "MatMul", { "9x4", "9x2" }, "4x2", .flops = 144, .transposed = true },
	{ "BatchMatMul", { "4x5x6", "4x6x7" }, "4x5x7", .flops = 1680 },
	{ "BatchMatMulV2", { "4x5x6", "4x6x7" }, "4x5x7", .flops = 1680 },
	{ "BatchMatMulV3", { "4x5x6", "4x6x7" }, "4x5x7", .flops = 1680 },
};

/* Returns the call of an operation. Settings are empty if all of them are missing. */
static struct op_call operation(const struct statistic *s, bool nhwc, bool settings, bool shapes)
{
	struct op_call c = { .name = str_fmt(&unit_arena, "tensorflow::%s", s->op) };
	size_t inputs = 0;

	c.row = flops_find_op(c.name);
	assert_non_null(c.row);
	for (size_t i = 0; i < 2 && s->in[i]; i++) {
		c.in[i] = shapes ? shape_of(s->in[i]) : (struct op_tensor){ .known = false };
		c.n = (unsigned)++inputs;
	}
	if (shapes)
		c.output = shape_of(s->out);
	inputs = s->inputs ? s->inputs : inputs;
	if (settings)
		c.values = str_fmt(&unit_arena, "[\"%d\",\"%d\",\"%lld\",\"%lld\",\"%zu\"]", nhwc,
		        s->transposed, (long long)s->window, (long long)s->stride, inputs);
	return c;
}

static void test_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
		const struct op_call c = operation(&statistics[i], true, true, true);
		const struct flops f = flops_of_call(&c);
		assert_int_equal(f.lack, LACK_NOTHING);
		assert_int_equal(f.flops, statistics[i].flops);
	}
}

/* Without any shape, none of the statistics has an answer. */
static void test_unknown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
		const struct op_call c = operation(&statistics[i], true, true, false);
		assert_int_equal(flops_of_call(&c).lack, LACK_SHAPE);
	}
	assert_null(flops_find_op(S("tensorflow::Relu")));
	assert_null(flops_find_op(S("tensorflow::Conv")));
}

/* Layouts other than NHWC, and missing attributes. */
static void test_attributes(void **state)
{
	static const char *const ops[] = { "MaxPool", "AvgPoolGrad", "Conv2DBackpropInput" };

	(void)state;
	for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
		for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
			if (strcmp(statistics[i].op, ops[k]) != 0)
				continue;
			const struct op_call other = operation(&statistics[i], false, true, true),
			                     bare = operation(&statistics[i], true, false, true);
			assert_int_equal(flops_of_call(&other).lack, LACK_SETTING);
			assert_int_equal(flops_of_call(&bare).lack, LACK_SETTING);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(test_numbers),
		unit_case(test_unknown),
		unit_case(test_attributes),
	};

	return unit_main(tests, argc, argv);
}
