/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers: parsing, with and without units, and saturating sums.
 */
#ifndef TFPROF_BASE_NUM_H
#define TFPROF_BASE_NUM_H

#include <math.h>

#include "base/str.h"

/* Reads decimal digits with optional sign and surrounding blanks. Returns false on any other text
 * and on overflow. */
bool num_parse_i64(struct str s, int64_t *out);
bool num_parse_i32(struct str s, int32_t *out);

/* Returns the number, or the nearest value of the type. */
static inline int64_t num_from_u64(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Returns the number without its fraction, or the nearest value of the type; 0 for NaN. */
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

/* True if a sum has reached a limit of the type. */
static inline bool num_stopped(int64_t v)
{
	return v == INT64_MAX || v == INT64_MIN;
}

/* Adds like num_add, for running sums: a sum that has reached a limit of the type stays there. */
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

/* ---- fractions ---- */

/* The number v / per; per is at least 1. A saturated v is used without division. */
struct fraction {
	int64_t v, per;
};

/* Returns a / b, rounded to the nearest integer; b is at least 1. */
static inline int64_t num_div(int64_t a, int64_t b)
{
	int64_t rest = a % b;

	return a / b + (rest >= b - b / 2) - (rest <= b / 2 - b);
}

static inline double fraction_real(struct fraction f)
{
	return (double)f.v / (double)f.per;
}

/* Returns the number in parts of 1 / parts, rounded to the nearest integer: 3/2 in hundredths is
 * 150. The product of per and parts must be below 2^63. */
static inline int64_t fraction_in(struct fraction f, int64_t parts)
{
	if (num_stopped(f.v) || f.per == parts)
		return f.v;
	return num_add(num_mul(f.v / f.per, parts), num_div(num_mul(f.v % f.per, parts), f.per));
}

/* ---- numbers with units ----
 *
 * Numbers with units, as given in options, gates and environment variables. k, M, G and T are
 * powers of 1000; Ki, Mi, Gi and Ti are powers of 1024; case does not matter. Every function reads
 * the whole text. It returns false and leaves the result unchanged if the text is malformed or the
 * number does not fit. Does not allocate or use the locale, because the collector links it too.
 */

enum quantity {
	QUANTITY_COUNT, /* 3k, 1.5M, 2b (10^9, as the views print it) */
	QUANTITY_BYTES, /* 10MB, 64Ki, 1.5GiB, 100 */
	QUANTITY_TIME   /* microseconds: 20ms, 3sec, 7 */
};

/* Reads a number of the given kind, and rounds it to an integer. Sign and decimals are allowed. */
bool quantity_parse(struct str s, enum quantity q, int64_t *v);

/* Examples of a count, a size and a time, for help texts and errors. */
#define COUNT_EXAMPLE "3k"
#define BYTES_EXAMPLE "1MB"
#define TIME_EXAMPLE  "20ms"

/* Returns the reason why quantity_parse refuses a text: "not a size, such as 1MB". */
const char *quantity_refusal(enum quantity q);

/* Units of time, in nanoseconds. */
#define QUANTITY_NS 1
#define QUANTITY_US 1000
#define QUANTITY_MS 1000000
#define QUANTITY_S  1000000000

/* Reads a time such as 20ms, 1.5s, 2min or 1h. bare: the unit of a number without a suffix. to: the
 * unit of the result, which is rounded to an integer. */
bool quantity_parse_time(struct str s, int64_t bare, int64_t to, int64_t *v);

/* Returns the nanoseconds of a unit of time such as "ms" or "seconds", or 0 if it is unknown. */
int64_t quantity_time_unit(struct str s);

/* Reads a plain decimal number, without exponent. */
bool quantity_parse_real(struct str s, double *v);

/* Reads a fraction such as 0.1 or 10%. */
bool quantity_parse_share(struct str s, double *v);

#endif
