/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands of a session: views, advise, convert, set, reset, help, quit.
 */
#include <errno.h>
#include <unistd.h>

#include "lib/options.h"
#include "io/paths.h"

/* The original's sentences about the old option of 2016. */
static void take_dump_to_file(struct session *s, struct opts *o)
{
	if (!o->dump_to_file.n)
		return;
	note_line(&s->notes,
	        "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>\n");
	note_line(&s->notes, "-output %s is overwritten with -output file:outfile=%.*s\n",
	        output_rows[o->output.kind].name, STR(o->dump_to_file));
	o->output = (struct output){ .kind = OUT_FILE, .outfile = o->dump_to_file };
}

bool run_view(struct session *s, const struct request *r, struct sink *out)
{
	const struct view_ops *v = r->command->view;
	struct opts o = r->opts;

	take_dump_to_file(s, &o);
	if (!session_answer(s, v, &o, out, r->message))
		return false;
	if (!o.viz || (o.output.kind != OUT_STDOUT && o.output.kind != OUT_FILE))
		return true;
	o.output = (struct output){ .kind = OUT_TIMELINE, .outfile = str_of(v->name) };
	return session_answer(s, v, &o, out, NULL);
}

/* True if all inputs are traces or recordings, which the original does not read. */
static bool has_only_traces(const struct session *s)
{
	return s->recording.n || (s->model.traces.n && s->model.traces.n == s->model.files.n);
}

bool run_advise(struct session *s, const struct request *r, struct sink *out)
{
	struct advice advice;

	if (!session_seal(s))
		return false;
	if (has_only_traces(s) && r->checkers == CHECK_ALL && !r->message)
		return run_why(s, r, out);

	/* Options are parsed and have no effect, as in the original, except for our own outputs. */
	unsigned checkers = r->checkers;
	if (checkers == CHECK_ALL && (s->bare_files || s->model.traces.n))
		checkers |= CHECK_OURS;
	if (!session_advise(s, checkers, &advice))
		return false;
	if (!out_is_data(r->opts.output.kind))
		text_advice(&advice, out);
	else if (!session_put_advice(s, &advice, &r->opts, out))
		return false;
	if (r->message)
		advice_write(&advice, r->message, &s->query_arena);
	return true;
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
		return can_write(s, session_run_graph(s, to->outfile));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "convert writes a profile: -output profile:outfile=FILE; or what the original took "
	        "before: -output run_meta:outfile=FILE");
}

static bool convert_files(const struct exported *x, struct emit *to, struct err *e)
{
	struct session *s = (struct session *)(uintptr_t)x->of;

	(void)to;
	(void)e;
	return x->output->kind == OUT_RUN_META ? session_write_runs(s, x->output->outfile)
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

bool run_set(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);

	session_set(s, &r->opts);
	if (r->show_all)
		opts_dump_all(&b, &s->sticky);
	else if (r->prompt && !r->given.n && !r->shown.n)
		if (!opts_dump_set(&b, &s->sticky))
			sb_put(&b, S("nothing is set; set -all shows all options\n"));
	for (size_t i = 0; i < r->shown.n && !r->show_all; i++)
		opts_dump_one(&b, &s->sticky, view_option(r->shown.v[i]));
	sink_put(out, sb_str(&b));
	return true;
}

bool run_reset(struct session *s, const struct request *r, struct sink *out)
{
	struct opts o;

	(void)r;
	(void)out;
	opts_preset(&o, &s->query_arena);
	session_set(s, &o);
	return true;
}

/* Does nothing: the loop that reads lines stops on command->ends. */
bool run_quit(struct session *s, const struct request *r, struct sink *out)
{
	(void)s;
	(void)r;
	(void)out;
	return true;
}

bool run_help(struct session *s, const struct request *r, struct sink *out)
{
	return help_write(s, &r->topics, out);
}
