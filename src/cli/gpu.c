/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof gpu.
 */
#include "cli/program.h"

#include <sys/stat.h>

#include "cli/recording.h"
#include "lib/options.h"
#include "model/sniff.h"
#include "model/input.h"
#include "export/gpu_tables.h"
#include "export/trace_tables.h"
#include "trace/recordings.h"

#define TOP 20 /* kernels in the text output */

/* Fails if the file is known to be something else; damage is reported when it is read. */
static bool may_be_spool(struct session *s, struct str file)
{
	const struct unsupported_format *foreign;
	unsigned role = 0;

	if (str_ends(file, S(SPOOL_SUFFIX)))
		return true;
	if (!input_guess_file(file, &role, &foreign, &s->work, &s->error))
		return false;
	if (foreign)
		return unsupported_format_refuse(foreign, file, &s->error);
	return !role || role == ROLE_SPOOL ||
	       session_fail(s, ERR_INVALID_ARGUMENT,
	               "'%.*s' is not a GPU recording: tfprof op '%.*s' reads it", STR(file),
	               STR(file));
}

/* Reads one recording. */
static bool is_file(struct arena *a, struct str path)
{
	struct stat st;

	return stat(str_z(a, path), &st) == 0 && S_ISREG(st.st_mode);
}

static bool find(struct session *s, const struct option_words *w, struct recording_set *set)
{
	struct strs files = { 0 };
	struct str folder;

	if (w->rest.n > 1)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "gpu takes one folder or spool, or none");
	if (w->rest.n)
		folder = w->rest.v[0];
	else if (!recording_newest(&s->query_arena, &folder, &s->error))
		return false;
	if (is_file(&s->query_arena, folder)) {
		return may_be_spool(s, folder) &&
		       recording_find(set, &s->query_arena, folder, &s->error);
	}
	if (!recording_files(&s->query_arena, folder, S(SPOOL_SUFFIX), &files, &s->error))
		return false;
	if (!files.n)
		return session_fail(s, ERR_NOT_FOUND,
		        "'%.*s' contains no recording of a process; tfprof ctl %.*s status shows "
		        "more",
		        STR(folder), STR(folder));
	return recording_find(set, &s->query_arena, folder, &s->error);
}

/* The tables to write, and their limits. */
struct shown {
	struct gpu_use u;
	const struct gpu_table *table; /* NULL: all */
	size_t top;
	unsigned columns;
	const struct recording_set *files;
	const struct recording_options *how;
	struct notes *notes;
};

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct shown *g = x->of;

	(void)to;
	(void)e;
	gpu_text(&g->u, g->top, g->columns, s);
	return true;
}

/* The rows of the command devices. */
static void put_devices(struct document *d, const void *trace)
{
	const struct trace *t = trace;

	trace_table_member(t, TABLE_DEVICES, d, t->a);
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	const struct shown *g = x->of;
	const struct recording_ask ask = { .wants = trace_table_wants(TABLE_DEVICES) };
	struct trace *t = trace_new(to->a);
	const struct gpu_members more = { put_devices, t };

	if (!recording_trace(t, g->files, g->how, &ask, g->notes, e))
		return false;
	gpu_json(&g->u, g->top, &more, s);
	return true;
}

static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	const struct shown *g = x->of;

	(void)to;
	if (form == SHEET_NDJSON && !g->table)
		return err_set(e, ERR_INVALID_ARGUMENT,
		        "-output: ndjson can contain one table: add --table=NAME");
	if (g->table || form == SHEET_MD)
		gpu_tables_sheet(&g->u, g->table, g->top, form, s);
	else
		gpu_csv(&g->u, g->top, form, s);
	return true;
}

/* --table applies to rows only, not to text or json. */
static bool check_options(struct session *s, const struct gpu_options *w, const struct opts *o)
{
	if (w->table < 0 || (out_is_data(o->output.kind) && o->output.kind != OUT_JSON))
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT, "--table: needs --output=csv or --output=md");
}

bool gpu_run(struct session *s, const struct request *r, struct sink *out)
{
	struct gpu_options words = { 0 };
	struct opts o = opts_copy(&s->sticky, &s->query_arena);
	struct option_words w = { .command = r->command, .into = &words, .opts = &o };
	struct emit to = { .a = &s->query_arena, .out = out, .notes = &s->notes };
	struct recording_watch watch = { s->watch.progress, s->watch.user };
	struct recording_set set;
	struct recording_options how;
	struct flags none = { 0 };
	struct shown g = { 0 };
	struct exported x = { .kind = RESULT_GPU,
		.name = "gpu",
		.of = &g,
		.output = &o.output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	options_preset("gpu", &words);
	if (!options_read(s, &r->topics, &w) || !check_options(s, &words, &o) || !find(s, &w, &set))
		return false;
	flags_recording_options(s, &none, &set, &how);
	how.recover = s->recover || words.recover;
	how.step_implied = true;
	if (!gpu_use_read(
	            &g.u, &set, &how, watch.progress ? &watch : NULL, &s->query_arena, &s->error))
		return false;
	recordings_say_damage(&g.u.all, &s->notes);
	g.files = &set;
	g.how = &how;
	g.notes = &s->notes;
	g.table = words.table < 0 ? NULL : &gpu_tables[words.table];
	g.top = words.top > 0 ? (size_t)words.top : out_is_data(o.output.kind) ? SIZE_MAX : TOP;
	g.columns = o.wide || o.output.kind != OUT_STDOUT ? 0 : s->columns;
	return out_export(&x, &to, &s->error);
}
