/* SPDX-License-Identifier: Apache-2.0
 *
 * Slices, lists of slices and the string builder. Treats text as bytes: no encoding except the
 * check for UTF-8, no locale.
 */
#define _GNU_SOURCE 1
#include "base/str.h"

#include <stdio.h>

#include "base/bits.h"

#define BINARY_BYTES 256 /* number of bytes that str_is_binary examines */

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int r = n ? memcmp(a.p, b.p, n) : 0;

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

bool str_eq_lower(struct str s, const char *lower)
{
	size_t i = 0;

	while (i < s.n && lower[i] && char_lower(s.p[i]) == lower[i])
		i++;
	return i == s.n && !lower[i];
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n &&
	       (!suffix.n || str_eq(str_sub(s, s.n - suffix.n, suffix.n), suffix));
}

size_t str_find(struct str s, struct str part)
{
	const char *at;

	if (!part.n)
		return 0;
	if (s.n < part.n)
		return SIZE_MAX;
	at = memmem(s.p, s.n, part.p, part.n);
	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_char(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_rfind_char(struct str s, char c)
{
	const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

struct str str_base(struct str path)
{
	size_t slash = str_rfind_char(path, '/');

	return slash == SIZE_MAX ? path : str_sub(path, slash + 1, SIZE_MAX);
}

bool str_contains(struct str s, struct str part)
{
	return str_find(s, part) != SIZE_MAX;
}

bool str_is_among(const char *words, struct str name)
{
	while (*words) {
		size_t n = strcspn(words, " ");
		if (n == name.n && !memcmp(words, name.p, n))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

bool str_is_binary(struct str head)
{
	size_t n = head.n < BINARY_BYTES ? head.n : BINARY_BYTES;
	unsigned controls = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)head.p[i];
		controls += c < ' ' && (c < '\t' || c > '\r');
	}
	return controls > 1;
}

struct str str_sub(struct str s, size_t from, size_t n)
{
	if (from >= s.n)
		return STR_NONE;
	return str_make(s.p + from, n < s.n - from ? n : s.n - from);
}

struct str str_copy(struct arena *a, struct str s)
{
	return str_make(arena_copy(a, s.p, s.n), s.n);
}

struct str str_lower(struct arena *a, struct str s)
{
	char *p = arena_copy(a, s.p, s.n);

	for (size_t i = 0; i < s.n; i++)
		p[i] = char_lower(p[i]);
	return str_make(p, s.n);
}

struct str str_replace_char(struct arena *a, struct str s, char from, char to)
{
	char *p = arena_copy(a, s.p, s.n);

	for (size_t i = 0; i < s.n; i++)
		if (p[i] == from)
			p[i] = to;
	return str_make(p, s.n);
}

char *str_z(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1, 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	return p;
}

/* Returns the length of the well-formed sequence of a non-ASCII character at p, or 0. */
static size_t utf8_length(const uint8_t *p, size_t n)
{
	/* Limits of the second byte: they exclude overlong forms, surrogates and values beyond
	 * U+10FFFF. */
	uint8_t low = 0x80, high = 0xbf;
	size_t length;

	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		length = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		length = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (n < length || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	}
	return length;
}

/* True if all bytes are below 0x80. The last eight bytes may be checked twice. */
static bool is_ascii(const uint8_t *p, size_t n)
{
	const uint64_t high = 0x8080808080808080;
	uint64_t seen = 0;

	if (n < 8) {
		for (size_t i = 0; i < n; i++)
			seen |= p[i];
		return !(seen & 0x80);
	}
	for (size_t i = 0; i + 8 < n; i += 8)
		seen |= le64_get(p + i);
	return !((seen | le64_get(p + n - 8)) & high);
}

size_t str_letters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((uint8_t)s.p[i] & 0xc0) != 0x80;
	return n;
}

bool str_is_utf8(struct str s)
{
	const uint8_t *p = (const uint8_t *)s.p;
	size_t i = 0, length;

	if (is_ascii(p, s.n))
		return true;
	while (i < s.n) {
		if (s.n - i >= 8 && !(le64_get(p + i) & 0x8080808080808080)) {
			i += 8;
		} else if (p[i] < 0x80) {
			i++;
		} else {
			length = utf8_length(p + i, s.n - i);
			if (!length)
				return false;
			i += length;
		}
	}
	return true;
}

struct str str_strip_quotes(struct str s)
{
	while (s.n && (s.p[0] == '\'' || s.p[0] == '"')) {
		s.p++;
		s.n--;
	}
	while (s.n && (s.p[s.n - 1] == '\'' || s.p[s.n - 1] == '"'))
		s.n--;
	return s;
}

void strs_add(struct arena *a, struct strs *to, struct str s)
{
	VEC_PUSH(a, to, s);
}

struct strs str_split(struct arena *a, struct str s, char at)
{
	struct strs v = { NULL, 0, 0 };
	size_t end;

	while (s.n) {
		end = str_find_char(s, at);
		if (end == SIZE_MAX)
			end = s.n;
		if (end)
			strs_add(a, &v, str_sub(s, 0, end));
		s = str_sub(s, end + 1, SIZE_MAX);
	}
	return v;
}

struct str strs_join(struct arena *a, const struct strs *v, struct str between)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < v->n; i++) {
		if (i)
			sb_put(&b, between);
		sb_put(&b, v->v[i]);
	}
	return sb_str(&b);
}

