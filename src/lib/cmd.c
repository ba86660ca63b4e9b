/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands and the parser of their words.
 */
#include "lib/cmd.h"

#include <errno.h>
#include <unistd.h>

#include "lib/baseline.h"
#include "lib/flags.h"
#include "lib/help.h"
#include "lib/jobs.h"
#include "lib/options.h"
#include "io/paths.h"

/* The original's sentences about the option of 2016. */
static void take_dump_to_file(struct session *s, struct opts *o)
{
	if (!o->dump_to_file.n)
		return;
	note_line(&s->notes,
	        "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>\n");
	note_line(&s->notes, "-output %s is overwritten with -output file:outfile=%.*s\n",
	        output_rows[o->output.kind].name, STR(o->dump_to_file));
	o->output = (struct output){ OUT_FILE, o->dump_to_file };
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
	o.output = (struct output){ OUT_TIMELINE, str_of(v->name) };
	return session_answer(s, v, &o, out, NULL);
}

bool run_advise(struct session *s, const struct request *r, struct sink *out)
{
	struct advice advice;

	/* Options are read and change nothing, as in the original; but for our own outputs. */
	if (!session_advise(s, r->checkers, &advice))
		return false;
	if (!out_is_data(r->opts.output.kind))
		text_advice(&advice, out);
	else if (!session_put_advice(s, &advice, &r->opts, out))
		return false;
	if (r->message)
		advice_write(&advice, r->message, &s->query_arena);
	return true;
}

/* Can the file be made? Asked before everything is loaded for it. */
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

static bool check_convert(struct session *s, const struct request *r)
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
		opts_dump(&b, &s->sticky);
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

/* clang-format off */
static const struct command commands[] = {
#define COMMAND(name_, function, ...) { .name = #name_, .run = function, __VA_ARGS__ },
#include "lib/command.def"
#undef COMMAND
	{ .name = NULL }
};
/* clang-format on */

const struct command *cmd_next(const struct session *s, const struct command *c)
{
	const size_t n = sizeof commands / sizeof *commands - 1;

	c = c ? c + 1 : commands;
	if (c == commands + n)
		c = s->more_commands;
	return c && c->name ? c : NULL;
}

const struct command *cmd_find(const struct session *s, struct str name)
{
	const struct command *c = NULL;

	while ((c = cmd_next(s, c)) != NULL)
		if (str_eq(str_of(c->name), name))
			return c;
	return NULL;
}

static struct strs command_names(struct session *s)
{
	struct strs names = { 0 };

	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;)
		strs_add(&s->query_arena, &names, str_of(c->name));
	return names;
}

/* Could the word be meant as nothing but a file? */
static bool looks_like_path(struct str word)
{
	return str_find_char(word, '/') != SIZE_MAX || str_find_char(word, '.') != SIZE_MAX;
}

static bool no_file(struct session *s, struct str word, struct request *r)
{
	r->no_file = true;
	return session_fail(s, ERR_NOT_FOUND, "there is no file '%.*s'", STR(word));
}

static bool unknown_command(struct session *s, struct str word, struct request *r)
{
	struct strs names = command_names(s);
	struct str near = nearest_word(word, names.v, names.n),
	           all = strs_join(&s->query_arena, &names, S(", "));

	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown command '%.*s'; did you mean '%.*s'?", STR(word), STR(near));
	if (r->takes_files && looks_like_path(word))
		return no_file(s, word, r);
	if (r->takes_files && flag_find(word))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown command '%.*s'; did you mean '--%.*s'?", STR(word), STR(word));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        r->takes_files ? "'%.*s' is neither a command nor a file; commands are %.*s"
	                       : "unknown command '%.*s'; commands are %.*s",
	        STR(word), STR(all));
}

/* What an option of that name, which other programs have, is called here; or none. */
static struct str other_name(struct str name)
{
	static const char *const names[][2] = { { "sort", "order_by" }, { "format", "output" },
		{ "depth", "max_depth" }, { "metric", "select" }, { "columns", "select" },
		{ "filter", "show_name_regexes" } };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, str_of(names[i][0])))
			return str_of(names[i][1]);
	return STR_NONE;
}

bool cmd_unknown_option(
        struct session *s, struct str word, struct str name, const struct strs *more)
{
	struct strs names = { 0 };

	for (const struct option *row = view_options; row; row = option_next(row))
		strs_add(&s->query_arena, &names, str_of(row->name));
	for (size_t i = 0; more && i < more->n; i++)
		strs_add(&s->query_arena, &names, more->v[i]);
	struct str near = other_name(name);
	if (!near.n)
		near = nearest_word(name, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown option '%.*s'; did you mean '%s%.*s'?", STR(word),
		        flag_find(near) ? "--" : "-", STR(near));
	return session_fail(
	        s, ERR_INVALID_ARGUMENT, "unknown option '%.*s'; 'help' lists them", STR(word));
}

