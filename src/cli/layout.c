/* SPDX-License-Identifier: Apache-2.0
 *
 * Aligns the cells of rows in columns, shortens and wraps them, and leaves out columns.
 */
#include "cli/screen.h"

#define DIM      "\033[2m"
#define BOLD     "\033[1m"
#define HOT      "\033[1;31m"
#define WARM     "\033[33m"
#define PLAIN    "\033[0m"
#define LARGE    0.5 /* shares from this value on are hot */
#define MIDDLE   0.2 /* shares from this value on are warm */
#define BAR      10  /* width of a bar, columns */
#define SHARE    6   /* width of the share after the bar, columns */
#define NAME_MIN 16  /* columns; names are never shortened further */
/* Columns, and two fifths of the line, that names keep while cells remain. */
#define NAME_LEAST 24
#define GAP        2   /* columns between two cells */
#define ROWS_WAIT  500 /* number of rows that determine the widths of columns */
#define INDENT_ON  4   /* indent of cells continued on the next line */

struct layout_row {
	size_t indent;
	struct str name, *cells; /* indexed by column; cells without text are empty */
	size_t n;
	double share;
	bool whole, dim;
	bool plain; /* true: the row has no cells; name is its whole text */
};

void layout_init(struct layout *l, struct work *work)
{
	*l = (struct layout){ 0 };
	arena_init(&l->a, work);
	arena_init(&l->waiting, work);
}

void layout_begin(struct layout *l, struct term term, bool wide, bool bars)
{
	arena_clear(&l->a);
	arena_clear(&l->waiting);
	*l = (struct layout){
		.term = term, .wide = wide, .bars = bars, .a = l->a, .waiting = l->waiting
	};
}

static size_t width(const struct layout *l, struct str text)
{
	return letters_width(text, l->term.utf8);
}

static size_t bar_width(const struct layout *l)
{
	return l->bars ? BAR + SHARE : 0;
}

/* ---- measuring ---- */

/* Returns the heading's label for names. */
static struct str name_of_names(const struct layout *l)
{
	return str_sub(l->heading, 0, str_find(l->heading, S(" | ")));
}

static void measure(struct layout *l)
{
	size_t names = width(l, name_of_names(l));

	l->name = names > l->name ? names : l->name;
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct layout_row *r = l->rows.v[i];
		if (r->plain)
			continue;
		size_t name = r->indent + width(l, r->name);
		l->name = name > l->name ? name : l->name;
		for (size_t c = 0; c < r->n; c++) {
			size_t n = width(l, r->cells[c]);
			if (n > l->columns.v[c].width && !l->columns.v[c].left_out)
				l->columns.v[c].width = n;
		}
	}
	for (size_t c = 0; c < l->columns.n; c++) {
		struct layout_column *x = &l->columns.v[c];
		size_t word = x->width ? letters_widest_word(x->name, l->term.utf8) : 0;
		x->width = word > x->width ? word : x->width;
	}
}

/* Returns the number of columns that all cells take. */
static size_t cells_width(const struct layout *l)
{
	size_t all = 0;

	for (size_t c = 0; c < l->columns.n; c++)
		all += l->columns.v[c].width ? l->columns.v[c].width + GAP : 0;
	return all;
}

/* True if the columns fit beside names of this width. */
static bool fits(const struct layout *l, size_t names)
{
	return names + cells_width(l) + bar_width(l) <= l->term.columns;
}

/* Leaves out the last columns with names, but not the key, until the others fit beside names of two
 * fifths of the line; below a new heading, then shows again those that fit in the rest. */
static void leave_out(struct layout *l)
{
	size_t least = (size_t)l->term.columns * 2 / 5;

	least = least > NAME_LEAST ? least : NAME_LEAST;
	least = least > l->name ? l->name : least;
	for (size_t c = l->columns.n; c-- > 0 && !fits(l, least);) {
		struct layout_column *x = &l->columns.v[c];
		if (x->key || !x->width || !x->name.n)
			continue;
		x->left_out = x->width;
		x->width = 0;
	}
	for (size_t c = 0; c < l->columns.n && l->heading.n; c++) {
		struct layout_column *x = &l->columns.v[c];
		if (!x->left_out)
			continue;
		x->width = x->left_out;
		if (fits(l, least))
			x->left_out = 0;
		else
			x->width = 0;
	}
}

