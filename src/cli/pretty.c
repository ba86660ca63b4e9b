/* SPDX-License-Identifier: Apache-2.0
 *
 * See pretty.h. Knows the shape of a line ("name (a/b, c/d)", "TYPE  1us (90.00%, 40.00%), ..."),
 * not what it says.
 */
#include "cli/pretty.h"

#define DIM      "\033[2m"
#define BOLD     "\033[1m"
#define HOT      "\033[1;31m"
#define WARM     "\033[33m"
#define PLAIN    "\033[0m"
#define LARGE    0.5 /* shares from here on are hot */
#define MIDDLE   0.2 /* and from here on warm */
#define BAR      10  /* cells of a bar */
#define NAME_MIN 16  /* a name is never shortened below this */

/* ---- letters ---- */

/* Bytes of the letter at s[i]; 0: it is none that may be printed. */
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
		return c >= 0xa0;
	if (n > s.n - i || !str_is_utf8(str_sub(s, i, n)))
		return 0;
	return c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0 ? 0 : n;
}

void pretty_escape(struct sb *to, struct str text, bool utf8)
{
	for (size_t i = 0; i < text.n;) {
		size_t n = letter(text, i, utf8);
		if (n)
			sb_put(to, str_sub(text, i, n));
		else
			sb_fmt(to, "\\x%02x", (unsigned char)text.p[i]);
		i += n ? n : 1;
	}
}

size_t pretty_width(struct str text, bool utf8)
{
	size_t columns = 0;

	for (size_t i = 0; i < text.n;) {
		size_t n = letter(text, i, utf8);
		columns += n ? 1 : 4;
		i += n ? n : 1;
	}
	return columns;
}

/* The first or, from the end, last `columns` letters of escaped text. */
static struct str head(struct str s, size_t columns, bool utf8)
{
	size_t i = 0;

	while (columns-- && i < s.n) {
		size_t n = letter(s, i, utf8);
		i += n ? n : 1;
	}
	return str_sub(s, 0, i);
}

static struct str tail(struct str s, size_t columns, bool utf8)
{
	size_t skip = pretty_width(s, utf8), i = 0;

	skip = skip > columns ? skip - columns : 0;
	while (skip-- && i < s.n) {
		size_t n = letter(s, i, utf8);
		i += n ? n : 1;
	}
	return str_sub(s, i, SIZE_MAX);
}

/* ---- what a line says ---- */

struct parts {
	struct str indent, name, rest; /* the line is the three of them */
	bool counts;                   /* no "--" in it */
	bool has_share, zero;
	double share;
};

static const struct unit {
	const char *word;
	double factor;
} units[] = { { "us", 1 }, { "ms", 1e3 }, { "sec", 1e6 }, { "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 },
	{ "k", 1e3 }, { "m", 1e6 }, { "b", 1e9 }, { "", 1 } };

/* The number at the beginning of text, with its unit. */
static bool number(struct str text, double *v)
{
	double whole = 0, place = 1;
	size_t i = 0;
	bool point = false;

	for (; i < text.n &&
	        ((text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] == '.' && !point));
	        i++) {
		if (text.p[i] == '.') {
			point = true;
			continue;
		}
		whole = whole * 10 + (text.p[i] - '0');
		place *= point ? 10 : 1;
	}
	if (i == 0)
		return false;
	struct str unit = str_sub(text, i, SIZE_MAX);
	size_t blank = str_find_char(unit, ' ');
	unit = str_sub(unit, 0, blank);
	for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
		if (str_eq(unit, str_of(units[u].word))) {
			*v = whole / place * units[u].factor;
			return true;
		}
	}
	return false;
}

/* "self/total suffix": the total. */
static bool pair_total(struct str field, double *total, bool *counts)
{
	size_t slash = str_find_char(field, '/');
	double self;

	if (slash == SIZE_MAX || slash == 0)
		return false;
	bool no_self = str_eq(str_sub(field, 0, slash), S("--"));
	if (!no_self && !number(str_sub(field, 0, slash), &self))
		return false;
	if (!number(str_sub(field, slash + 1, SIZE_MAX), total))
		return false;
	*counts = !no_self;
	return true;
}

