/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: Arrow streams. A stream has its own part of the session (session_new_part),
 * with its own memory and recovery point, so it can be read while the session runs other commands.
 *
 * Rows of a table are made from the model, batch by batch; the model cannot change meanwhile. Rows
 * of a command are kept as cells in the part of the session (export/data/sheet.h).
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/arrow/arrow.h"
#include "lib/api_internal.h"

struct stream {
	struct tfp_session *t;
	struct session *part;
	const struct column *columns; /* lives in the part's model arena, like everything below */
	const char *const *docs;
	size_t n;
	struct arrow_pair pairs[4];
	size_t n_pairs;
	struct table_reader *table; /* NULL: the stream reads cells */
	struct cells cells;
	size_t rows;
	char error[512];
};

/* ---- reading ---- */

/* Stores the sentence of the last failure. Returns its errno. */
static int stream_fail(struct stream *x, const struct err *e)
{
	struct str text = e->text;

	snprintf(x->error, sizeof x->error, "%.*s", STR(text));
	return e->code == ERR_RESOURCE ? ENOMEM : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct stream *x = stream->private_data;

	if (arrow_schema(out, x->columns, x->docs, x->n, x->pairs, x->n_pairs))
		return 0;
	return stream_fail(x, &(struct err){ .code = ERR_RESOURCE, .text = S("out of memory") });
}

struct arrow_reading {
	struct stream *x;
	struct ArrowArray *out;
};

static bool read_batch(struct session *part, void *ctx)
{
	const struct arrow_reading *r = ctx;
	struct stream *x = r->x;
	struct arrow_build b;
	struct scratch scratch;

	arrow_begin(&b, &part->query_arena, x->columns, x->n, x->rows);
	scratch_open(&scratch, &part->work);
	if (!x->table)
		cells_fill(&x->cells, &b, &scratch.a);
	else
		while (!arrow_full(&b) && x->table->fill(x->table, &b, &scratch.a))
			;
	scratch_close(&scratch);
	return !b.rows || arrow_finish(&b, r->out, &part->error);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *x = stream->private_data;
	struct arrow_reading r = { x, out };

	memset(out, 0, sizeof *out);
	if (session_guard(x->part, read_batch, &r))
		return 0;
	return stream_fail(x, &x->part->error);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct stream *x = stream->private_data;

	return x->error[0] ? x->error : NULL;
}

static void close_stream(struct stream *x)
{
	if (x->table)
		atomic_fetch_sub(&x->t->s->readers, 1);
	session_free(x->part);
	api_leave(x->t);
	free(x);
}

static void release(struct ArrowArrayStream *stream)
{
	close_stream(stream->private_data);
	stream->release = NULL;
}

/* ---- opening ---- */

struct opening {
	struct tfp_arrow what;
	struct stream *x;
	const struct fixed_table *table; /* may be NULL */
	struct str bytes;                /* cells; live in the session's query arena */
};

static void put_pair(struct stream *x, struct str key, struct str value)
{
	x->pairs[x->n_pairs++] = (struct arrow_pair){ key, value };
}

/* Reads the device work of the session's recording, if the table contains devices. */
static bool read_recorded(struct session *part, const struct session *s, struct table_reader *table)
{
	const struct recording_request request = { .wants =
		                                           ARG_BIT(ARG_BYTES) | TRACE_LAUNCH_ARGS };
	struct recording_options how = s->recording_options;

	if (!s->recording.n || strcmp(table->table->name, "devices") != 0)
		return true;
	struct trace *t = trace_new(table->a);
	how.step_implied = true;
	table->recorded = t;
	return recording_trace(t, &s->recording, &how, &request, &part->notes, &part->error);
}

