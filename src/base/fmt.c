/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text. Two decimals are computed exactly from the bits of the double, so neither the
 * locale nor printf matters; printf is used only for %g and for numbers of 2^63 and more. Units
 * follow the original: three steps, without a carry from one to the next.
 */
#include "base/fmt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_MAX 20 /* maximum number of digits of a uint64_t */

/* Writes the digits of v before end, two at a time. Returns their first byte. */
static char *put_digits(char *end, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
	                            "25262728293031323334353637383940414243444546474849"
	                            "50515253545556575859606162636465666768697071727374"
	                            "75767778798081828384858687888990919293949596979899";

	for (; v >= 100; v /= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
		return end;
	}
	*--end = (char)('0' + v);
	return end;
}

char *fmt_put_i64(char *p, int64_t v)
{
	char text[DIGITS_MAX], *end = text + sizeof text;
	char *from = put_digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);

	if (v < 0)
		*p++ = '-';
	memcpy(p, from, (size_t)(end - from));
	return p + (end - from);
}

void fmt_u64(struct sb *b, uint64_t v)
{
	char text[DIGITS_MAX], *end = text + sizeof text;
	char *p = put_digits(end, v);

	sb_put(b, str_make(p, (size_t)(end - p)));
}

void fmt_i64(struct sb *b, int64_t v)
{
	b->n = (size_t)(fmt_put_i64(sb_room(b, FMT_I64_MAX), v) - b->p);
}

/* Returns the hundredths of v (below 2^63) and its integer part. The fraction of a double below
 * 2^63 is f / 2^k with f < 2^53, and 100 f / 2^k is exact in 64 bits; for k above 62 the number is
 * below 2^-9, less than half a hundredth. */
