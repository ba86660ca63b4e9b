/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws the lines of a page. A name keeps at least two fifths of the screen; columns that do not
 * fit beside it are scrolled to, and signs in the heading show that there are more.
 */
#include "cli/ui.h"

#define GAP         2   /* columns between two cells */
#define SHARE       5   /* width of a share, columns */
#define BAR         8   /* width of its bar on a wide screen, columns */
#define BAR_FROM    110 /* minimum width of a wide screen, columns */
#define HEADING_MAX 4   /* maximum number of lines of a heading */
#define TEXT_STEP   8   /* number of columns by which texts are scrolled */
#define LARGE       0.5
#define MIDDLE      0.2

struct ui_grid {
	const struct ui_place *place;
	const struct ui_block *block;
	struct arena *a;
	size_t share, name; /* widths of the share and of the name, columns */
	size_t *order, n;   /* the columns that fit, in the order in which they are drawn */
	bool left, right;   /* true: there are more columns on this side */
};

static size_t width(const struct ui_place *place, struct str text)
{
	return letters_width(text, place->utf8);
}

void ui_draw_text(unsigned y, struct str text, const struct ui_place *place, enum ui_style style,
        struct arena *a)
{
	struct sb b = sb_in(a);

	letters_shorten(&b, text, place->columns, place->utf8);
	ui_screen_fill(y, 0, style);
	ui_screen_put(y, 0, sb_str(&b), style);
}

/* ---- columns ---- */

/* Returns the column that is drawn first: the column that orders a tree; SIZE_MAX: none. */
static size_t first_column(const struct ui_page *p)
{
	for (size_t i = 0; p->tree && i < p->tree->columns.n; i++)
		if (p->tree->columns.id[i] == p->tree->answer.q.o->order.by)
			return i;
	return SIZE_MAX;
}

/* Lists the columns that have a width, with the column `first` before the others. */
static size_t list_columns(const struct ui_block *b, size_t first, size_t *to)
{
	size_t n = 0;

	if (first < b->n && b->width[first])
		to[n++] = first;
	for (size_t i = 0; i < b->n; i++)
		if (b->width[i] && i != first)
			to[n++] = i;
	return n;
}

/* Chooses the columns of a table, after p->skip columns. */
static void fit(struct ui_grid *g, struct ui_page *p)
{
	const struct ui_block *b = g->block;
	size_t room = g->place->columns, all = 0, used, n;

	g->order = ARENA_ARRAY(g->a, b->n + 1, size_t);
	n = list_columns(b, first_column(p), g->order);
	g->share = !b->shares ? 0 : SHARE + (room >= BAR_FROM ? BAR + 1 : 0);
	room -= g->share < room ? g->share : 0;
	for (size_t i = 0; i < n; i++)
		all += b->width[g->order[i]] + GAP;
	g->name = b->name;
	if (g->name + all > room) {
		size_t least = g->place->columns * 2 / 5, left = room > all ? room - all : 0;
		least = least > left ? least : left;
		g->name = g->name > least ? least : g->name;
	}
	size_t skip = p->skip < n ? p->skip : n ? n - 1 : 0;
	skip = g->name + all <= room ? 0 : skip;
	p->skip = skip;
	g->left = skip > 0;
	used = g->name + (skip ? 1 : 0);
	for (size_t i = skip; i < n; i++) {
		size_t more = b->width[g->order[i]] + GAP;
		if (used + more + (i + 1 < n ? 1 : 0) > room) {
			g->right = true;
			break;
		}
		used += more;
		g->order[g->n++] = g->order[i];
	}
	size_t left = room - used - (g->right ? 1 : 0); /* the name gets the remaining room */
	g->name = used > room ? g->name : g->name + left < b->name ? g->name + left : b->name;
}

/* ---- lines ---- */

static enum ui_style style_of(const struct ui_line *l)
{
	if (l->dim)
		return UI_DIM;
	if (l->whole || l->share < MIDDLE)
		return UI_PLAIN;
	return l->share >= LARGE ? UI_HOT : UI_WARM;
}

/* Appends text and blanks up to `columns` columns. Aligns numbers to the right. */
static void put_cell(struct ui_grid *g, struct sb *b, struct str text, size_t columns, bool right)
{
	size_t n = width(g->place, text), pad = n < columns ? columns - n : 0;

	if (right)
		sb_repeat(b, ' ', pad);
	letters_shorten(b, text, columns, g->place->utf8);
	if (!right)
		sb_repeat(b, ' ', pad);
}

