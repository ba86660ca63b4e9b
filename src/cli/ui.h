/* SPDX-License-Identifier: Apache-2.0
 *
 * The full-screen view: panels that show the rows of views and tables, and the keys that move in
 * them. Every number on the screen is the text of a cell that the command of the panel writes.
 */
#ifndef TFPROF_CLI_UI_H
#define TFPROF_CLI_UI_H

#include <wchar.h>

#include "cli/screen.h"
#include "lib/options.h"

/* ---- ui ---- */

/* Shows the loaded files until the user quits. A signal that ends programs is passed on to
 * signals_end_by. Outside of session_guard. */
bool ui_show(struct session *s, enum term_color color);

/* ---- ui screen ----
 *
 * The terminal. Only this part uses ncurses. A crash, a signal that ends the program and Ctrl-Z
 * give the terminal back as the shell had it.
 */

#define UI_ROWS_MIN    5 /* size of the smallest screen with contents */
#define UI_COLUMNS_MIN 20

enum ui_style {
	UI_PLAIN,
	UI_DIM,
	UI_BOLD,
	UI_WARM, /* a large share */
	UI_HOT,  /* the largest shares */
	UI_BAR,  /* first and last line */
	UI_CURSOR,
};

/* Keys other than characters. */
enum ui_key {
	UI_KEY = 0x110000, /* after all characters */
	UI_UP,
	UI_DOWN,
	UI_LEFT,
	UI_RIGHT,
	UI_PAGE_UP,
	UI_PAGE_DOWN,
	UI_HOME,
	UI_END,
	UI_BACK,
	UI_BACKTAB,
	UI_REDRAW, /* the size has changed, or the program was continued */
	UI_QUIT,   /* a signal has arrived, or the terminal is gone */
};

/* True if the terminal can show the view; otherwise *e says why not. */
bool ui_screen_possible(struct err *e);

/* Opens the terminal. While the session computes, Ctrl-C cancels its call. */
bool ui_screen_open(struct session *s, enum term_color color, struct err *e);
void ui_screen_close(void);

/* Returns the size in characters. */
void ui_screen_size(unsigned *rows, unsigned *columns);

/* Erases the lines. */
void ui_screen_clear(void);
/* Writes the text, whose control characters are escaped, from column x on; what does not fit the
 * line is left out. */
void ui_screen_put(unsigned y, unsigned x, struct str text, enum ui_style style);
/* Makes the rest of the line from column x on blank. */
void ui_screen_fill(unsigned y, unsigned x, enum ui_style style);
/* Shows what was written. */
void ui_screen_update(void);

/* Waits for a key. */
unsigned ui_screen_key(void);

/* Between these calls, Ctrl-C cancels the call of the session instead of ending the view. */
void ui_screen_busy(bool busy);

/* ---- ui lines ----
 *
 * The lines that a command writes, with their cells.
 */

enum ui_kind { UI_TEXT, UI_HEADING, UI_ROW };

struct ui_cell {
	struct str text;
	double value; /* NAN: none */
	bool number;
};

struct ui_line {
	enum ui_kind kind;
	uint32_t block; /* number of the table that the row belongs to */
	uint32_t place; /* position in the answer */
	size_t indent;  /* columns */
	struct str name;
	struct ui_cell *cells; /* by column */
	size_t n;
	double share;
	bool whole, dim;
	const char *mark; /* before the name of an entry of a tree; or NULL */
};

struct ui_lines {
	VEC(struct ui_line) v;
	uint32_t blocks;
};

/* Returns a sink that appends lines to *to. Sentences are wrapped to `columns` columns. Both live
 * in a. ui_lines_end appends the last line if it has no newline. */
struct ui_capture;
struct ui_capture *ui_lines_begin(
        struct ui_lines *to, unsigned columns, bool utf8, struct arena *a, struct sink **sink);
void ui_lines_end(struct ui_capture *c);

/* Sorts the rows of a block by a column: numbers the largest first, texts in byte order; column
 * SIZE_MAX: in the order of the answer. */
void ui_lines_sort(struct ui_lines *l, uint32_t block, size_t column, struct arena *scratch);

/* ---- ui tree ----
 *
 * The entries of a view of which the user has opened the entries above. Lines are made only for the
 * entries on the screen.
 */

struct ui_tree {
	struct view_answer answer;
	struct text_columns columns;
	bool *open;      /* by entry of the tree */
	uint32_t *shown; /* visible entries: indices of the result */
	size_t n;
};

/* Runs the view. open: the entries that were open before, of a tree of n entries; NULL: none. */
bool ui_tree_load(struct session *s, const struct view_ops *v, const struct opts *o,
        const bool *open, size_t n, struct arena *a, struct ui_tree *t);

/* Appends the heading, and the lines of the visible entries from `from` on, at most n. */
void ui_tree_heading(const struct ui_tree *t, struct ui_lines *to, struct arena *a);
void ui_tree_lines(const struct ui_tree *t, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a);

/* True if a visible entry has entries below it, and if they are visible. */
bool ui_tree_is_parent(const struct ui_tree *t, size_t at);
bool ui_tree_is_open(const struct ui_tree *t, size_t at);

