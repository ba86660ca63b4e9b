/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the width of characters on the terminal, and the places where text may be cut.
 */
#define _GNU_SOURCE /* wcwidth */
#include "cli/screen.h"

#include <wchar.h>

/* True for a character that changes the direction of text (U+061C, U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069) and for the line and paragraph separators (U+2028, U+2029). */
static bool turns(const char *p, size_t n)
{
	const unsigned char *c = (const unsigned char *)p;

	if (n == 2)
		return c[0] == 0xd8 && c[1] == 0x9c;
	if (n != 3 || c[0] != 0xe2)
		return false;
	return c[1] == 0x80 ? c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)
	                    : c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
}

#define AT_LEAST "\xe2\x89\xa5" /* the sign of lower bounds; ">=" where it cannot be shown */

/* Returns the number of bytes of the character at s[i]; 0 if it must be escaped. */
static size_t letter(struct str s, size_t i, bool utf8)
{
	unsigned char c = (unsigned char)s.p[i];
	size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if (c == '\t')
		return 1;
	if (c < 0x20 || c == 0x7f)
		return 0;
	if (c < 0x80)
		return 1;
	if (!utf8)
		return str_starts(str_sub(s, i, SIZE_MAX), S(AT_LEAST)) ? S(AT_LEAST).n : c >= 0xa0;
	if (n > s.n - i || !str_is_utf8(str_sub(s, i, n)))
		return 0;
	return (c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0) || turns(s.p + i, n) ? 0 : n;
}

/* Returns the code of a valid character of n bytes. */
static int32_t code_of(const char *p, size_t n)
{
	int32_t c = (unsigned char)*p & (n == 2 ? 0x1f : n == 3 ? 0x0f : 0x07);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

/* Returns the width of the character of n bytes at s[i], columns; if n is 0, the width of its
 * escape. A character that the locale lacks counts as one column; without UTF-8, AT_LEAST counts as
 * two. */
static size_t columns_of(struct str s, size_t i, size_t n, bool utf8)
{
	int columns = n > 1 ? wcwidth(code_of(s.p + i, n)) : 1;

	if (columns < 0)
		return !utf8 && str_starts(str_sub(s, i, n), S(AT_LEAST)) ? 2 : 1;
	return !n ? 4 : (size_t)columns;
}

void letters_escape(struct sb *to, struct str text, bool utf8)
{
	for (size_t i = 0; i < text.n;) {
		size_t n = letter(text, i, utf8);
		if (n > 1 && !utf8)
			sb_put(to, S(">="));
		else if (n)
			sb_put(to, str_sub(text, i, n));
		else
			sb_fmt(to, "\\x%02x", (unsigned char)text.p[i]);
		i += n ? n : 1;
	}
}

size_t letters_width(struct str text, bool utf8)
{
	size_t columns = 0;

	for (size_t i = 0; i < text.n;) {
		size_t n = letter(text, i, utf8);
		columns += columns_of(text, i, n, utf8);
		i += n ? n : 1;
	}
	return columns;
}

size_t letters_widest_word(struct str text, bool utf8)
{
	size_t most = 0;

	while (text.n) {
		size_t blank = str_find_char(text, ' '),
		       n = letters_width(str_sub(text, 0, blank), utf8);
		most = n > most ? n : most;
		text = blank == SIZE_MAX ? STR_NONE : str_sub(text, blank + 1, SIZE_MAX);
	}
	return most;
}

size_t letters_next(struct str text, size_t i, bool utf8, size_t *columns)
{
	size_t n = letter(text, i, utf8);

	*columns = columns_of(text, i, n, utf8);
	return n;
}

/* Returns the longest beginning of text that takes at most `columns` columns. */
static struct str head(struct str s, size_t columns, bool utf8)
{
	size_t i = 0, used = 0;

	while (i < s.n) {
		size_t n = letter(s, i, utf8);
		used += columns_of(s, i, n, utf8);
		if (used > columns)
			break;
		i += n ? n : 1;
	}
	return str_sub(s, 0, i);
}

/* Returns the longest end of text that takes at most `columns` columns and does not begin with a
 * combining character. */
static struct str tail(struct str s, size_t columns, bool utf8)
{
	size_t left = letters_width(s, utf8), i = 0;

	while (i < s.n) {
		size_t n = letter(s, i, utf8), width = columns_of(s, i, n, utf8);
		if (left <= columns && width)
			break;
		left -= width;
		i += n ? n : 1;
	}
	return str_sub(s, i, SIZE_MAX);
}

void letters_shorten(struct sb *to, struct str text, size_t room, bool utf8)
{
	struct str dots = utf8 ? S("\xe2\x80\xa6") : S("...");
	size_t dots_n = utf8 ? 1 : 3;

	if (letters_width(text, utf8) <= room || room <= dots_n) {
		letters_escape(to, text, utf8);
		return;
	}
	/* The end of a name is more informative than its beginning. */
	size_t left = (room - dots_n) / 3, right = room - dots_n - left;
	letters_escape(to, head(text, left, utf8), utf8);
	sb_put(to, dots);
	letters_escape(to, tail(text, right, utf8), utf8);
}

struct str letters_break(struct str text, size_t room, bool utf8)
{
	if (letters_width(text, utf8) <= room)
		return text;
	struct str line = head(text, room + 1, utf8);
	size_t blank = str_rfind_char(line, ' ');
	if (blank == SIZE_MAX || blank == 0)
		blank = str_find_char(text, ' ');
	return str_sub(text, 0, blank);
}

void letters_wrap(struct sb *to, struct str text, size_t filled, size_t columns, bool utf8)
{
	while (columns) {
		struct str part =
		        letters_break(text, columns > filled ? columns - filled : 0, utf8);
		if (part.n == text.n)
			break;
		letters_escape(to, part, utf8);
		sb_char(to, '\n');
		text = str_sub(text, part.n + 1, SIZE_MAX);
		filled = 0;
	}
	letters_escape(to, text, utf8);
}
