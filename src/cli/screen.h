/* SPDX-License-Identifier: Apache-2.0
 *
 * The default destination of a command's text: unchanged to a pipe or file; on a terminal laid out
 * by layout.c, and through a pager if it is longer than the screen.
 */
#ifndef TFPROF_CLI_SCREEN_H
#define TFPROF_CLI_SCREEN_H

#include <stdatomic.h>

#include "cli/spawn.h"
#include "io/line.h"
#include "lib/term.h"
#include "metric/opts.h"

/* ---- layout ---- */

/* Lays out the lines of an answer on a terminal: columns are aligned, large shares are highlighted,
 * irrelevant rows are dim, long names lose their middle, rows that are too wide continue on the
 * next line between two cells, sentences wrap at words. Rows wait until enough of them are known to
 * determine the widths of columns. */

struct layout_row;
struct layout_column {
	struct str name;
	size_t width;
	bool text; /* true: not all cells are numbers; they are left-aligned and may be shortened */
	bool key;  /* left out last */
	size_t left_out; /* its width, if it is left out: width is then 0 */
};
struct layout {
	struct term term;
	bool wide;            /* true: names are not shortened, and sentences not wrapped */
	bool bars;            /* true: a bar before each row shows its share */
	struct arena a;       /* arena of the columns of an answer */
	struct arena waiting; /* arena of the rows that are not printed yet */
	struct str heading;   /* the heading; empty if there is none, or it is already written */
	VEC(struct layout_column) columns;
	VEC(struct layout_row *) rows; /* rows that are not printed yet */
	size_t name;                   /* number of columns for names */
	bool table;                    /* true: rows of a table were written, or are pending */
	bool wraps;                    /* true: its rows take several lines */
};

void layout_init(struct layout *l, struct work *work);

/* Begins an answer. */
void layout_begin(struct layout *l, struct term term, bool wide, bool bars);

/* Appends the output that is complete after this line. `to` may stay empty. */
void layout_line(struct layout *l, const struct line *line, struct sb *to);

/* Appends a text without cells and without its newline. The text is escaped and never wrapped. */
void layout_text(struct layout *l, struct str text, struct sb *to);

/* Appends the waiting rows. */
void layout_end(struct layout *l, struct sb *to);

struct screen {
	struct sink *plain; /* standard output */
	enum term_color color;
	unsigned width; /* columns for which the user wants text; 0: those of the terminal */
	bool pager;     /* true: a pager may be started */
	const atomic_bool *stop; /* once set, no more output is shown */
	struct arena a;          /* memory of the current result */
	struct layout layout;
	struct sink *now;
	struct sb line; /* a line that is not complete yet */
	struct sb held; /* lines held back before a pager is started */
	size_t held_lines;
	bool paging, gave_up;
	struct child child;
	struct sink *to_pager; /* valid while paging */
};

void screen_init(struct screen *s, struct sink *plain, struct work *work);

/* Makes blocked writes to standard output or to the pager end once *cancel is set. cancel NULL:
 * writes never end. */
void screen_cancel(struct screen *s, const atomic_bool *cancel);

/* Sets the number of columns to what fits the terminal, if the options leave it open. */
void screen_fit(const struct screen *s, struct opts *o);

/* Returns the width of the terminal that shows the current answer; 0 if no terminal does. */
unsigned screen_columns(const struct screen *s);

/* Returns the sink for one answer with these options. The caller must close it with screen_end. */
struct sink *screen_begin(struct screen *s, const struct opts *o);
void screen_end(struct screen *s);

/* ---- letters ---- Characters of a text as a terminal shows them: their width, and escapes for
 * bytes that could control the terminal. If the program has set its locale, as the full-screen view
 * does, wide characters take two columns and combining characters none; otherwise every character
 * counts as one. */

/* Appends text. Bytes that could control a terminal are written as \xNN. */
void letters_escape(struct sb *to, struct str text, bool utf8);

/* Returns the number of columns that the escaped text takes. */
size_t letters_width(struct str text, bool utf8);

/* Returns the number of columns of the widest word. Words are separated by blanks. */
size_t letters_widest_word(struct str text, bool utf8);

/* Returns the number of bytes of the character at text[i], and sets its columns. 0: the byte is
 * shown as an escape of 4 columns. */
size_t letters_next(struct str text, size_t i, bool utf8, size_t *columns);

/* Appends the escaped text. If it takes more columns than room, its middle is left out. */
void letters_shorten(struct sb *to, struct str text, size_t room, bool utf8);

/* Returns the longest prefix of text that ends at a blank and takes at most room columns; the first
 * word if that is longer. */
struct str letters_break(struct str text, size_t room, bool utf8);

/* Appends the escaped text, wrapped between words to `columns` columns (0: not wrapped), of which
 * the caller has filled the first `filled`. */
void letters_wrap(struct sb *to, struct str text, size_t filled, size_t columns, bool utf8);

#endif