/* Opens the table, or takes over the cells. */
static bool fill_stream(struct session *part, void *ctx)
{
	const struct opening *o = ctx;
	struct stream *x = o->x;
	struct session *s = x->t->s;
	struct arena *a = &part->model_arena;

	part->work.account->stop = &s->cancel;
	work_poll(&part->work);
	if (!o->table) {
		cells_open(&x->cells, str_copy(a, o->bytes), a);
		x->columns = x->cells.columns;
		x->n = x->cells.n;
		return true;
	}
	struct table_reader *table = ARENA_NEW(a, struct table_reader);
	*table = (struct table_reader){ .table = o->table, .m = &s->model, .a = a };
	table->run = str_copy(a, api_str(o->what.run.data, o->what.run.size));
	table->worker = str_copy(a, api_str(o->what.worker.data, o->what.worker.size));
	table->run.p = o->what.run.data ? table->run.p : NULL;
	table->worker.p = o->what.worker.data ? table->worker.p : NULL;
	table->recording = session_has_source(s, ROLE_SPOOL);
	x->columns = o->table->columns;
	x->docs = o->table->docs;
	x->n = o->table->n;
	put_pair(x, S("schema_version"), S(TABLES_VERSION));
	put_pair(x, S("tfprof_table"), str_of(o->table->name));
	put_pair(x, S("tfprof_version"), S(TFPROF_VERSION));
	put_pair(x, S("description"), str_of(o->table->doc));
	if (!read_recorded(part, s, table))
		return false;
	table_begin(table);
	atomic_fetch_add(&s->readers, 1);
	x->table = table;
	return true;
}

/* Runs the command, which writes cells. */
static bool run_command(struct session *s, struct opening *o)
{
	struct strs words = str_split(
	        &s->query_arena, api_str(o->what.command.data, o->what.command.size), ' ');

	api_add_words(s, &words, o->what.words, o->what.n_words);
	return api_run_cells(s, &words, &o->bytes);
}

/* Finds the table, or computes the answer. */
static bool prepare(struct session *s, struct opening *o)
{
	struct str name = api_str(o->what.table.data, o->what.table.size);

	if (!name.n == !o->what.command.data)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "an Arrow stream contains a table or the answer of a command: name only "
		        "one");
	if (o->what.rows > ARROW_ROWS_MAX)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "a batch has %d rows at most", ARROW_ROWS_MAX);
	if (!name.n)
		return run_command(s, o);
	o->table = table_named(name);
	if (!o->table)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown table '%.*s': runs, steps, nodes, slices, kernels, devices and "
		        "memory exist",
		        STR(name));
	if (!session_need_all(s, true) || !session_seal(s))
		return false;
	return !str_eq(name, S("slices")) || session_need_slices(s);
}

static bool open_stream(struct tfp_session *t, void *arg)
{
	struct opening *o = arg;
	struct stream *x;

	if (!prepare(t->s, o))
		return false;
	x = calloc(1, sizeof *x);
	if (x)
		x->part = session_new_part(t->s);
	if (!x || !x->part) {
		free(x);
		return session_fail(t->s, ERR_RESOURCE, "out of memory");
	}
	x->t = t;
	x->rows = (size_t)o->what.rows;
	atomic_fetch_add(&t->users, 1);
	o->x = x;
	if (session_guard(x->part, fill_stream, o))
		return true;
	session_fail_as(t->s, &x->part->error);
	close_stream(x);
	return false;
}

static bool check_stream(struct tfp_session *t, void *arg)
{
	(void)arg;
	return api_fail_size(t->s, "struct tfp_arrow");
}

int tfp_arrow_stream(
        struct tfp_session *t, const struct tfp_arrow *what, struct ArrowArrayStream *out)
{
	struct opening o = { .x = NULL };

	if (!out)
		return TFP_E_INVALID_ARGUMENT;
	memset(out, 0, sizeof *out);
	if (!what || !api_take(&o.what, sizeof o.what, what))
		return api_call(t, check_stream, NULL);
	int code = api_call_with(t, o.what.other, open_stream, &o);
	if (!code)
		*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release,
			o.x };
	return code;
}

/* ---- tables ---- */

int tfp_arrow_table(size_t i, const char **name, struct ArrowSchema *out)
{
	const struct fixed_table *t = i < tables_n ? &tables[i] : NULL;

	if (!t)
		return TFP_E_NOT_FOUND;
	const struct arrow_pair pairs[] = { { S("schema_version"), S(TABLES_VERSION) },
		{ S("tfprof_table"), str_of(t->name) }, { S("tfprof_version"), S(TFPROF_VERSION) },
		{ S("description"), str_of(t->doc) } };
	if (name)
		*name = t->name;
	if (out && !arrow_schema(out, t->columns, t->docs, t->n, pairs, 4))
		return TFP_E_MEMORY;
	return TFP_OK;
}
