/* SPDX-License-Identifier: Apache-2.0
 *
 * Text as a cell of CSV (RFC 4180; lines end in LF).
 */
#include "export/data/sheet.h"

enum { PLAIN, QUOTE, ESCAPE };

/* Returns the class of a byte in a cell. */
static int judge(uint8_t c)
{
	if (c == '"' || c == ',' || c == '\n' || c == '\r')
		return QUOTE;
	return (c < 0x20 && c != '\t') || c == 0x7f ? ESCAPE : PLAIN;
}

/* True if spreadsheets may run the text as a formula. */
static bool is_formula(struct str s)
{
	static const char *const begins[] = { "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d",
		"\uff0b", "\uff0d", "\uff20" }; /* the last four are full-width forms */

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (str_starts(s, str_of(begins[i])))
			return true;
	return false;
}

void csv_text(struct sink *to, struct str s, bool spreadsheet)
{
	struct str apostrophe = spreadsheet && is_formula(s) ? S("'") : STR_NONE;
	int worst = PLAIN;

	for (size_t i = 0; i < s.n && worst != ESCAPE; i++) {
		int j = judge((uint8_t)s.p[i]);
		worst = j > worst ? j : worst;
	}
	if (worst == PLAIN && s.n && s.p[0] != ' ' && s.p[s.n - 1] != ' ') {
		sink_put(to, apostrophe);
		sink_put(to, s);
		return;
	}
	sink_char(to, '"');
	sink_put(to, apostrophe);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			sink_char(to, '"');
		if (judge((uint8_t)s.p[i]) == ESCAPE)
			sink_fmt(to, "\\x%02x", (uint8_t)s.p[i]);
		else
			sink_char(to, s.p[i]);
	}
	sink_char(to, '"');
}
