/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents of tokens: escapes of strings, digits of numbers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "io/json_in.h"

#include "base/num.h"

#define CODE_REPLACEMENT 0xfffd
#define EXPONENT_MAX     1000000 /* larger exponents result only in 0 or overflow */

/* Returns the value of four hexadecimal digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = char_hex(p[i]);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static void put_code(struct sb *b, unsigned code)
{
	char *p = sb_room(b, 4);
	size_t n = 0;

	if (code < 0x80) {
		p[n++] = (char)code;
	} else if (code < 0x800) {
		p[n++] = (char)(0xc0 | code >> 6);
		p[n++] = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		p[n++] = (char)(0xe0 | code >> 12);
		p[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		p[n++] = (char)(0x80 | (code & 0x3f));
	} else {
		p[n++] = (char)(0xf0 | code >> 18);
		p[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		p[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		p[n++] = (char)(0x80 | (code & 0x3f));
	}
	b->n += n;
}

/* Writes the character of the \u escape at p, whose digits are valid. Returns the end of the escape
 * or surrogate pair. */
static const char *put_escaped_code(struct json_in *j, const char *p, const char *end, struct sb *b)
{
	unsigned code = (unsigned)hex4(p + 2, end);
	int low;

	if (code < 0xd800 || code > 0xdfff) {
		put_code(b, code);
		return p + 6;
	}
	low = end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
	if (code < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) {
		put_code(b, 0x10000 + ((code - 0xd800) << 10) + ((unsigned)low - 0xdc00));
		return p + 12;
	}
	json_in_flaw(j, JSON_FLAW_ESCAPE, p);
	put_code(b, CODE_REPLACEMENT);
	return p + 6;
}

/* The characters after a backslash, and the characters that they represent. */
static const char escapes[] = "\"\\/bfnrt", escaped[] = "\"\\/\b\f\n\r\t";

struct str json_in_text(struct json_in *j, const struct json_value *v, struct sb *b)
{
	const char *p = v->text.p, *end = p + v->text.n;
	size_t begin = b->n;

	if (v->plain || !memchr(p, '\\', v->text.n))
		return v->text;
	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p)), *known;
		sb_put(b, str_make(p, (size_t)((slash ? slash : end) - p)));
		if (!slash)
			break;
		known = end - slash >= 2 && slash[1] ? strchr(escapes, slash[1]) : NULL;
		p = slash + 2;
		if (known) {
			sb_char(b, escaped[known - escapes]);
		} else if (end - slash >= 2 && slash[1] == 'u' && hex4(slash + 2, end) >= 0) {
			p = put_escaped_code(j, slash, end, b);
		} else {
			json_in_flaw(j, JSON_FLAW_ESCAPE, slash);
			sb_char(b, '\\');
			p = slash + 1;
		}
	}
	return str_make(b->p + begin, b->n - begin);
}

/* Reads an exponent, limited in size. Returns false for other text. */
static bool read_exponent(const char *p, const char *end, int *exponent)
{
	bool minus = p < end && *p == '-';

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end)
		return false;
	for (*exponent = 0; p < end && char_is_digit(*p); p++)
		if (*exponent < EXPONENT_MAX)
			*exponent = *exponent * 10 + (*p - '0');
	if (minus)
		*exponent = -*exponent;
	return p == end;
}

/* Digits collected so far. */
struct gathered {
	uint64_t v;
	int left; /* number of decimal places still to come; negative: number of surplus digits */
	bool over, half;
};

static inline void gather(struct gathered *g, char c)
{
	if (g->left <= 0) {
		g->half |= g->left == 0 && c >= '5';
		g->left = g->left < 0 ? g->left : -1;
		return;
	}
	g->left--;
	g->over |= __builtin_mul_overflow(g->v, (uint64_t)10, &g->v) ||
	           __builtin_add_overflow(g->v, (uint64_t)(c - '0'), &g->v);
}

/* Applies the sign and the limits of the type. */
static enum json_number gathered_end(struct gathered *g, bool minus, int64_t *v)
{
	for (; g->left > 0 && g->v && !g->over; g->left--)
		g->over = __builtin_mul_overflow(g->v, (uint64_t)10, &g->v);
	g->over |= g->v >= INT64_MAX;
	if (g->over) {
		*v = minus ? INT64_MIN : INT64_MAX;
		return JSON_NUMBER_OVERFLOW;
	}
	g->v += g->half;
	*v = minus ? -(int64_t)g->v : (int64_t)g->v;
	return JSON_NUMBER_GOOD;
}

/* Reads at most 18 digits, with or without a point among them, that need no rounding. Returns false
 * for other text. */
static inline bool read_short(struct str text, unsigned decimals, int64_t *v)
{
	const char *p = text.p, *end = p + text.n;
	int64_t sum = 0;

	if (text.n == 0 || text.n + decimals > 18)
		return false;
	for (; p < end && char_is_digit(*p); p++)
		sum = sum * 10 + (*p - '0');
	if (p < end && *p == '.' && p > text.p && (size_t)(end - p) - 1 <= decimals)
		for (p++; p < end && char_is_digit(*p); p++, decimals--)
			sum = sum * 10 + (*p - '0');
	if (p < end)
		return false;
	for (; decimals; decimals--)
		sum *= 10;
	*v = sum;
	return true;
}

