/* SPDX-License-Identifier: Apache-2.0
 *
 * See flags.h. Order and sentences of loading are those of B§1.4.
 */
#include "lib/flags.h"

#include "lib/cmd.h"
#include "lib/sources.h"
#include "io/paths.h"
#include "checkpoint/ckpt.h"
#include "model/unsupported_format.h"

#define ROW(name, field, value, file, many, help)                                                  \
	{ name, offsetof(struct flags, field), value, file, many, help, false },
#define SPOOL_ROW(name, field, value, help)                                                        \
	{ name, offsetof(struct flags, field), value, false, false, help, true },
/* clang-format off */
const struct flag flag_rows[] = {
	ROW("profile_path", profiles, "FILE", true, true, "ProfileProto: model, steps and call stacks in one file; a folder of them; 'job_*/profile_100' or A,B: a worker each")
	ROW("graph_path", graph, "FILE", true, false, "GraphDef, text or binary: the model")
	ROW("run_meta_path", run_meta, "A,B,C", true, false, "RunMetadata of steps 0, 1, 2: times and memory")
	ROW("op_log_path", op_log, "FILE", true, false, "OpLogProto: float operations, types, Python call stacks")
	ROW("checkpoint_path", checkpoint, "FILE", true, false, "checkpoint: which nodes are its variables, and their values")
	ROW("spool", spool, "DIR", true, false, "recorded GPU work: the folder of a session, or one process's file of it")
	SPOOL_ROW("step-nvtx", step_nvtx, "REGEX", "a step begins with each range or mark of such a name; pytorch, optimizer, xla are known")
	SPOOL_ROW("step-kernel", step_kernel, "REGEX", "a step begins where such a kernel is launched")
	SPOOL_ROW("step-every", step_every, "MS", "a step every MS milliseconds (or 1s)")
	SPOOL_ROW("step-merge", step_merge, "HOW", "of several jobs: number: step 3 of each is step 3; time: it is when the first job was in its step 3")
	SPOOL_ROW("keep-warmup", keep_warmup, NULL, "what was launched before the first step is step 0")
	SPOOL_ROW("leaf", leaf, "WHAT", "kernel: a node for each kernel in a range; op: one for each range")
	SPOOL_ROW("merge", merge, "HOW", "by-rank: nodes of their own for each process; sum: processes add up")
	SPOOL_ROW("tf-layout", tf_layout, NULL, "copies on a device of their own, as TensorFlow records them")
	SPOOL_ROW("process", process, "PID", "only this process")
	SPOOL_ROW("job", job, "ID", "only the processes of this job")
	SPOOL_ROW("gpu", gpu, "N", "only what ran on this GPU, of all jobs: its number or UUID in tfprof gpu")
	SPOOL_ROW("detail-steps", detail_steps, "A-B,C", "keep every operation of these steps, also of a long recording")
	ROW("max-memory", max_memory, "SIZE", false, false, "hold no more than SIZE (500M, 2Gi); end with a sentence")
	ROW("recover", recover, NULL, false, false, "read damaged binary files up to the damage, spools around it, and warn of what is lost")
	ROW("lazy-steps", lazy_steps, NULL, false, false, "read a step's file when a command asks for it")
	ROW("color", color, "WHEN", false, false, "auto, always or never; NO_COLOR and CLICOLOR_FORCE are respected")
	ROW("no-pager", no_pager, NULL, false, false, "show long answers without a pager (the program in PAGER, else less)")
	ROW("help", help, NULL, false, false, "examples, commands and options, or about the command before it")
	ROW("version", version, NULL, false, false, "the version and the libraries it was built with; -output json for programs")
};
/* clang-format on */
#undef ROW
#undef SPOOL_ROW
const size_t n_flag_rows = sizeof flag_rows / sizeof *flag_rows;

const struct flag *flag_find(struct str name)
{
	if (str_eq(name, S("h")))
		name = S("help");
	for (size_t i = 0; i < n_flag_rows; i++)
		if (str_eq(str_of(flag_rows[i].name), name))
			return &flag_rows[i];
	return NULL;
}

/* Puts the file in the place of its kind, where there may be one. */
static bool place(struct session *s, struct str *at, const char *kind, struct str file)
{
	if (at->n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'%.*s' and '%.*s' are both %s; one is needed", STR(*at), STR(file), kind);
	*at = file;
	return true;
}

/* Takes argv[*i] if it is a flag of the table, with its value; else leaves it among the words. */
static bool take(struct session *s, int argc, char **argv, int *i, struct flags *f)
{
	struct str word = str_of(argv[*i]), name, value;
	const struct flag *flag = NULL;
	bool has_value = false;

	if (cmd_option_word(word, &name, &value, &has_value))
		flag = flag_find(name);
	if (!flag) {
		strs_add(&s->query_arena, &f->words, word);
		return true;
	}
	void *at = (char *)f + flag->at;
	if (!flag->value) {
		*(bool *)at = true;
		return true;
	}
	if (!has_value && *i + 1 == argc)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s needs a value: --%s=%s",
		        flag->name, flag->name, flag->value);
	if (!has_value)
		value = str_of(argv[++*i]);
	if (at == &f->spool) /* of those that the original has the last counts */
		return place(s, at, "recordings", value);
	if (flag->many && value.n)
		strs_add(&s->model_arena, at, value);
	else if (!flag->many)
		*(struct str *)at = value;
	return true;
}

