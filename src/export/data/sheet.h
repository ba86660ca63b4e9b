/* SPDX-License-Identifier: Apache-2.0
 *
 * A sheet of typed cells as CSV, Markdown, lines of JSON or the rows of a JSON document. Bytes that
 * are not UTF-8 are written as \xNN, so the output is valid UTF-8. Independent of the contents.
 *
 *   struct column columns[] = { TEXT_COLUMN("path"), NUMBER_COLUMN("micros", "us") };
 *   sheet_open(&t, SHEET_CSV, to, a, columns, 2);
 *   sheet_text(&t, name), sheet_i64(&t, micros);     once per row
 *   sheet_close(&t);
 */
#ifndef TFPROF_EXPORT_SHEET_H
#define TFPROF_EXPORT_SHEET_H

#include "base/map.h"
#include "base/num.h"
#include "io/json_out.h"

/* ---- columns of data outputs ---- */

enum column_type { COLUMN_TEXT, COLUMN_LIST, COLUMN_INTEGER, COLUMN_REAL, COLUMN_BOOL };

struct column {
	struct str name;
	enum column_type type;
	const char *unit; /* NULL if there is none; the unit does not scale the numbers */
	unsigned spare;   /* tables that are too wide leave out the columns with the largest
	                     numbers first; 0: never */
};

/* Initialisers of struct column. */
/* clang-format off */
#define TEXT_COLUMN(name)         { S(name), COLUMN_TEXT, NULL, 0 }
#define NUMBER_COLUMN(name, unit) { S(name), COLUMN_INTEGER, unit, 0 }
#define REAL_COLUMN(name, unit)   { S(name), COLUMN_REAL, unit, 0 }
/* clang-format on */

/* ---- cells ----
 *
 * Cells encoded as bytes: SHEET_CELLS writes them and arrow.h reads them, so the rows of any result
 * can be kept in memory and converted to batches later. The encoding is never written to a file.
 *
 *   number of columns | per column: type, size of name, name, 1 + size of unit, unit | cells
 *   cell: 0 null | 1 number, 8 bytes | 2 text, size, bytes
 *       | 3 list, number of texts, size and bytes of each
 */

enum { CELL_NULL, CELL_NUMBER, CELL_TEXT, CELL_LIST };

void cells_put_head(struct sink *to, const struct column *columns, size_t n);
void cells_put_null(struct sink *to);
void cells_put_i64(struct sink *to, int64_t v);
void cells_put_real(struct sink *to, double v);
void cells_put_text(struct sink *to, struct str s);
void cells_put_list(struct sink *to, const struct strs *v);

/* Reads cells in the order in which they were written. */
struct cells {
	const uint8_t *p, *end;
	struct column *columns;
	size_t n, at; /* number of columns; column of the next cell */
};

/* A cell: a null, a number of the type of its column, a text, or a list of n texts. */
struct cell_value {
	uint8_t kind; /* a CELL_ value */
	int64_t i;    /* value of a COLUMN_INTEGER or COLUMN_BOOL */
	double real;  /* value of a COLUMN_REAL */
	struct str text;
	size_t n;
};

/* Reads the columns. They live in a; their names point into the given bytes. */
void cells_open(struct cells *c, struct str bytes, struct arena *a);
/* Reads the next cell. Returns false after the last cell. */
bool cells_take(struct cells *c, struct cell_value *to);
/* Takes the first text from a list with n > 0. */
struct str cell_list_take(struct cell_value *list);

/* SHEET_SPREADSHEET: CSV in which no text is a formula. SHEET_CELLS: cells with their types, for
 * Arrow (export/data/sheet.h). SHEET_ARRAYS: members of a document (export/data/arrays.c). */
enum sheet_form {
	SHEET_CSV,
	SHEET_SPREADSHEET,
	SHEET_MD,
	SHEET_NDJSON,
	SHEET_JSON,
	SHEET_CELLS,
	SHEET_ARRAYS
};

