/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the inputs that the flags name. The load order and the progress messages follow the
 * original.
 */
#include "lib/options.h"

#include "lib/session.h"
#include "io/paths.h"
#include "checkpoint/ckpt.h"
#include "model/sniff.h"

#define FLAGS(type, field, ...) OPTION_ROW(SCOPE_FLAGS, type, flags, field, __VA_ARGS__)
const struct option flag_options[] = {
#include "metric/option.def"
	{ .name = NULL }
};

const struct option *flag_find(struct str name)
{
	if (str_eq(name, S("h")))
		name = S("help");
	else if (str_eq(name, S("i")))
		name = S("interactive");
	else if (str_eq(name, S("V")))
		name = S("version");
	else if (str_eq(name, S("spool"))) /* the former name of the flag */
		name = S("recording");
	return option_in(flag_options, name);
}

/* Stores the file under its kind. Allows only one file of each kind. */
static bool place(struct session *s, struct str *at, const char *kind, struct str file)
{
	if (at->n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' and '%.*s' are both %s: only one is allowed", STR(*at), STR(file),
		        kind);
	*at = file;
	return true;
}

/* Reads argv[*i] and its value if it is a flag of the table; otherwise stores it as a word. */
static bool take(struct session *s, int argc, char **argv, int *i, struct flags *f)
{
	struct str word = str_of(argv[*i]), name, value;
	const struct option *flag = NULL;
	bool has_value = false;

	if (cmd_option_word(word, &name, &value, &has_value))
		flag = flag_find(name);
	if (!flag) {
		strs_add(&s->query_arena, &f->words, word);
		return true;
	}
	const char *argument = option_argument(flag);
	if (argument && !has_value && *i + 1 == argc)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s needs a value: --%s=%s",
		        flag->name, flag->name, argument);
	if (argument && !has_value)
		value = str_of(argv[++*i]);
	strs_add(&s->query_arena, &f->given, str_of(flag->name));
	if (flag->at == offsetof(struct flags,
	                        spool)) /* of a flag of the original, the last value counts */
		return place(s, &f->spool, "recordings", value);
	return option_set(s, &s->model_arena, flag, value, f);
}

/* True for a command such as record, whose arguments may be another program's command line, and for
 * help, which explains flags. All words after it belong to it. */
static bool takes_all_words(const struct session *s, struct str word)
{
	const struct command *c = cmd_find(s, word);

	return c && (!cmd_in_session(c) || c->run == run_help);
}

/* True for a word after help that is not a topic: a flag with a value, such as --width=60. */
static bool is_flag_of_help(const struct session *s, const struct strs *words, struct str word)
{
	size_t equals = str_find_char(word, '=');
	size_t dashes = str_starts(word, S("--")) ? 2 : 1;
	const struct command *c = words->n ? cmd_find(s, words->v[0]) : NULL;

	return c && c->run == run_help && str_starts(word, S("-")) && equals != SIZE_MAX &&
	       flag_find(str_sub(word, dashes, equals - dashes));
}

bool flags_parse(struct session *s, int argc, char **argv, struct flags *f)
{
	bool rest = false;

	memset(f, 0, sizeof *f);
	for (const struct option *x = flag_options; x; x = option_next(x))
		strs_add(&s->query_arena, &f->names, str_of(x->name));
	for (int i = 1; i < argc; i++) {
		rest |= !f->words.n && takes_all_words(s, str_of(argv[i]));
		if (rest && !is_flag_of_help(s, &f->words, str_of(argv[i])))
			strs_add(&s->query_arena, &f->words, str_of(argv[i]));
		else if (!take(s, argc, argv, &i, f))
			return false;
	}
	s->recover |= f->recover;
	s->reading = (struct src_options){ .sample = f->sample,
		.step = f->step_nvtx,
		.graph_capture = f->graph_capture,
		.guess_steps = f->guess_steps };
	s->assume_batch = f->assume_batch;
	if (f->max_memory) { /* the limit applies to the whole process */
		account_add_program(s->work.account);
		session_limit(s, (size_t)f->max_memory);
	}
	return true;
}

/* ---- roles of files ---- */

