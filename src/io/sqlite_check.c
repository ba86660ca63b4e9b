/* SPDX-License-Identifier: Apache-2.0
 *
 * Damage of a database. SQLite reads zeros where a file ends early, and rows of a damaged page may
 * be missing without an error.
 */
#include "io/sqlite_in_internal.h"

#if HAVE_SQLITE

#define GENERATED 2   /* columns of this kind, and of higher kinds, are computed */
#define WHY_MAX   200 /* maximum bytes of SQLite's text that are printed */

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Returns the fault in the size of the file, or STR_NONE. The header contains the number of pages,
 * which is valid for one value of the change counter. */
static struct str size_fault(struct sqlite_in *db)
{
	uint64_t wanted = big_endian(db->header + 28) * db->page;

	if (!wanted || big_endian(db->header + 24) != big_endian(db->header + 92))
		wanted = (db->size + db->page - 1) / db->page * db->page;
	if (db->size >= wanted)
		return STR_NONE;
	return str_fmt(db->a, "truncated at byte %llu: %llu more bytes expected",
	        (unsigned long long)db->size, (unsigned long long)(wanted - db->size));
}

/* Prepares a pragma about a table. */
static sqlite3_stmt *prepare(struct sqlite_in *db, const char *pragma, struct str table)
{
	struct sb b = sb_in(db->a);

	sb_fmt(&b, "PRAGMA %s(", pragma);
	sqlite_in_put_name(&b, table);
	sb_char(&b, ')');
	return sqlite_in_prepare(db, sb_str(&b), str_z(db->a, table));
}

/* True if a check of the table would compute values. */
static bool computes(struct sqlite_in *db, struct str table)
{
	sqlite3_stmt *q = prepare(db, "table_xinfo", table);
	bool found = false;

	while (q && sqlite_in_step(db, &q, str_z(db->a, table)))
		found |= sqlite3_column_int(q, 6) >= GENERATED;
	return found;
}

/* Returns the first fault that SQLite finds in a table, or STR_NONE. */
static struct str table_fault(struct sqlite_in *db, struct str table)
{
	struct str why = STR_NONE, found;
	sqlite3_stmt *q = prepare(db, "quick_check", table);

	while (q && sqlite_in_step(db, &q, str_z(db->a, table))) {
		found = sqlite_in_column(q, 0);
		if (why.n || str_eq(found, S("ok")))
			continue;
		struct sb b = sb_in(db->a);
		for (size_t i = 0; i < found.n && i < WHY_MAX; i++)
			sb_char(&b, found.p[i] == '\n' ? ' ' : found.p[i]);
		why = sb_str(&b);
	}
	return why.n ? str_fmt(db->a, "damaged SQLite database (%.*s): %.*s", STR(table), STR(why))
	             : STR_NONE;
}

/* Returns the fault in the names of tables and columns, or STR_NONE. SQLite accepts any bytes. */
static struct str schema_fault(struct sqlite_in *db)
{
	sqlite3_stmt *q = sqlite_in_prepare(db, S("SELECT sql FROM sqlite_master"), NULL);
	bool good = true;

	while (q && sqlite_in_step(db, &q, NULL))
		good &= str_is_utf8(sqlite_in_column(q, 0));
	return good ? STR_NONE : S("damaged SQLite database (schema): a name is not UTF-8");
}

struct str sqlite_in_damage(struct sqlite_in *db, bool *skipped)
{
	struct str why = size_fault(db);
	struct strs tables = { 0 };
	size_t refused;

	*skipped = db->size > SQLITE_IN_CHECKED;
	if (!why.n)
		why = schema_fault(db);
	if (!why.n && !*skipped)
		tables = sqlite_in_tables(db, &refused);
	db->schema = true;
	for (size_t i = 0; i < tables.n && !why.n && !db->failed; i++)
		if (!computes(db, tables.v[i]))
			why = table_fault(db, tables.v[i]);
	db->schema = false;
	return why;
}

#endif
