/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of TensorFlow, as TensorFlow itself counts them: its registered statistics "flops".
 */
#include "flops/registered.h"
#include "flops/flops_internal.h"

/* Returns the number of a setting; 0 if the file has none. */
static int64_t number_of(const struct op_call *c, enum registered_setting place)
{
	const struct op_setting s = call_setting(c, (int)place);

	return setting_at(&s, 0);
}

static struct flops no_shape(const struct op_call *c, unsigned inputs)
{
	unsigned i = 0;

	while (i < inputs && call_input(c, (int)i)->known)
		i++;
	return lacking(LACK_SHAPE, (int)i);
}

struct flops flops_tf_input(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *in = call_input(c, 0);

	if (!in->known)
		return no_shape(c, 1);
	if (place[1])
		return COUNTED(c, num_sub(num_mul(place[0], in->elements), place[1]));
	return COUNTED(c, place[0], in->elements);
}

struct flops flops_tf_output(const struct op_call *c)
{
	return c->output.known ? COUNTED(c, c->row->place[0], c->output.elements) : no_shape(c, 2);
}

struct flops flops_tf_sum(const struct op_call *c)
{
	const struct op_tensor *in = call_input(c, 0);

	if (!in->known)
		return no_shape(c, 1);
	return COUNTED(c, in->elements, num_sub(number_of(c, REGISTERED_INPUTS), 1));
}

struct flops flops_tf_reduction(const struct op_call *c)
{
	const struct op_tensor *in = call_input(c, 0);

	if (!in->known || !c->output.known)
		return no_shape(c, 1);
	return COUNTED(c, num_add(in->elements, num_mul(c->row->place[0], c->output.elements)));
}

/* True if a statistic that is registered for only one layout applies. */
static bool is_nhwc(const struct op_call *c)
{
	return number_of(c, REGISTERED_NHWC) != 0;
}

struct flops flops_tf_pool(const struct op_call *c)
{
	int64_t window = number_of(c, REGISTERED_WINDOW);

	if (!is_nhwc(c) || !window)
		return lacking(LACK_SETTING, 0);
	return c->output.known ? COUNTED(c, window, c->output.elements) : no_shape(c, 1);
}

struct flops flops_tf_pool_gradient(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *out = call_input(c, 1);
	int64_t window = number_of(c, REGISTERED_WINDOW);

	if (!is_nhwc(c) || !window)
		return lacking(LACK_SETTING, 0);
	if (!out->known)
		return lacking(LACK_SHAPE, 1);
	return COUNTED(c, out->elements, num_add(num_mul(place[0], window), place[1]));
}

struct flops flops_tf_convolution(const struct op_call *c)
{
	unsigned dims = (unsigned)c->row->place[0];
	const struct op_tensor *image = call_input(c, 0), *kernel = call_input(c, 1);
	int64_t each = 1;

	if (!image->known || !kernel->known || !c->output.known)
		return no_shape(c, 2);
	if (kernel->rank < dims)
		return lacking(LACK_SENSE, 1);
	for (unsigned i = 0; i < dims; i++)
		each = num_mul(each, kernel->dim[i]);
	return COUNTED(c, 2, c->output.elements, each);
}

static struct flops gradient(
        const struct op_call *c, const struct op_tensor *image, const struct op_tensor *kernel)
{
	int64_t stride = number_of(c, REGISTERED_STRIDE);

	if (!is_nhwc(c) || !stride)
		return lacking(LACK_SETTING, 0);
	if (!image->known || !kernel->known || !image->rank)
		return no_shape(c, 2);
	int64_t by = num_mul(image->dim[image->rank - 1], stride);
	if (by < 1)
		return lacking(LACK_SENSE, 0);
	return COUNTED(c, num_mul(num_mul(2, image->elements), kernel->elements) / by);
}

struct flops flops_tf_image_gradient(const struct op_call *c)
{
	return gradient(c, &c->output, call_input(c, 1));
}

struct flops flops_tf_kernel_gradient(const struct op_call *c)
{
	return gradient(c, call_input(c, 0), &c->output);
}

/* True if a factor of a product has the dimensions a and b as its last two, in either order. */
static bool spans(const struct op_tensor *factor, int64_t a, int64_t b)
{
	if (!factor->known)
		return true;
	if (factor->rank < 2)
		return false;
	int64_t x = factor->dim[factor->rank - 2], y = factor->dim[factor->rank - 1];
	return (x == a && y == b) || (x == b && y == a);
}

/* Returns the length of the sums of a product; -1: the shapes contradict each other. A ProfileProto
 * lacks the attribute transpose_a, but the rows of the result show which dimension is summed. */
static int64_t summed(const struct op_call *c, const struct op_tensor *left)
{
	const struct op_tensor *out = &c->output, *right = call_input(c, 1);
	int64_t first = left->dim[left->rank - 2], last = left->dim[left->rank - 1];
	bool transposed = number_of(c, REGISTERED_TRANSPOSED) != 0;

	if (c->row->place[0])
		return last;
	if (out->rank < 2)
		return -1;
	const int64_t rows = out->dim[out->rank - 2], columns = out->dim[out->rank - 1];
	if (!transposed && first == rows && spans(right, last, columns))
		return last;
	return last == rows && spans(right, first, columns) ? first : -1;
}

struct flops flops_tf_product(const struct op_call *c)
{
	const struct op_tensor *left = call_input(c, 0);

	if (!left->known || !c->output.known)
		return no_shape(c, 2);
	const int64_t length = left->rank < 2 ? -1 : summed(c, left);
	return length < 0 ? lacking(LACK_SENSE, 0) : COUNTED(c, 2, length, c->output.elements);
}
