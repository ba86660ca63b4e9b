/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of a text answer with its cells marked: a pipe gets the bytes of the line, a terminal lays
 * the cells out as a table. Nothing has to parse printed text.
 */
#ifndef TFPROF_IO_LINE_H
#define TFPROF_IO_LINE_H

#include "base/str.h"
#include "base/vec.h"
#include "io/sink.h"

enum line_style {
	LINE_SENTENCE, /* an explanation: a terminal breaks it between words */
	LINE_HEADING,  /* the names of the columns of the rows that follow */
	LINE_ROW,
};

/* A slice of the line's text. */
struct line_cell {
	size_t at, n;
	unsigned column; /* from 0; the name is not a column */
	bool number;     /* aligned to the right */
};

#define SHARE_UNKNOWN (-1.0)

struct line {
	enum line_style style;
	struct str text;     /* the bytes for a pipe, with the newline */
	size_t indent, name; /* bytes: blanks, then the name */
	const struct line_cell *cells;
	size_t n;
	double share; /* of the whole: 0 to 1, or SHARE_UNKNOWN */
	bool whole;   /* the row is the whole itself */
	bool dim;     /* not accounted, or nothing of what the share is of */
};

/* Writes the line: to the sink's line function if it has one (sink_lines), else its bytes. */
void sink_line(struct sink *s, const struct line *l);

/* Writes text, which has no newline, as a sentence and a newline. */
void sink_sentence(struct sink *s, struct arena *a, struct str text);

/* A line in the making; the same one is used for all lines of an answer. */
struct line_build {
	struct line line; /* share, whole and dim are the caller's to set before line_end */
	struct sb text;
	VEC(struct line_cell) cells;
};
void line_build_init(struct line_build *b, struct arena *a);

/* Begins a row: blanks, then the name. */
void line_begin(struct line_build *b, size_t indent, struct str name);

/* Marks what is appended to b->text between the two calls as a cell of the column. */
void line_cell_begin(struct line_build *b, unsigned column);
void line_cell_end(struct line_build *b, bool number);

/* Appends the newline and writes the line. */
void line_end(struct line_build *b, enum line_style style, struct sink *to);

#endif
