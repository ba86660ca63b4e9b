/* SPDX-License-Identifier: Apache-2.0
 *
 * Integers: parsing with the whole text consumed, and sums that stop at the ends of the type.
 */
#ifndef TFPROF_BASE_NUM_H
#define TFPROF_BASE_NUM_H

#include <math.h>

#include "base/str.h"

/* Reads decimal digits with optional sign and surrounding blanks; false on any other text and on
 * overflow. */
bool num_parse_i64(struct str s, int64_t *out);
bool num_parse_i32(struct str s, int32_t *out);

/* Returns the number, or the nearer end of the type. */
static inline int64_t num_from_u64(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Returns the number without its fraction, or the nearer end of the type; 0 for NaN. */
static inline int64_t num_from_real(double v)
{
	if (!(fabs(v) < 0x1p63))
		return v > 0 ? INT64_MAX : v < 0 ? INT64_MIN : 0;
	return (int64_t)v;
}

static inline int64_t num_add(int64_t a, int64_t b)
{
	int64_t r;
	if (__builtin_add_overflow(a, b, &r))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

/* True if a sum has stopped at an end of the type. */
static inline bool num_stopped(int64_t v)
{
	return v == INT64_MAX || v == INT64_MIN;
}

/* num_add for running sums: a sum that has stopped stays there. */
static inline int64_t num_sum(int64_t a, int64_t b)
{
	return num_stopped(a) ? a : num_stopped(b) ? b : num_add(a, b);
}

static inline uint64_t num_add_u64(uint64_t a, uint64_t b)
{
	uint64_t r;
	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static inline int64_t num_sub(int64_t a, int64_t b)
{
	int64_t r;
	if (__builtin_sub_overflow(a, b, &r))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return r;
}

static inline int64_t num_mul(int64_t a, int64_t b)
{
	int64_t r;
	if (__builtin_mul_overflow(a, b, &r))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return r;
}

#endif