/* Opens or closes a visible entry. An entry whose only child has children is opened with it. */
void ui_tree_toggle(struct ui_tree *t, size_t at);
/* Opens or closes all entries below a visible entry, and itself. */
void ui_tree_toggle_all(struct ui_tree *t, size_t at, bool open);
/* Returns the position of the entry above a visible entry; the same position for the first. */
size_t ui_tree_parent(const struct ui_tree *t, size_t at);
/* Returns the name of a visible entry. */
struct str ui_tree_name(const struct ui_tree *t, size_t at);
/* Returns the name by which peek finds it: in a trace, without the names of the entries above. */
struct str ui_tree_subject(const struct ui_tree *t, size_t at);
/* Returns the entry of the tree at a position, and the position of an entry. */
uint32_t ui_tree_entry(const struct ui_tree *t, size_t at);
size_t ui_tree_place(const struct ui_tree *t, uint32_t entry);
/* Finds the next entry (backward: the previous one) whose name contains the text, after position
 * at; opens the entries above it. Returns its position, SIZE_MAX if there is none. */
size_t ui_tree_search(struct ui_tree *t, size_t at, struct str text, bool backward);
/* Returns the next metric that has numbers in the loaded files. */
enum metric_id ui_tree_next_metric(struct session *s, const struct ui_tree *t, enum metric_id now);

/* ---- ui page ----
 *
 * One answer on the screen: a tree, or the lines of a command.
 */

struct ui_panel {
	const char *name;   /* of the command */
	const char *column; /* a row is opened with the text of this column; NULL: with its name */
	const char
	        *opens; /* words of the command that opens a row, with % for the text; NULL: none */
};

/* Layout of a table on the screen: the columns beside the name, and their widths. */
struct ui_block {
	size_t name;   /* widest name */
	size_t *width; /* by column; 0: not shown */
	bool *number;  /* by column: aligned to the right */
	size_t n;
	size_t name_column; /* column of the names; SIZE_MAX: names are not a column */
	bool shares;
};

struct ui_page {
	const struct ui_panel *panel;
	const struct view_ops *view; /* NULL: lines */
	struct strs words;           /* the command */
	struct str subject;          /* in place of the word % of the command */
	struct arena words_arena;    /* of the two */
	struct arena a;              /* of the answer */
	struct arena kept;           /* of what outlives an answer */
	bool loaded, failed;
	unsigned width; /* of the screen for which the lines were made */
	size_t changes; /* session.changes of the answer */
	struct ui_tree *tree;
	struct ui_lines lines;
	struct ui_block *blocks; /* by block */
	char reason[160];        /* why a load did not return */
	struct str note;         /* reason of a missing answer, or the first note */
	bool *open;              /* of a tree: its open entries, in kept */
	size_t n_open;
	uint32_t entry;        /* and the entry of the cursor */
	unsigned select;       /* metrics of a tree; 0: the default ones */
	enum metric_id order;  /* M_N: the default one */
	size_t sort;           /* column of the rows; SIZE_MAX: the order of the answer */
	size_t at, top;        /* line of the cursor, and the first one on the screen */
	size_t skip;           /* columns that are scrolled off to the left */
	struct ui_page *below; /* page to which Esc returns */
};

void ui_page_init(struct ui_page *p, struct session *s);

/* True if the text contains the part; without capital letters in it, whatever the case. */
bool ui_contains(struct str text, struct str part);

/* True if the page has an answer for the screen. */
bool ui_page_ready(const struct session *s, const struct ui_page *p, unsigned columns);

/* Runs the command of the page. Inside a session_guard. */
void ui_page_load(struct session *s, struct ui_page *p, unsigned columns, bool utf8);
/* Forgets the answer of a load that did not return, and keeps the reason. */
void ui_page_fail(struct ui_page *p, struct str reason);
/* Forgets the answer, except what is open and where the cursor is. */
void ui_page_drop(struct ui_page *p);
void ui_page_free(struct ui_page *p);

size_t ui_page_size(const struct ui_page *p);
/* Appends n lines from a position on to *to, in a. */
void ui_page_lines(const struct ui_page *p, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a);
/* Returns the kind of a line. */
enum ui_kind ui_page_kind(const struct ui_page *p, size_t at);
/* Returns the heading of the table that a line belongs to, in a; NULL: it has none. */
const struct ui_line *ui_page_heading(const struct ui_page *p, size_t at, struct arena *a);
/* Returns the number of the row at the cursor, from 1, and the number of rows of its table or tree;
 * 0: the cursor is not on a row. */
size_t ui_page_row(const struct ui_page *p, size_t *rows);
/* Returns the name in a line. */
struct str ui_page_name(const struct ui_page *p, size_t at);
/* Returns the word with which the row at the cursor is opened, in a. Empty: it cannot be opened. */
struct str ui_page_subject(const struct ui_page *p, struct arena *a);

/* Sorts by the next column. Returns its name, in scratch. */
struct str ui_page_sort(struct session *s, struct ui_page *p, struct arena *scratch);
/* Shows the next metric and sorts by it. Returns its name; empty if there is only one. */
struct str ui_page_metric(struct session *s, struct ui_page *p);
/* Moves the cursor to the next line, or the previous one, that contains the text. */
bool ui_page_search(struct ui_page *p, struct str text, bool backward);

/* ---- ui draw ---- */

struct ui_place {
	unsigned y, rows, columns;
	bool utf8;
};

/* Draws the page, and keeps its cursor on the screen. */
void ui_draw_page(struct ui_page *p, const struct ui_place *place, struct arena *a);
/* Draws a text in one line, its middle left out if it is too long, and fills the line. */
void ui_draw_text(unsigned y, struct str text, const struct ui_place *place, enum ui_style style,
        struct arena *a);

#endif