/* Fails with the reason why a file has no role. */
static bool not_sorted(struct session *s, struct str file, const struct unsupported_format *foreign)
{
	struct arena *a = &s->query_arena;

	if (foreign)
		return unsupported_format_refuse(foreign, file, &s->error);
	if (!path_exists(a, file))
		return session_fail(s, ERR_NOT_FOUND, "file '%.*s' does not exist", STR(file));
	if (path_is_empty(a, file))
		return session_fail(s, ERR_DATA_LOSS, "'%.*s' is empty", STR(file));
	return session_fail(s, ERR_DATA_LOSS,
	        "the format of '%.*s' is unknown\n"
	        "hint: for files of TensorFlow, --graph_path=FILE, --run_meta_path=FILE, "
	        "--op_log_path=FILE, --profile_path=FILE or --checkpoint_path=FILE states the "
	        "format",
	        STR(file));
}

static bool sort_one(struct session *s, struct flags *f, struct str file)
{
	struct arena *a = &s->query_arena;
	const struct unsupported_format *foreign;
	unsigned role = 0;

	file = path_unified(&s->model_arena, file);
	if (recording_is_folder(a, file))
		return place(s, &f->spool, "recordings", file);
	if (path_is_folder(a, file) || (path_is_pattern(file) && !path_exists(a, file))) {
		strs_add(&s->model_arena, &f->profiles, file);
		return true;
	}
	struct str whole = ckpt_whole(a, file);
	if (!str_eq(whole, file) && !str_ends(file, S(".meta")))
		return place(s, &f->checkpoint, "checkpoints", whole);
	if (path_exists(a, str_fmt(a, "%.*s.index", STR(file))))
		return place(s, &f->checkpoint, "checkpoints", file);
	if (!input_guess_file(file, &role, &foreign, &s->work, &s->error))
		return false;
	switch (role) {
	case ROLE_GRAPH:
		if (!(input_flags(file, &s->work) & INPUT_JOINS))
			return place(s, &f->graph, "graphs", file);
		strs_add(&s->model_arena, &f->calls, file);
		return true;
	case ROLE_OPLOG: return place(s, &f->op_log, "op logs", file);
	case ROLE_PROFILE: strs_add(&s->model_arena, &f->profiles, file); return true;
	case ROLE_BASELINE: return place(s, &f->baseline, "baselines", file);
	case ROLE_SPOOL: return place(s, &f->spool, "recordings", file);
	case ROLE_STEP: strs_add(&s->model_arena, &f->runs, file); return true;
	}
	return not_sorted(s, file, foreign);
}

/* Combines the profile with a graph: a profile with its ONNX model, or traces with execution
 * traces, which the reader of the traces reads. */
static bool join_graph(struct session *s, struct flags *f)
{
	unsigned flags;

	if (!f->graph.n || f->run_meta.n || f->runs.n)
		return false;
	flags = input_flags(f->graph, &s->work);
	if (!(flags & INPUT_JOINS))
		return f->profiles.n == 1 && flags & INPUT_BESIDE;
	strs_add(&s->model_arena, &f->calls, f->graph);
	f->graph = S("");
	return true;
}

