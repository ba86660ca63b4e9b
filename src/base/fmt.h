/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text, the same in every locale.
 */
#ifndef TFPROF_BASE_FMT_H
#define TFPROF_BASE_FMT_H

#include "base/num.h"

#define FMT_I64_MAX 20 /* maximum number of characters */

char *fmt_put_i64(char *p, int64_t v); /* writes at p, and returns the end */
void fmt_i64(struct sb *b, int64_t v);
void fmt_u64(struct sb *b, uint64_t v);

/* Appends what printf("%.2f", (double)v / div) prints (IEEE division, exact value, ties to even);
 * div is 1e3, 1e6 or 1e9. */
void fmt_ratio2(struct sb *b, int64_t v, int64_t div);

void fmt_fixed2(struct sb *b, double v); /* %.2f, including inf and nan as printf spells them */
void fmt_general(struct sb *b, double v, int digits); /* %.<digits>g */

void fmt_real(struct sb *b, double v); /* the shortest text that reads back as v */

void fmt_time(struct sb *b, int64_t ns); /* 999ns, 1.00us, 10.0ms, 100s */
/* Three digits and the prefix of the unit. Whole numbers below 1000 have no decimals. */
void fmt_si(struct sb *b, double v);       /* 0.25, 999, 1.00k, 4.76T */
void fmt_si_bytes(struct sb *b, double v); /* 32B, 1.28KB, 85.0GB */

/* The original's units, with two decimals: up to billions (b), seconds (sec) and megabytes. */
void fmt_count_real(struct sb *b, double v);  /* 999.00, 1.00k, 1.00m, 1.00b */
void fmt_micros_real(struct sb *b, double v); /* 999.00us, 1.00ms, 1.00sec */
void fmt_bytes_real(struct sb *b, double v);  /* 999.00B, 1.00KB, 1.00MB */

/* Appends a fraction in the form of the functions above: 18.30us, 0.20. A time below 1us is in
 * nanoseconds: 79ns. A whole number of the first unit has no decimals: 999us. */
void fmt_fraction(struct sb *b, enum quantity q, struct fraction f);

/* Appends a time like fmt_fraction, a count or a size like fmt_si and fmt_si_bytes. Used for
 * numbers that the original does not print. */
void fmt_fraction_si(struct sb *b, enum quantity q, struct fraction f);

/* fmt_quantity appends a number with at most three significant digits: 6.22GB, 40.3MB, 32B. sign:
 * adds '+' to numbers that are not negative. fmt_quantity_in appends a number in parts of 1 /
 * parts, a power of ten. */
void fmt_quantity(struct sb *b, enum quantity q, int64_t v, bool sign);
void fmt_quantity_in(struct sb *b, enum quantity q, int64_t v, int64_t parts, bool sign);
/* Appends a number like fmt_quantity, in the original's units: 6220MB. */
void fmt_quantity_legacy(struct sb *b, enum quantity q, int64_t v, int64_t parts, bool sign);

#endif
