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

/* Shows the loaded files until the user quits. Passes a signal that ends programs to
 * signals_end_by. Must be called outside of session_guard. */
bool ui_show(struct session *s, enum term_color color);

/* ---- ui screen ---- The terminal. Only this part uses ncurses. After a crash, a signal that ends
 * the program and Ctrl-Z, the terminal is in the mode that the shell had set. */

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
	UI_KEY = 0x110000, /* above the codes of all characters */
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

/* True if the terminal can show the view. Otherwise *e has the reason. */
bool ui_screen_possible(struct err *e);

/* Opens the terminal. While the session computes, Ctrl-C cancels its call. */
bool ui_screen_open(struct session *s, enum term_color color, struct err *e);
void ui_screen_close(void);

/* Returns the size in characters. */
void ui_screen_size(unsigned *rows, unsigned *columns);

/* Erases the lines. */
void ui_screen_clear(void);
/* Writes the text from column x on, with escaped control characters. Omits the part that does not
 * fit the line. */
void ui_screen_put(unsigned y, unsigned x, struct str text, enum ui_style style);
/* Fills the rest of the line from column x on with blanks. */
void ui_screen_fill(unsigned y, unsigned x, enum ui_style style);
/* Shows the written text. */
void ui_screen_update(void);

/* Waits for a key. */
unsigned ui_screen_key(void);

/* Between the calls with true and false, Ctrl-C cancels the call of the session instead of ending
 * the view. */
void ui_screen_busy(bool busy);

/* ---- ui lines ----
 *
 * The lines that a command writes, with their cells.
 */

enum ui_kind { UI_TEXT, UI_HEADING, UI_ROW };

struct ui_cell {
	struct str text;
	double value; /* NAN: the cell has no number */
	bool number;
};