bool cmd_option_word(struct str word, struct str *name, struct str *value, bool *has_value)
{
	size_t dashes = word.n > 2 && word.p[0] == '-' && word.p[1] == '-' ? 2 : 1;

	if (word.n < 2 || word.p[0] != '-' || (word.p[dashes] >= '0' && word.p[dashes] <= '9'))
		return false;
	struct str rest = str_sub(word, dashes, SIZE_MAX);
	size_t equals = str_find_char(rest, '=');
	*has_value = equals != SIZE_MAX;
	*name = *has_value ? str_sub(rest, 0, equals) : rest;
	*value = *has_value ? str_sub(rest, equals + 1, SIZE_MAX) : STR_NONE;
	return true;
}

bool cmd_set_option(struct session *s, const struct option *row, const struct strs *words,
        size_t *i, bool has_value, struct str value, struct opts *o)
{
	bool truth;

	if (!has_value && row->type == OPT_BOOL) {
		has_value = true;
		value = S("true");
		if (*i + 1 < words->n && option_truth(words->v[*i + 1], &truth))
			value = words->v[++*i];
	}
	if (!has_value && *i + 1 == words->n)
		return session_fail(s, ERR_INVALID_ARGUMENT, "-%s needs a value", row->name);
	if (!has_value)
		value = words->v[++*i];
	return opts_set(o, &s->query_arena, row, value, &s->error);
}

static bool has_word(struct str words, struct str word)
{
	size_t at = str_find(words, word);

	return at != SIZE_MAX && (!at || words.p[at - 1] == ' ') &&
	       (at + word.n == words.n || words.p[at + word.n] == ' ');
}

bool cmd_takes_some(const struct command *c)
{
	return c->view_options && strcmp(c->view_options, "*");
}

bool cmd_has_option(const struct command *c, const struct option *row)
{
	bool of_view = row->type == OPT_STATS || str_eq(str_of(row->name), S("by"));

	if (cmd_takes_some(c))
		return has_word(str_of(c->view_options), str_of(row->name));
	return c->view || c->run == run_set || !of_view;
}

bool cmd_check_option(struct session *s, const struct command *c, const struct option *row)
{
	return cmd_has_option(c, row) || session_fail(s, ERR_INVALID_ARGUMENT,
	                                         "-%s: %s does not show that", row->name, c->name);
}

/* A line's option that no view has: --help is about the line's command, or all. */
static bool take_flag(struct session *s, struct str word, struct str name, struct request *r)
{
	const struct option *flag = flag_find(name);

	if (!flag)
		return cmd_unknown_option(s, word, name, NULL);
	if (!str_eq(str_of(flag->name), S("help")))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--%s is a flag of the command line, not of a line: tfprof --%s%s",
		        flag->name, flag->name, option_argument(flag) ? "=..." : "");
	r->help = true;
	return true;
}

/* Takes an option of set that is no view's. */
static bool take_set_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct set_options given = { 0 };
	struct option_words w = { .command = r->command, .into = &given };

	if (!options_take(s, words, i, &w))
		return false;
	r->show_all |= given.all;
	return true;
}

/* True if the option is one of devices, kernels or steps, which all have the same ones. */
static bool is_table_option(const struct request *r, struct str name)
{
	const struct command *c = r->command;
	bool table = c && (c->run == run_devices || c->run == run_kernels || c->run == run_steps);

	return table && option_in(options_of(c->name), name);
}

static bool take_table_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct devices_options given = { .top = r->top };
	struct option_words w = { .command = r->command, .into = &given };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = given.top;
	return true;
}

/* Takes the option at words[*i] and, where it has one, its value behind it. */
static bool take_option(struct session *s, const struct strs *words, size_t *i,
        const struct strs *more, struct request *r)
{
	struct str word = words->v[*i], name = STR_NONE, value = STR_NONE;
	bool has_value = false;

	cmd_option_word(word, &name, &value, &has_value);
	bool set = r->command && r->command->run == run_set;
	if (set && option_in(options_of("set"), name))
		return take_set_option(s, words, i, r);
	if (is_table_option(r, name))
		return take_table_option(s, words, i, r);
	const struct option *row = view_option(name);
	if (!row)
		return more ? cmd_unknown_option(s, word, name, more) : take_flag(s, word, name, r);
	if (!has_value && row->type != OPT_BOOL && *i + 1 == words->n && set) {
		strs_add(&s->query_arena, &r->shown, name);
		return true;
	}
	strs_add(&s->query_arena, &r->given, name);
	return cmd_set_option(s, row, words, i, has_value, value, &r->opts);
}