/* Narrows text columns, then names, if the terminal is too narrow; leaves out columns if that is
 * not enough. */
static void fit(struct layout *l)
{
	size_t room = l->term.columns, all = l->name + cells_width(l) + bar_width(l);

	if (l->wide || !room)
		return;
	for (size_t c = 0; c < l->columns.n && all > room; c++) {
		struct layout_column *x = &l->columns.v[c];
		size_t spare = x->text && x->width > NAME_MIN ? x->width - NAME_MIN : 0;
		spare = spare > all - room ? all - room : spare;
		x->width -= spare;
		all -= spare;
	}
	leave_out(l);
	all = l->name + cells_width(l) + bar_width(l);
	if (all <= room)
		return;
	if (l->name > NAME_MIN && all - (l->name - NAME_MIN) <= room) {
		l->name -= all - room;
		return;
	}
	/* The cells continue on the next line anyway, so names may take a whole line. */
	l->wraps = true;
	size_t most = room > bar_width(l) + NAME_MIN ? room - bar_width(l) : NAME_MIN;
	l->name = l->name > most ? most : l->name;
}

/* ---- writing ---- */

static void put_bar(const struct layout *l, const struct layout_row *r, struct sb *to)
{
	double share = r->share > 1 ? 1 : r->share < 0 ? 0 : r->share;
	size_t full = (size_t)(share * BAR + 0.5);

	for (size_t i = 0; i < BAR; i++)
		sb_put(to, i < full ? (l->term.utf8 ? S("\xe2\x96\x88") : S("#"))
		                    : (l->term.utf8 ? S("\xe2\x96\x91") : S(".")));
	if (r->share >= 0)
		sb_fmt(to, " %3d%% ", (int)(share * 100 + 0.5));
	else
		sb_repeat(to, ' ', SHARE);
}

static const char *style(const struct layout *l, const struct layout_row *r)
{
	if (!l->term.color)
		return NULL;
	if (r->dim)
		return DIM;
	if (r->whole || r->share < 0)
		return NULL;
	return r->share >= LARGE ? HOT : r->share >= MIDDLE ? WARM : NULL;
}

/* Position of the next cell. */
struct line_place {
	size_t at;      /* columns of the line that are filled */
	size_t pending; /* pending blanks; blanks are not written at the end of a line */
	bool new_line;  /* true: a newline is pending */
};

/* Appends the cell in its column, on a new line if it does not fit. */
static void put_cell(const struct layout *l, struct line_place *p, const struct layout_column *c,
        struct str text, struct sb *to)
{
	size_t n = width(l, text);

	n = n > c->width ? c->width : n;
	if (l->wraps && p->at > INDENT_ON && p->at + GAP + c->width > l->term.columns) {
		p->new_line = true;
		p->at = p->pending = INDENT_ON;
	}
	size_t pad = c->width - n;
	p->pending += GAP + (c->text ? 0 : pad);
	if (n) {
		if (p->new_line)
			sb_char(to, '\n');
		p->new_line = false;
		sb_repeat(to, ' ', p->pending);
		letters_shorten(to, text, l->wide ? SIZE_MAX : c->width, l->term.utf8);
		p->pending = 0;
	}
	p->pending += c->text ? pad : 0;
	p->at += GAP + c->width;
}

