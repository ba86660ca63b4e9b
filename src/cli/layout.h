/* SPDX-License-Identifier: Apache-2.0
 *
 * Lays out the lines of an answer on a terminal: columns are aligned, large shares stand out, what
 * does not count is dim, long names lose their middle, rows that are too wide go on in the next
 * line between two cells, sentences break at words. Rows wait until there are enough of them to
 * know how wide the columns are.
 */
#ifndef TFPROF_CLI_LAYOUT_H
#define TFPROF_CLI_LAYOUT_H

#include "io/line.h"
#include "lib/term.h"

struct layout_row;
struct layout_column {
	struct str name;
	size_t width;
	bool text; /* some cell is not a number: aligned to the left, may be shortened */
};
struct layout {
	struct term term;
	bool wide;            /* names are not shortened, sentences not broken */
	bool bars;            /* a bar of its share before each row */
	struct arena a;       /* of the columns of an answer */
	struct arena waiting; /* of the rows that wait */
	struct str heading;   /* all of it; empty: there is none, or it is written */
	VEC(struct layout_column) columns;
	VEC(struct layout_row *) rows; /* waiting */
	size_t name;                   /* columns for names */
	bool table;                    /* rows of a table are written or wait */
	bool wraps;                    /* its rows take several lines */
};

void layout_init(struct layout *l, struct work *work);

/* Begins an answer. */
void layout_begin(struct layout *l, struct term term, bool wide, bool bars);

/* Appends what can be written after this line; to may stay empty. */
void layout_line(struct layout *l, const struct line *line, struct sb *to);

/* Appends text that has no cells, given without its newline; it is escaped and never broken. */
void layout_text(struct layout *l, struct str text, struct sb *to);

/* Appends the rows that wait. */
void layout_end(struct layout *l, struct sb *to);

#endif
