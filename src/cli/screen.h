/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the text of a command goes when nobody said otherwise: as it is into a pipe or a file, on a
 * terminal laid out by layout.c, and through a pager when it is longer than the screen.
 */
#ifndef TFPROF_CLI_SCREEN_H
#define TFPROF_CLI_SCREEN_H

#include <stdatomic.h>

#include "cli/spawn.h"
#include "io/sink.h"
#include "metric/opts.h"
#include "io/line.h"
#include "lib/term.h"

/* ---- layout ---- */

/* Lays out the lines of an answer on a terminal: columns are aligned, large shares stand out, what
 * does not count is dim, long names lose their middle, rows that are too wide go on in the next
 * line between two cells, sentences break at words. Rows wait until there are enough of them to
 * know how wide the columns are. */

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

struct screen {
	struct sink *plain; /* standard output */
	enum term_color color;
	bool pager;              /* may be started */
	const atomic_bool *stop; /* set: nothing more is shown */
	struct arena a;          /* of the answer on its way */
	struct layout layout;
	struct sink *now;
	struct sb line; /* begun and not ended */
	struct sb held; /* lines for which no pager has been started yet */
	size_t held_lines;
	bool paging, gave_up;
	struct child child;
	struct sink *to_pager; /* while paging */
};

void screen_init(struct screen *s, struct sink *plain, struct work *work);

/* Ends writes to standard output or to the pager that block, once *cancel is set. NULL: none. */
void screen_cancel(struct screen *s, const atomic_bool *cancel);

/* Columns that have room on a terminal, where the options leave that open. */
void screen_fit(const struct screen *s, struct opts *o);

/* Columns of the terminal on which the answer that is begun is read; 0: on none. */
unsigned screen_columns(const struct screen *s);

/* The sink for one answer, as the options want it; to be closed with screen_end. */
struct sink *screen_begin(struct screen *s, const struct opts *o);
void screen_end(struct screen *s);

#endif
