/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of convolutions, pooling and resized images.
 */
#include "model/infer_internal.h"

/* The layout of an image: the position of its channels, and its first dimension with positions. */
struct image_layout {
	unsigned channels, positions, n; /* n: number of positions */
};

static struct image_layout layout_of(const struct infer_op *o, unsigned rank)
{
	struct str text = facts_text(o->facts, "data_format");
	bool first = str_starts(text, S("NC"));

	return (struct image_layout){ first ? 1 : rank - 1, first ? 2 : 1, rank - 2 };
}

/* Returns the number of positions of a window along a dimension; -1: unknown. i: the dimension of
 * the image. */
static int64_t places(const struct infer_op *o, int64_t in, int64_t size, int64_t step, unsigned i)
{
	int64_t room, around = 0;

	if (in < 0 || size < 1 || step < 1)
		return -1;
	if (facts_text_is(o->facts, "padding", "SAME"))
		return in / step + (in % step != 0);
	if (facts_text_is(o->facts, "padding", "EXPLICIT")) {
		const struct fact_list given = facts_list(o->facts, "explicit_paddings");
		if (given.n <= 2 * i + 1)
			return -1;
		around = num_add(given.v[2 * i], given.v[2 * i + 1]);
	}
	room = num_sub(num_add(in, around), size);
	return room < 0 ? 0 : num_add(room / step, 1);
}

/* Returns number i of a list of settings; 1 if the list is empty. */
static int64_t setting(const struct fact_list *v, unsigned i)
{
	return i < v->n ? v->v[i] : 1;
}

/* Computes the result of a kernel [positions..., channels of the image, channels of the result]. */
static struct fact_shape place(const struct infer_op *o, int64_t channels)
{
	const struct fact_shape *image = infer_in(o, 0), *kernel = infer_in(o, 1);
	const struct fact_list stride = facts_list(o->facts, "strides"),
	                       apart = facts_list(o->facts, "dilations");
	struct fact_shape out = *image;

	if (!image->known || !kernel->known || image->rank < 3 || kernel->rank != image->rank)
		return infer_unknown();
	const struct image_layout at = layout_of(o, image->rank);
	for (unsigned i = 0; i < at.n; i++) {
		unsigned d = at.positions + i;
		int64_t size =
		        kernel->dim[i] < 1
		                ? -1
		                : num_add(num_mul(kernel->dim[i] - 1, setting(&apart, d)), 1);
		out.dim[d] = places(o, image->dim[d], size, setting(&stride, d), d);
	}
	out.dim[at.channels] = channels;
	return out;
}

struct fact_shape infer_convolution(const struct infer_op *o)
{
	const struct fact_shape *kernel = infer_in(o, 1);

	return place(o, kernel->known && kernel->rank ? kernel->dim[kernel->rank - 1] : -1);
}

struct fact_shape infer_depthwise(const struct infer_op *o)
{
	const struct fact_shape *kernel = infer_in(o, 1);
	int64_t channels = -1;

	if (kernel->known && kernel->rank == 4)
		channels = infer_elements(kernel, 2, 4);
	return place(o, channels);
}

/* Computes a dilation. Its kernel has no dimension for the channels of the result. */
struct fact_shape infer_dilation(const struct infer_op *o)
{
	const struct fact_shape *image = infer_in(o, 0), *kernel = infer_in(o, 1);
	const struct fact_list stride = facts_list(o->facts, "strides"),
	                       apart = facts_list(o->facts, "rates");
	struct fact_shape out = *image;

	if (!image->known || !kernel->known || image->rank != 4 || kernel->rank != 3)
		return infer_unknown();
	for (unsigned i = 1; i < 3; i++)
		out.dim[i] = places(o, image->dim[i],
		        kernel->dim[i - 1] < 1
		                ? -1
		                : num_add(num_mul(kernel->dim[i - 1] - 1, setting(&apart, i)), 1),
		        setting(&stride, i), i);
	return out;
}

struct fact_shape infer_pool(const struct infer_op *o)
{
	const struct fact_shape *image = infer_in(o, 0);
	const struct fact_list size = facts_list(o->facts, "ksize"),
	                       stride = facts_list(o->facts, "strides");
	struct fact_shape out = *image;

	if (!image->known || image->rank < 3 || size.n != image->rank || stride.n != image->rank)
		return infer_unknown();
	for (unsigned i = 0; i < image->rank; i++)
		out.dim[i] = places(o, image->dim[i], size.v[i], stride.v[i], i);
	return out;
}

struct fact_shape infer_resize(const struct infer_op *o)
{
	const struct fact_list *size = infer_values(o, 1);
	struct fact_shape out = *infer_in(o, 0);

	if (!out.known || out.rank != 4)
		return infer_unknown();
	out.dim[1] = size->n == 2 ? size->v[0] : -1;
	out.dim[2] = size->n == 2 ? size->v[1] : -1;
	return out;
}

/* Moves blocks of positions into channels, or back. */
static struct fact_shape move_blocks(const struct infer_op *o, bool into_channels)
{
	int64_t block = facts_number(o->facts, "block_size", 0);
	struct fact_shape out = *infer_in(o, 0);

	if (!out.known || out.rank != 4 || block < 1)
		return infer_unknown();
	const struct image_layout at = layout_of(o, out.rank);
	for (unsigned i = 0; i < out.rank; i++) {
		bool position = i - at.positions < 2;
		int64_t factor = position ? block : num_mul(block, block);
		if (out.dim[i] < 0 || (!position && i != at.channels))
			continue;
		out.dim[i] = position == into_channels ? out.dim[i] / factor
		                                       : num_mul(out.dim[i], factor);
	}
	return out;
}

struct fact_shape infer_space_to_depth(const struct infer_op *o)
{
	return move_blocks(o, true);
}

struct fact_shape infer_depth_to_space(const struct infer_op *o)
{
	return move_blocks(o, false);
}