static void put_share(struct ui_grid *g, struct sb *b, const struct ui_line *l)
{
	bool utf8 = g->place->utf8;
	double share = l->share > 1 ? 1 : l->share;
	size_t full = share > 0 ? (size_t)(share * BAR + 0.5) : 0;

	for (size_t i = 0; g->share > SHARE && i < BAR; i++)
		sb_put(b, i < full ? (utf8 ? S("\xe2\x96\x88") : S("#")) : S(" "));
	if (g->share > SHARE)
		sb_char(b, ' ');
	if (share >= 0)
		sb_fmt(b, "%3d%% ", (int)(share * 100 + 0.5));
	else
		sb_repeat(b, ' ', SHARE);
}

/* Appends the name. A deep entry is indented by at most half of the room, and shows its level. */
static void put_name(struct ui_grid *g, struct sb *b, const struct ui_line *l)
{
	size_t indent = l->indent, room = g->name, most = room / 2, mark = l->mark ? 2 : 0;
	struct str level = STR_NONE;

	if (indent > most) {
		level = str_fmt(
		        g->a, "%zu%s", l->indent / 2, g->place->utf8 ? "\xe2\x80\xa6" : "..");
		indent = most;
	}
	size_t n = width(g->place, level);
	indent = indent > n ? indent : n;
	sb_put(b, level);
	sb_repeat(b, ' ', indent - n);
	if (l->mark)
		sb_put(b, str_of(l->mark));
	put_cell(g, b, l->name, room > indent + mark ? room - indent - mark : 1, false);
}

static void draw_row(struct ui_grid *g, unsigned y, const struct ui_line *l, enum ui_style style)
{
	struct sb b = sb_in(g->a);

	if (g->share)
		put_share(g, &b, l);
	put_name(g, &b, l);
	sb_repeat(&b, ' ', g->left ? 1 : 0);
	for (size_t i = 0; i < g->n; i++) {
		size_t c = g->order[i];
		sb_repeat(&b, ' ', GAP);
		put_cell(g, &b, c < l->n ? l->cells[c].text : STR_NONE, g->block->width[c],
		        g->block->number[c]);
	}
	if (style == UI_CURSOR)
		ui_screen_fill(y, 0, style);
	ui_screen_put(y, 0, sb_str(&b), style);
}

/* ---- headings ---- */

/* Splits the text of each cell into lines that fit its column. Returns the number of lines. */
static unsigned wrap_heading(struct ui_grid *g, const struct ui_line *l, struct strs *parts)
{
	size_t lines = 1;

	for (size_t i = 0; i < g->n; i++) {
		size_t c = g->order[i];
		struct str left = c < l->n ? l->cells[c].text : STR_NONE;
		while (left.n && parts[i].n < HEADING_MAX) {
			struct str part = letters_break(left, g->block->width[c], g->place->utf8);
			strs_add(g->a, &parts[i], part);
			left = str_sub(left, part.n + 1, SIZE_MAX);
		}
		lines = parts[i].n > lines ? parts[i].n : lines;
	}
	return (unsigned)lines;
}

/* Draws the heading from line y on. Returns the number of its lines. */
static unsigned draw_heading(struct ui_grid *g, unsigned y, const struct ui_line *l)
{
	struct strs *parts = ARENA_ARRAY(g->a, g->n + 1, struct strs);
	unsigned lines = wrap_heading(g, l, parts);
	struct ui_line line = *l;

	line.cells = ARENA_ARRAY(g->a, l->n + 1, struct ui_cell);
	line.mark = NULL;
	for (unsigned k = 0; k < lines; k++) {
		line.name = k + 1 == lines ? l->name : STR_NONE;
		for (size_t i = 0; i < g->n; i++) {
			size_t c = g->order[i], skip = lines - parts[i].n;
			if (c >= l->n)
				continue;
			line.cells[c] = l->cells[c];
			line.cells[c].text =
			        k >= skip && parts[i].n ? parts[i].v[k - skip] : STR_NONE;
		}
		draw_row(g, y + k, &line, UI_BOLD);
	}
	unsigned last = y + lines - 1;
	if (g->left)
		ui_screen_put(last, (unsigned)(g->share + g->name),
		        g->place->utf8 ? S("\xe2\x80\xb9") : S("<"), UI_BOLD);
	if (g->right)
		ui_screen_put(last, g->place->columns - 1,
		        g->place->utf8 ? S("\xe2\x80\xba") : S(">"), UI_BOLD);
	return lines;
}

/* ---- texts ---- */

/* Draws a line without cells, scrolled to the right. A sign shows that the line continues. */
static void draw_plain(const struct ui_page *p, const struct ui_place *place, unsigned y,
        struct str text, enum ui_style style)
{
	size_t skip = p->skip * TEXT_STEP, i = 0, w;

	while (skip && i < text.n) {
		size_t n = letters_next(text, i, place->utf8, &w);
		skip -= w < skip ? w : skip;
		i += n ? n : 1;
	}
	text = str_sub(text, i, SIZE_MAX);
	if (style == UI_CURSOR)
		ui_screen_fill(y, 0, style);
	ui_screen_put(y, 0, text, style);
	if (width(place, text) > place->columns)
		ui_screen_put(
		        y, place->columns - 1, place->utf8 ? S("\xe2\x80\xba") : S(">"), UI_BOLD);
}

