/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands and the parser of their words.
 */
#include "app/cmd.h"
#include "app/help.h"

static bool run_view(struct session *s, const struct request *r, struct sink *out)
{
	return session_view(s, r->command->view, &r->opts, out);
}

static bool run_advise(struct session *s, const struct request *r, struct sink *out)
{
	struct advice advice;

	(void)r; /* options are read and change nothing, as in the original */
	if (!session_advise(s, CHECK_ALL, &advice))
		return false;
	text_advice(&advice, out);
	return true;
}

static bool run_set(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	session_set(s, &r->opts);
	return true;
}

static bool run_help(struct session *s, const struct request *r, struct sink *out)
{
	return help_write(s, &r->topics, out);
}

const struct command commands[] = {
	{ "scope", "nodes by name scope, like folders", &view_scope, true, run_view },
	{ "graph", "nodes by the edges between them, from the outputs to the inputs", &view_graph,
	        true, run_view },
	{ "code", "lines of Python by call stack (needs an op log)", &view_code, true, run_view },
	{ "op", "operation types, the costliest ones with what follows them", &view_op, true,
	        run_view },
	{ "advise", "what stands out, in sentences", NULL, true, run_advise },
	{ "set", "make options the default of the commands that follow", NULL, false, run_set },
	{ "help", "this text", NULL, false, run_help },
};
const size_t n_commands = sizeof commands / sizeof *commands;

const struct command *cmd_find(struct str name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (str_eq(str_of(commands[i].name), name))
			return &commands[i];
	return NULL;
}

static bool unknown_command(struct session *s, struct str word)
{
	struct strs names = { 0 };

	for (size_t i = 0; i < n_commands; i++)
		strs_add(&s->query_arena, &names, str_of(commands[i].name));
	struct str near = nearest_word(word, names.v, names.n),
	           all = strs_join(&s->query_arena, &names, S(", "));
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown command '%.*s'; did you mean '%.*s'?", STR(word), STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT, "unknown command '%.*s'; commands are %.*s",
	        STR(word), STR(all));
}

static bool unknown_option(
        struct session *s, struct str word, struct str name, const struct strs *more)
{
	struct option rows[OPTIONS_MAX];
	struct strs names = { 0 };
	size_t n = option_rows(rows);

	for (size_t i = 0; i < n; i++)
		strs_add(&s->query_arena, &names, str_of(rows[i].name));
	for (size_t i = 0; more && i < more->n; i++)
		strs_add(&s->query_arena, &names, more->v[i]);
	struct str near = nearest_word(name, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unknown option '%.*s'; did you mean '-%.*s'?", STR(word), STR(near));
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

/* Takes the option at words[*i] and, where it has one, its value behind it. */
static bool take_option(struct session *s, const struct strs *words, size_t *i,
        const struct strs *more, struct request *r)
{
	struct str word = words->v[*i], name, value;
	struct option row;
	bool has_value, truth;

	cmd_option_word(word, &name, &value, &has_value);
	if (!option_find(name, &row))
		return unknown_option(s, word, name, more);
	if (!has_value && row.type == OPT_BOOL) {
		has_value = true;
		value = S("true");
		if (*i + 1 < words->n && num_parse_bool(words->v[*i + 1], &truth))
			value = words->v[++*i];
	}
	if (!has_value && *i + 1 == words->n)
		return session_fail(s, ERR_INVALID_ARGUMENT, "-%s needs a value", row.name);
	if (!has_value)
		value = words->v[++*i];
	return opts_set(&r->opts, &s->query_arena, &row, value, &s->error);
}

static bool take_word(struct session *s, struct str word, struct request *r)
{
	if (r->command && r->command->run == run_help) {
		strs_add(&s->query_arena, &r->topics, word);
		return true;
	}
	if (r->command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unexpected '%.*s' after '%s'; options look like -name value", STR(word),
		        r->command->name);
	r->command = cmd_find(word);
	return r->command || unknown_command(s, word);
}

bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r)
{
	struct str name, value;
	bool has_value;

	memset(r, 0, sizeof *r);
	r->opts = opts_copy(&s->sticky, &s->query_arena);
	for (size_t i = 0; i < words->n; i++) {
		bool topic = r->command && r->command->run == run_help;
		if (!topic && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!take_option(s, words, &i, more, r))
				return false;
		} else if (!take_word(s, words->v[i], r)) {
			return false;
		}
	}
	return true;
}

bool cmd_line(struct session *s, struct str line, struct sink *out)
{
	struct strs words = str_split(&s->query_arena, line, ' ');
	struct sb b = sb_in(&s->query_arena);
	struct request r;

	if (words.n == 0) {
		opts_dump(&b, &s->sticky);
		sink_put(out, sb_str(&b));
		return true;
	}
	if (!cmd_parse(s, &words, NULL, &r))
		return false;
	if (!r.command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a line begins with a command, not with '%.*s'", STR(words.v[0]));
	return r.command->run(s, &r, out);
}
