/* SPDX-License-Identifier: Apache-2.0
 *
 * The command convert: everything that is loaded, as files of other formats.
 */
#include <errno.h>
#include <unistd.h>

#include "lib/command.h"

#include "export/out.h"
#include "io/paths.h"

bool session_one_worker(struct session *s)
{
	if (s->model.workers.n <= 1)
		return true;
	return session_fail(s, ERR_FAILED,
	        "a profile contains the steps of one worker, but %zu are loaded: load one of them",
	        s->model.workers.n);
}

bool session_write_profile(struct session *s, struct str path)
{
	struct sink *to;

	if (!session_need_all(s, true) || !session_seal(s) || !session_one_worker(s) ||
	        !sink_file(&to, &s->query_arena, path, &s->error))
		return false;
	profile_write(&s->model, to, &s->query_arena, &s->notes); /* the sink has the error */
	return sink_close(to, &s->error);
}

/* Returns the path of the GraphDef that is written beside the files of steps. */
static struct str run_graph(struct session *s, struct str path)
{
	return str_fmt(&s->query_arena, "%.*s_graph.pb", STR(path));
}

static bool write_run(struct session *s, const struct step *step, struct str path)
{
	struct scratch own;
	struct sink *to;
	bool ok;

	scratch_open(&own, &s->work);
	ok = sink_file(&to, &own.a, path, &s->error);
	if (ok) {
		run_write(&s->model, step, to, &own.a, &s->notes, &s->error);
		ok = sink_close(to, &s->error);
	}
	scratch_close(&own);
	return ok && !s->error.code;
}

/* Writes each step as a RunMetadata to <path>_<step>, and the nodes as a GraphDef. */
static bool write_runs(struct session *s, struct str path)
{
	struct arena *a = &s->query_arena;
	struct sink *to;
	bool ok = session_need_all(s, true) && session_seal(s) && session_one_worker(s);

	for (size_t i = 0; ok && i < s->model.steps.n; i++)
		ok = write_run(s, s->model.steps.v[i],
		        str_fmt(a, "%.*s_%lld", STR(path), (long long)s->model.steps.v[i]->id));
	if (!ok || !sink_file(&to, a, run_graph(s, path), &s->error))
		return false;
	graph_write(&s->model, to, a);
	return sink_close(to, &s->error);
}

/* Checks that the file can be created, before everything is loaded for it. */
static bool can_write(struct session *s, struct str path)
{
	struct arena *a = &s->query_arena;
	size_t slash = str_rfind_char(path, '/');
	struct str folder = slash == SIZE_MAX ? S(".") : str_sub(path, 0, slash + 1);

	if (path_is_folder(a, path))
		return err_system(&s->error, "cannot write", path, EISDIR);
	return access(str_z(a, path_exists(a, path) ? path : folder), W_OK) == 0 ||
	       err_system(&s->error, "cannot write", path, errno);
}

bool check_convert(struct session *s, const struct request *r)
{
	const struct output *to = &r->opts.output;

	if (to->kind == OUT_PROFILE)
		return can_write(s, to->outfile);
	if (to->kind == OUT_RUN_META)
		return can_write(s, run_graph(s, to->outfile));
	if (to->kind == OUT_TIMELINE)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "convert writes a profile or run metadata, not a timeline\n"
		        "hint: 'graph -step N -output timeline:outfile=FILE' writes the timeline "
		        "of "
		        "a step");
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "convert needs a file to write: -output profile:outfile=FILE, or -output "
	        "run_meta:outfile=FILE for a file per step");
}

static bool convert_files(const struct exported *x, struct emit *to, struct err *e)
{
	struct session *s = (struct session *)(uintptr_t)x->of;

	(void)to;
	(void)e;
	return x->output->kind == OUT_RUN_META ? write_runs(s, x->output->outfile)
	                                       : session_write_profile(s, x->output->outfile);
}

bool run_convert(struct session *s, const struct request *r, struct sink *out)
{
	struct emit to = { .a = &s->query_arena, .out = out, .notes = &s->notes };
	struct exported x = { .kind = RESULT_MODEL,
		.name = "convert",
		.of = s,
		.output = &r->opts.output,
		.files = convert_files };

	return out_export(&x, &to, &s->error);
}
