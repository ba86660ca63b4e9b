/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: rows of an answer as typed cells. Rows have their own part of the session
 * (session_new_part), which keeps the cells that the command wrote.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>

#include "lib/api_internal.h"

struct tfp_rows {
	struct tfp_session *t;
	struct session *part;
	struct cells begin, cells; /* lives in the part's model arena, like everything below */
	const char **names;        /* names of the columns, NUL-terminated */
	struct tfp_cell *row;
};

/* ---- opening ---- */

struct rows_opening {
	struct str line;
	const struct tfp_run *run;
	struct str bytes; /* cells; live in the session's query arena */
	struct tfp_rows *rows;
};

/* True if a command writes rows. Other commands print text or write files. */
static bool has_rows(const struct command *c)
{
	if (!c || c->keeps_attrs)
		return false;
	return c->needs_profile || c->run == diff_command || c->run == checkpoint_run;
}

static void drop_keeps_rows(void *session)
{
	struct session *s = session;

	s->keeps_rows = false;
}

bool api_run_cells(struct session *s, struct strs *words, struct str *bytes)
{
	struct sink *to = sink_memory(&s->query_arena);
	struct request r;
	struct guard g;

	*bytes = STR_NONE;
	if (!cmd_parse_words(s, words, &r))
		return false;
	if (!has_rows(r.command))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' has no rows: views, tables such as devices, diff, checkpoint and "
		        "advise have rows",
		        STR(strs_join(&s->query_arena, words, S(" "))));
	r.opts.output = (struct output){ .kind = OUT_NDJSON, .cells = true };
	r.opts.dump_to_file = STR_NONE;
	r.opts.viz = false;
	s->keeps_rows = true;
	work_guard(&s->work, &g, drop_keeps_rows, s);
	bool ok = cmd_run(s, &r, to);
	work_unguard(&s->work, &g);
	drop_keeps_rows(s);
	sink_flush(to);
	if (ok || s->error.code == ERR_FAILED)
		*bytes = sink_text(to);
	return ok;
}

/* Takes over the cells. */
static bool take_cells(struct session *part, void *ctx)
{
	const struct rows_opening *o = ctx;
	struct tfp_rows *r = o->rows;
	struct arena *a = &part->model_arena;

	cells_open(&r->cells, str_copy(a, o->bytes), a);
	r->begin = r->cells;
	r->names = ARENA_ARRAY(a, r->cells.n, const char *);
	r->row = ARENA_ARRAY(a, r->cells.n, struct tfp_cell);
	for (size_t i = 0; i < r->cells.n; i++)
		r->names[i] = str_z(a, r->cells.columns[i].name);
	return true;
}

static bool open_rows(struct tfp_session *t, void *arg)
{
	struct rows_opening *o = arg;
	struct session *s = t->s;
	struct tfp_run how;

	if (!api_take(&how, sizeof how, o->run))
		return api_fail_size(s, "struct tfp_run");
	struct strs words = str_split(&s->query_arena, o->line, ' ');
	api_add_words(s, &words, how.words, how.n_words);
	bool ok = api_run_cells(s, &words, &o->bytes);
	if (!ok && !o->bytes.n)
		return false;
	struct tfp_rows *r = o->rows = calloc(1, sizeof *r);
	if (r)
		r->part = session_new_part(s);
	if (!r || !r->part) {
		free(r);
		return session_fail(s, ERR_RESOURCE, "out of memory");
	}
	r->t = t;
	atomic_fetch_add(&t->users, 1);
	if (session_guard(r->part, take_cells, o))
		return ok;
	session_fail_as(s, &r->part->error);
	tfp_rows_close(r);
	o->rows = NULL;
	return false;
}

int tfp_rows_open(struct tfp_session *t, const char *line, size_t line_size,
        const struct tfp_run *run, struct tfp_rows **out)
{
	struct rows_opening o = { .line = api_str(line, line_size), .run = run };

	if (!out)
		return TFP_E_INVALID_ARGUMENT;
	int code = api_call_with(t, api_other(run), open_rows, &o);
	*out = o.rows;
	return code;
}

void tfp_rows_close(struct tfp_rows *r)
{
	if (!r)
		return;
	session_free(r->part);
	api_leave(r->t);
	free(r);
}

/* ---- columns ---- */

int tfp_rows_column(const struct tfp_rows *r, size_t i, struct tfp_column *out)
{
	static const int types[] = { [COLUMN_TEXT] = TFP_TEXT,
		[COLUMN_LIST] = TFP_LIST,
		[COLUMN_INTEGER] = TFP_INTEGER,
		[COLUMN_REAL] = TFP_REAL,
		[COLUMN_BOOL] = TFP_BOOL };
	struct tfp_column column = { .size = sizeof column };

	if (!r || !out || !out->size)
		return TFP_E_INVALID_ARGUMENT;
	if (i >= r->cells.n)
		return TFP_E_NOT_FOUND;
	column.size = out->size;
	column.type = types[r->cells.columns[i].type];
	column.name = r->names[i];
	column.unit = r->cells.columns[i].unit;
	memcpy(out, &column, out->size < sizeof column ? out->size : sizeof column);
	return TFP_OK;
}

int tfp_rows_find(const struct tfp_rows *r, const char *name)
{
	for (size_t i = 0; r && name && i < r->cells.n; i++)
		if (strcmp(r->names[i], name) == 0)
			return (int)i;
	return -1;
}

/* ---- rows ---- */

static void put_number(struct tfp_cell *to, const struct cell_value *x, enum column_type type)
{
	to->integer = type == COLUMN_REAL ? 0 : x->i;
	to->real = type == COLUMN_REAL ? x->real : (double)x->i;
}

const struct tfp_cell *tfp_rows_next(struct tfp_rows *r)
{
	struct cell_value x;

	if (!r || r->cells.p == r->cells.end)
		return NULL;
	for (size_t i = 0; i < r->cells.n; i++) {
		struct tfp_cell *to = &r->row[i];
		cells_take(&r->cells, &x);
		*to = (struct tfp_cell){
			.null = x.kind == CELL_NULL, .text = { x.text.p, x.text.n }, .n = x.n
		};
		if (x.kind == CELL_NUMBER)
			put_number(to, &x, r->cells.columns[i].type);
	}
	return r->row;
}

void tfp_rows_rewind(struct tfp_rows *r)
{
	if (r)
		r->cells = r->begin;
}

struct tfp_str tfp_cell_text(const struct tfp_cell *list, size_t i)
{
	struct tfp_str none = { NULL, 0 };
	struct cell_value x = { .n = list ? list->n : 0 };
	struct str text = STR_NONE;

	if (!list || i >= list->n)
		return none;
	x.text = str_make(list->text.data, list->text.size);
	for (size_t k = 0; k <= i; k++)
		text = cell_list_take(&x);
	return (struct tfp_str){ text.p, text.n };
}
