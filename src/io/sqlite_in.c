/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tables of SQLite files. Files are opened read-only and as immutable, so SQLite locks
 * nothing and looks for no journal; an authorizer refuses all but reading columns.
 *
 * The condition of a query is a function that stores the columns of a row. It is false until the
 * batch is full, so SQLite returns once per batch and not once per row.
 */
#include "io/sqlite_in_internal.h"

#if HAVE_SQLITE

#include <sys/stat.h>

#define PROGRESS_STEPS 20000 /* SQLite instructions between two checks of the cancel flag */
#define SQL_MAX        (1 << 20)
#define COLUMNS_MAX    256
#define TAKE           "tfprof_take"
#define BATCH_ROWS     32
#define BATCH_TEXT     4096     /* limit for the copied texts of a batch, bytes */
#define SCHEMA         "schema" /* name in errors that do not belong to a table */

static void close_all(void *sqlite_in)
{
	struct sqlite_in *db = sqlite_in;
	sqlite3_stmt *statement;

	while ((statement = sqlite3_next_stmt(db->handle, NULL)))
		sqlite3_finalize(statement);
	sqlite3_close_v2(db->handle);
}

static bool fail(struct sqlite_in *db, int status, const char *table)
{
	const char *why = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(status);
	enum status code = (status & 0xff) == SQLITE_NOMEM   ? ERR_RESOURCE
	                   : (status & 0xff) == SQLITE_IOERR ? ERR_IO
	                                                     : ERR_DATA_LOSS;

	if (db->failed)
		return false;
	db->failed = true;
	return err_set(err_about(db->e, db->s->name), code,
	        "%.*s: damaged SQLite database (%s): %s", STR(db->s->name), table ? table : SCHEMA,
	        why);
}

bool sqlite_in_failed(const struct sqlite_in *db)
{
	return db->failed;
}

uint64_t sqlite_in_pending(const struct sqlite_in *db)
{
	return db->pending;
}

void sqlite_in_set_passes(struct sqlite_in *db, unsigned passes)
{
	db->passes = passes;
}

/* Refuses all actions that are not needed to read columns. */
static int authorize(
        void *sqlite_in, int action, const char *p, const char *q, const char *r, const char *from)
{
	const struct sqlite_in *db = sqlite_in;

	(void)p, (void)r, (void)from;
	if (action == SQLITE_SELECT || action == SQLITE_READ)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && str_eq(str_of(q), S(TAKE)))
		return SQLITE_OK;
	return action == SQLITE_PRAGMA && db->schema ? SQLITE_OK : SQLITE_DENY;
}

/* Reports how much of the file was read. Returns nonzero to interrupt. */
static int progress(void *sqlite_in)
{
	struct sqlite_in *db = sqlite_in;
	int pages = 0, high;

	sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_MISS, &pages, &high, 0);
	if (src_watch(db->s, (uint64_t)pages * db->page / db->passes))
		return 0;
	db->failed = true;
	return 1;
}

/* Stores a value. Returns false if the batch has no room for a text; then the text stays in
 * SQLite's memory, and is valid until the next step of the statement. */
static bool take_value(struct sqlite_rows *r, struct sqlite_cell *to, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);

	to->null = type == SQLITE_NULL;
	to->number = to->null ? 0 : sqlite3_value_int64(v);
	to->text.p = NULL;
	if (to->null || type == SQLITE_INTEGER)
		return true;
	const unsigned char *text = sqlite3_value_text(v);
	size_t n = text ? (size_t)sqlite3_value_bytes(v) : 0;
	to->text = str_make(text, n);
	if (!text || n > BATCH_TEXT - r->n_text)
		return false;
	to->text.p = memcpy(r->text + r->n_text, text, n);
	r->n_text += n;
	return true;
}

/* The SQL function TAKE: stores the columns of a row. */
static void take(sqlite3_context *call, int n, sqlite3_value **v)
{
	const struct sqlite_in *db = sqlite3_user_data(call);
	struct sqlite_rows *r = db->filling;
	bool room = true;

	if (!r || (unsigned)n != r->width || r->n == BATCH_ROWS)
		return;
	for (unsigned i = 0; i < r->width; i++)
		room &= take_value(r, &r->cells[r->n * r->width + i], v[i]);
	sqlite3_result_int(call, ++r->n == BATCH_ROWS || !room);
}

/* ---- opening ---- */

