/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units, as options, gates and environment variables give them. k, M, G and T are
 * powers of 1000, Ki, Mi, Gi and Ti powers of 1024, in capitals or small letters. Every function
 * here reads the whole text, returns false and sets nothing if the text is malformed or the number
 * does not fit. Needs neither memory nor locale: the collector uses it too.
 */
#ifndef TFPROF_BASE_QUANTITY_H
#define TFPROF_BASE_QUANTITY_H

#include "base/str.h"

enum quantity {
	QUANTITY_COUNT, /* 3k, 1.5M, 2b (10^9, as the views print it) */
	QUANTITY_BYTES, /* 10MB, 64Ki, 1.5GiB, 100 */
	QUANTITY_TIME   /* microseconds: 20ms, 3sec, 7 */
};

/* Reads a number of that kind, rounded to a whole one. It may have a sign and decimals. */
bool quantity_parse(struct str s, enum quantity q, int64_t *v);

/* Units of time, in nanoseconds. */
#define QUANTITY_NS 1
#define QUANTITY_US 1000
#define QUANTITY_MS 1000000
#define QUANTITY_S  1000000000

/* Reads a time such as 20ms, 1.5s, 2min or 1h. A number without a unit counts in `bare`; the result
 * counts in `to`, rounded. */
bool quantity_parse_time(struct str s, int64_t bare, int64_t to, int64_t *v);

/* Reads a plain decimal number, without exponent. */
bool quantity_parse_real(struct str s, double *v);

/* Reads a share: 0.1 or 10%. */
bool quantity_parse_share(struct str s, double *v);

#endif
