/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the protobuf text format: blanks, comments, words, numbers, string literals. Numbers do
 * not depend on the locale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/pb.h"

#define EXACT_DIGITS    UINT64_C(9007199254740992) /* 2^53: integers up to here are exact doubles */
#define EXACT_POWER     22                         /* powers of ten up to here are exact doubles */
#define CODE_POINT_MAX  0x10ffff
#define CODE_POINT_READ 0x1fffff               /* accepted by libprotobuf */
#define EXPONENT_MAX    INT64_C(1000000000000) /* above the number of digits of any text */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}
static bool is_letter(char c)
{
	return char_is_letter(c) || c == '_';
}

bool pbtext_fail(struct pbtext *r, const char *at, const char *f, ...)
{
	struct sb b = sb_in(r->e->a);
	const char *bol = r->start;
	size_t line = 1;
	va_list ap;

	for (const char *p = bol; p < at && (p = memchr(p, '\n', (size_t)(at - p))); bol = ++p)
		line++;
	va_start(ap, f);
	sb_vfmt(&b, f, ap);
	va_end(ap);
	return err_set(r->e, ERR_DATA_LOSS, "%.*s:%zu:%zu: %.*s", STR(r->name), line,
	        (size_t)(at - bol) + 1, STR(sb_str(&b)));
}

bool pbtext_fail_here(struct pbtext *r, const char *expected)
{
	if (r->type == PBT_END)
		return pbtext_fail(r, r->tok, "unexpected end of the text: %s expected", expected);
	if (r->type == PBT_STRING)
		return pbtext_fail(r, r->tok, "found a string, %s expected", expected);
	size_t n = (size_t)(r->p - r->tok);
	return pbtext_fail(
	        r, r->tok, "found '%.*s', %s expected", (int)(n < 60 ? n : 60), r->tok, expected);
}

/* Skips blanks and comments. */
static const char *skip_blanks(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '#') {
			while (p < end && *p && *p != '\n')
				p++;
			if (p == end || !*p)
				break;
		} else if (!char_is_blank(*p)) {
			break;
		}
	}
	return p;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && char_is_digit(*p))
		p++;
	return p;
}

/* Finds the end of a decimal number. */
static bool scan_decimal(struct pbtext *r)
{
	const char *p = skip_digits(r->p, r->end);

	if (p < r->end && *p == '.') {
		r->type = PBT_FLOAT;
		p = skip_digits(p + 1, r->end);
	}
	if (p < r->end && (*p == 'e' || *p == 'E')) {
		r->type = PBT_FLOAT;
		p++;
		if (p < r->end && (*p == '+' || *p == '-'))
			p++;
		if (p == r->end || !char_is_digit(*p))
			return pbtext_fail(r, p, "a digit of the exponent expected");
		p = skip_digits(p, r->end);
	}
	if (p < r->end && (*p == 'f' || *p == 'F')) {
		r->type = PBT_FLOAT;
		p++;
	}
	r->p = p;
	return true;
}

/* Finds the end of a number. */
static bool scan_number(struct pbtext *r)
{
	const char *p = r->p + 1;

	r->type = PBT_INT;
	if (*r->p == '0' && p < r->end && (*p == 'x' || *p == 'X')) {
		for (p++; p < r->end && char_hex(*p) >= 0; p++)
			;
		if (p == r->p + 2)
			return pbtext_fail(r, p, "a hexadecimal digit expected");
		r->p = p;
	} else if (*r->p == '0' && p < r->end && char_is_digit(*p)) {
		while (p < r->end && is_octal(*p))
			p++;
		if (p < r->end && char_is_digit(*p))
			return pbtext_fail(
			        r, p, "an octal digit expected, because the number begins with 0");
		r->p = p;
	} else if (!scan_decimal(r)) {
		return false;
	}
	if (r->p < r->end && (is_letter(*r->p) || *r->p == '.'))
		return pbtext_fail(r, r->p, "a space expected after the number");
	return true;
}

bool pbtext_next(struct pbtext *r)
{
	const char *p = r->p = r->tok = skip_blanks(r->p, r->end);

	if (p == r->end) {
		r->type = PBT_END;
		return true;
	}
	if (is_letter(*p)) {
		while (p < r->end && (is_letter(*p) || char_is_digit(*p)))
			p++;
		r->type = PBT_WORD;
		r->p = p;
		return true;
	}
	if (char_is_digit(*p) || (*p == '.' && p + 1 < r->end && char_is_digit(p[1])))
		return scan_number(r);
	if (!(*p > ' ' && *p < 0x7f))
		return pbtext_fail(r, p, "found the byte 0x%02x", (unsigned)(unsigned char)*p);
	r->type = *p == '"' || *p == '\'' ? PBT_STRING : PBT_SYMBOL;
	r->p++;
	return true;
}

bool pbtext_integer(const struct pbtext *r, uint64_t max, uint64_t *v)
{
	const char *p = r->tok;
	uint64_t base = 10, n = 0;

	if (*p == '0' && r->p - p > 1) {
		bool hex = (p[1] | 0x20) == 'x';
		base = hex ? 16 : 8;
		p += hex ? 2 : 1;
	}
	for (; p < r->p; p++) {
		uint64_t digit = (uint64_t)char_hex(*p);
		if (digit > max || n > (max - digit) / base)
			return false;
		n = n * base + digit;
	}
	*v = n;
	return true;
}

/* Rounds digits * 10^exponent with the C library; the text has neither point nor comma. */
static double round_slowly(struct pbtext *r, const char *digits, const char *end, int64_t exponent)
{
	struct arena_mark mark = arena_mark(r->a);
	size_t n = 0, cap = (size_t)(end - digits) + 24;
	char *z = ARENA_ARRAY(r->a, cap, char);
	double v;

	for (const char *p = digits; p < end; p++)
		if (char_is_digit(*p))
			z[n++] = *p;
	snprintf(z + n, cap - n, "e%" PRId64, exponent);
	v = strtod(z, NULL);
	arena_reset(r->a, mark);
	return v;
}

