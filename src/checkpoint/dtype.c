/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of tensors, and their values as numbers. Floats below 32 bits are assembled from sign,
 * exponent and mantissa.
 */
#include "checkpoint/ckpt.h"

#include <math.h>

#include "base/bits.h"

/* clang-format off */
static const struct dtype table[] = {
	{ 1, "float32", 4, 4, DTYPE_FLOAT, CARRY_FLOAT, 0, 0, 0, 0, 0 },
	{ 2, "float64", 8, 8, DTYPE_FLOAT, CARRY_DOUBLE, 0, 0, 0, 0, 0 },
	{ 3, "int32", 4, 4, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 4, "uint8", 1, 1, DTYPE_UINT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 5, "int16", 2, 2, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 6, "int8", 1, 1, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 7, "string", 0, 0, DTYPE_STRING, CARRY_STRING, 0, 0, 0, 0, 0 },
	{ 8, "complex64", 8, 4, DTYPE_COMPLEX, CARRY_SCOMPLEX, 0, 0, 0, 0, 0 },
	{ 9, "int64", 8, 8, DTYPE_INT, CARRY_INT64, 0, 0, 0, 0, 0 },
	{ 10, "bool", 1, 1, DTYPE_UINT, CARRY_BOOL, 0, 0, 0, 0, 0 },
	{ 11, "qint8", 1, 1, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 12, "quint8", 1, 1, DTYPE_UINT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 13, "qint32", 4, 4, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 14, "bfloat16", 2, 2, DTYPE_FLOAT, CARRY_HALF, 8, 7, 127, DTYPE_IEEE, 0 },
	{ 15, "qint16", 2, 2, DTYPE_INT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 16, "quint16", 2, 2, DTYPE_UINT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 17, "uint16", 2, 2, DTYPE_UINT, CARRY_INT, 0, 0, 0, 0, 0 },
	{ 18, "complex128", 16, 8, DTYPE_COMPLEX, CARRY_DCOMPLEX, 0, 0, 0, 0, 0 },
	{ 19, "float16", 2, 2, DTYPE_FLOAT, CARRY_HALF, 5, 10, 15, DTYPE_IEEE, 0 },
	{ 22, "uint32", 4, 4, DTYPE_UINT, CARRY_UINT32, 0, 0, 0, 0, 0 },
	{ 23, "uint64", 8, 8, DTYPE_UINT, CARRY_UINT64, 0, 0, 0, 0, 0 },
	{ 24, "float8_e5m2", 1, 1, DTYPE_FLOAT, CARRY_NONE, 5, 2, 15, DTYPE_IEEE, 0 },
	{ 25, "float8_e4m3fn", 1, 1, DTYPE_FLOAT, CARRY_NONE, 4, 3, 7, DTYPE_FN, 0 },
	{ 26, "float8_e4m3fnuz", 1, 1, DTYPE_FLOAT, CARRY_NONE, 4, 3, 8, DTYPE_FNUZ, 0 },
	{ 27, "float8_e4m3b11fnuz", 1, 1, DTYPE_FLOAT, CARRY_NONE, 4, 3, 11, DTYPE_FNUZ, 0 },
	{ 28, "float8_e5m2fnuz", 1, 1, DTYPE_FLOAT, CARRY_NONE, 5, 2, 16, DTYPE_FNUZ, 0 },
	{ 29, "int4", 1, 1, DTYPE_INT, CARRY_NONE, 0, 0, 0, 0, 4 },
	{ 30, "uint4", 1, 1, DTYPE_UINT, CARRY_NONE, 0, 0, 0, 0, 4 },
	{ 31, "int2", 1, 1, DTYPE_INT, CARRY_NONE, 0, 0, 0, 0, 2 },
	{ 32, "uint2", 1, 1, DTYPE_UINT, CARRY_NONE, 0, 0, 0, 0, 2 },
	{ 33, "float4_e2m1fn", 1, 1, DTYPE_FLOAT, CARRY_NONE, 2, 1, 1, DTYPE_FINITE, 0 },
};
/* clang-format on */

const struct dtype *dtype_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].number == number)
			return &table[i];
	return NULL;
}

static uint64_t bits_of(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	if (n == 4)
		return le32_get(p);
	if (n == 8)
		return le64_get(p);
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* Returns the value of a float of sign, d->exponent and d->mantissa bits. */
static double small_float(const struct dtype *d, uint32_t v)
{
	uint32_t sign = v >> (d->exponent + d->mantissa) & 1;
	uint32_t top = (1u << d->exponent) - 1, exponent = v >> d->mantissa & top;
	uint32_t mantissa = v & ((1u << d->mantissa) - 1);
	double x;

	if (d->specials == DTYPE_FNUZ && sign && !exponent && !mantissa)
		return (double)NAN;
	if (d->specials == DTYPE_FN && exponent == top && mantissa + 1 == 1u << d->mantissa)
		return sign ? -(double)NAN : (double)NAN;
	if (d->specials == DTYPE_IEEE && exponent == top)
		x = mantissa ? (double)NAN : (double)INFINITY;
	else if (exponent)
		x = ldexp((1u << d->mantissa) + mantissa, (int)exponent - d->bias - d->mantissa);
	else
		x = ldexp(mantissa, 1 - d->bias - d->mantissa);
	return sign ? -x : x;
}

static double wide_float(const uint8_t *p, size_t n)
{
	uint64_t w = bits_of(p, n);
	uint32_t h = (uint32_t)w;
	double d;
	float f;

	if (n == 4) {
		memcpy(&f, &h, 4);
		return (double)f;
	}
	memcpy(&d, &w, 8);
	return d;
}

int64_t dtype_int(const struct dtype *d, const uint8_t *p)
{
	unsigned bits = d->bits ? d->bits : 8u * d->size;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): numbers have bits */
	uint64_t v = bits_of(p, d->size) << (64 - bits);

	return d->kind == DTYPE_INT ? (int64_t)v >> (64 - bits) : (int64_t)(v >> (64 - bits));
}

double dtype_double(const struct dtype *d, const uint8_t *p)
{
	switch (d->kind) {
	case DTYPE_INT: return (double)dtype_int(d, p);
	case DTYPE_UINT: return (double)(uint64_t)dtype_int(d, p);
	case DTYPE_COMPLEX: return wide_float(p, d->part);
	case DTYPE_FLOAT:
		return d->exponent ? small_float(d, (uint32_t)bits_of(p, d->size))
		                   : wide_float(p, d->size);
	case DTYPE_STRING: break;
	}
	return 0;
}

void dtype_swap(const struct dtype *d, uint8_t *p, size_t n)
{
	size_t w = d->part;

	for (uint8_t *end = p + n * d->size; w > 1 && p < end; p += w) {
		for (size_t i = 0; i < w / 2; i++) {
			uint8_t c = p[i];
			p[i] = p[w - 1 - i];
			p[w - 1 - i] = c;
		}
	}
}
