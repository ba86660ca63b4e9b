/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units, as given in options, gates and environment variables. k, M, G and T are
 * powers of 1000; Ki, Mi, Gi and Ti are powers of 1024; case does not matter. Every function reads
 * the whole text, and returns false and sets nothing if the text is malformed or the number does
 * not fit. Uses neither allocation nor locale, because the collector links it too.
 */
#ifndef TFPROF_BASE_QUANTITY_H
#define TFPROF_BASE_QUANTITY_H

#include "base/str.h"

enum quantity {
	QUANTITY_COUNT, /* 3k, 1.5M, 2b (10^9, as the views print it) */
	QUANTITY_BYTES, /* 10MB, 64Ki, 1.5GiB, 100 */
	QUANTITY_TIME   /* microseconds: 20ms, 3sec, 7 */
};

/* Reads a number of that kind, rounded to an integer. It may have a sign and decimals. */
bool quantity_parse(struct str s, enum quantity q, int64_t *v);

/* Units of time, in nanoseconds. */
#define QUANTITY_NS 1
#define QUANTITY_US 1000
#define QUANTITY_MS 1000000
#define QUANTITY_S  1000000000

/* Reads a time such as 20ms, 1.5s, 2min or 1h. `bare` is the unit of a number without one, `to` the
 * unit of the result, which is rounded. */
bool quantity_parse_time(struct str s, int64_t bare, int64_t to, int64_t *v);

/* Returns the nanoseconds of a unit of time such as "ms" or "seconds", or 0 if it is unknown. */
int64_t quantity_time_unit(struct str s);

/* Reads a plain decimal number, without exponent. */
bool quantity_parse_real(struct str s, double *v);

/* Reads a fraction: 0.1 or 10%. */
bool quantity_parse_share(struct str s, double *v);

#endif