static struct str next_field(struct str *rest)
{
	size_t end = str_find(*rest, S(", "));
	struct str f = str_sub(*rest, 0, end);

	*rest = end == SIZE_MAX ? STR_NONE : str_sub(*rest, end + 2, SIZE_MAX);
	return f;
}

/* The share of a tree line: of the column asked for, else of the first with a total in the root. A
 * shape before the pairs is no column. */
static void tree_share(struct pretty *p, struct parts *x, struct str fields)
{
	bool first = !p->has_root;
	unsigned i = 0;

	while (fields.n) {
		double total;
		bool counts;
		if (!pair_total(next_field(&fields), &total, &counts))
			continue;
		if (!x->has_share || i == p->root_field)
			x->counts = counts;
		if (first && total > 0 && (!p->has_root || i == p->by_column)) {
			p->has_root = true;
			p->root = total;
			p->root_field = i;
		}
		if (p->has_root && i == p->root_field) {
			x->has_share = true;
			x->share = total / p->root;
			x->zero = total <= 0;
		}
		i++;
	}
	if (first)
		x->counts = true; /* the root never counts itself */
}

/* "12us (90.00%, 40.00%)": the second is the own share. Columns before the one asked for are passed
 * over. */
static bool type_share(const struct pretty *p, struct parts *x)
{
	struct str in = x->rest;
	double share;

	for (unsigned i = 0; i <= p->by_column; i++) {
		size_t open = str_find(in, S(" ("));
		if (open == SIZE_MAX)
			return false;
		in = str_sub(in, open + 2, SIZE_MAX);
	}
	size_t comma = str_find(in, S("%, ")), end = str_find(in, S("%)"));
	if (comma == SIZE_MAX || end == SIZE_MAX || end < comma ||
	        !number(str_sub(in, comma + 3, end - comma - 3), &share))
		return false;
	x->has_share = x->counts = true;
	x->share = share / 100;
	x->zero = share <= 0;
	return true;
}

static void take_apart(struct pretty *p, struct str line, struct parts *x)
{
	size_t indent = 0, name = line.n;

	memset(x, 0, sizeof *x);
	x->counts = true;
	while (indent < line.n && line.p[indent] == ' ')
		indent++;
	if (str_ends(line, S(")")))
		for (size_t i = line.n - 1; i > indent; i--)
			if (line.p[i] == '(' && line.p[i - 1] == ' ') {
				name = i - 1;
				break;
			}
	struct str inside = str_sub(line, name + 2, line.n - name > 3 ? line.n - name - 3 : 0);
	bool type = str_find(line, S("%, ")) != SIZE_MAX && str_find(line, S("%)")) != SIZE_MAX;
	if (type) {
		size_t gap = str_find(line, S("  "));
		name = indent == 0 && gap != SIZE_MAX ? gap : 0;
	}
	x->indent = str_sub(line, 0, indent);
	x->name = str_sub(line, indent, name > indent ? name - indent : 0);
	x->rest = str_sub(line, indent + x->name.n, SIZE_MAX);
	if (!type || !type_share(p, x))
		tree_share(p, x, inside);
}

/* ---- showing ---- */

static void put_bar(const struct pretty *p, const struct parts *x, struct sb *to)
{
	double share = x->has_share ? x->share : 0;
	size_t full;

	if (share > 1)
		share = 1;
	full = (size_t)(share * BAR + 0.5);
	for (size_t i = 0; i < BAR; i++)
		sb_put(to, i < full ? (p->term.utf8 ? S("\xe2\x96\x88") : S("#"))
		                    : (p->term.utf8 ? S("\xe2\x96\x91") : S(".")));
	if (x->has_share)
		sb_fmt(to, " %3d%% ", (int)(share * 100 + 0.5));
	else
		sb_put(to, S("      "));
}

