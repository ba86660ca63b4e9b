/* SPDX-License-Identifier: Apache-2.0
 *
 * Float operations of matrix products and convolutions of compiled programs, from their shapes: a
 * multiply-add counts as two operations. In a convolution, only elements inside the image count,
 * like in the compiler. Other instructions have none.
 *
 *   Shape        dimensions 3  tuple_shapes 4
 *   Window       dimensions 1 {size 1, stride 2, padding_low 3, window_dilation 5, base_dilation 6}
 *   Convolution  kernel_input_feature 3  input_spatial 11  output_spatial 12  output_batch 9
 *                output_feature 10
 *   Dot          lhs_contracting 1
 */
#include "trace/read/xspace/xspace_internal.h"

#define RANK_MAX    16
#define DILATED_MAX ((int64_t)1 << 16) /* pairs of positions that are counted one by one */
#define KERNEL_MAX  ((int64_t)1 << 20)
#define GEMM_TARGET "__cublas$"
#define CONV_TARGET "__cudnn$conv"
#define CONTRACTING "\"lhs_contracting_dimensions\":["

/* Dimensions of a shape, or indices of dimensions. */
struct dims {
	int64_t v[RANK_MAX];
	unsigned n;
	bool bad; /* more than RANK_MAX */
};

static void add_dim(struct dims *d, int64_t v)
{
	if (d->n < RANK_MAX)
		d->v[d->n++] = v;
	else
		d->bad = true;
}

/* Takes the numbers of a repeated field. */
static void take_dims(struct leaf *l, struct dims *to)
{
	if ((l->tag & 7) == WIRE_VARINT) {
		add_dim(to, (int64_t)leaf_varint(l));
		return;
	}
	struct leaf packed = leaf_of(leaf_bytes(l));
	while (packed.p < packed.end && !packed.bad)
		add_dim(to, (int64_t)leaf_varint(&packed));
	to->bad |= packed.bad;
}

/* Returns the dimensions in a field of a message; for a tuple, of its first part. */
static struct dims dims_in(struct str message, uint32_t field, uint32_t tuple)
{
	struct dims to = { .n = 0 };

	for (unsigned depth = 0; depth < 2; depth++) {
		struct leaf l = leaf_of(message);
		struct str first = STR_NONE;
		while (leaf_next(&l)) {
			if (l.tag >> 3 == field)
				take_dims(&l, &to);
			else if (tuple && l.tag == LEAF_TAG(tuple, WIRE_BYTES) && !first.p)
				first = leaf_bytes(&l);
			else
				leaf_skip(&l);
		}
		if (l.bad || !first.p)
			break;
		message = first;
	}
	return to;
}

static struct dims shape_dims(struct str shape)
{
	return dims_in(shape, 3, 4);
}

static struct dims operand_dims(const struct xprogram *p, const struct xinstruction *i, size_t n)
{
	uint32_t at;

	if (n >= i->operands.n || !imap_get(&p->of_id, (uint64_t)i->operands.v[n], &at))
		return (struct dims){ .bad = true };
	return shape_dims(p->instructions.v[at].shape);
}

static int64_t product(const struct dims *d)
{
	int64_t all = 1;

	for (unsigned i = 0; i < d->n; i++)
		all = num_mul(all, d->v[i]);
	return all;
}

/* Returns a dimension by its index; 0 if there is none. */
static int64_t dim_at(const struct dims *d, int64_t i)
{
	return i >= 0 && i < (int64_t)d->n && d->v[i] > 0 ? d->v[i] : 0;
}

/* ---- matrix products ---- */

/* Returns 2 * elements of the result * length of the sums. */
static int64_t dot_flops(
        const struct xprogram *p, const struct xinstruction *i, const struct dims *contracting)
{
	struct dims out = shape_dims(i->shape), left = operand_dims(p, i, 0);
	int64_t sums = 1;

	if (out.bad || left.bad || contracting->bad)
		return 0;
	for (unsigned k = 0; k < contracting->n; k++)
		sums = num_mul(sums, dim_at(&left, contracting->v[k]));
	return num_mul(2, num_mul(product(&out), sums));
}

/* The dimensions that the configuration of a library call names: ["1"]. */
static struct dims config_dims(struct str config)
{
	size_t at = str_find(config, S(CONTRACTING));
	struct dims to = { .bad = at == SIZE_MAX };
	int64_t v;