/* Is there such a file, or one that the system will not tell of? */
static bool is_file(const char *path)
{
	return access(path, F_OK) == 0 || errno == EACCES || errno == EIO;
}

/* Does a word of the command line name something to load? Checkpoints are named without the end of
 * their files' names. */
static bool is_input(struct session *s, struct str word)
{
	struct arena *a = &s->query_arena;

	return str_eq(word, S("-")) || is_file(str_z(a, word)) ||
	       is_file(str_z(a, str_fmt(a, "%.*s.index", STR(word))));
}

static bool take_word(struct session *s, struct str word, struct request *r)
{
	if (r->command && (r->command->run == run_help || r->command->own_words)) {
		strs_add(&s->query_arena, &r->topics, word);
		return true;
	}
	const struct command *c = r->command ? NULL : cmd_find(s, word);
	if (c) {
		r->command = c;
		return true;
	}
	if (r->takes_files && (is_input(s, word) || path_is_pattern(word))) {
		strs_add(&s->query_arena, &r->files, word);
		return true;
	}
	if (r->command && r->takes_files && !cmd_find(s, word) && looks_like_path(word))
		return no_file(s, word, r);
	if (r->command && r->takes_files && !cmd_find(s, word)) {
		r->no_file = true;
		return session_fail(s, ERR_NOT_FOUND,
		        "'%.*s' after '%s' is no file, and options look like -name value",
		        STR(word), r->command->name);
	}
	if (r->command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unexpected '%.*s' after '%s'; options look like -name value", STR(word),
		        r->command->name);
	return unknown_command(s, word, r);
}

/* Do the options that were given go with the command, which may stand behind them? */
static bool check_options(struct session *s, const struct request *r)
{
	for (size_t i = 0; r->command && i < r->given.n; i++)
		if (!cmd_check_option(s, r->command, view_option(r->given.v[i])))
			return false;
	return true;
}

/* Fails for what is left where a list is typed with blanks, or an option is copied out of a text in
 * which its dash became a long one. */
static bool check_word(struct session *s, const struct strs *words, size_t i)
{
	static const char *const dashes[] = { "\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92" };
	struct str word = words->v[i];

	if (is_input(s, word))
		return true;
	for (size_t k = 0; k < sizeof dashes / sizeof *dashes; k++)
		if (str_starts(word, str_of(dashes[k])))
			return session_fail(s, ERR_INVALID_ARGUMENT,
			        "'%.*s' begins with a long dash; options begin with '-'",
			        STR(word));
	if (i && str_ends(words->v[i - 1], S(",")))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "there is a blank in the list '%.*s %.*s'; write '%.*s%.*s'",
		        STR(words->v[i - 1]), STR(word), STR(words->v[i - 1]), STR(word));
	return true;
}

bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r)
{
	struct str name, value;
	bool has_value;

	memset(r, 0, sizeof *r);
	r->takes_files = more != NULL;
	r->checkers = CHECK_ALL;
	r->top = TABLE_TOP;
	r->opts = opts_copy(&s->sticky, &s->query_arena);
	for (size_t i = 0; i < words->n; i++) {
		bool topic = r->command && (r->command->run == run_help || r->command->own_words);
		if (!topic && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!take_option(s, words, &i, more, r))
				return false;
		} else if ((!topic && !check_word(s, words, i)) || !take_word(s, words->v[i], r)) {
			return false;
		}
	}
	if (!check_options(s, r))
		return false;
	return !r->command || !r->command->check || r->command->check(s, r);
}

bool cmd_parse_line(struct session *s, struct str line, struct request *r)
{
	struct strs words = str_split(&s->query_arena, line, ' ');

	if (!cmd_parse(s, &words, NULL, r))
		return false;
	const struct command *c = r->command;
	bool topics = c && (c->own_words || c->run == run_help);
	if (r->help || (topics && options_want_help(c, &r->topics))) {
		r->topics = (struct strs){ 0 };
		if (c)
			strs_add(&s->query_arena, &r->topics, str_of(c->name));
		r->command = cmd_find(s, S("help"));
	}
	if (words.n && !r->command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a line begins with a command, not with '%.*s'", STR(words.v[0]));
	return true;
}

bool cmd_run(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);

	if (r->command && r->command->program)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "%s is no command of a session: type tfprof %s in the shell",
		        r->command->name, r->command->name);
	if (r->command)
		return r->command->run(s, r, out);
	opts_dump(&b, &s->sticky);
	sink_put(out, sb_str(&b));
	return true;
}
