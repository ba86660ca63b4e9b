/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of a text answer with the places of its cells.
 */
#include "io/line.h"

/* Passes the line to the sink's line function (sink_lines), if set; otherwise writes its bytes. */
static void put_line(struct sink *s, const struct line *l)
{
	if (!sink_pass_line(s, l, l->text.n))
		sink_put(s, l->text);
}

void line_build_init(struct line_build *b, struct arena *a)
{
	*b = (struct line_build){ .text = sb_in(a) };
}

void line_begin(struct line_build *b, size_t indent, struct str name)
{
	b->line = (struct line){ .share = SHARE_UNKNOWN, .indent = indent, .name = name.n };
	b->text.n = 0;
	b->cells.n = 0;
	sb_repeat(&b->text, ' ', indent);
	sb_put(&b->text, name);
}

void line_cell_begin(struct line_build *b, unsigned column)
{
	struct line_cell c = { .at = b->text.n, .column = column };

	VEC_PUSH(b->text.a, &b->cells, c);
}

void line_cell_end(struct line_build *b, bool number)
{
	struct line_cell *c = &b->cells.v[b->cells.n - 1];

	c->n = b->text.n - c->at;
	c->number = number;
}

void line_cell(struct line_build *b, unsigned column, struct str text, bool number, double value)
{
	if (b->cells.n)
		sb_put(&b->text, S("  "));
	line_cell_begin(b, column);
	sb_put(&b->text, text);
	line_cell_end(b, number);
	b->cells.v[b->cells.n - 1].value = value;
}

void line_end(struct line_build *b, enum line_style style, struct sink *to)
{
	sb_char(&b->text, '\n');
	b->line.style = style;
	b->line.text = sb_str(&b->text);
	b->line.cells = b->cells.v;
	b->line.n = b->cells.n;
	put_line(to, &b->line);
}

void sink_sentence(struct sink *s, struct arena *a, struct str text)
{
	struct line_build b;

	line_build_init(&b, a);
	line_begin(&b, 0, text);
	line_end(&b, LINE_SENTENCE, s);
}