struct ui_line {
	enum ui_kind kind;
	uint32_t block; /* number of the table that the row belongs to */
	uint32_t place; /* position in the answer */
	size_t indent;  /* in columns */
	struct str name;
	struct ui_cell *cells; /* indexed by column */
	size_t n;
	double share;
	bool whole, dim;
	const char *mark; /* text before the name of an entry of a tree; may be NULL */
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

/* Sorts the rows of a block by a column: numbers largest first, texts in byte order. column
 * SIZE_MAX: in the order of the answer. */
void ui_lines_sort(struct ui_lines *l, uint32_t block, size_t column, struct arena *scratch);

/* ---- ui tree ---- The entries of a view whose ancestors the user has opened. Lines are made only
 * for the entries on the screen. */

struct ui_tree {
	struct view_answer answer;
	struct text_columns columns;
	bool *open;      /* indexed by entry of the tree */
	uint32_t *shown; /* indices in the result of the visible entries */
	size_t n;
};

/* Runs the view. open: the entries that were open before, indexed by entry of a tree of n entries;
 * NULL: none. */
bool ui_tree_load(struct session *s, const struct view_ops *v, const struct opts *o,
        const bool *open, size_t n, struct arena *a, struct ui_tree *t);

/* ui_tree_heading appends the heading, ui_tree_lines at most n lines of the visible entries from
 * `from` on. */
void ui_tree_heading(const struct ui_tree *t, struct ui_lines *to, struct arena *a);
void ui_tree_lines(const struct ui_tree *t, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a);

/* ui_tree_is_parent is true if a visible entry has entries below it, ui_tree_is_open if these are
 * visible. */
bool ui_tree_is_parent(const struct ui_tree *t, size_t at);
bool ui_tree_is_open(const struct ui_tree *t, size_t at);

/* Opens or closes a visible entry. An entry whose only child has children is opened with it. */
void ui_tree_toggle(struct ui_tree *t, size_t at);
/* Opens or closes a visible entry and all entries below it. */
void ui_tree_toggle_all(struct ui_tree *t, size_t at, bool open);
/* Returns the position of the entry above a visible entry. For the first entry, returns the same
 * position. */
size_t ui_tree_parent(const struct ui_tree *t, size_t at);
/* Returns the name of a visible entry. */
struct str ui_tree_name(const struct ui_tree *t, size_t at);
/* Returns the name by which peek finds a visible entry: in a trace, without the names of the
 * entries above. */
struct str ui_tree_subject(const struct ui_tree *t, size_t at);
/* Returns the entry of the tree at a position, and the position of an entry. */
uint32_t ui_tree_entry(const struct ui_tree *t, size_t at);
size_t ui_tree_place(const struct ui_tree *t, uint32_t entry);
/* Finds the next entry (backward: the previous one) whose name contains the text, after position
 * `at`, and opens the entries above it. Returns its position, or SIZE_MAX if there is none. */
size_t ui_tree_search(struct ui_tree *t, size_t at, struct str text, bool backward);
/* Returns the next metric that has numbers in the loaded files. */
enum metric_id ui_tree_next_metric(struct session *s, const struct ui_tree *t, enum metric_id now);

/* ---- ui page ----
 *
 * One answer on the screen: a tree, or the lines of a command.
 */

struct ui_panel {
	const char *name;   /* name of the command */
	const char *column; /* column whose text opens a row; NULL: the name of the row opens it */
	const char *opens;  /* words of the command that opens a row, with % in place of the text;
	                       NULL:  none */
};

/* Layout of a table on the screen: the columns beside the name, and their widths. */
struct ui_block {
	size_t name;   /* width of the widest name */
	size_t *width; /* indexed by column; 0: not shown */
	bool *number;  /* indexed by column: true if aligned to the right */
	size_t n;
	size_t name_column; /* column with the names; SIZE_MAX: names are not a column */
	bool shares;
};

struct ui_page {
	const struct ui_panel *panel;
	const struct view_ops *view; /* NULL: the page has lines */
	struct strs words;           /* words of the command */
	struct str subject;          /* replaces the word % of the command */
	struct arena words_arena;    /* arena of words and subject */
	struct arena a;              /* arena of the answer */
	struct arena kept;           /* arena of data that outlives an answer */
	bool loaded, failed;
	unsigned width; /* width of the screen for which the lines were made */
	size_t changes; /* session.changes when the answer was computed */
	struct ui_tree *tree;
	struct ui_lines lines;
	struct ui_block *blocks; /* indexed by block */
	char reason[160];        /* reason why a load failed */
	struct str note;         /* reason of a missing answer, or the first note */
	bool *open;              /* for a tree: its open entries; lives in kept */
	size_t n_open;
	uint32_t entry;        /* for a tree: the entry at the cursor */
	unsigned select;       /* metrics of a tree; 0: the default metrics */
	enum metric_id order;  /* M_N: the default metric */
	size_t sort;           /* column by which rows are sorted; SIZE_MAX: the order of the
	                          answer */
	size_t at, top;        /* line of the cursor, and the first line on the screen */
	size_t skip;           /* number of columns scrolled off to the left */
	struct ui_page *below; /* page to which Esc returns */
};

void ui_page_init(struct ui_page *p, struct session *s);

/* True if the text contains the part. If the part has no capital letters, case is ignored. */
bool ui_contains(struct str text, struct str part);

/* True if the page has an answer for the current screen. */
bool ui_page_ready(const struct session *s, const struct ui_page *p, unsigned columns);

/* Runs the command of the page. Must be called inside a session_guard. */
void ui_page_load(struct session *s, struct ui_page *p, unsigned columns, bool utf8);
/* Drops the answer of a failed load, and stores the reason. */
void ui_page_fail(struct ui_page *p, struct str reason);
/* Drops the answer, but keeps the open entries and the cursor. */
void ui_page_drop(struct ui_page *p);
void ui_page_free(struct ui_page *p);

size_t ui_page_size(const struct ui_page *p);
/* Appends n lines from a position on to *to, in a. */
void ui_page_lines(const struct ui_page *p, size_t from, size_t n, bool utf8, struct ui_lines *to,
        struct arena *a);
/* Returns the kind of a line. */
enum ui_kind ui_page_kind(const struct ui_page *p, size_t at);
/* Returns the heading of the table to which a line belongs, in a; NULL if there is none. */
const struct ui_line *ui_page_heading(const struct ui_page *p, size_t at, struct arena *a);
/* Returns the number of the row at the cursor, counted from 1, and sets the number of rows of its
 * table or tree; 0: the cursor is not on a row. */
size_t ui_page_row(const struct ui_page *p, size_t *rows);
/* Returns the name in a line. */
struct str ui_page_name(const struct ui_page *p, size_t at);
/* Returns the word that opens the row at the cursor, in a. The word is empty if the row cannot be
 * opened. */
struct str ui_page_subject(const struct ui_page *p, struct arena *a);

/* Sorts by the next column. Returns its name, in scratch. */
struct str ui_page_sort(struct session *s, struct ui_page *p, struct arena *scratch);
/* Shows the next metric, and sorts by it. Returns its name; empty if there is only one metric. */
struct str ui_page_metric(struct session *s, struct ui_page *p);
/* Moves the cursor to the next line, or the previous one, that contains the text. */
bool ui_page_search(struct ui_page *p, struct str text, bool backward);

/* ---- ui draw ---- */

struct ui_place {
	unsigned y, rows, columns;
	bool utf8;
};

/* Draws the page. Scrolls so that its cursor is on the screen. */
void ui_draw_page(struct ui_page *p, const struct ui_place *place, struct arena *a);
/* Draws a text in one line, and fills the line. Leaves out the middle of a text that is too
 * long. */
void ui_draw_text(unsigned y, struct str text, const struct ui_place *place, enum ui_style style,
        struct arena *a);

#endif