static uint64_t split_hundredths(double v, uint64_t *whole)
{
	uint64_t bits, f, q, rest, half;
	int k;

	*whole = (uint64_t)v;
	v -= (double)*whole;
	if (v < 0x1p-9)
		return 0;
	memcpy(&bits, &v, sizeof bits);
	k = 1023 + 52 - (int)(bits >> 52);
	f = ((bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52) * 100;
	q = f >> k;
	rest = f & (((uint64_t)1 << k) - 1);
	half = (uint64_t)1 << (k - 1);
	return q + (rest > half || (rest == half && (q & 1)));
}

void fmt_fixed2(struct sb *b, double v)
{
	char text[DIGITS_MAX + 4], *end = text + sizeof text, *p;
	uint64_t whole, cents;

	if (!(fabs(v) < 0x1p63)) {
		if (isfinite(v))
			sb_fmt(b, "%.0f.00", v);
		else
			sb_fmt(b, "%f", v);
		return;
	}
	cents = split_hundredths(fabs(v), &whole);
	if (cents == 100) {
		cents = 0;
		whole++;
	}
	end[-1] = (char)('0' + cents % 10);
	end[-2] = (char)('0' + cents / 10);
	end[-3] = '.';
	p = put_digits(end - 3, whole);
	if (signbit(v))
		*--p = '-';
	sb_put(b, str_make(p, (size_t)(end - p)));
}

void fmt_ratio2(struct sb *b, int64_t v, int64_t div)
{
	fmt_fixed2(b, (double)v / (double)div);
}

void fmt_general(struct sb *b, double v, int digits)
{
	char text[128];
	int n = snprintf(text, sizeof text, "%.*g", digits < 100 ? digits : 100, v);
	bool point = false;

	/* the locale's decimal point is the character that is neither digit, sign nor letter */
	for (int i = 0; i < n; i++) {
		char c = text[i];
		bool keep =
		        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+';

		if (keep)
			sb_char(b, c);
		else if (!point)
			sb_char(b, '.');
		point = !keep;
	}
}

void fmt_real(struct sb *b, double v)
{
	char text[128];
	int digits = 15;

	while (digits < 17 &&
	        (snprintf(text, sizeof text, "%.*g", digits, v), strtod(text, NULL) != v))
		digits++;
	fmt_general(b, v, digits);
}

/* Prints n in the unit of the first step, or scaled to the second, third or (if present) fourth. */
static void put_scaled(struct sb *b, int64_t n, const char *const *units)
{
	int64_t div = 1000;
	int i = 1;

	if (n < 1000) {
		fmt_i64(b, n);
		sb_put(b, str_of(units[0]));
		return;
	}
	while (units[i + 1] && n / 1000 >= div) {
		div *= 1000;
		i++;
	}
	fmt_ratio2(b, n, div);
	sb_put(b, str_of(units[i]));
}

static const char *const COUNTS[] = { "", "k", "m", "b", NULL };
static const char *const TIMES[] = { "us", "ms", "sec", NULL };
static const char *const SIZES[] = { "B", "KB", "MB", NULL };

/* Units of numbers that the original does not print. */
static const char *const SI_COUNTS[] = { "", "k", "M", "G", "T", "P", "E", NULL };
static const char *const SI_TIMES[] = { "us", "ms", "s", NULL };
static const char *const SI_SIZES[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB", NULL };

static const char *const *units_of(enum quantity q)
{
	return q == QUANTITY_TIME ? TIMES : q == QUANTITY_BYTES ? SIZES : COUNTS;
}

static const char *const *si_units_of(enum quantity q)
{
	return q == QUANTITY_TIME ? SI_TIMES : q == QUANTITY_BYTES ? SI_SIZES : SI_COUNTS;
}

static void put_scaled_real(struct sb *b, double v, const char *const *units)
{
	int i = 0;

	for (; units[i + 1] && v >= 1000; i++)
		v /= 1000;
	fmt_fixed2(b, v);
	sb_put(b, str_of(units[i]));
}

void fmt_count_real(struct sb *b, double v)
{
	put_scaled_real(b, v, COUNTS);
}

void fmt_micros_real(struct sb *b, double v)
{
	put_scaled_real(b, v, TIMES);
}

void fmt_bytes_real(struct sb *b, double v)
{
	put_scaled_real(b, v, SIZES);
}

static void put_si(struct sb *b, double v, const char *const *units)
{
	double size = fabs(v);
	int u = 0;

	for (; units[u + 1] && size >= 999.5; u++)
		size /= 1000;
	bool whole = !u && size == floor(size);
	sb_fmt(b, "%s%.*f%s", v < 0 ? "-" : "",
	        whole || size >= 99.95 ? 0
	        : size >= 9.995        ? 1
	                               : 2,
	        size, units[u]);
}

void fmt_si(struct sb *b, double v)
{
	put_si(b, v, SI_COUNTS);
}

void fmt_si_bytes(struct sb *b, double v)
{
	put_si(b, v, SI_SIZES);
}

void fmt_fraction(struct sb *b, enum quantity q, struct fraction f)
{
	const char *const *units = units_of(q);
	struct fraction ns = { num_mul(f.v, 1000), f.per };

	if (num_stopped(f.v) || f.v % f.per == 0) {
		put_scaled(b, num_stopped(f.v) ? f.v : f.v / f.per, units);
	} else if (q == QUANTITY_TIME && f.v > 0 && f.v < f.per) {
		if (ns.v % ns.per == 0)
			fmt_i64(b, ns.v / ns.per);
		else
			fmt_fixed2(b, fraction_real(ns));
		sb_put(b, S("ns"));
	} else {
		put_scaled_real(b, fraction_real(f), units);
	}
}

/* Appends microseconds; below a nanosecond as fmt_fraction does. */
static void put_time_si(struct sb *b, struct fraction us)
{
	int64_t ns = num_stopped(us.v) ? us.v : fraction_in(us, 1000);

	if (ns || !us.v)
		fmt_time(b, ns);
	else
		fmt_fraction(b, QUANTITY_TIME, us);
}

void fmt_fraction_si(struct sb *b, enum quantity q, struct fraction f)
{
	if (q == QUANTITY_TIME)
		put_time_si(b, f);
	else
		put_si(b, fraction_real(f), si_units_of(q));
}

/* Rounds to three digits, half to even. */
static uint64_t three_digits(uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 1000)
		unit *= 10;
	uint64_t rest = n % unit, digits = n / unit;
	if (rest > unit - rest || (rest == unit - rest && rest && (digits & 1)))
		digits++;
	return digits > UINT64_MAX / unit ? n : digits * unit;
}

void fmt_quantity(struct sb *b, enum quantity q, int64_t v, bool sign)
{
	fmt_quantity_in(b, q, v, 1, sign);
}

static void put_quantity(
        struct sb *b, const char *const *units, int64_t v, int64_t parts, bool sign)
{
	uint64_t n = three_digits(v < 0 ? 0 - (uint64_t)v : (uint64_t)v), unit = (uint64_t)parts;
	int step = 0;

	while (n / unit >= 1000 && units[step + 1]) {
		unit *= 1000;
		step++;
	}
	if (v < 0 || sign)
		sb_char(b, v < 0 ? '-' : '+');
	fmt_u64(b, n / unit);
	uint64_t rest = n % unit;
	if (rest)
		sb_char(b, '.');
	while (rest) {
		unit /= 10;
		/* cppcheck-suppress zerodivcond ; rest is below unit, which is a power of ten */
		sb_char(b, (char)('0' + rest / unit));
		rest %= unit;
	}
	sb_put(b, str_of(units[step]));
}

void fmt_quantity_in(struct sb *b, enum quantity q, int64_t v, int64_t parts, bool sign)
{
	put_quantity(b, si_units_of(q), v, parts, sign);
}

void fmt_quantity_legacy(struct sb *b, enum quantity q, int64_t v, int64_t parts, bool sign)
{
	put_quantity(b, units_of(q), v, parts, sign);
}

void fmt_time(struct sb *b, int64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = fabs((double)ns);
	size_t u = 0;

	for (; u < 3 && v >= 999.5; u++)
		v /= 1000;
	sb_fmt(b, "%s%.*f%s", ns < 0 ? "-" : "",
	        !u || v >= 99.95 ? 0
	        : v >= 9.995     ? 1
	                         : 2,
	        v, units[u]);
}