/* Takes the limit of memory. */
static bool set_limit(struct session *s, struct str given)
{
	int64_t n;

	if (!quantity_parse(given, QUANTITY_BYTES, &n) || n <= 0)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--max-memory: '%.*s' is not a size above 0, such as 500M or 2Gi",
		        STR(given));
	session_limit(s, (size_t)n);
	return true;
}

static bool check_color(struct session *s, struct str when)
{
	if (!when.n || str_eq(when, S("auto")) || str_eq(when, S("always")) ||
	        str_eq(when, S("never")))
		return true;
	return session_fail(
	        s, ERR_INVALID_ARGUMENT, "--color is auto, always or never, not '%.*s'", STR(when));
}

/* All behind such a word is its own, and may be another program's command line. */
static bool is_program_command(struct str word)
{
	const struct command *c = cmd_find(word);

	return c && c->program;
}

bool flags_parse(struct session *s, int argc, char **argv, struct flags *f)
{
	bool rest = false;

	memset(f, 0, sizeof *f);
	for (size_t i = 0; i < n_flag_rows; i++)
		strs_add(&s->query_arena, &f->names, str_of(flag_rows[i].name));
	for (int i = 1; i < argc; i++) {
		rest |= !f->words.n && is_program_command(str_of(argv[i]));
		if (rest)
			strs_add(&s->query_arena, &f->words, str_of(argv[i]));
		else if (!take(s, argc, argv, &i, f))
			return false;
	}
	s->recover |= f->recover;
	return (!f->max_memory.n || set_limit(s, f->max_memory)) && check_color(s, f->color);
}

/* ---- which file is which ---- */

/* Says why a file has no place. */
static bool not_sorted(struct session *s, struct str file, const struct unsupported_format *foreign)
{
	struct arena *a = &s->query_arena;

	if (foreign)
		return unsupported_format_refuse(foreign, file, &s->error);
	if (!path_exists(a, file))
		return session_fail(s, ERR_NOT_FOUND, "there is no file '%.*s'", STR(file));
	if (path_is_empty(a, file))
		return session_fail(s, ERR_DATA_LOSS, "'%.*s' is empty", STR(file));
	return session_fail(s, ERR_DATA_LOSS,
	        "cannot tell what '%.*s' is; say it: --graph_path=, --run_meta_path=, "
	        "--op_log_path=, --profile_path= or --checkpoint_path=%.*s",
	        STR(file), STR(file));
}

static bool sort_one(struct session *s, struct flags *f, struct str file)
{
	struct arena *a = &s->query_arena;
	const struct unsupported_format *foreign;
	unsigned role = 0;

	if (str_eq(file, S("-")))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "'-' is standard input: say what comes, --profile_path=-, --graph_path=-, "
		        "--run_meta_path=- or --op_log_path=-");
	if (spools_is_folder(a, file))
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
	case ROLE_GRAPH: return place(s, &f->graph, "graphs", file);
	case ROLE_OPLOG: return place(s, &f->op_log, "op logs", file);
	case ROLE_PROFILE: strs_add(&s->model_arena, &f->profiles, file); return true;
	case ROLE_BASELINE: return place(s, &f->baseline, "baselines", file);
	case ROLE_SPOOL: return place(s, &f->spool, "recordings", file);
	case ROLE_STEP: strs_add(&s->model_arena, &f->runs, file); return true;
	}
	return not_sorted(s, file, foreign);
}

bool flags_sort(struct session *s, struct flags *f, const struct strs *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (!sort_one(s, f, files->v[i]))
			return false;
	if (f->baseline.n && (f->profiles.n || f->graph.n || f->run_meta.n || f->runs.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a baseline stands alone; '%.*s' has others beside it", STR(f->baseline));
	if (f->profiles.n && (f->graph.n || f->run_meta.n || f->runs.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--profile_path is set, do not set --graph_path or --run_meta_path");
	if (f->spool.n && (f->profiles.n || f->graph.n || f->run_meta.n || f->runs.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--spool is set, do not set --profile_path, --graph_path or "
		        "--run_meta_path");
	return !f->spool.n || flags_check_spools(s, f);
}

bool flags_inputs(const struct flags *f)
{
	return f->spool.n || f->profiles.n || f->baseline.n || f->graph.n || f->run_meta.n ||
	       f->runs.n || f->op_log.n;
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

/* The graph's file, where the folder of a SavedModel is named. */
static struct str graph_file(struct arena *a, struct str path)
{
	bool slash = str_ends(path, S("/"));
	struct str inside = str_fmt(a, "%.*s%ssaved_model.pb", STR(path), slash ? "" : "/");

	return path.n && path_is_folder(a, path) && path_exists(a, inside) ? inside : path;
}

struct step_said {
	struct session *s;
	struct sink *out;
};

static bool say_coverage(void *user, size_t i)
{
	const struct step_said *x = user;

	(void)i;
	sink_fmt(x->out, "run graph coverage: %.2f\n", model_coverage(&x->s->model));
	return true;
}

static bool load_runs(struct session *s, const struct flags *f, struct sink *out)
{
	struct strs files = run_files(s, f);
	struct input_step *v = ARENA_ARRAY(&s->query_arena, files.n, struct input_step);
	struct step_said said = { s, out };

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
		return sources_find(s, &f->profiles, &src) && sources_load(s, &src, f->lazy_steps);
	}
	if (f->baseline.n)
		return load(s, ROLE_BASELINE, f->baseline);
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
