/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof gpu.
 */
#include "cli/program.h"

#include <sys/stat.h>

#include "cli/recording.h"
#include "model/unsupported_format.h"
#include "model/input.h"
#include "export/gpu_out.h"
#include "export/gpu_tables.h"

#define TOP 20 /* kernels of the text */

enum { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_CSV, OUTPUT_MD };

/* Fails if the file is known to be something else; damaged ones are judged when they are read. */
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
	               "'%.*s' is no recording of GPU work: tfprof op '%.*s' is about it",
	               STR(file), STR(file));
}

/* One spool. */
static bool is_file(struct arena *a, struct str path)
{
	struct stat st;

	return stat(str_z(a, path), &st) == 0 && S_ISREG(st.st_mode);
}

static bool find(struct session *s, const struct option_words *w, struct strs *spools)
{
	struct str folder;

	if (w->rest.n > 1)
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "gpu takes one folder or spool, or none");
	if (w->rest.n)
		folder = w->rest.v[0];
	else if (!recording_newest(&s->query_arena, &folder, &s->error))
		return false;
	if (is_file(&s->query_arena, folder)) {
		strs_add(&s->query_arena, spools, folder);
		return may_be_spool(s, folder);
	}
	if (!recording_files(&s->query_arena, folder, S(SPOOL_SUFFIX), spools, &s->error))
		return false;
	if (!spools->n)
		return session_fail(s, ERR_NOT_FOUND,
		        "'%.*s' holds no recording of a process; tfprof ctl %.*s status says more",
		        STR(folder), STR(folder));
	return true;
}

/* Damaged spools are refused, or told of. */
static bool judge(struct session *s, const struct gpu_use *u)
{
	const struct gpu_process *bad = NULL;
	uint64_t kept = 0;

	for (size_t i = 0; i < u->processes.n; i++) {
		const struct gpu_process *p = &u->processes.v[i];
		struct sb b = sb_in(&s->query_arena);
		kept += p->fault.kept;
		if (!p->fault.places)
			continue;
		bad = bad ? bad : p;
		spool_fault_text(&b, &p->fault, p->file);
		if (s->recover)
			note_line(&s->notes, "warning: %.*s\n", STR(sb_str(&b)));
	}
	if (!bad || (s->recover && kept))
		return true;
	return spool_fault_judge(&bad->fault, bad->file, kept > 0, &s->error);
}

static void write_answer(struct session *s, const struct gpu_use *u, const struct gpu_options *w,
        size_t top, struct sink *out)
{
	const struct gpu_table *table = w->table < 0 ? NULL : &gpu_tables[w->table];

	if (w->output == OUTPUT_JSON)
		gpu_json(u, top, out);
	else if (w->output == OUTPUT_MD || table)
		gpu_tables_sheet(u, table, top, w->output == OUTPUT_MD ? SHEET_MD : SHEET_CSV, out);
	else if (w->output == OUTPUT_CSV)
		gpu_csv(u, top, out);
	else
		gpu_text(u, top, w->wide ? 0 : s->columns, out);
}

/* --table is for rows: with text or json it has no meaning. */
static bool check_options(struct session *s, const struct gpu_options *w)
{
	if (w->table < 0 || w->output == OUTPUT_CSV || w->output == OUTPUT_MD)
		return true;
	return session_fail(
	        s, ERR_INVALID_ARGUMENT, "--table: goes with --output=csv and --output=md");
}

bool gpu_run(struct session *s, const struct request *r, struct sink *out)
{
	struct gpu_options words = { 0 };
	struct option_words w = { .command = r->command, .into = &words };
	struct strs spools = { 0 };
	struct gpu_use u;

	options_preset("gpu", &words);
	if (!options_read(s, &r->topics, &w) || !check_options(s, &words) || !find(s, &w, &spools))
		return false;
	gpu_use_init(&u, &s->query_arena);
	for (size_t i = 0; i < spools.n; i++)
		if (!gpu_use_add(&u, spools.v[i], &s->error))
			return false;
	s->recover |= words.recover;
	if (!judge(s, &u))
		return false;
	gpu_use_end(&u);
	size_t top = words.top > 0                 ? (size_t)words.top
	             : words.output == OUTPUT_TEXT ? TOP
	                                           : SIZE_MAX;
	write_answer(s, &u, &words, top, out);
	return true;
}
