/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds without libsqlite3: databases are refused.
 */
#include "io/sqlite_in.h"

#if !HAVE_SQLITE

bool sqlite_in_open(struct sqlite_in **out, struct src *s, struct arena *a, struct err *e)
{
	(void)a;
	*out = NULL;
	return err_set(e, ERR_UNIMPLEMENTED,
	        "%.*s: an SQLite database, which this build cannot read: libsqlite3 was not there "
	        "when it was built",
	        STR(s->name));
}

/* Never called, because no database was opened. */
bool sqlite_in_failed(const struct sqlite_in *db)
{
	(void)db;
	return true;
}

struct str sqlite_in_damage(struct sqlite_in *db, bool *skipped)
{
	(void)db;
	*skipped = false;
	return STR_NONE;
}

uint64_t sqlite_in_pending(const struct sqlite_in *db)
{
	(void)db;
	return 0;
}

void sqlite_in_set_passes(struct sqlite_in *db, unsigned passes)
{
	(void)db, (void)passes;
}

struct strs sqlite_in_tables(struct sqlite_in *db, size_t *refused)
{
	(void)db;
	*refused = 0;
	return (struct strs){ 0 };
}

struct sqlite_rows *sqlite_in_rows(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n)
{
	(void)db, (void)table, (void)columns, (void)n;
	return NULL;
}

struct sqlite_rows *sqlite_in_rows_numbered(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n)
{
	(void)db, (void)table, (void)columns, (void)n;
	return NULL;
}

struct sqlite_rows *sqlite_in_rows_between(struct sqlite_in *db, const char *table,
        const char *const *columns, size_t n, int64_t first, int64_t last)
{
	(void)db, (void)table, (void)columns, (void)n, (void)first, (void)last;
	return NULL;
}

struct sqlite_rows *sqlite_in_by_key(
        struct sqlite_in *db, const char *table, const char *key, const char *column)
{
	(void)db, (void)table, (void)key, (void)column;
	return NULL;
}

bool sqlite_in_seek(struct sqlite_rows *r, int64_t key)
{
	(void)r, (void)key;
	return false;
}

int64_t sqlite_in_last_row(struct sqlite_in *db, struct str table)
{
	(void)db, (void)table;
	return 0;
}

bool sqlite_in_fill(struct sqlite_rows *r)
{
	(void)r;
	return false;
}

struct str sqlite_in_text(struct sqlite_rows *r, unsigned column)
{
	(void)r, (void)column;
	return STR_NONE;
}

#endif
