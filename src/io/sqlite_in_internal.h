/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by sqlite_in.c and sqlite_check.c.
 */
#ifndef TFPROF_IO_SQLITE_IN_INTERNAL_H
#define TFPROF_IO_SQLITE_IN_INTERNAL_H

#include "io/sqlite_in.h"

#if HAVE_SQLITE

#include <sqlite3.h>

#define SQLITE_IN_HEADER 100 /* size in bytes */

struct sqlite_in {
	struct src *s;
	struct arena *a;
	struct err *e;
	sqlite3 *handle;
	struct guard guard;
	bool failed;
	bool schema;   /* true: the schema may be read */
	uint64_t size; /* size of the database, bytes */
	uint8_t header[SQLITE_IN_HEADER];
	uint64_t pending, page;
	unsigned passes;             /* number of passes over the tables, for progress reports */
	struct sqlite_rows *filling; /* rows of the running statement */
};

/* Prepares a statement. Returns NULL after a failure. table: named in the error; NULL: the
 * schema. */
sqlite3_stmt *sqlite_in_prepare(struct sqlite_in *db, struct str sql, const char *table);

/* Steps a statement. Returns false at its end and after a failure; both finalize the statement. */
bool sqlite_in_step(struct sqlite_in *db, sqlite3_stmt **statement, const char *table);

/* Returns the text of a column, valid until the next step. */
struct str sqlite_in_column(sqlite3_stmt *statement, int column);

/* Adds a name in SQL's quoted form. */
void sqlite_in_put_name(struct sb *b, struct str name);

#endif
#endif