bool strs_is_one(const struct strs *v, struct str s)
{
	return v->n == 1 && str_eq(v->v[0], s);
}

char *sb_room(struct sb *b, size_t n)
{
	if (!b->p || n > b->cap - b->n) {
		if (!b->cap && n < 64)
			n = 64;
		b->p = vec_grow(b->a, b->p, &b->cap, b->n + n, 1);
	}
	return b->p + b->n;
}

void sb_put(struct sb *b, struct str s)
{
	if (!s.n)
		return;
	memcpy(sb_room(b, s.n), s.p, s.n);
	b->n += s.n;
}

void sb_char(struct sb *b, char c)
{
	*sb_room(b, 1) = c;
	b->n++;
}

void sb_repeat(struct sb *b, char c, size_t n)
{
	if (!n)
		return;
	memset(sb_room(b, n), c, n);
	b->n += n;
}

void sb_plural(struct sb *b, const char *text, uint64_t n)
{
	for (const char *p = text; *p;) {
		size_t plain = strcspn(p, "{"), one, many;
		sb_put(b, str_make(p, plain));
		if (!p[plain])
			return;
		p += plain + 1;
		one = strcspn(p, "|");
		many = strcspn(p + one + 1, "}");
		sb_put(b, n == 1 ? str_make(p, one) : str_make(p + one + 1, many));
		p += one + many + 2;
	}
}

/* Appends n and a noun. The noun is the first word that ends in s. */
void sb_counted(struct sb *b, uint64_t n, struct str things)
{
	size_t end = 0;

	while (end < things.n && things.p[end] != ',' &&
	        !(end && things.p[end - 1] == 's' && things.p[end] == ' '))
		end++;
	sb_fmt(b, "%llu ", (unsigned long long)n);
	struct str word = str_sub(things, 0, end);
	if (n != 1 || !str_ends(word, S("s")) || (end < things.n && things.p[end] == ',')) {
		sb_put(b, things);
		return;
	}
	bool ies = str_ends(word, S("ies"));
	sb_put(b, str_sub(word, 0, word.n - (ies ? 3 : 1)));
	sb_put(b, ies ? S("y") : S(""));
	sb_put(b, str_sub(things, end, SIZE_MAX));
}

struct str str_counted(struct arena *a, uint64_t n, struct str things)
{
	struct sb b = sb_in(a);

	sb_counted(&b, n, things);
	return sb_str(&b);
}