	if (to.bad)
		return to;
	config = str_sub(config, at + sizeof CONTRACTING - 1, SIZE_MAX);
	config = str_sub(config, 0, str_find_char(config, ']'));
	while (config.n) {
		size_t comma = str_find_char(config, ',');
		struct str word = str_sub(config, 0, comma);
		if (word.n > 2 && num_parse_i64(str_sub(word, 1, word.n - 2), &v))
			add_dim(&to, v);
		config = comma == SIZE_MAX ? STR_NONE : str_sub(config, comma + 1, SIZE_MAX);
	}
	return to;
}

/* ---- convolutions ---- */

/* A dimension of the window. */
struct window {
	int64_t size, stride, low, dilation, base;
};

static struct window read_window(struct str bytes)
{
	struct window w = { .stride = 1, .dilation = 1, .base = 1 };
	struct leaf l = leaf_of(bytes);

	while (leaf_next(&l)) {
		switch (l.tag) {
		case LEAF_TAG(1, WIRE_VARINT): w.size = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(2, WIRE_VARINT): w.stride = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(3, WIRE_VARINT): w.low = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(5, WIRE_VARINT): w.dilation = (int64_t)leaf_varint(&l); break;
		case LEAF_TAG(6, WIRE_VARINT): w.base = (int64_t)leaf_varint(&l); break;
		default: leaf_skip(&l);
		}
	}
	return w;
}

/* True if a position, computed from a position in the result, is inside the image. */
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

/* Counts the pairs of positions in the result and the kernel whose input is inside the image. */
static int64_t count_pairs(const struct window *w, int64_t in, int64_t out)
{
	const int64_t wide = INT32_MAX;
	int64_t pairs = 0;

	if (w->size < 0 || w->size > KERNEL_MAX || w->stride < 1 || w->stride > wide ||
	        w->dilation < 1 || w->dilation > wide || w->base < 1 || w->base > wide ||
	        w->low > wide || w->low < -wide || in > wide || out > wide ||
	        (w->base > 1 && num_mul(w->size, out) > DILATED_MAX))
		return 0;
	for (int64_t k = 0; k < w->size; k++)
		pairs = num_add(pairs, count_places(w, k * w->dilation - w->low, in, out));
	return pairs;
}

static int64_t read_number(struct str message, uint32_t field)
{
	struct dims d = dims_in(message, field, 0);

	return d.n ? d.v[d.n - 1] : 0;
}

/* Finds the shapes of a convolution. The library's calls for gradients compute the image or the
 * kernel. */
static void conv_shapes(const struct xprogram *p, const struct xinstruction *i, struct dims *image,
        struct dims *kernel, struct dims *out)
{
	struct dims result = shape_dims(i->shape);

	*image = operand_dims(p, i, 0);
	*kernel = operand_dims(p, i, 1);
	*out = result;
	if (str_eq(i->target, S(CONV_TARGET "BackwardInput"))) {
		*out = *image;
		*image = result;
	} else if (str_eq(i->target, S(CONV_TARGET "BackwardFilter"))) {
		*out = *kernel;
		*kernel = result;
	}
}

static int64_t conv_flops(const struct xprogram *p, const struct xinstruction *i)
{
	struct dims image, kernel, out, from = dims_in(i->convolution, 11, 0),
	                                to = dims_in(i->convolution, 12, 0);
	struct leaf l = leaf_of(i->window);
	unsigned at = 0;

	conv_shapes(p, i, &image, &kernel, &out);
	if (image.bad || kernel.bad || out.bad || from.n != to.n)
		return 0;
	int64_t all = num_mul(dim_at(&kernel, read_number(i->convolution, 3)),
	        num_mul(dim_at(&out, read_number(i->convolution, 9)),
	                dim_at(&out, read_number(i->convolution, 10))));
	while (leaf_next(&l)) {
		if (l.tag != LEAF_TAG(1, WIRE_BYTES) || at >= from.n) {
			leaf_skip(&l);
			continue;
		}
		struct window w = read_window(leaf_bytes(&l));
		all = num_mul(
		        all, count_pairs(&w, dim_at(&image, from.v[at]), dim_at(&out, to.v[at])));
		at++;
	}
	return num_mul(2, all);
}

int64_t hlo_flops(const struct xprogram *p, const struct xinstruction *i)
{
	struct dims contracting;

	if (str_eq(i->opcode, S("dot"))) {
		contracting = dims_in(i->dot, 1, 0);
		return dot_flops(p, i, &contracting);
	}
	if (str_eq(i->opcode, S("convolution")) || str_starts(i->target, S(CONV_TARGET)))
		return conv_flops(p, i);
	if (str_starts(i->target, S(GEMM_TARGET))) {
		contracting = config_dims(i->config);
		return dot_flops(p, i, &contracting);
	}
	return 0;
}
