/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by sqlite_in.c and sqlite_check.c.
 */
#ifndef TFPROF_IO_SQLITE_IN_INTERNAL_H
#define TFPROF_IO_SQLITE_IN_INTERNAL_H

#include "io/sqlite_in.h"

#if HAVE_SQLITE

#include <sqlite3.h>

#define SQLITE_IN_HEADER 100 /* bytes */

struct sqlite_in {
	struct src *s;
	struct arena *a;
	struct err *e;
	sqlite3 *handle;
	struct guard guard;
	bool failed;
	bool schema;   /* the schema may be looked at */
	uint64_t size; /* bytes of the database */
	uint8_t header[SQLITE_IN_HEADER];
	uint64_t pending, page;
	unsigned passes;             /* number of passes over the tables, for progress reports */
	struct sqlite_rows *filling; /* rows of the statement that runs */
};

/* Returns NULL after a failure; table is named in its error, NULL: the schema. */
sqlite3_stmt *sqlite_in_prepare(struct sqlite_in *db, struct str sql, const char *table);

/* Steps a statement; false at its end and after a failure, which both finalize it. */
bool sqlite_in_step(struct sqlite_in *db, sqlite3_stmt **statement, const char *table);

/* Returns the text of a column, valid until the next step. */
struct str sqlite_in_column(sqlite3_stmt *statement, int column);

/* Adds a name as SQL writes it. */
void sqlite_in_put_name(struct sb *b, struct str name);

#endif
#endif
