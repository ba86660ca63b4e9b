/* SPDX-License-Identifier: Apache-2.0
 *
 * Text as a cell of a Markdown table, as GitHub reads it: free of markup, and confined to its cell.
 */
#include "export/data/sheet.h"

static bool is_word(struct str s, size_t i)
{
	uint8_t c = i < s.n ? (uint8_t)s.p[i] : ' ';

	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0x80;
}

/* True if the byte needs a backslash. An underscore within a word does not. */
static bool is_markup(struct str s, size_t i)
{
	if (s.p[i] == '_')
		return i == 0 || !is_word(s, i - 1) || !is_word(s, i + 1);
	return s.p[i] && strchr("\\|`*<>[]~&$", s.p[i]);
}

void md_text(struct sink *to, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f) {
			sink_fmt(to, "\\\\x%02x", c);
			continue;
		}
		if (is_markup(s, i))
			sink_char(to, '\\');
		sink_char(to, s.p[i]);
	}
}