/* ---- the page ---- */

/* Scrolls the page so that the cursor is among `rows` lines. */
static void scroll(struct ui_page *p, unsigned rows)
{
	size_t n = ui_page_size(p);

	rows = rows ? rows : 1;
	p->at = p->at < n ? p->at : n ? n - 1 : 0;
	if (p->at < p->top)
		p->top = p->at;
	if (p->at >= p->top + rows)
		p->top = p->at - rows + 1;
	if (p->top + rows > n)
		p->top = n > rows ? n - rows : 0;
}

/* Measures the lines of a tree that are on the screen. Columns never become narrower, so that they
 * do not jump. */
static void measure_tree(struct ui_page *p, const struct ui_place *place,
        const struct ui_line *heading, const struct ui_lines *lines)
{
	if (!p->blocks) {
		p->blocks = ARENA_NEW(&p->a, struct ui_block);
		p->blocks->name_column = SIZE_MAX;
		p->blocks->n = p->tree->columns.n + p->tree->answer.r.n_extra;
		p->blocks->width = ARENA_ARRAY(&p->a, p->blocks->n, size_t);
		p->blocks->number = ARENA_ARRAY(&p->a, p->blocks->n, bool);
		for (size_t i = 0; i < p->blocks->n && i < heading->n; i++)
			p->blocks->width[i] =
			        letters_widest_word(heading->cells[i].text, place->utf8);
	}
	struct ui_block *b = p->blocks;
	b->shares = p->tree->columns.share != M_NONE;
	for (size_t i = 0; i < lines->v.n; i++) {
		const struct ui_line *l = &lines->v.v[i];
		size_t name = l->indent + (l->mark ? 2 : 0) + width(place, l->name);
		b->name = name > b->name ? name : b->name;
		for (size_t k = 0; k < l->n && k < b->n; k++) {
			size_t n = width(place, l->cells[k].text);
			b->width[k] = n > b->width[k] ? n : b->width[k];
			b->number[k] |= l->cells[k].number;
		}
	}
}

static void draw_lines(
        struct ui_page *p, const struct ui_place *place, unsigned y, unsigned rows, struct arena *a)
{
	struct ui_lines lines = { 0 };
	struct ui_grid g = { .place = place, .a = a };

	ui_page_lines(p, p->top, rows, place->utf8, &lines, a);
	for (size_t i = 0; i < lines.v.n && i < rows; i++, y++) {
		const struct ui_line *l = &lines.v.v[i];
		enum ui_style style = p->top + i == p->at ? UI_CURSOR : style_of(l);
		if (l->kind == UI_TEXT) {
			draw_plain(p, place, y, l->name, style);
			continue;
		}
		const struct ui_block *b = &p->blocks[p->tree ? 0 : l->block];
		if (g.block != b) {
			g = (struct ui_grid){ .place = place, .a = a, .block = b };
			fit(&g, p);
		}
		if (l->kind == UI_HEADING && style != UI_CURSOR)
			draw_heading(&g, y, l);
		else
			draw_row(&g, y, l, style);
	}
}

static void draw_tree(struct ui_page *p, const struct ui_place *place, struct arena *a)
{
	const struct ui_line *heading = ui_page_heading(p, 0, a);
	struct ui_grid g = { .place = place, .a = a };
	struct ui_lines lines = { 0 };

	scroll(p, place->rows);
	ui_page_lines(p, p->top, place->rows, place->utf8, &lines, a);
	if (!heading)
		return;
	measure_tree(p, place, heading, &lines);
	g.block = p->blocks;
	fit(&g, p);
	unsigned taken = draw_heading(&g, place->y, heading);
	unsigned rows = place->rows > taken ? place->rows - taken : 1;
	scroll(p, rows);
	draw_lines(p, place, place->y + taken, rows, a);
}

void ui_draw_page(struct ui_page *p, const struct ui_place *place, struct arena *a)
{
	struct ui_grid g = { .place = place, .a = a };

	if (p->tree) {
		draw_tree(p, place, a);
		return;
	}
	scroll(p, place->rows);
	const struct ui_line *heading = ui_page_heading(p, p->top, a);
	if (!heading || ui_page_kind(p, p->top) != UI_ROW || place->rows < 2) {
		draw_lines(p, place, place->y, place->rows, a);
		return;
	}
	g.block = &p->blocks[heading->block]; /* the heading stays on the screen */
	fit(&g, p);
	draw_heading(&g, place->y, heading);
	scroll(p, place->rows - 1);
	draw_lines(p, place, place->y + 1, place->rows - 1, a);
}
