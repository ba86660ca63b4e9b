/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as bytes on a sink. Levels are bits of one word: no allocation, no recursion.
 */
#include "io/json_out.h"

#include <assert.h>

#include "base/bits.h"

#define JSON_BAD 0xfffd /* the replacement character */

/* Starts a document of one value. */
void json_init(struct json *j, struct sink *to)
{
	*j = (struct json){ .to = to, .first = true };
}

void json_line(struct json *j)
{
	j->line = true;
}

static void json_break(struct json *j)
{
	if (j->line)
		sink_char(j->to, '\n');
	j->line = false;
}

/* Called before every value: writes the comma of an array and asserts the state. */
static void json_value(struct json *j)
{
	assert(j->depth || j->first);
	assert(!j->depth || j->keyed == (j->objects & 1));
	if (!j->first && !j->keyed)
		sink_char(j->to, ',');
	json_break(j);
	j->first = j->keyed = false;
}

/* Opens a level. */
static void json_open(struct json *j, bool object)
{
	json_value(j);
	assert(j->depth < JSON_DEPTH_MAX);
	j->depth++;
	j->objects = j->objects << 1 | object;
	j->first = true;
	sink_char(j->to, object ? '{' : '[');
}

/* Closes a level. */
static void json_close(struct json *j, bool object)
{
	assert(j->depth && (j->objects & 1) == object && !j->keyed);
	json_break(j);
	j->depth--;
	j->objects >>= 1;
	j->first = false;
	sink_char(j->to, object ? '}' : ']');
}

void json_object(struct json *j)
{
	json_open(j, true);
}
void json_object_end(struct json *j)
{
	json_close(j, true);
}
void json_array(struct json *j)
{
	json_open(j, false);
}
void json_array_end(struct json *j)
{
	json_close(j, false);
}

/* True if none of the eight bytes needs an escape. A byte that needs one sets its highest bit in
 * one of the four terms: control characters, quotes, backslashes, bytes beyond ASCII. */
static bool json_plain8(const char *p)
{
	const uint64_t ones = 0x0101010101010101, w = le64_get(p);

	return !(((w - ones * 0x20) | ((w ^ ones * '"') - ones) | ((w ^ ones * '\\') - ones) | w) &
	         ones * 0x80);
}

/* Returns the number of bytes of s, from i on, that need no escape. */
static size_t json_plain(struct str s, size_t i)
{
	size_t from = i;

	while (s.n - i >= 8 && json_plain8(s.p + i))
		i += 8;
	while (i < s.n && (uint8_t)s.p[i] - 0x20u < 0x60 && s.p[i] != '"' && s.p[i] != '\\')
		i++;
	return i - from;
}

/* Writes one UTF-16 unit. */
static void json_unit(struct sink *to, uint32_t u)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = { '\\', 'u', hex[u >> 12 & 15], hex[u >> 8 & 15], hex[u >> 4 & 15],
		hex[u & 15] };

	sink_put(to, str_make(text, sizeof text));
}

/* Writes one ASCII character that needs an escape. */
static void json_escape(struct sink *to, char c)
{
	static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = c ? strchr(names, c) : NULL;

	if (!at) {
		json_unit(to, (uint8_t)c);
		return;
	}
	sink_char(to, '\\');
	sink_char(to, letters[at - names]);
}

/* Decodes the character beyond ASCII at p. Returns its length in bytes. Decodes invalid UTF-8 like
 * the original: the first byte alone gives the length, and the other bytes are not checked. A
 * truncated character is JSON_BAD and one byte long. */
static size_t json_decode(const uint8_t *p, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	uint32_t v = *p & (0x7fu >> len);

	*c = JSON_BAD;
	if (*p >= 0xf8 || len > n)
		return 1;
	for (size_t i = 1; i < len; i++)
		v = v << 6 | (p[i] & 0x3f);
	if (v >= least[len] && (len != 3 || v < 0xd800 || v >= 0xe000))
		*c = v;
	return len;
}

/* Writes one character beyond ASCII; returns its length in bytes. */
static size_t json_wide(struct sink *to, const uint8_t *p, size_t n)
{
	uint32_t c;
	size_t len = json_decode(p, n, &c);

	if (c >= 0x10000) {
		json_unit(to, 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	json_unit(to, c);
	return len;
}

void json_put_text(struct sink *to, struct str s)
{
	size_t i = 0, n;

	sink_char(to, '"');
	while (i < s.n) {
		n = json_plain(s, i);
		if (n) {
			sink_put(to, str_make(s.p + i, n));
			i += n;
		} else if ((uint8_t)s.p[i] < 0x80) {
			json_escape(to, s.p[i++]);
		} else {
			i += json_wide(to, (const uint8_t *)s.p + i, s.n - i);
		}
	}
	sink_char(to, '"');
}

/* Writes the key of the next value. */
void json_key(struct json *j, struct str key)
{
	assert(j->depth && (j->objects & 1) && !j->keyed);
	if (!j->first)
		sink_char(j->to, ',');
	json_break(j);
	json_put_text(j->to, key);
	sink_char(j->to, ':');
	j->keyed = true;
}

void json_string(struct json *j, struct str text)
{
	json_value(j);
	json_put_text(j->to, text);
}

void json_bytes(struct json *j, struct sb *scratch, struct str text)
{
	if (!str_is_utf8(text)) {
		scratch->n = 0;
		sb_put_utf8(scratch, text);
		text = sb_str(scratch);
	}
	json_string(j, text);
}

void json_i64(struct json *j, int64_t v)
{
	json_value(j);
	sink_i64(j->to, v);
}

void json_literal(struct json *j, struct str text)
{
	json_value(j);
	sink_put(j->to, text);
}

bool json_done(const struct json *j)
{
	bool done = !j->depth && !j->first;

	assert(done);
	return done;
}