void sb_vfmt(struct sb *b, const char *f, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	va_copy(again, ap);
	sb_room(b, 64);
	room = b->cap - b->n;
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): every caller has started it */
	n = vsnprintf(b->p + b->n, room, f, ap);
	if (n > 0 && (size_t)n >= room)
		n = vsnprintf(sb_room(b, (size_t)n + 1), (size_t)n + 1, f, again);
	va_end(again);
	if (n > 0)
		b->n += (size_t)n;
}

static bool is_control(char c)
{
	return (uint8_t)c < 0x20 || c == 0x7f;
}

static size_t count_controls(const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += is_control(p[i]);
	return count;
}

/* Returns a control byte that the text lacks; '\n' if there is none. */
static char unused_control(const char *p, size_t n)
{
	for (char c = 1; c < 0x20; c++)
		if (c != '\n' && !memchr(p, c, n))
			return c;
	return '\n';
}

/* Returns a copy of the format with another byte in place of its line breaks. */
static const char *mark_breaks(struct arena *a, char mark, const char *f)
        __attribute__((format_arg(3)));
static const char *mark_breaks(struct arena *a, char mark, const char *f)
{
	size_t n = strlen(f) + 1;
	char *copy = memcpy(ARENA_ARRAY(a, n, char), f, n);

	for (char *p = copy; (p = strchr(p, '\n')) != NULL; p++)
		*p = mark;
	return copy;
}

void sb_put_name(struct sb *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (is_control(s.p[i]))
			sb_fmt(b, "\\x%02x", (uint8_t)s.p[i]);
		else
			sb_char(b, s.p[i]);
	}
}

void sb_vfmt_message(struct sb *b, const char *f, va_list ap)
{
	size_t from = b->n, own = count_controls(f, strlen(f));
	va_list again;

	va_copy(again, ap);
	sb_vfmt(b, f, ap);
	if (count_controls(b->p + from, b->n - from) != own) {
		char mark = unused_control(b->p + from, b->n - from);
		struct sb raw = sb_in(b->a);
		b->n = from;
		sb_vfmt(&raw, mark_breaks(b->a, mark, f), again);
		for (size_t i = 0; i < raw.n; i++) {
			if (raw.p[i] == mark && mark != '\n')
				sb_char(b, '\n');
			else
				sb_put_name(b, str_make(raw.p + i, 1));
		}
	}
	va_end(again);
}

void sb_put_utf8(struct sb *b, struct str s)
{
	size_t from = 0, length;

	for (size_t i = 0; i < s.n; i += length ? length : 1) {
		const uint8_t *p = (const uint8_t *)s.p + i;
		length = *p < 0x80 ? 1 : utf8_length(p, s.n - i);
		if (length)
			continue;
		sb_put(b, str_sub(s, from, i - from));
		sb_fmt(b, "\\x%02x", *p);
		from = i + 1;
	}
	sb_put(b, str_sub(s, from, SIZE_MAX));
}

void sb_fmt(struct sb *b, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	sb_vfmt(b, f, ap);
	va_end(ap);
}

struct str str_fmt(struct arena *a, const char *f, ...)
{
	struct sb b = sb_in(a);
	va_list ap;

	va_start(ap, f);
	sb_vfmt(&b, f, ap);
	va_end(ap);
	return sb_str(&b);
}

void sb_put_shell(struct sb *b, struct str s)
{
	sb_char(b, '\'');
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\'')
			sb_put(b, S("'\\''"));
		else
			sb_char(b, s.p[i]);
	sb_char(b, '\'');
}

void sb_put_word(struct sb *b, struct str s)
{
	struct sb shown = sb_in(b->a);
	bool plain = s.n > 0;

	for (size_t i = 0; i < s.n; i++)
		plain &= char_is_letter(s.p[i]) || char_is_digit(s.p[i]) ||
		         (s.p[i] && strchr("_./+-@%=:,", s.p[i]));
	sb_put_name(&shown, s);
	if (plain)
		sb_put(b, s);
	else
		sb_put_shell(b, sb_str(&shown));
}