static void put_name(const struct pretty *p, const struct parts *x, struct sb *to)
{
	bool utf8 = p->term.utf8;
	struct str dots = utf8 ? S("\xe2\x80\xa6") : S("...");
	size_t dots_n = utf8 ? 1 : 3, name = pretty_width(x->name, utf8),
	       others = x->indent.n + pretty_width(x->rest, utf8) + (p->bars ? BAR + 6 : 0), room;

	if (p->wide || !p->term.columns || name + others <= p->term.columns) {
		pretty_escape(to, x->name, utf8);
		return;
	}
	room = p->term.columns > others ? p->term.columns - others : 0;
	if (room < NAME_MIN) { /* it would not fit anyway */
		pretty_escape(to, x->name, utf8);
		return;
	}
	/* The end of a name tells more than its beginning. */
	size_t left = (room - dots_n) / 3, right = room - dots_n - left;
	pretty_escape(to, head(x->name, left, utf8), utf8);
	sb_put(to, dots);
	pretty_escape(to, tail(x->name, right, utf8), utf8);
}

static const char *style(const struct pretty *p, const struct parts *x)
{
	if (!p->term.color)
		return NULL;
	if (!x->counts || (x->has_share && x->zero))
		return DIM;
	if (!x->has_share || p->lines <= 1)
		return NULL;
	return x->share >= LARGE ? HOT : x->share >= MIDDLE ? WARM : NULL;
}

static void put_row(struct pretty *p, struct str line, struct sb *to)
{
	struct parts x;

	p->lines++;
	take_apart(p, line, &x);
	const char *how = style(p, &x);
	if (p->bars)
		put_bar(p, &x, to);
	if (how)
		sb_put(to, str_of(how));
	sb_put(to, x.indent);
	put_name(p, &x, to);
	pretty_escape(to, x.rest, p->term.utf8);
	if (how)
		sb_put(to, S(PLAIN));
}

/* Where the column asked for stands in the legend; 0 if it is not there. */
static unsigned column_of(struct str legend, struct str by)
{
	unsigned i = 0;

	for (size_t bar; by.n && (bar = str_find(legend, S(" | "))) != SIZE_MAX; i++) {
		legend = str_sub(legend, bar + 3, SIZE_MAX);
		if (str_eq(str_sub(legend, 0, str_find(legend, S(" | "))), by))
			return i;
	}
	return 0;
}

/* Text that is read as sentences: no word is torn at the terminal's edge. So many columns are taken
 * before it. */
static void put_sentence(const struct pretty *p, struct str text, size_t taken, struct sb *to)
{
	bool utf8 = p->term.utf8, breaks = p->doc && !p->wide && p->term.columns > taken;

	while (breaks && taken + pretty_width(text, utf8) > p->term.columns) {
		struct str line = head(text, p->term.columns - taken + 1, utf8);
		size_t blank = str_rfind_char(line, ' ');
		if (blank == SIZE_MAX || blank == 0)
			break;
		pretty_escape(to, str_sub(text, 0, blank), utf8);
		sb_char(to, '\n');
		sb_repeat(to, ' ', taken);
		text = str_sub(text, blank + 1, SIZE_MAX);
	}
	pretty_escape(to, text, utf8);
}

void pretty_line(struct pretty *p, struct str line, struct sb *to)
{
	if (p->profile && p->rows) {
		put_row(p, line, to);
	} else {
		bool legend = p->profile && str_starts(line, S("node name | "));
		const char *how = !p->term.color ? NULL : legend ? BOLD : NULL;
		if (how)
			sb_put(to, str_of(how));
		size_t taken = legend && p->bars ? BAR + 6 : 0;
		sb_repeat(to, ' ', taken);
		p->doc |= !p->profile && str_eq(line, S("Doc:"));
		put_sentence(p, line, taken, to);
		if (how)
			sb_put(to, S(PLAIN));
		p->rows = legend;
		p->doc &= !legend;
		if (legend)
			p->by_column = column_of(line, p->by);
		if (str_eq(line, S("Profile:")))
			p->profile = true;
	}
	sb_char(to, '\n');
}