bool flags_sort(struct session *s, struct flags *f, const struct strs *files)
{
	s->bare_files |= files->n > 0;
	for (size_t i = 0; i < files->n; i++)
		if (!sort_one(s, f, files->v[i]))
			return false;
	for (size_t i = 0; !f->profiles.n && i < f->calls.n; i++)
		if (!place(s, &f->graph, "graphs", f->calls.v[i]))
			return false;
	if (f->baseline.n && (f->profiles.n || f->graph.n || f->run_meta.n || f->runs.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a baseline must be the only file of its side: '%.*s' was given with other "
		        "files",
		        STR(f->baseline));
	if (f->profiles.n && (f->graph.n || f->run_meta.n || f->runs.n) && !join_graph(s, f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--profile_path is set, do not set --graph_path or --run_meta_path");
	if (f->spool.n && (f->profiles.n || f->graph.n || f->run_meta.n || f->runs.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--recording is set, do not set --profile_path, --graph_path or "
		        "--run_meta_path");
	return !f->spool.n || flags_check_recording(s, f);
}

bool flags_inputs(const struct flags *f)
{
	return f->spool.n || f->profiles.n || f->baseline.n || f->graph.n || f->run_meta.n ||
	       f->runs.n || f->op_log.n;
}

/* True if the only input is an op log. */
static bool op_log_alone(const struct flags *f)
{
	struct flags rest = *f;

	rest.op_log = STR_NONE;
	return f->op_log.n && !flags_inputs(&rest);
}

bool flags_check_nodes(struct session *s, const struct flags *f, const char *command, bool bare)
{
	if (!flags_inputs(f) && f->checkpoint.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a checkpoint has no graph: name a graph file as well, or list the tensors "
		        "with "
		        "'tfprof checkpoint %.*s'",
		        STR(f->checkpoint));
	if (command && bare && op_log_alone(f))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' is an op log, which has no nodes: give its graph as well: tfprof "
		        "%s "
		        "GRAPH %.*s",
		        STR(f->op_log), command, STR(f->op_log));
	return true;
}

static struct strs run_files(struct session *s, const struct flags *f)
{
	struct strs files = str_split(&s->query_arena, f->run_meta, ',');

	for (size_t i = 0; i < f->runs.n; i++)
		strs_add(&s->query_arena, &files, f->runs.v[i]);
	return files;
}

bool flags_use_stdin(struct session *s, const struct flags *f)
{
	struct strs files = run_files(s, f);

	for (size_t i = 0; i < f->profiles.n; i++)
		strs_add(&s->query_arena, &files, f->profiles.v[i]);
	strs_add(&s->query_arena, &files, f->graph);
	strs_add(&s->query_arena, &files, f->op_log);
	for (size_t i = 0; i < files.n; i++)
		if (str_eq(files.v[i], S("-")))
			return true;
	return false;
}

static bool load(struct session *s, unsigned role, struct str path)
{
	return path.n == 0 ||
	       session_load(s, role, &(struct input_from){ .name = path, .recover = s->recover });
}

/* Returns the file of the graph in the folder of a SavedModel. */
static struct str graph_file(struct arena *a, struct str path)
{
	bool slash = str_ends(path, S("/"));
	struct str inside = str_fmt(a, "%.*s%ssaved_model.pb", STR(path), slash ? "" : "/");

	return path.n && path_is_folder(a, path) && path_exists(a, inside) ? inside : path;
}

struct step_printed {
	struct session *s;
	struct sink *out;
};

static bool say_coverage(void *user, size_t i)
{
	const struct step_printed *x = user;

	(void)i;
	sink_fmt(x->out, "run graph coverage: %.2f\n", model_coverage(&x->s->model));
	return true;
}

static bool load_runs(struct session *s, const struct flags *f, struct sink *out)
{
	struct strs files = run_files(s, f);
	struct input_step *v = ARENA_ARRAY(&s->query_arena, files.n, struct input_step);
	struct step_printed said = { s, out };

	for (size_t i = 0; i < files.n; i++)
		v[i] = (struct input_step){ .from = { .name = files.v[i], .recover = s->recover },
			.step = (int64_t)i };
	if (f->lazy_steps) {
		session_load_later(s, v, files.n);
		return true;
	}
	return files.n == 0 || session_load_steps(s, v, files.n, say_coverage, &said);
}

bool flags_load(struct session *s, const struct flags *f, struct sink *out)
{
	sink_put(out, S("Reading Files...\n"));
	if (f->checkpoint.n && !session_checkpoint(s, f->checkpoint))
		return false;
	if (f->spool.n)
		return flags_load_spools(s, f) && load(s, ROLE_OPLOG, f->op_log);
	if (f->profiles.n) {
		struct sources src;
		if ((f->graph.n && !load(s, ROLE_GRAPH, f->graph)) ||
		        !sources_find(s, &f->profiles, &src))
			return false;
		sources_join(s, &src, &f->calls);
		bool ok = sources_load(s, &src, f->lazy_steps);
		s->reading.calls = NULL;
		s->reading.n_calls = 0;
		return ok;
	}
	if (f->baseline.n)
		return load(s, ROLE_BASELINE, f->baseline);
	if (!s->bare_files)
		sink_put(out, S("Try to use a single --profile_path instead of "
		                "graph_path,op_log_path,run_meta_path\n"));
	return load(s, ROLE_GRAPH, graph_file(&s->query_arena, f->graph)) &&
	       load(s, ROLE_OPLOG, f->op_log) && load_runs(s, f, out);
}

bool flags_load_files(struct session *s, const struct strs *files)
{
	struct flags f = { .lazy_steps = false };

	return flags_sort(s, &f, files) && flags_load(s, &f, sink_memory(&s->query_arena)) &&
	       session_seal(s);
}
