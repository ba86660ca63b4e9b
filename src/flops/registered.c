/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts by the rows of registered.def: finds the row of an operation, and computes its number from
 * the shapes.
 */
#include "flops/registered.h"
#include "flops/flops_internal.h"

enum registered_kind {
	REGISTERED_INPUT,     /* a * elements of the first input + b */
	REGISTERED_OUTPUT,    /* a * elements of the output */
	REGISTERED_SUM,       /* elements of the first input * (inputs - 1) */
	REGISTERED_REDUCTION, /* elements of the first input + (a - 1) * elements of the output */
	REGISTERED_POOL,      /* positions of the window * elements of the output */
	REGISTERED_POOL_GRADIENT, /* (a * positions of the window + b) * elements of input 1 */
	REGISTERED_CONVOLUTION, /* 2 * elements of the output * first a dimensions of the kernel */
	REGISTERED_IMAGE_GRADIENT,  /* 2 * image * kernel / (channels of the image * stride) */
	REGISTERED_KERNEL_GRADIENT, /* likewise; the output is the kernel */
	REGISTERED_PRODUCT /* 2 * elements of the output * dimension b of the left factor, or a of a
	                      transposed one; negative: from the end */
};

static const struct registered_row {
	const char *names;
	enum registered_kind kind;
	int a, b;
} rows[] = {
#define OPS(names, kind, a, b) { names, REGISTERED_##kind, a, b },
#include "flops/registered.def"
};

static const struct registered_row *find(struct str op)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (flops_is_among(rows[i].names, op))
			return &rows[i];
	return NULL;
}

static int64_t elements(const struct registered_shape *s, unsigned rank)
{
	int64_t n = 1;

	for (unsigned i = 0; i < s->rank && i < rank; i++)
		n = num_mul(n, s->dim[i]);
	return n;
}

static int64_t all(const struct registered_shape *s)
{
	return elements(s, REGISTERED_RANK_MAX);
}

/* Returns the number, or -1 if a shape is missing. */
static int64_t gradient(const struct registered_op *o, const struct registered_shape *image,
        const struct registered_shape *kernel)
{
	if (!o->nhwc || !image->known || !kernel->known || !image->rank)
		return -1;
	int64_t by = num_mul(image->dim[image->rank - 1], o->stride);
	return by > 0 ? num_mul(num_mul(2, all(image)), all(kernel)) / by : -1;
}

static int64_t product(const struct registered_row *r, const struct registered_op *o)
{
	const struct registered_shape *left = &o->in[0];
	int at = o->transposed ? r->a : r->b;

	if (!left->known || !o->out.known || left->rank < 2)
		return -1;
	at = at < 0 ? at + (int)left->rank : at;
	return num_mul(2, num_mul(left->dim[at], all(&o->out)));
}

/* Returns the number, or -1 if something is missing. */
static int64_t count(const struct registered_row *r, const struct registered_op *o)
{
	const struct registered_shape *in = &o->in[0], *second = &o->in[1], *out = &o->out;

	switch (r->kind) {
	case REGISTERED_INPUT: return in->known ? num_add(num_mul(r->a, all(in)), r->b) : -1;
	case REGISTERED_OUTPUT: return out->known ? num_mul(r->a, all(out)) : -1;
	case REGISTERED_SUM: return in->known ? num_mul(all(in), num_from_u64(o->inputs) - 1) : -1;
	case REGISTERED_REDUCTION:
		return in->known && out->known ? num_add(all(in), num_mul(r->a - 1, all(out))) : -1;
	case REGISTERED_POOL:
		return out->known && o->nhwc && o->window ? num_mul(o->window, all(out)) : -1;
	case REGISTERED_POOL_GRADIENT:
		return second->known && o->nhwc && o->window
		               ? num_mul(all(second), num_add(num_mul(r->a, o->window), r->b))
		               : -1;
	case REGISTERED_CONVOLUTION:
		return in->known && second->known && out->known && (int)second->rank >= r->a
		               ? num_mul(2, num_mul(all(out), elements(second, (unsigned)r->a)))
		               : -1;
	case REGISTERED_IMAGE_GRADIENT: return gradient(o, out, second);
	case REGISTERED_KERNEL_GRADIENT: return gradient(o, in, out);
	case REGISTERED_PRODUCT: return product(r, o);
	}
	return -1;
}

enum registered_answer registered_count(struct str op, const struct registered_op *o, int64_t *out)
{
	const struct registered_row *r = find(op);

	if (!r)
		return REGISTERED_NONE;
	*out = count(r, o);
	return *out < 0 ? REGISTERED_UNKNOWN : REGISTERED_COUNTED;
}