static void put_row(const struct layout *l, const struct layout_row *r, struct sb *to)
{
	const char *how = style(l, r);
	size_t indent = r->indent, name = width(l, r->name);

	if (l->bars)
		put_bar(l, r, to);
	if (how)
		sb_put(to, str_of(how));
	if (indent + NAME_MIN > l->name && indent + name > l->name)
		indent = l->name > NAME_MIN ? l->name - NAME_MIN : 0;
	size_t room = l->name - indent;
	sb_repeat(to, ' ', indent);
	letters_shorten(to, r->name, l->wide ? SIZE_MAX : room, l->term.utf8);
	name = name > room && !l->wide ? room : name;
	struct line_place p = { .at = bar_width(l) + l->name,
		.pending = room > name ? room - name : 0 };
	for (size_t c = 0; c < r->n; c++)
		if (l->columns.v[c].width)
			put_cell(l, &p, &l->columns.v[c], r->cells[c], to);
	if (how)
		sb_put(to, S(PLAIN));
	sb_char(to, '\n');
}

static size_t sentence_columns(const struct layout *l)
{
	return l->wide ? 0 : l->term.columns;
}

/* Appends the heading. Wraps each name to its column's width; the columns are aligned at their last
 * lines. */
static void put_columns(const struct layout *l, struct sb *to)
{
	size_t lines = 1, n = l->columns.n;
	struct strs *parts = ARENA_ARRAY(to->a, n, struct strs);
	struct str names = name_of_names(l);

	for (size_t c = 0; c < n; c++) {
		const struct layout_column *x = &l->columns.v[c];
		for (struct str left = x->name; left.n && x->width;) {
			struct str part = letters_break(left, x->width, l->term.utf8);
			strs_add(to->a, &parts[c], part);
			left = str_sub(left, part.n + 1, SIZE_MAX);
		}
		lines = parts[c].n > lines ? parts[c].n : lines;
	}
	for (size_t i = 0; i < lines; i++) {
		struct line_place p = { .at = bar_width(l) + l->name,
			.pending = bar_width(l) + l->name };
		if (i + 1 == lines) {
			sb_repeat(to, ' ', bar_width(l));
			letters_shorten(to, names, l->name, l->term.utf8);
			size_t w = width(l, names);
			p.pending = l->name > w ? l->name - w : 0;
		}
		for (size_t c = 0; c < n; c++) {
			size_t skip = lines - parts[c].n;
			struct str part = i >= skip && parts[c].n ? parts[c].v[i - skip] : STR_NONE;
			if (l->columns.v[c].width)
				put_cell(l, &p, &l->columns.v[c], part, to);
		}
		sb_char(to, '\n');
	}
}

/* Appends the heading in columns, or as a sentence if rows take several lines. Each line sets bold
 * again, because pagers reset the style at line ends. */
static void put_heading(const struct layout *l, struct sb *to)
{
	struct sb all = sb_in(to->a);

	if (l->wraps) {
		letters_wrap(&all, l->heading, 0, sentence_columns(l), l->term.utf8);
		sb_char(&all, '\n');
	} else {
		put_columns(l, &all);
	}
	for (struct str left = sb_str(&all); left.n;) {
		struct str line = str_sub(left, 0, str_find_char(left, '\n'));
		if (l->term.color)
			sb_put(to, S(BOLD));
		sb_put(to, line);
		if (l->term.color)
			sb_put(to, S(PLAIN));
		sb_char(to, '\n');
		left = str_sub(left, line.n + 1, SIZE_MAX);
	}
}

static void put_waiting(struct layout *l, struct sb *to)
{
	if (!l->heading.n && !l->rows.n)
		return;
	measure(l);
	fit(l);
	if (l->heading.n)
		put_heading(l, to);
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct layout_row *r = l->rows.v[i];
		if (r->plain) {
			letters_escape(to, r->name, l->term.utf8);
			sb_char(to, '\n');
		} else {
			put_row(l, r, to);
		}
	}
	l->heading = STR_NONE;
	l->rows.v = NULL;
	l->rows.n = l->rows.cap = 0;
	arena_clear(&l->waiting);
}

/* ---- lines ---- */

static struct layout_row *add_row(struct layout *l, struct sb *to)
{
	struct layout_row *r;

