/* SPDX-License-Identifier: Apache-2.0
 *
 * See quantity.h. All in integers: no rounding but the one asked for.
 */
#include "metric/quantity.h"

#include "base/fmt.h"

struct scale {
	const char *end;
	int64_t factor;
};

/* Longer ends first where one is the end of another. */
static const struct scale bytes[] = { { "KB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 },
	{ "TB", 1000000000000 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	{ "T", 1000000000000 }, { "B", 1 }, { "kb", 1000 }, { "mb", 1000000 }, { "gb", 1000000000 },
	{ "k", 1000 }, { "m", 1000000 }, { "g", 1000000000 }, { "b", 1 }, { "", 1 }, { NULL, 0 } };
static const struct scale times[] = { { "us", 1 }, { "ms", 1000 }, { "sec", 1000000 },
	{ "s", 1000000 }, { "", 1 }, { NULL, 0 } };
static const struct scale counts[] = { { "k", 1000 }, { "m", 1000000 }, { "b", 1000000000 },
	{ "K", 1000 }, { "M", 1000000 }, { "B", 1000000000 }, { "", 1 }, { NULL, 0 } };

static const struct scale *scales_of(enum unit u)
{
	return u == UNIT_BYTES ? bytes : u == UNIT_TIME ? times : counts;
}

enum unit quantity_unit(struct str s)
{
	if (str_ends(s, S("B")))
		return UNIT_BYTES;
	return str_ends(s, S("us")) || str_ends(s, S("ms")) || str_ends(s, S("sec")) ? UNIT_TIME
	                                                                             : UNIT_COUNT;
}

/* Digits with at most one point: the digits as one number, and how many stand behind the point. */
static bool parse_digits(struct str s, uint64_t *mantissa, unsigned *places)
{
	bool point = false, any = false;

	*mantissa = *places = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		any = true;
		if (*mantissa > (UINT64_MAX - 9) / 10) {
			if (!point)
				return false;
			continue; /* what is so far behind the point makes no difference */
		}
		*mantissa = *mantissa * 10 + (uint64_t)(s.p[i] - '0');
		*places += point;
	}
	return any;
}

/* m * factor / 10^places, rounded half up; false beyond int64_t. */
static bool scale_to(uint64_t m, unsigned places, int64_t factor, int64_t *v)
{
	uint64_t f = (uint64_t)factor, below = 1;

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
	*v = (int64_t)m;
	return true;
}

static bool take_sign(struct str *s)
{
	bool minus = s->n && s->p[0] == '-';

	if (s->n && (s->p[0] == '-' || s->p[0] == '+'))
		*s = str_sub(*s, 1, SIZE_MAX);
	return minus;
}

bool quantity_parse(struct str s, enum unit u, int64_t *v)
{
	bool minus = take_sign(&s);
	uint64_t mantissa;
	unsigned places;

	for (const struct scale *x = scales_of(u); x->end; x++) {
		struct str end = str_of(x->end);
		if (!str_ends(s, end))
			continue;
		if (!parse_digits(str_sub(s, 0, s.n - end.n), &mantissa, &places) ||
		        !scale_to(mantissa, places, x->factor, v))
			return false;
		*v = minus ? -*v : *v;
		return true;
	}
	return false;
}

bool quantity_parse_real(struct str s, double *v)
{
	bool minus = take_sign(&s);
	uint64_t mantissa;
	unsigned places;

	if (!parse_digits(s, &mantissa, &places))
		return false;
	*v = (double)mantissa;
	for (; places; places--)
		*v /= 10;
	*v = minus ? -*v : *v;
	return true;
}

/* Rounds to three digits, half to even. */
static uint64_t round_digits(uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 1000)
		unit *= 10;
	uint64_t rest = n % unit, digits = n / unit;
	if (rest > unit - rest || (rest == unit - rest && rest && (digits & 1)))
		digits++;
	return digits > UINT64_MAX / unit ? n : digits * unit;
}

void quantity_short(struct sb *b, enum unit u, int64_t v, bool sign)
{
	static const char *const ends[3][4] = { { "B", "KB", "MB", NULL },
		{ "us", "ms", "sec", NULL }, { "", "k", "m", "b" } };
	const char *const *end = ends[u == UNIT_BYTES ? 0 : u == UNIT_TIME ? 1 : 2];
	uint64_t n = round_digits(v < 0 ? 0 - (uint64_t)v : (uint64_t)v), unit = 1;
	int step = 0;

	while (n / unit >= 1000 && step < 3 && end[step + 1]) {
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
	sb_put(b, str_of(end[step]));
}
