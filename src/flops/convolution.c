/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and their gradients. Images are [batch, channels, positions...], kernels [output
 * channels, input channels of a group, positions...]; kernels of transposed convolutions begin
 * with the input channels, followed by the output channels of a group.
 */
#include "flops/flops_internal.h"

/* Counts one product for each element of the result (for a transposed convolution, of the image)
 * and each element of its slice of the kernel. */
static struct flops count(const struct op_call *c, int64_t times, const struct op_tensor *placed,
        const struct op_tensor *kernel)
{
	int64_t v[3 + 2 * TENSOR_RANK_MAX];
	unsigned n = 0;

	v[n++] = 2;
	if (times != 1)
		v[n++] = times;
	for (unsigned i = 0; i < placed->rank; i++)
		v[n++] = placed->dim[i];
	for (unsigned i = 1; i < kernel->rank; i++)
		v[n++] = kernel->dim[i];
	return counted(c, v, n);
}

static bool is_image(const struct op_tensor *t)
{
	return t->known && t->rank >= 3;
}

/* Computes the shape of the result. Returns false if the settings contradict the shapes. */
static bool place_kernel(const struct op_tensor *image, const struct op_tensor *kernel,
        const struct op_setting *stride, const struct op_setting *padding,
        const struct op_setting *dilation, struct op_tensor *out)
{
	*out = (struct op_tensor){ .known = true, .elements = 1, .rank = image->rank };
	out->dim[0] = image->dim[0];
	out->dim[1] = kernel->dim[0];
	for (unsigned i = 2; i < image->rank; i++) {
		int64_t step = setting_at(stride, i - 2), around = setting_at(padding, i - 2),
		        apart = dilation->n ? setting_at(dilation, i - 2) : 1, room;
		if (step < 1 || around < 0 || apart < 1 || kernel->dim[i] < 1)
			return false;
		room = num_sub(num_add(image->dim[i], num_mul(2, around)),
		        num_add(num_mul(apart, kernel->dim[i] - 1), 1));
		out->dim[i] = room < 0 ? 0 : room / step + 1;
	}
	for (unsigned i = 0; i < out->rank; i++)
		out->elements = num_mul(out->elements, out->dim[i]);
	return true;
}

/* Returns 1 if a tensor that is added to the result is between the image and the kernel, otherwise
 * 0. */
static int adds_tensor(const struct op_call *c, const struct op_tensor *image)
{
	const struct op_tensor *third = call_input(c, c->row->place[1] + 1);

	return c->row->place[5] == -3 && third->known && third->rank == image->rank;
}

static bool is_transposed(const struct op_call *c, int place)
{
	return place == -2 || call_flag(c, place);
}

struct flops flops_convolution(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *image = call_input(c, place[0]);
	int later = adds_tensor(c, image);
	const struct op_tensor *kernel = call_input(c, place[1] + later);
	struct op_setting stride = call_setting(c, place[2] + later),
	                  padding = call_setting(c, place[3] + later),
	                  dilation = call_setting(c, place[4] < 0 ? -1 : place[4] + later);
	struct op_tensor out = c->output;
	struct flops f;

	if (!is_image(image) || !is_image(kernel))
		return lacking(LACK_SHAPE, is_image(image) ? place[1] : place[0]);
	if (image->rank != kernel->rank)
		return lacking(LACK_SENSE, place[1]);
	if (is_transposed(c, place[5])) {
		f = count(c, 1, image, kernel);
		add_bytes(&f, c, -1, place[0]);
		return f;
	}
	if (!out.known && (!stride.n || !padding.n))
		return lacking(LACK_SETTING, stride.n ? place[3] : place[2]);
	if (!out.known && !place_kernel(image, kernel, &stride, &padding, &dilation, &out))
		return lacking(LACK_SENSE, place[2]);
	f = count(c, 1, &out, kernel);
	add_bytes(&f, c, out.elements, place[0]);
	return f;
}

/* Returns the number of gradients that are computed: of the image, and of the kernel. */
static int64_t gradients(const struct op_call *c, int mask, int64_t most)
{
	const struct op_setting computed = call_setting(c, mask);

	return computed.n < 2 ? most : (computed.v[0] != 0) + (computed.v[1] != 0);
}

struct flops flops_convolution_gradient(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *gradient = call_input(c, place[0]),
	                       *kernel = call_input(c, place[2]);
	const struct op_tensor *image = call_input(c, place[1]);
	bool transposed = is_transposed(c, place[3]);
	struct flops f;

	if (!is_image(gradient) || !is_image(kernel))
		return lacking(LACK_SHAPE, is_image(gradient) ? place[2] : place[0]);
	if (transposed && !is_image(image))
		return lacking(LACK_SHAPE, place[1]);
	if (gradient->rank != kernel->rank)
		return lacking(LACK_SENSE, place[2]);
	f = count(c, gradients(c, place[4], place[5]), transposed ? image : gradient, kernel);
	add_bytes(&f, c, -1, place[0]);
	return f;
}

/* Counts the convolution of each channel with a kernel of its own, whose result is as long as the
 * input. */
struct flops flops_depthwise(const struct op_call *c)
{
	const int *place = c->row->place;
	const struct op_tensor *in = call_input(c, place[0]), *kernel = call_input(c, place[1]);

	if (!in->known || !kernel->known)
		return lacking(LACK_SHAPE, in->known ? place[1] : place[0]);
	if (kernel->rank < 2 || !in->rank)
		return lacking(LACK_SENSE, place[1]);
	struct flops f =
	        COUNTED(c, num_mul(2, place[2]), in->elements, kernel->dim[kernel->rank - 1]);
	add_bytes(&f, c, in->elements, place[0]);
	return f;
}
