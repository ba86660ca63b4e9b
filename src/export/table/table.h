/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of numbers and texts: columns and a list of cells, row by row. Written as aligned text,
 * as a document or as rows of data.
 */
#ifndef TFPROF_EXPORT_TABLE_H
#define TFPROF_EXPORT_TABLE_H

#include "export/data/document.h"

/* A number, a text or nothing, by the column's type. A column of the type COLUMN_REAL counts in
 * hundredths of its unit. */
struct table_cell {
	int64_t number;
	int64_t per; /* if above 1, the number counts units of 1 / per */
	struct str text;
	bool null;
	const char *mark; /* text shows it before the number: "≥", a lower bound; "~", an upper
	                     bound that is not reached; NULL: nothing */
};

struct table {
	struct arena *a;
	const char *key;     /* key in the JSON document */
	const char *command; /* name in messages; NULL: the key */
	const char *schema;  /* schema of the JSON document */
	int64_t version;     /* version of the schema */
	const char *title;   /* heading of a section in text and Markdown */
	bool data_only;      /* true: text and Markdown omit this section */
	bool text_only;      /* true: JSON omits this section */
	bool full_names;     /* true: text does not reduce the names of C++ functions */
	struct str lead;     /* in text, printed before the table; p is NULL if there is none */
	const struct column *columns;
	size_t n_columns, rows;
	VEC(struct table_cell) cells;
	/* Headings of the columns in text. If the array or an element is NULL, the heading is the
	 * name without the unit; "" leaves the column out of text. */
	const char *const *titles;
	const char *empty;             /* text of cells without a value; NULL: "-" */
	const char *all;               /* option that shows all rows; NULL: --top=0 */
	const struct table *below;     /* in text, a table that is printed after this table and
	                                  limited in the same way */
	const struct table *rows_from; /* in JSON, the table that becomes "rows"; NULL: this one */
	/* Additional tables. Text and Markdown print them after this table unless they are empty;
	 * in JSON they are members of the document, with all their rows. */
	const struct table *sections;
	size_t n_sections;
	/* Writes members of the JSON document before the rows; may be NULL. */
	void (*members)(struct document *d, const void *user);
	const void *user; /* passed to members */
};

/* The number of elements of an array of columns. */
#define N_COLUMNS(x) (sizeof(x) / sizeof *(x))
/* Initialises the members of a struct table for an array of columns and an array of their
 * headings. */
#define TABLE_COLUMNS(c, headings) .columns = (c), .titles = (headings), .n_columns = N_COLUMNS(c)

/* The following functions append the next cell. */
void table_number(struct table *x, int64_t v);
void table_fraction(struct table *x, struct fraction f);
void table_text(struct table *x, struct str s);
void table_null(struct table *x);
void table_count(struct table *x, uint64_t v);
/* Both functions append the value if it is known, otherwise an empty cell. */
void table_number_if(struct table *x, bool known, int64_t v);
void table_text_if(struct table *x, bool known, struct str s);
/* Appends units of 1 / 10000, such as a result of table_share, to a column with the unit
 * "fraction": 0.25 in data, 25.00% in text. */
void table_fraction_if(struct table *x, bool known, int64_t v);
/* Sets the mark of the last n cells, which text shows before numbers. */
void table_mark(struct table *x, size_t n, const char *mark);

/* Appends a sum. lacks: parts of it are unknown. Appends an empty cell if no part of it is
 * known. */
void table_sum(struct table *x, bool lacks, int64_t v);

/* Writes the table in its output, with at most top rows (0: all). columns: width of the terminal,
 * to which longer names are shortened in the middle; 0: names stay whole. */
bool table_write(const struct table *x, size_t top, const struct output *o, unsigned columns,
        struct emit *to, struct err *e);

/* Writes parts of larger answers: aligned text, and rows of a sheet that is open. */
void table_put_text(const struct table *x, size_t top, unsigned columns, struct sink *to);
void table_put_rows(const struct table *x, size_t top, struct sheet *to);

/* Writes the rows as a sheet of its own. */
void table_put_sheet(const struct table *x, size_t top, enum sheet_form form, struct sink *s);

/* Writes the rows as a member of an open JSON object. */
void table_put_member(struct document *d, const struct table *x, size_t top);

/* Writes "row_count", the number of all rows, then "columns" and "rows". */
void table_put_document_rows(struct document *d, const struct table *x, size_t top);

/* Writes the heading and the rows as lines with a cell for each column that text shows. */
void table_put_lines(const struct table *x, size_t top, struct sink *to);

/* Returns the ratio part / all in hundredths of a percent, for percent columns of the type
 * COLUMN_REAL; 0 if `all` is 0. */
int64_t table_share(int64_t part, int64_t all);

/* Appends a time with three digits and its unit: 1.25ms. */
void table_put_time(struct sb *b, int64_t ns);

/* Returns the text in a. If it takes more than `room` bytes, its middle is left out; a source line
 * such as "/a/model.py(36): forward" loses its folders first, then the function. */
struct str table_shorten(struct arena *a, struct str s, size_t room);

#endif
