/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite databases as inputs, which are not trusted. Only the columns of plain tables are read, by
 * their names. Nothing is written, not even beside the file, and no code of the database is run
 * (views, triggers, virtual tables, generated columns, functions).
 *
 *   struct sqlite_rows *r = sqlite_in_rows(db, "T", columns, n);
 *   while (r && sqlite_in_next(r))
 *           use(sqlite_in_int(r, 0));
 *   if (sqlite_in_failed(db)) ...
 */
#ifndef TFPROF_IO_SQLITE_IN_H
#define TFPROF_IO_SQLITE_IN_H

#include "io/src.h"

#define SQLITE_IN_MAGIC "SQLite format 3" /* followed by a byte of 0 */
#define SQLITE_IN_VALUE (16 << 20)        /* maximum size of a row or value, bytes */

struct sqlite_in;
struct sqlite3_stmt;

struct sqlite_cell {
	int64_t number;
	struct str text; /* for a value that is not an integer */
	bool null;
};

/* Rows of a query, of which a batch is in memory. */
struct sqlite_rows {
	const struct sqlite_cell *row; /* cells of the current row */
	unsigned at, n, width;         /* in the batch: index of the row, and number of rows; number
	                                  of cells of a row */
	bool ended;                    /* true: no batch follows */
	uint64_t have;                 /* columns that the table has, as bits */
	struct sqlite_cell *cells;     /* cells of the batch */
	char *text;                    /* copied texts of the batch */
	size_t n_text;
	struct sqlite_in *db;
	struct sqlite3_stmt *statement;
	const char *table;
};

/* Opens the database at the start of s: a regular file by name, any other input from memory.
 * Closing the arena a closes it. Returns false and fills *e if the input is not a database, or if
 * this build lacks SQLite. */
bool sqlite_in_open(struct sqlite_in **out, struct src *s, struct arena *a, struct err *e);

/* True if a call failed (*e of the opening is filled). */
bool sqlite_in_failed(const struct sqlite_in *db);

/* Returns the fault of the database, or STR_NONE: in its size, or found by SQLite's quick_check in
 * its plain tables. Sets *skipped if quick_check did not run because the file has more than
 * SQLITE_IN_CHECKED bytes. SQLite has no checksums, so changed numbers in rows are not detected. */
#define SQLITE_IN_CHECKED ((uint64_t)1 << 30)
struct str sqlite_in_damage(struct sqlite_in *db, bool *skipped);

/* Returns the size of the write-ahead log (-wal), which is not read; 0: the file does not exist. */
uint64_t sqlite_in_pending(const struct sqlite_in *db);

/* Sets the number of passes over the file, for progress reports. */
void sqlite_in_set_passes(struct sqlite_in *db, unsigned passes);

/* Returns the names of the plain tables, in file order, at most SQLITE_IN_TABLES. Sets *refused to
 * the number of views, triggers and virtual tables, which are not read. */
#define SQLITE_IN_TABLES 4096
struct strs sqlite_in_tables(struct sqlite_in *db, size_t *refused);

/* Returns all rows of a plain table, in table order. Columns that the table lacks are NULL. Returns
 * NULL if the table does not exist, or after a failure. */
struct sqlite_rows *sqlite_in_rows(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n);
static inline bool sqlite_in_has(const struct sqlite_rows *r, unsigned column)
{
	return r->have >> column & 1;
}

/* Returns all rows in rowid order. Also returns NULL if the table has no rowids. */
struct sqlite_rows *sqlite_in_rows_numbered(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n);
static inline int64_t sqlite_in_row_number(const struct sqlite_rows *r) /* returns the rowid */
{
	return r->row[r->width - 1].number;
}

/* Returns the rows with rowids from first to last, without their rowids. */
struct sqlite_rows *sqlite_in_rows_between(struct sqlite_in *db, const char *table,
        const char *const *columns, size_t n, int64_t first, int64_t last);

/* Prepares lookups in a table by its integer primary key, with sqlite_in_seek. Returns NULL if the
 * table has no such key. */
struct sqlite_rows *sqlite_in_by_key(
        struct sqlite_in *db, const char *table, const char *key, const char *column);
bool sqlite_in_seek(struct sqlite_rows *r, int64_t key);

/* Returns the highest row number of a table, which is about the number of its rows. */
int64_t sqlite_in_last_row(struct sqlite_in *db, struct str table);

/* Reads the next batch. Returns false if it is empty. */
bool sqlite_in_fill(struct sqlite_rows *r);

/* Moves to the next row. Returns false at the end and after a failure. */
static inline bool sqlite_in_next(struct sqlite_rows *r)
{
	if (++r->at >= r->n)
		return sqlite_in_fill(r);
	r->row += r->width;
	return true;
}

static inline bool sqlite_in_null(const struct sqlite_rows *r, unsigned column)
{
	return r->row[column].null;
}
static inline int64_t sqlite_in_int(const struct sqlite_rows *r, unsigned column)
{
	return r->row[column].number;
}
struct str sqlite_in_text(struct sqlite_rows *r, unsigned column); /* valid until the next row */

#endif
