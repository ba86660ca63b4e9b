/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of a text answer with its cells marked: a pipe receives the bytes of the line, a terminal
 * lays the cells out as a table. Nothing has to parse printed text.
 */
#ifndef TFPROF_IO_LINE_H
#define TFPROF_IO_LINE_H

#include "io/sink.h"

enum line_style {
	LINE_SENTENCE, /* an explanation: a terminal wraps it between words */
	LINE_HEADING,  /* the column names of the following rows */
	LINE_ROW,
};

/* A slice of the line's text. */
struct line_cell {
	size_t at, n;
	unsigned column; /* counted from 0; the name is not a column */
	bool number;     /* aligned to the right */
	bool key;        /* in a heading: a narrow terminal shows this column first */
	double value;    /* rows of tables: the number, by which rows can be sorted; NAN: none */
};

#define SHARE_UNKNOWN (-1.0)

struct line {
	enum line_style style;
	struct str text;     /* the bytes for a pipe, with the newline */
	size_t indent, name; /* bytes: indentation, then the name */
	const struct line_cell *cells;
	size_t n;
	double share; /* fraction of the whole: 0 to 1, or SHARE_UNKNOWN */
	bool whole;   /* true: the row shows the whole, such as the root */
	bool dim;     /* true: not accounted, or zero in the metric of the share */
};

/* Writes a text without newlines as a sentence, followed by a newline. */
void sink_sentence(struct sink *s, struct arena *a, struct str text);

/* A line under construction, reused for all lines of an answer. */
struct line_build {
	struct line line; /* the caller sets share, whole and dim before line_end */
	struct sb text;
	VEC(struct line_cell) cells;
};
void line_build_init(struct line_build *b, struct arena *a);

/* Begins a row: indentation, then the name. */
void line_begin(struct line_build *b, size_t indent, struct str name);

/* line_cell_begin and line_cell_end mark the text appended to b->text between the two calls as a
 * cell of the column. */
void line_cell_begin(struct line_build *b, unsigned column);
void line_cell_end(struct line_build *b, bool number);

/* Appends the text as a cell, preceded by two blanks. */
void line_cell(struct line_build *b, unsigned column, struct str text, bool number, double value);

/* Appends the newline and writes the line. */
void line_end(struct line_build *b, enum line_style style, struct sink *to);

#endif
