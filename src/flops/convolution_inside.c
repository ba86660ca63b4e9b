/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of compiled programs, whose dimensions have any order. Like in the compiler, only
 * elements inside the image count: neither padding nor the gaps of a dilated image.
 */
#include "flops/flops_internal.h"

#define DILATED_MAX ((int64_t)1 << 16) /* maximum number of pairs that are counted one by one */
#define KERNEL_MAX  ((int64_t)1 << 20)

/* The settings of a call, by number. */
enum inside_setting {
	INSIDE_KERNEL_FEATURE, /* dimension of the kernel with the input channels of a group */
	INSIDE_RESULT,         /* dimensions of the result with the batch and the output channels */
	INSIDE_FROM,           /* dimensions of the image with positions */
	INSIDE_TO,             /* dimensions of the result with positions */
	INSIDE_SIZE,           /* sizes of the window; this and the following settings are lists by
	                          dimension */
	INSIDE_STRIDE,
	INSIDE_LOW, /* padding before the image */
	INSIDE_DILATION,
	INSIDE_BASE, /* dilation of the image */
	INSIDE_N
};

/* A dimension of the window. */
struct window {
	int64_t size, stride, low, dilation, base;
};

/* True if a position in the dilated image is an element of the image: neither padding nor a gap. */
static bool is_inside(const struct window *w, int64_t at, int64_t in)
{
	return at >= 0 && at % w->base == 0 && at / w->base < in;
}

/* Returns the number of positions in the result that use an element of the image through one
 * element of the kernel. */
static int64_t count_places(const struct window *w, int64_t offset, int64_t in, int64_t out)
{
	int64_t first = offset < 0 ? (-offset + w->stride - 1) / w->stride : 0;
	int64_t last = in - 1 < offset ? -1 : (in - 1 - offset) / w->stride, n = 0;

	if (w->base == 1)
		return last >= out ? (out > first ? out - first : 0)
		                   : (last >= first ? last - first + 1 : 0);
	for (int64_t o = 0; o < out; o++)
		n += is_inside(w, o * w->stride + offset, in);
	return n;
}

/* Counts the pairs of a position in the result and a position in the kernel that use an element of
 * the image. Returns -1 if the window is invalid, or counting would take too long. */
static int64_t count_pairs(const struct window *w, int64_t in, int64_t out)
{
	const int64_t wide = INT32_MAX;
	int64_t pairs = 0;

	if (w->size < 0 || w->size > KERNEL_MAX || w->stride < 1 || w->stride > wide ||
	        w->dilation < 1 || w->dilation > wide || w->base < 1 || w->base > wide ||
	        w->low > wide || w->low < -wide || in > wide || out > wide ||
	        (w->base > 1 && num_mul(w->size, out) > DILATED_MAX))
		return -1;
	for (int64_t k = 0; k < w->size; k++)
		pairs = num_add(pairs, count_places(w, k * w->dilation - w->low, in, out));
	return pairs;
}

/* Returns the size of the dimension that value i of a setting names, or -1. */
static int64_t named(const struct op_tensor *t, const struct op_setting *s, unsigned i)
{
	return i < s->n && s->v[i] >= 0 && s->v[i] < (int64_t)t->rank ? t->dim[s->v[i]] : -1;
}

struct flops flops_convolution_inside(const struct op_call *c)
{
	const struct op_tensor *image = call_input(c, 0), *kernel = call_input(c, 1);
	int64_t v[4 + TENSOR_RANK_MAX] = { 2 };
	struct op_setting s[INSIDE_N];
	unsigned n = 4;

	if (!image->known || !kernel->known || !c->output.known)
		return lacking(LACK_SHAPE, image->known ? 1 : 0);
	for (unsigned i = 0; i < INSIDE_N; i++)
		s[i] = call_setting(c, (int)i);
	v[1] = named(&c->output, &s[INSIDE_RESULT], 0);
	v[2] = named(&c->output, &s[INSIDE_RESULT], 1);
	v[3] = named(kernel, &s[INSIDE_KERNEL_FEATURE], 0);
	for (unsigned i = 0; i < s[INSIDE_SIZE].n; i++) {
		const struct window w = { s[INSIDE_SIZE].v[i], setting_at(&s[INSIDE_STRIDE], i),
			setting_at(&s[INSIDE_LOW], i), setting_at(&s[INSIDE_DILATION], i),
			setting_at(&s[INSIDE_BASE], i) };
		int64_t in = named(image, &s[INSIDE_FROM], i),
		        out = named(&c->output, &s[INSIDE_TO], i);
		v[n++] = in < 0 || out < 0 ? -1 : count_pairs(&w, in, out);
	}
	for (unsigned i = 0; i < n; i++)
		if (v[i] < 0)
			return lacking(LACK_SENSE, 0);
	struct flops f = counted(c, v, n);
	add_bytes(&f, c, c->output.elements, 0);
	return f;
}