	if (l->rows.n >= ROWS_WAIT)
		put_waiting(l, to);
	r = ARENA_NEW(&l->waiting, struct layout_row);
	VEC_PUSH(&l->waiting, &l->rows, r);
	return r;
}

static struct str slice(const struct line *line, const struct line_cell *c)
{
	return str_sub(line->text, c->at, c->n);
}

/* Copies the text of a cell. A terminal without UTF-8 shows "≥" as ">=". */
static struct str cell_text(struct layout *l, struct str text)
{
	struct sb b = sb_in(&l->waiting);
	size_t at;

	while (!l->term.utf8 && (at = str_find(text, S("≥"))) != SIZE_MAX) {
		sb_put(&b, str_sub(text, 0, at));
		sb_put(&b, S(">="));
		text = str_sub(text, at + S("≥").n, SIZE_MAX);
	}
	sb_put(&b, text);
	return sb_str(&b);
}

static void begin_table(struct layout *l, const struct line *line)
{
	l->table = true;
	l->name = 0;
	l->columns.n = 0;
	l->wraps = false;
	l->heading = line->style == LINE_HEADING
	                     ? str_copy(&l->a, str_sub(line->text, 0, line->text.n - 1))
	                     : STR_NONE;
}

static void add_columns(struct layout *l, const struct line *line)
{
	for (size_t i = 0; i < line->n; i++) {
		const struct line_cell *c = &line->cells[i];
		while (l->columns.n <= c->column)
			VEC_PUSH(&l->a, &l->columns, (struct layout_column){ 0 });
		if (line->style == LINE_HEADING) {
			l->columns.v[c->column].name = str_copy(&l->a, slice(line, c));
			l->columns.v[c->column].key = c->key;
		}
	}
}

void layout_line(struct layout *l, const struct line *line, struct sb *to)
{
	if (line->style == LINE_SENTENCE) {
		layout_end(l, to);
		letters_wrap(to, str_sub(line->text, 0, line->text.n - 1), 0, sentence_columns(l),
		        l->term.utf8);
		sb_char(to, '\n');
		return;
	}
	if (line->style == LINE_HEADING || !l->table) {
		layout_end(l, to);
		begin_table(l, line);
	}
	add_columns(l, line);
	if (line->style == LINE_HEADING)
		return;
	struct layout_row *r = add_row(l, to);
	r->indent = line->indent;
	r->name = str_copy(&l->waiting, str_sub(line->text, line->indent, line->name));
	r->n = l->columns.n;
	r->cells = ARENA_ARRAY(&l->waiting, r->n, struct str);
	r->share = line->share;
	r->whole = line->whole;
	r->dim = line->dim;
	for (size_t i = 0; i < line->n; i++) {
		r->cells[line->cells[i].column] = cell_text(l, slice(line, &line->cells[i]));
		l->columns.v[line->cells[i].column].text |= !line->cells[i].number;
	}
}

void layout_text(struct layout *l, struct str text, struct sb *to)
{
	if (!l->table) {
		letters_escape(to, text, l->term.utf8);
		sb_char(to, '\n');
		return;
	}
	/* Text between the rows of a table waits with the rows, because the widths apply to the
	 * whole table. */
	struct layout_row *r = add_row(l, to);
	r->plain = true;
	r->name = str_copy(&l->waiting, text);
}

/* Names the columns that were left out. */
static void put_left_out(const struct layout *l, struct sb *to)
{
	struct sb all = sb_in(to->a);

	for (size_t c = 0; c < l->columns.n; c++)
		if (l->columns.v[c].left_out)
			sb_fmt(&all, "%s%.*s", all.n ? ", " : "(-wide also shows ",
			        STR(l->columns.v[c].name));
	if (!all.n)
		return;
	sb_char(&all, ')');
	letters_wrap(to, sb_str(&all), 0, sentence_columns(l), l->term.utf8);
	sb_char(to, '\n');
}

void layout_end(struct layout *l, struct sb *to)
{
	put_waiting(l, to);
	if (l->table)
		put_left_out(l, to);
	l->table = false;
}
