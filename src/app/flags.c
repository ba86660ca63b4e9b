/* SPDX-License-Identifier: Apache-2.0
 *
 * See flags.h. Order and sentences of loading are those of B§1.4.
 */
#include "app/flags.h"

#include "app/cmd.h"

/* One row per flag that is not an option of a view. */
static const struct flag {
	const char *name;
	size_t at;
	bool is_switch;
} table[] = {
	{ "profile_path", offsetof(struct flags, profile), false },
	{ "graph_path", offsetof(struct flags, graph), false },
	{ "run_meta_path", offsetof(struct flags, run_meta), false },
	{ "op_log_path", offsetof(struct flags, op_log), false },
	{ "checkpoint_path", offsetof(struct flags, checkpoint), false },
	{ "help", offsetof(struct flags, help), true },
	{ "version", offsetof(struct flags, version), true },
};
#define N_FLAGS (sizeof table / sizeof *table)

static const struct flag *find_flag(struct str name)
{
	for (size_t i = 0; i < N_FLAGS; i++)
		if (str_eq(str_of(table[i].name), name))
			return &table[i];
	return str_eq(name, S("h")) ? &table[N_FLAGS - 2] : NULL;
}

/* Takes argv[*i] if it is a flag of the table, with its value; else leaves it among the words. */
static bool take(struct session *s, int argc, char **argv, int *i, struct flags *f)
{
	struct str word = str_of(argv[*i]), name, value;
	const struct flag *flag = NULL;
	bool has_value = false;

	if (cmd_option_word(word, &name, &value, &has_value))
		flag = find_flag(name);
	if (!flag) {
		strs_add(&s->query_arena, &f->words, word);
		return true;
	}
	void *at = (char *)f + flag->at;
	if (flag->is_switch) {
		*(bool *)at = true;
		return true;
	}
	if (!has_value && *i + 1 == argc)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s needs a file", flag->name);
	*(struct str *)at = has_value ? value : str_of(argv[++*i]);
	return true;
}

bool flags_parse(struct session *s, int argc, char **argv, struct flags *f)
{
	memset(f, 0, sizeof *f);
	for (size_t i = 0; i < N_FLAGS; i++)
		strs_add(&s->query_arena, &f->names, str_of(table[i].name));
	for (int i = 1; i < argc; i++)
		if (!take(s, argc, argv, &i, f))
			return false;
	if (f->profile.n && (f->graph.n || f->run_meta.n))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--profile_path is set, do not set --graph_path or --run_meta_path");
	if (f->checkpoint.n)
		return session_fail(
		        s, ERR_UNIMPLEMENTED, "--checkpoint_path is not available in this version");
	return true;
}

bool flags_inputs(const struct flags *f)
{
	return f->profile.n || f->graph.n || f->run_meta.n || f->op_log.n;
}

static struct strs run_files(struct session *s, const struct flags *f)
{
	return str_split(&s->query_arena, f->run_meta, ',');
}

bool flags_use_stdin(struct session *s, const struct flags *f)
{
	struct strs files = run_files(s, f);

	strs_add(&s->query_arena, &files, f->profile);
	strs_add(&s->query_arena, &files, f->graph);
	strs_add(&s->query_arena, &files, f->op_log);
	for (size_t i = 0; i < files.n; i++)
		if (str_eq(files.v[i], S("-")))
			return true;
	return false;
}

static bool load(struct session *s, unsigned role, struct str path)
{
	return path.n == 0 || session_load(s, role, &(struct input_from){ .name = path });
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
		v[i] = (struct input_step){ .from = { .name = files.v[i] }, .step = (int64_t)i };
	return files.n == 0 || session_load_steps(s, v, files.n, say_coverage, &said);
}

bool flags_load(struct session *s, const struct flags *f, struct sink *out)
{
	sink_put(out, S("Reading Files...\n"));
	if (f->profile.n)
		return load(s, ROLE_PROFILE, f->profile);
	sink_put(out, S("Try to use a single --profile_path instead of "
	                "graph_path,op_log_path,run_meta_path\n"));
	return load(s, ROLE_GRAPH, f->graph) && load(s, ROLE_OPLOG, f->op_log) &&
	       load_runs(s, f, out);
}