struct sheet {
	enum sheet_form form;
	struct sink *to;
	const struct column *columns; /* with names in UTF-8; lives in the given arena */
	size_t n, at;                 /* number of columns; index of the next cell */
	struct json own;
	struct json *json;     /* &own for JSON lines, otherwise the writer of the document */
	struct arrays *arrays; /* SHEET_ARRAYS: collects the cells until sheet_close */
	struct sb text;
};

/* Begins a sheet. Writes the heading of CSV and Markdown. */
void sheet_open(struct sheet *t, enum sheet_form form, struct sink *to, struct arena *a,
        const struct column *columns, size_t n);
/* Writes rows as objects of the array that is open in j. */
void sheet_open_json(
        struct sheet *t, struct json *j, struct arena *a, const struct column *columns, size_t n);
/* Writes rows as members of the object that is open in j (export/data/arrays.c). */
void sheet_open_arrays(
        struct sheet *t, struct json *j, struct arena *a, const struct column *columns, size_t n);

/* The following functions write the next cell; a row ends with its last cell. Any cell may be null,
 * which is empty in CSV and Markdown. A real that is NaN or infinite becomes null. */
void sheet_text(struct sheet *t, struct str s);
/* Writes a path as the next cell. *id is 0 at first; SHEET_ARRAYS stores a number there for later
 * cells with this path. */
void sheet_path(struct sheet *t, uint32_t *id, struct str s);
void sheet_list(
        struct sheet *t, const struct strs *v); /* an array in JSON, otherwise joined by '|' */
void sheet_i64(struct sheet *t, int64_t v);
void sheet_real(struct sheet *t, double v);
void sheet_bool(struct sheet *t, bool v);
void sheet_null(struct sheet *t);

/* Ends the sheet. Asserts that the last row is complete. SHEET_ARRAYS: writes all rows. */
void sheet_close(struct sheet *t);

/* Write a text as a cell of CSV (csv.c) or Markdown (md.c). */
void csv_text(struct sink *to, struct str s, bool spreadsheet);
void md_text(struct sink *to, struct str s);

/* ---- arrays ----
 *
 * Rows as parallel arrays, one for each column, and one table of strings: what a page reads instead
 * of one object per row. Members of the document that is open (docs/schema/arrays.json):
 *
 *   count      rows
 *   shared     for each string, UTF-16 units that it has in common with the string before it
 *   rest       for each string, the units after those
 *   lists      arrays of strings' indices
 *   arrays     one array per column: numbers, 0 and 1, or indices; null is null. A column of equal
 *              values is that value alone; one that is mostly equal to an earlier column is
 *              {base: column, rows: differences from row to row, values: of those rows};
 *              one with small differences from row to row is {steps: those}
 */

#define ARRAYS_NULL                                                                                \
	INT64_MIN /* a cell without a value; a NaN or infinite number is also written as null */

/* A string of the table that begins like the previous string. */
struct array_string {
	int64_t shared; /* length of the common beginning, in UTF-16 units */
	struct str rest;
};

struct arrays {
	struct arena *a;
	size_t n_columns;
	const bool *real;   /* indexed by column: true if its cells are bits of a double */
	VEC(int64_t) cells; /* row by row */
	VEC(struct array_string) table;
	struct intern strings, lists; /* strings: strings of the table without paths */
	VEC(uint32_t) at;             /* indexed by interned string: its index in the table */
	struct sb text, last;         /* last: the newest string of the table */
	VEC(uint32_t) ids;            /* string ids of the current list */
};

void arrays_init(struct arrays *x, struct arena *a, const bool *real, size_t n_columns);

/* The following functions append the next cell. */
void arrays_i64(struct arrays *x, int64_t v);
void arrays_real(struct arrays *x, double v);
void arrays_text(struct arrays *x, struct str s); /* any bytes; invalid UTF-8 becomes \xNN */
/* Appends a text that is too long to be stored whole. *id: at first 0, then 1 + its index in the
 * table; the text is not read again. */
void arrays_path(struct arrays *x, uint32_t *id, struct str s);
void arrays_list(struct arrays *x, const struct strs *v);

/* Writes the members into the object that is open. */
void arrays_write(const struct arrays *x, struct json *j);

#endif