/* Reads the digits of an exponent with its sign. */
static int64_t read_exponent(const char *p, const char *end)
{
	bool minus = p < end && *p == '-';
	int64_t v = 0;

	if (p < end && (*p == '+' || *p == '-'))
		p++;
	for (; p < end && char_is_digit(*p); p++)
		v = v < EXPONENT_MAX ? v * 10 + (*p - '0') : v;
	return minus ? -v : v;
}

bool pbtext_double(struct pbtext *r, double *v)
{
	static const double power[EXACT_POWER + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
		1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	const char *p = r->tok;
	bool exact = true, point = false;
	uint64_t digits = 0;
	int64_t exponent = 0;

	if (r->type == PBT_INT && *p == '0' && r->p - p > 1)
		return false; /* octal or hexadecimal */
	for (; p < r->p && (char_is_digit(*p) || *p == '.'); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		exponent -= point;
		if (digits < EXACT_DIGITS / 10)
			digits = digits * 10 + (uint64_t)(*p - '0');
		else
			exact = false;
	}
	if (p < r->p && (*p | 0x20) == 'e')
		exponent += read_exponent(p + 1, r->p);
	if (exact && exponent >= -EXACT_POWER && exponent <= EXACT_POWER)
		*v = exponent < 0 ? (double)digits / power[-exponent]
		                  : (double)digits * power[exponent];
	else
		*v = round_slowly(r, r->tok, p, exponent);
	return true;
}

/* Appends a code point, unpaired surrogates included. Beyond U+10FFFF the escape itself is the
 * text. */
static void put_utf8(struct pbtext *r, uint32_t c)
{
	char b[4];

	if (c > CODE_POINT_MAX) {
		sb_fmt(&r->out, "\\U%08" PRIx32, c);
		return;
	}
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	b[0] = (char)(n == 1 ? c : c | (0xf00u >> n & 0xf0));
	sb_put(&r->out, str_make(b, n));
}

/* Reads exactly n hexadecimal digits at p. */
static bool read_hex(const struct pbtext *r, const char *p, int n, uint32_t *v)
{
	uint32_t c = 0;

	if (r->end - p < n)
		return false;
	for (int i = 0; i < n; i++) {
		if (char_hex(p[i]) < 0)
			return false;
		c = c << 4 | (uint32_t)char_hex(p[i]);
	}
	*v = c;
	return true;
}

/* Reads \u and \U at the letter. A surrogate pair becomes one code point. */
static bool read_unicode(struct pbtext *r)
{
	int n = *r->p == 'u' ? 4 : 8;
	uint32_t c, low;

	if (!read_hex(r, r->p + 1, n, &c) || c > CODE_POINT_READ)
		return pbtext_fail(r, r->p - 1, "%d hexadecimal digits%s expected after '\\%c'", n,
		        n == 8 ? " up to 001fffff" : "", *r->p);
	r->p += n + 1;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->p > 2 && r->p[0] == '\\' && r->p[1] == 'u' &&
	        read_hex(r, r->p + 2, 4, &low) && low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
		r->p += 6;
	}
	put_utf8(r, c);
	return true;
}

/* Reads an escape; the cursor is after the backslash. */
static bool read_escape(struct pbtext *r)
{
	static const char from[] = "abfnrtv\\?'\"", to[] = "\a\b\f\n\r\t\v\\?'\"";
	char c = r->p < r->end ? *r->p : 0;
	const char *simple = c ? strchr(from, c) : NULL;
	unsigned v = 0;

	if (simple) {
		r->p++;
		v = (unsigned char)to[simple - from];
	} else if (is_octal(c)) {
		for (int i = 0; i < 3 && r->p < r->end && is_octal(*r->p); i++)
			v = v * 8 + (unsigned)(*r->p++ - '0');
	} else if (c == 'x' || c == 'X') {
		r->p++;
		if (r->p == r->end || char_hex(*r->p) < 0)
			return pbtext_fail(r, r->p, "a hexadecimal digit expected");
		for (int i = 0; i < 2 && r->p < r->end && char_hex(*r->p) >= 0; i++)
			v = v * 16 + (unsigned)char_hex(*r->p++);
	} else if (c == 'u' || c == 'U') {
		return read_unicode(r);
	} else {
		return pbtext_fail(r, r->p - 1, "unknown escape sequence");
	}
	sb_char(&r->out, (char)v);
	return true;
}

bool pbtext_literal(struct pbtext *r)
{
	char quote = *r->tok;

	for (;;) {
		const char *p = r->p;
		while (p < r->end && *p != quote && *p != '\\' && *p != '\n' && *p)
			p++;
		sb_put(&r->out, str_make(r->p, (size_t)(p - r->p)));
		r->p = p;
		if (p == r->end || *p == '\n' || !*p)
			return pbtext_fail(r, r->tok, "the string has no closing quote");
		r->p++;
		if (*p == quote)
			return true;
		if (!read_escape(r))
			return false;
	}
}

int pbtext_sniff(struct str head)
{
	const char *end = head.p + head.n, *p;

	if (head.n && memchr(head.p, 0, head.n))
		return 0;
	p = skip_blanks(head.p, end);
	if (p == end)
		return 50;
	if (!is_letter(*p))
		return 0;
	while (p < end && (is_letter(*p) || char_is_digit(*p)))
		p++;
	p = skip_blanks(p, end);
	if (p == end)
		return 60;
	return memchr(":{<[", *p, 4) ? 100 : 0;
}
