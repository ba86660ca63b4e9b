/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers from text. The whole text must be consumed; the locale does not matter. Numbers with
 * units are computed in integers, so only the result is rounded. Independent of options: the caller
 * writes the error message.
 */
#include "base/num.h"

static struct str trim(struct str s)
{
	while (s.n && char_is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && char_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool num_parse_i64(struct str s, int64_t *out)
{
	bool minus;
	int64_t v = 0;

	s = trim(s);
	minus = s.n && s.p[0] == '-';
	if (minus || (s.n && s.p[0] == '+'))
		s = (struct str){ s.p + 1, s.n - 1 };
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		int digit = s.p[i] - '0';

		if (digit < 0 || digit > 9)
			return false;
		/* Counts downwards, because the negative range is larger. */
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
			return false;
	}
	if (!minus && v == INT64_MIN)
		return false;
	*out = minus ? v : -v;
	return true;
}

bool num_parse_i32(struct str s, int32_t *out)
{
	int64_t v;

	if (!num_parse_i64(s, &v) || v < INT32_MIN || v > INT32_MAX)
		return false;
	*out = (int32_t)v;
	return true;
}

/* ---- numbers with units ---- */

struct suffix {
	const char *text; /* lower case */
	int64_t factor;
};

static const struct suffix powers[] = { { "", 1 }, { "k", 1000 }, { "m", 1000000 },
	{ "g", 1000000000 }, { "t", 1000000000000 }, { "ki", (int64_t)1 << 10 },
	{ "mi", (int64_t)1 << 20 }, { "gi", (int64_t)1 << 30 }, { "ti", (int64_t)1 << 40 },
	{ NULL, 0 } };
static const struct suffix times[] = { { "ns", QUANTITY_NS }, { "us", QUANTITY_US },
	{ "ms", QUANTITY_MS }, { "s", QUANTITY_S }, { "sec", QUANTITY_S },
	{ "min", (int64_t)60 * QUANTITY_S }, { "h", (int64_t)3600 * QUANTITY_S },
	{ "nanoseconds", QUANTITY_NS }, { "microseconds", QUANTITY_US },
	{ "milliseconds", QUANTITY_MS }, { "seconds", QUANTITY_S }, { NULL, 0 } };

struct decimal {
	bool minus;
	uint64_t digits; /* the digits as an integer, without the point */
	unsigned places; /* digits after the point */
};

/* Reads sign, digits and decimal point at the start of *s, and advances *s past them. */
static bool take_decimal(struct str *s, struct decimal *d)
{
	bool point = false, any = false;
	size_t i = s->n && (s->p[0] == '-' || s->p[0] == '+');

	*d = (struct decimal){ .minus = i && s->p[0] == '-' };
	for (; i < s->n; i++) {
		char c = s->p[i];
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		any = true;
		if (d->digits > (UINT64_MAX - 9) / 10) {
			if (!point)
				return false;
			continue; /* ignore decimals beyond the precision */
		}
		d->digits = d->digits * 10 + (uint64_t)(c - '0');
		d->places += point;
	}
	if (i) /* s->p may be NULL if the text is empty, and NULL + 0 is undefined in C */
		*s = (struct str){ s->p + i, s->n - i };
	return any;
}

/* Returns the factor of a suffix, or 0 if the suffix is unknown. */
static int64_t factor_of(const struct suffix *table, struct str s, bool any_case)
{
	for (; table->text; table++) {
		size_t i = 0;
		for (; i < s.n && table->text[i]; i++) {
			bool capital = s.p[i] >= 'A' && s.p[i] <= 'Z';
			if ((capital && any_case ? s.p[i] + 32 : s.p[i]) != table->text[i])
				break;
		}
		if (i == s.n && !table->text[i])
			return table->factor;
	}
	return 0;
}

/* Computes *v = d * factor / 10^places, rounded half up. */
static bool scale(struct decimal d, int64_t factor, unsigned places, int64_t *v)
{
	uint64_t f = (uint64_t)factor, m = d.digits, below = 1;

	while (places && f % 10 == 0) {
		f /= 10;
		places--;
	}
	for (; places; places--) {
		if (below > UINT64_MAX / 10) {
			*v = 0;
			return true;
		}
		below *= 10;
	}
	if (m > UINT64_MAX / f)
		return false;
	m *= f;
	m = m / below + (m % below >= below - m % below && below > 1);
	if (m > INT64_MAX)
		return false;
	*v = d.minus ? -(int64_t)m : (int64_t)m;
	return true;
}

int64_t quantity_time_unit(struct str s)
{
	return factor_of(times, s, false);
}

bool quantity_parse_time(struct str s, int64_t bare, int64_t to, int64_t *v)
{
	struct decimal d;

	if (!take_decimal(&s, &d))
		return false;
	int64_t factor = s.n ? factor_of(times, s, false) : bare;
	for (; to > 1; to /= 10)
		d.places++;
	return factor && scale(d, factor, d.places, v);
}

bool quantity_parse(struct str s, enum quantity q, int64_t *v)
{
	struct decimal d;

	if (q == QUANTITY_TIME)
		return quantity_parse_time(s, QUANTITY_US, QUANTITY_US, v);
	if (!take_decimal(&s, &d))
		return false;
	bool b = s.n && (s.p[s.n - 1] == 'b' || s.p[s.n - 1] == 'B');
	if (b && q == QUANTITY_COUNT)
		return s.n == 1 && scale(d, 1000000000, d.places, v);
	s.n -= b;
	int64_t factor = factor_of(powers, s, true);
	return factor && scale(d, factor, d.places, v);
}

bool quantity_parse_real(struct str s, double *v)
{
	struct decimal d;

	if (!take_decimal(&s, &d) || s.n)
		return false;
	*v = (double)d.digits;
	for (; d.places; d.places--)
		*v /= 10;
	*v = d.minus ? -*v : *v;
	return true;
}

const char *quantity_refusal(enum quantity q)
{
	switch (q) {
	case QUANTITY_BYTES: return "not a size, such as " BYTES_EXAMPLE;
	case QUANTITY_TIME: return "not a time, such as " TIME_EXAMPLE;
	default: return "not a number, such as " COUNT_EXAMPLE;
	}
}

bool quantity_parse_share(struct str s, double *v)
{
	bool percent = s.n && s.p[s.n - 1] == '%';

	s.n -= percent;
	if (!quantity_parse_real(s, v))
		return false;
	*v /= percent ? 100 : 1;
	return true;
}
