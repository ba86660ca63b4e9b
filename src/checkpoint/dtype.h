/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of tensor elements: the table of their names, sizes and encodings. Does not know files.
 */
#ifndef TFPROF_CHECKPOINT_DTYPE_H
#define TFPROF_CHECKPOINT_DTYPE_H

#include "base/str.h"

enum { DT_FLOAT = 1, DT_STRING = 7, DT_BOOL = 10, DT_HALF = 19 };

enum dtype_kind { DTYPE_FLOAT, DTYPE_INT, DTYPE_UINT, DTYPE_COMPLEX, DTYPE_STRING };

/* Field of TensorProto that holds the values in a version 1 checkpoint. */
enum dtype_carrier {
	CARRY_NONE,
	CARRY_FLOAT = 5,
	CARRY_DOUBLE = 6,
	CARRY_INT = 7,
	CARRY_STRING = 8,
	CARRY_SCOMPLEX = 9,
	CARRY_INT64 = 10,
	CARRY_BOOL = 11,
	CARRY_DCOMPLEX = 12,
	CARRY_HALF = 13,
	CARRY_UINT32 = 16,
	CARRY_UINT64 = 17
};

struct dtype {
	uint32_t number; /* as in files */
	const char *name;
	uint8_t size; /* bytes of an element in a file; 0: varies */
	uint8_t part; /* size of the units that byte swapping reverses */
	enum dtype_kind kind;
	enum dtype_carrier carrier;
	uint8_t exponent, mantissa; /* bits of small floats */
	int8_t bias;
	uint8_t specials; /* DTYPE_IEEE ... */
	uint8_t bits;     /* bits of integers narrower than their byte; 0: all */
};

/* How small floats encode infinity and NaN. */
enum { DTYPE_IEEE, DTYPE_FN, DTYPE_FNUZ, DTYPE_FINITE };

const struct dtype *dtype_find(uint32_t number); /* NULL: unknown, or never in a checkpoint */

/* Reads one element from little-endian bytes. */
double dtype_double(const struct dtype *d, const uint8_t *p); /* integers too; complex: real part */
int64_t dtype_int(const struct dtype *d, const uint8_t *p);   /* DTYPE_INT, DTYPE_UINT: its bits */

/* Reverses the byte order of the n elements at p. */
void dtype_swap(const struct dtype *d, uint8_t *p, size_t n);

#endif