/* Reads decimal text of any form. */
static enum json_number read_decimal(struct str text, unsigned decimals, int64_t *v)
{
	const char *p = text.p, *end = p + text.n, *point, *from, *stop;
	struct gathered g = { .v = 0 };
	bool minus = p < end && *p == '-';
	int exponent = 0;

	*v = 0;
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (from = p; p < end && char_is_digit(*p); p++)
		;
	point = stop = p;
	if (p < end && *p == '.')
		for (stop = ++p; p < end && char_is_digit(*p); stop = ++p)
			;
	if (stop == from || (stop == point + 1 && point == from))
		return JSON_NUMBER_NONE;
	if (p < end && ((*p | 0x20) != 'e' || !read_exponent(p + 1, end, &exponent)))
		return JSON_NUMBER_NONE;
	if (text.n > INT32_MAX / 2)
		return JSON_NUMBER_NONE;
	g.left = (int)(point - from) + exponent + (int)decimals;
	if (g.left < 0)
		return JSON_NUMBER_GOOD;
	for (p = from; p < stop; p++)
		if (p != point)
			gather(&g, *p);
	return gathered_end(&g, minus, v);
}

enum json_number json_decimal(struct str text, unsigned decimals, int64_t *v)
{
	return read_short(text, decimals, v) ? JSON_NUMBER_GOOD : read_decimal(text, decimals, v);
}

/* ---- flaws ---- */

const char *const json_flaw_texts[JSON_FLAW_N] = {
	[JSON_FLAW_COMMA] = "trailing comma before a closing bracket: ignored",
	[JSON_FLAW_NONFINITE] = "non-finite number (inf or nan): ignored",
	[JSON_FLAW_ESCAPE] = "bad escape in a string: kept as it is",
	[JSON_FLAW_CONTROL] = "control character in a string: kept as it is",
	[JSON_FLAW_UTF8] = "bad UTF-8 in a string: kept as it is",
	[JSON_FLAW_ZERO] = "zero before the digits of a number: ignored",
	[JSON_FLAW_PART] = "malformed JSON inside a value: kept as it is",
};

void json_in_note_flaws(const struct json_in *j, unsigned *noted, struct notes *notes)
{
	for (unsigned k = 0; k < JSON_FLAW_N; k++) {
		const struct json_flaw_count *f = &j->found[k];
		char more[40] = "";
		if (!f->items || *noted >> k & 1)
			continue;
		*noted |= 1u << k;
		if (f->items > 1)
			snprintf(more, sizeof more, "; %" PRIu64 " in all", f->items);
		note_line(notes, "note: %.*s: %s (line %" PRIu64 ", byte %" PRIu64 "%s)\n",
		        STR(j->s->name), json_flaw_texts[k], f->line, f->at, more);
	}
}

/* ---- large documents ---- */

int json_in_ahead(struct json_in *j)
{
	int ch;

	while ((ch = json_in_peek(j)) < 0) {
		json_in_take(j);
		j->stop = JSON_STOP_MORE;
		if (!json_in_more(j))
			break;
	}
	return ch;
}

void json_in_pass(struct json_in *j)
{
	j->p++;
	json_in_take(j);
}

bool json_in_find(struct json_in *j, struct str name)
{
	bool second;

	return json_in_find_either(j, name, name, &second);
}

bool json_in_find_either(struct json_in *j, struct str first, struct str other, bool *second)
{
	struct json_value v;

	if (json_in_ahead(j) != '{')
		return false;
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		bool good;
		if (ch == ',') {
			json_in_pass(j);
			continue;
		}
		if (ch != '"')
			return false;
		do
			good = json_in_value(j, &v) && json_in_peek(j) == ':';
		while (!good && json_in_more(j));
		if (!good)
			return false;
		*second = str_eq(v.text, other);
		bool found = *second || str_eq(v.text, first);
		json_in_pass(j);
		if (json_in_ahead(j) < 0)
			return false;
		if (found)
			return true;
		if (!json_in_skip_item(j))
			return false;
	}
}

/* Skips a member of an object: its key, the colon and its value. */
static bool skip_member(struct json_in *j)
{
	if (!json_in_skip_item(j) || json_in_ahead(j) != ':')
		return false;
	json_in_pass(j);
	return json_in_ahead(j) >= 0 && json_in_skip_item(j);
}

void json_in_finish(struct json_in *j, const char *list, struct notes *notes)
{
	unsigned noted = 0;
	int ch;

	while ((ch = json_in_ahead(j)) == ',' || ch == '"')
		if (ch == ',')
			json_in_pass(j);
		else if (!skip_member(j))
			break;
	if (ch == '}')
		json_in_pass(j);
	else if (!json_in_failed(j))
		note_line(notes,
		        "note: '%.*s' is truncated or malformed after the list \"%s\" (line %llu): "
		        "the end of the object was expected\n",
		        STR(j->s->name), list, (unsigned long long)json_in_line(j, j->p));
	json_in_note_flaws(j, &noted, notes);
}

bool json_in_each(struct json_in *j, bool (*read)(void *user), void (*take)(void *user), void *user)
{
	if (json_in_ahead(j) != '[')
		return false;
	for (json_in_pass(j);;) {
		int ch = json_in_ahead(j);
		bool good;
		if (ch < 0)
			return false;
		if (ch == ']' || ch == ',') {
			json_in_pass(j);
			if (ch == ']')
				return true;
			continue;
		}
		do
			good = read(user);
		while (!good && json_in_more(j));
		if (!good)
			return false;
		take(user);
		json_in_take(j);
	}
}
