/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the lines that a command writes, and sorts the rows of its tables.
 */
#include "cli/ui.h"

#include <math.h>

#include "base/sort.h"

struct ui_capture {
	struct ui_lines *to;
	struct arena *a;
	struct sb begun; /* a line that has no newline yet */
	unsigned columns;
	bool utf8;
};

static struct ui_line *add(struct ui_capture *c, enum ui_kind kind, struct str name)
{
	struct ui_line line = { .kind = kind,
		.name = name,
		.block = c->to->blocks,
		.place = (uint32_t)c->to->v.n,
		.share = SHARE_UNKNOWN };

	VEC_PUSH(c->a, &c->to->v, line);
	return &c->to->v.v[c->to->v.n - 1];
}

/* Adds a sentence, wrapped to the screen. */
static void add_sentence(struct ui_capture *c, struct str text)
{
	for (;;) {
		struct str part = c->columns ? letters_break(text, c->columns, c->utf8) : text;
		add(c, UI_TEXT, str_copy(c->a, part));
		if (part.n >= text.n)
			return;
		text = str_sub(text, part.n + 1, SIZE_MAX);
	}
}

static void add_cells(struct ui_capture *c, const struct line *l, struct ui_line *to)
{
	for (size_t i = 0; i < l->n; i++)
		if (to->n <= l->cells[i].column)
			to->n = l->cells[i].column + 1;
	to->cells = ARENA_ARRAY(c->a, to->n, struct ui_cell);
	for (size_t i = 0; i < l->n; i++) {
		const struct line_cell *from = &l->cells[i];
		struct str text = str_sub(l->text, from->at, from->n);
		to->cells[from->column] = (struct ui_cell){
			.text = str_copy(c->a, text), .number = from->number, .value = from->value
		};
	}
}

static bool take_line(void *user, const struct line *l)
{
	struct ui_capture *c = user;
	struct str name = str_sub(l->text, l->indent, l->name);

	if (l->style == LINE_SENTENCE) {
		add_sentence(c, str_sub(l->text, 0, l->text.n - 1));
		return true;
	}
	if (l->style == LINE_HEADING)
		c->to->blocks++;
	struct ui_line *to =
	        add(c, l->style == LINE_HEADING ? UI_HEADING : UI_ROW, str_copy(c->a, name));
	to->indent = l->indent;
	to->share = l->share;
	to->dim = l->dim;
	to->whole = l->whole;
	add_cells(c, l, to);
	return true;
}

static bool take(void *user, const void *p, size_t n)
{
	struct ui_capture *c = user;
	struct str text = str_make(p, n);

	while (text.n) {
		size_t end = str_find_char(text, '\n');
		sb_put(&c->begun, str_sub(text, 0, end));
		if (end == SIZE_MAX)
			return true;
		add(c, UI_TEXT, str_copy(c->a, sb_str(&c->begun)));
		c->begun.n = 0;
		text = str_sub(text, end + 1, SIZE_MAX);
	}
	return true;
}

struct ui_capture *ui_lines_begin(
        struct ui_lines *to, unsigned columns, bool utf8, struct arena *a, struct sink **sink)
{
	struct ui_capture *c = ARENA_NEW(a, struct ui_capture);

	*c = (struct ui_capture){
		.to = to, .a = a, .begun = sb_in(a), .columns = columns, .utf8 = utf8
	};
	*sink = sink_lines(a, take, take_line, c);
	return c;
}

void ui_lines_end(struct ui_capture *c)
{
	if (c->begun.n)
		add(c, UI_TEXT, str_copy(c->a, sb_str(&c->begun)));
	c->begun.n = 0;
}

/* ---- order ---- */

struct ui_order {
	const struct ui_line *v;
	size_t column;
};

/* Orders numbers before texts, and large numbers first. */
static int by_column(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ui_order *o = ctx;
	const struct ui_line *x = &o->v[a], *y = &o->v[b];
	const struct ui_cell none = { .value = NAN };

	if (o->column == SIZE_MAX)
		return x->place < y->place ? -1 : x->place > y->place;
	const struct ui_cell *c = o->column < x->n ? &x->cells[o->column] : &none;
	const struct ui_cell *d = o->column < y->n ? &y->cells[o->column] : &none;
	if (isnan(c->value) || isnan(d->value)) {
		if (isnan(c->value) != isnan(d->value))
			return isnan(c->value) ? 1 : -1;
		return str_cmp(c->text, d->text);
	}
	return c->value > d->value ? -1 : c->value < d->value;
}

void ui_lines_sort(struct ui_lines *l, uint32_t block, size_t column, struct arena *scratch)
{
	uint32_t first = 0, n = 0, *order = ARENA_ARRAY(scratch, l->v.n, uint32_t);
	struct ui_line *sorted = ARENA_ARRAY(scratch, l->v.n, struct ui_line);
	struct ui_order how = { l->v.v, column };

	for (uint32_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].kind == UI_ROW && l->v.v[i].block == block) {
			first = n ? first : i;
			order[n++] = i;
		}
	if (n < 2 || order[n - 1] != first + n - 1) /* other lines are among the rows */
		return;
	sort_stable(scratch, order, n, by_column, &how);
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = l->v.v[order[i]];
	memcpy(l->v.v + first, sorted, n * sizeof *sorted);
}

/* ---- search ---- */

bool ui_contains(struct str text, struct str part)
{
	bool exact = false;

	for (size_t i = 0; i < part.n; i++)
		exact |= part.p[i] >= 'A' && part.p[i] <= 'Z';
	if (exact)
		return str_contains(text, part);
	for (size_t at = 0; at + part.n <= text.n; at++) {
		size_t i = 0;
		while (i < part.n && char_lower(text.p[at + i]) == part.p[i])
			i++;
		if (i == part.n)
			return true;
	}
	return false;
}