static void set_limits(struct sqlite_in *db)
{
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, SQLITE_IN_VALUE },
		{ SQLITE_LIMIT_SQL_LENGTH, SQL_MAX },
		{ SQLITE_LIMIT_COLUMN, COLUMNS_MAX },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 2 },
		{ SQLITE_LIMIT_VDBE_OP, 25000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 64 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 4 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	static const struct {
		int what, on;
	} settings[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(db->handle, limits[i].what, limits[i].most);
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		sqlite3_db_config(db->handle, settings[i].what, settings[i].on, (int *)NULL);
	sqlite3_exec(db->handle,
	        "PRAGMA mmap_size=0; PRAGMA cache_size=-4096; PRAGMA cell_size_check=ON; "
	        "PRAGMA temp_store=MEMORY; PRAGMA query_only=ON; "
	        "PRAGMA ignore_check_constraints=ON",
	        NULL, NULL, NULL);
	sqlite3_create_function_v2(
	        db->handle, TAKE, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db, take, NULL, NULL, NULL);
	sqlite3_set_authorizer(db->handle, authorize, db);
	sqlite3_progress_handler(db->handle, PROGRESS_STEPS, progress, db);
}

/* Returns the name of a file as a URI with the parameters for read-only and immutable. */
static const char *address(struct arena *a, struct str path)
{
	struct sb b = sb_in(a);

	sb_put(&b, str_starts(path, S("/")) ? S("file://") : S("file:"));
	for (size_t i = 0; i < path.n; i++) {
		char c = path.p[i];
		if (char_is_digit(c) || char_is_letter(c) || c == '/' || c == '.' || c == '-' ||
		        c == '_')
			sb_char(&b, c);
		else
			sb_fmt(&b, "%%%02X", (unsigned)(uint8_t)c);
	}
	sb_put(&b, S("?mode=ro&immutable=1"));
	return str_z(a, sb_str(&b));
}

/* Checks for changes that another program has left beside the file. */
static void look_for_changes(struct sqlite_in *db)
{
	struct stat st;

	if (lstat(str_z(db->a, str_fmt(db->a, "%.*s-wal", STR(db->s->name))), &st) == 0)
		db->pending = st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static int open_handle(struct sqlite_in *db, bool file)
{
	const char *name = file ? address(db->a, db->s->name) : ":memory:";

	return sqlite3_open_v2(name, &db->handle,
	        (file ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_URI |
	                SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
	        NULL);
}

bool sqlite_in_open(struct sqlite_in **out, struct src *s, struct arena *a, struct err *e)
{
	struct sqlite_in *db = *out = ARENA_NEW(a, struct sqlite_in);
	bool file = src_is_plain_file(s);
	struct str bytes = STR_NONE;
	int status;

	*db = (struct sqlite_in){ .s = s, .a = a, .e = e, .page = 4096, .passes = 1 };
	if (src_need(s, SQLITE_IN_HEADER)) {
		memcpy(db->header, s->p, SQLITE_IN_HEADER);
		db->page = (uint64_t)s->p[16] << 8 | s->p[17];
	}
	db->page = db->page == 1 ? 65536 : db->page ? db->page : 4096;
	if (src_failed(s) || (!file && !src_all(s, &bytes)))
		return false;
	sqlite3_initialize();
	status = open_handle(db, file);
	if (db->handle)
		arena_guard(a, &db->guard, close_all, db);
	if (status == SQLITE_OK && !file)
		status = sqlite3_deserialize(db->handle, "main",
		        (unsigned char *)(uintptr_t)bytes.p, (sqlite3_int64)bytes.n,
		        (sqlite3_int64)bytes.n, SQLITE_DESERIALIZE_READONLY);
	if (status != SQLITE_OK)
		return fail(db, status, NULL);
	db->size = file ? src_size(s) : bytes.n;
	set_limits(db);
	if (file)
		look_for_changes(db);
	return true;
}

/* ---- tables ---- */

sqlite3_stmt *sqlite_in_prepare(struct sqlite_in *db, struct str sql, const char *table)
{
	sqlite3_stmt *statement = NULL;
	int status = SQLITE_OK;

	if (!db->failed)
		status = sqlite3_prepare_v3(db->handle, sql.p, (int)sql.n, 0, &statement, NULL);
	if (status != SQLITE_OK)
		fail(db, status, table);
	return statement;
}

bool sqlite_in_step(struct sqlite_in *db, sqlite3_stmt **statement, const char *table)
{
	int status = sqlite3_step(*statement);

	if (status == SQLITE_ROW)
		return true;
	if (status != SQLITE_DONE)
		fail(db, status, table);
	sqlite3_finalize(*statement);
	*statement = NULL;
	return false;
}

struct str sqlite_in_column(sqlite3_stmt *statement, int column)
{
	const void *p = sqlite3_column_text(statement, column);

	return p ? str_make(p, (size_t)sqlite3_column_bytes(statement, column)) : STR_NONE;
}

void sqlite_in_put_name(struct sb *b, struct str name)
{
	sb_char(b, '"');
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '"')
			sb_char(b, '"');
		sb_char(b, name.p[i]);
	}
	sb_char(b, '"');
}

static bool is_plain(struct str type, struct str sql)
{
	return str_eq(type, S("table")) && sql.n >= 13 &&
	       sqlite3_strnicmp(sql.p, "CREATE TABLE ", 13) == 0;
}

struct strs sqlite_in_tables(struct sqlite_in *db, size_t *refused)
{
	struct strs out = { 0 };
	sqlite3_stmt *q =
	        sqlite_in_prepare(db, S("SELECT type, name, sql FROM sqlite_master"), NULL);

	*refused = 0;
	while (q && sqlite_in_step(db, &q, NULL)) {
		struct str type = sqlite_in_column(q, 0);
		if (str_eq(type, S("index")))
			continue;
		if (!is_plain(type, sqlite_in_column(q, 2)))
			++*refused;
		else if (out.n < SQLITE_IN_TABLES)
			strs_add(db->a, &out, str_copy(db->a, sqlite_in_column(q, 1)));
	}
	return out;
}

/* True if a plain table with a name exists. */
static bool has_table(struct sqlite_in *db, const char *table)
{
	sqlite3_stmt *q = sqlite_in_prepare(
	        db, S("SELECT type, sql FROM sqlite_master WHERE name = ?1"), table);
	bool found = false;

	if (q)
		sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
	while (q && sqlite_in_step(db, &q, table))
		found |= is_plain(sqlite_in_column(q, 0), sqlite_in_column(q, 1));
	return found && !db->failed;
}

/* Returns the requested columns that the table has, as bits. Sets *key to the index of the integer
 * primary key. */
static uint64_t find_columns(struct sqlite_in *db, const char *table, const char *const *columns,
        size_t n, unsigned *key)
{
	struct sb b = sb_in(db->a);
	uint64_t have = 0;

	*key = UINT32_MAX;
	sb_put(&b, S("PRAGMA table_info("));
	sqlite_in_put_name(&b, str_of(table));
	sb_char(&b, ')');
	db->schema = true;
	sqlite3_stmt *q = sqlite_in_prepare(db, sb_str(&b), table);
	while (q && sqlite_in_step(db, &q, table))
		for (unsigned i = 0; i < n; i++) {
			if (!str_eq(sqlite_in_column(q, 1), str_of(columns[i])))
				continue;
			have |= (uint64_t)1 << i;
			if (sqlite3_column_int(q, 5) == 1 &&
			        str_eq(sqlite_in_column(q, 2), S("INTEGER")))
				*key = i;
		}
	db->schema = false;
	return have;
}

/* Opens the rows of a table for which a condition holds. number: true if the last cell is the row
 * number. Returns NULL if the query is not possible. */
static struct sqlite_rows *open_rows(struct sqlite_in *db, const char *table,
        const char *const *columns, size_t n, const char *where, bool number)
{
	struct sqlite_rows *r = ARENA_NEW(db->a, struct sqlite_rows);
	struct sb b = sb_in(db->a);
	unsigned key;

	*r = (struct sqlite_rows){ .db = db, .table = table, .width = (unsigned)n + number };
	r->have = find_columns(db, table, columns, n, &key);
	sb_put(&b, S("SELECT 1 FROM "));
	sqlite_in_put_name(&b, str_of(table));
	sb_fmt(&b, " NOT INDEXED WHERE %s" TAKE "(", where);
	for (size_t i = 0; i < n; i++) {
		sb_put(&b, i ? S(", ") : S(""));
		if (r->have >> i & 1)
			sqlite_in_put_name(&b, str_of(columns[i]));
		else
			sb_put(&b, S("NULL"));
	}
	sb_put(&b, number ? S(", rowid)") : S(")"));
	struct str sql = sb_str(&b);
	if (db->failed || sqlite3_prepare_v3(db->handle, sql.p, (int)sql.n, 0, &r->statement,
	                          NULL) != SQLITE_OK)
		return NULL;
	r->cells = ARENA_ARRAY(db->a, (size_t)r->width * BATCH_ROWS, struct sqlite_cell);
	r->text = ARENA_ARRAY(db->a, BATCH_TEXT, char);
	return r;
}

struct sqlite_rows *sqlite_in_rows(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n)
{
	if (db->failed || !has_table(db, table))
		return NULL;
	struct sqlite_rows *r = open_rows(db, table, columns, n, "", false);
	if (!r)
		fail(db, sqlite3_errcode(db->handle), table);
	return r;
}

/* True if the plain table exists and may have rowids. */
static bool has_numbers(struct sqlite_in *db, const char *table)
{
	static const char *const number[] = { "rowid" };
	unsigned key;

	return !db->failed && has_table(db, table) && !find_columns(db, table, number, 1, &key);
}

struct sqlite_rows *sqlite_in_rows_numbered(
        struct sqlite_in *db, const char *table, const char *const *columns, size_t n)
{
	return has_numbers(db, table) ? open_rows(db, table, columns, n, "", true) : NULL;
}

struct sqlite_rows *sqlite_in_rows_between(struct sqlite_in *db, const char *table,
        const char *const *columns, size_t n, int64_t first, int64_t last)
{
	struct sqlite_rows *r = NULL;

	if (first == INT64_MIN && last == INT64_MAX)
		return sqlite_in_rows(db, table, columns, n);
	if (has_numbers(db, table))
		r = open_rows(db, table, columns, n, "rowid BETWEEN ?1 AND ?2 AND ", false);
	if (r && sqlite3_bind_int64(r->statement, 1, first) == SQLITE_OK)
		sqlite3_bind_int64(r->statement, 2, last);
	return r;
}

struct sqlite_rows *sqlite_in_by_key(
        struct sqlite_in *db, const char *table, const char *key, const char *column)
{
	const char *const columns[] = { key, column };
	unsigned found;

	if (db->failed || !has_table(db, table) ||
	        find_columns(db, table, columns, 2, &found) != 3 || found != 0)
		return NULL;
	struct sb b = sb_in(db->a);
	sqlite_in_put_name(&b, str_of(key));
	sb_put(&b, S(" = ?1 AND "));
	return open_rows(db, table, columns + 1, 1, str_z(db->a, sb_str(&b)), false);
}

bool sqlite_in_fill(struct sqlite_rows *r)
{
	struct sqlite_in *db = r->db;
	int status;

	r->n = r->at = 0;
	r->n_text = 0;
	r->row = r->cells;
	if (r->ended)
		return false;
	db->filling = r;
	status = sqlite3_step(r->statement);
	db->filling = NULL;
	r->ended = status != SQLITE_ROW;
	if (r->ended && status != SQLITE_DONE)
		fail(db, status, r->table);
	return r->n > 0;
}

bool sqlite_in_seek(struct sqlite_rows *r, int64_t key)
{
	sqlite3_reset(r->statement);
	sqlite3_bind_int64(r->statement, 1, key);
	r->ended = false;
	return sqlite_in_fill(r);
}

int64_t sqlite_in_last_row(struct sqlite_in *db, struct str table)
{
	struct sb b = sb_in(db->a);
	int64_t last = 0;

	sb_put(&b, S("SELECT rowid FROM "));
	sqlite_in_put_name(&b, table);
	sb_put(&b, S(" ORDER BY rowid DESC LIMIT 1"));
	sqlite3_stmt *q = NULL;
	if (sqlite3_prepare_v3(db->handle, b.p, (int)b.n, 0, &q, NULL) == SQLITE_OK && q &&
	        sqlite3_step(q) == SQLITE_ROW)
		last = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q); /* a table without row numbers counts as empty */
	return last > 0 ? last : 0;
}

struct str sqlite_in_text(struct sqlite_rows *r, unsigned column)
{
	const struct sqlite_cell *c = &r->row[column];

	if (c->text.p)
		return c->text;
	return c->null ? STR_NONE : str_fmt(r->db->a, "%lld", (long long)c->number);
}

#endif
