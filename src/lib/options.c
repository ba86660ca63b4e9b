/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses options and arguments by the rows of option.def.
 */
#include "lib/options.h"

#define OF_COMMAND(command, type, field, ...)                                                      \
	OPTION_ROW(#command, type, command##_options, field, __VA_ARGS__)
static const struct option rows[] = {
#include "metric/option.def"
	{ .name = NULL }
};

/* True if a scope belongs to a command. Scopes have '_' where commands have '-'. */
static bool is_scope(const char *scope, const char *name)
{
	for (; *name && (*scope == *name || (*scope == '_' && *name == '-')); name++)
		scope++;
	return *scope == *name;
}

const struct option *options_of(const char *scope)
{
	if (strcmp(scope, SCOPE_VIEWS) == 0)
		return view_options;
	for (const struct option *row = rows; row->name; row++)
		if (is_scope(row->scope, scope))
			return row;
	return NULL;
}

const struct option *option_of(const struct command *c, struct str name)
{
	const struct option *x = option_in(options_of(c->name), name);

	if (!x && str_eq(name, S("n")))
		x = option_in(options_of(c->name), S("top"));
	else if (!x && str_eq(name, S("top")))
		x = option_in(options_of(c->name), S("n"));
	return x;
}

const char *option_dashes(const struct option *row)
{
	return strcmp(row->scope, SCOPE_VIEWS) != 0 && row->name[1] ? "--" : "-";
}

const char *option_argument(const struct option *row)
{
	return row->value ? row->value : row->choices;
}

void option_usage(struct sb *b, const struct option *row)
{
	const char *value = option_argument(row);
	bool alone = row->flags & OPTION_ALONE;

	sb_fmt(b, "%s%s", option_dashes(row), row->name);
	if (value)
		sb_fmt(b, "%s%s%s%s", alone ? "[" : "", row->name[1] ? "=" : " ", value,
		        alone ? "]" : "");
}

/* ---- values ---- */

/* Stores a value. Returns NULL, or the reason why the value is refused. */
static const char *set(struct arena *a, const struct option *row, struct str value, void *in)
{
	void *at = (char *)in + row->at;

	switch (row->type) {
	case OPT_TEXT: *(struct str *)at = value; return value.n ? NULL : "empty";
	case OPT_FILE: *(struct str *)at = value; return NULL;
	case OPT_TEXTS: strs_add(a, at, value); return NULL;
	case OPT_FILES:
		if (value.n)
			strs_add(a, at, value);
		return NULL;
	case OPT_LIST:
		*(struct strs *)at = str_split(a, value, ',');
		return ((struct strs *)at)->n ? NULL : "not a list, such as A,B";
	default: return option_set_plain(row, value, in);
	}
}

void options_preset(const char *scope, void *in)
{
	for (const struct option *row = options_of(scope); row; row = option_next(row)) {
		if (row->preset)
			set(NULL, row, str_of(row->preset),
			        in); /* test_options sets every default */
		else if (row->type == OPT_CHOICE)
			*(int *)((char *)in + row->at) = -1;
	}
}

bool option_set(
        struct session *s, struct arena *a, const struct option *row, struct str value, void *in)
{
	const char *is = set(a, row, value, in);

	if (!is)
		return true;
	struct strs choices = str_split(&s->query_arena, str_of(row->choices), '|');
	return session_fail(s, ERR_INVALID_ARGUMENT, "%s%s: '%.*s' is %s%.*s", option_dashes(row),
	        row->name, STR(value), is, STR(strs_join(&s->query_arena, &choices, S(", "))));
}

/* ---- arguments ---- */

static bool unknown(
        struct session *s, const struct option_words *w, struct str word, struct str name)
{
	const struct command *c = w->command;
	struct arena *a = &s->query_arena;
	struct strs names = { 0 };

	for (const struct option *x = options_of(c->name); x; x = option_next(x))
		strs_add(a, &names, str_of(x->name));
	for (const struct option *x = w->opts ? view_options : NULL; x; x = option_next(x))
		if (cmd_has_option(c, x))
			strs_add(a, &names, str_of(x->name));
	struct str near = nearest_word(name, names.v, names.n);
	const struct option *own = option_in(options_of(c->name), near);
	if (near.n)
		near = str_fmt(a, "%s%.*s", own ? option_dashes(own) : "-", STR(near));
	return unknown_option(&s->error, str_of(c->name), word, near,
	        str_fmt(a, "'help %s' lists its options", c->name));
}

/* Recognises an option of one letter with its value attached, such as -oDIR. */
static const struct option *find_attached(
        const struct option *table, struct str word, struct str *value, bool *has_value)
{
	const struct option *x = option_in(table, str_sub(word, 1, 1));

	if (!x || !option_argument(x))
		return NULL;
	*value = str_sub(word, 2, SIZE_MAX);
	*has_value = true;
	return x;
}

bool options_take(struct session *s, const struct strs *words, size_t *i, struct option_words *w)
{
	struct arena *a = &s->query_arena;
	struct str name, value;
	bool has_value;

	cmd_option_word(words->v[*i], &name, &value, &has_value);
	const struct option *x = option_of(w->command, name);
	const struct option *row = x || !w->opts ? NULL : view_option(name);
	if (row) {
		strs_add(a, &w->given, str_of(row->name));
		return cmd_check_option(s, w->command, row) &&
		       cmd_set_option(s, row, words, i, has_value, value, w->opts);
	}
	if (!x)
		x = find_attached(options_of(w->command->name), words->v[*i], &value, &has_value);
	if (!x)
		return unknown(s, w, words->v[*i], name);
	const char *argument = option_argument(x);
	if (!argument && has_value)
		return session_fail(s, ERR_INVALID_ARGUMENT, "--%s takes no value", x->name);
	if ((x->flags & OPTION_ALONE) && !has_value) {
		has_value = true;
		value = option_choice_at(x->choices, 0);
	}
	if (argument && !has_value) {
		struct sb usage = sb_in(a);
		option_usage(&usage, x);
		if (*i + 1 == words->n)
			return session_fail(s, ERR_INVALID_ARGUMENT, "%s%s needs a value: %.*s",
			        option_dashes(x), x->name, STR(sb_str(&usage)));
		value = words->v[++*i];
	}
	if (!w->command->program) /* on the command line, the shell has already split the words */
		value = str_strip_quotes(value);
	return option_set(s, a, x, value, w->into);
}

bool options_read(struct session *s, const struct strs *words, struct option_words *w)
{
	struct str name, value;
	bool has_value, options = true;

	if (w->opts)
		w->opts->file_later = true;
	for (size_t i = 0; i < words->n; i++) {
		if (options && str_eq(words->v[i], S("--"))) {
			options = false;
		} else if (options && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!options_take(s, words, &i, w))
				return false;
		} else {
			strs_add(&s->query_arena, &w->rest, words->v[i]);
			options &= !w->command->starts;
		}
	}
	if (w->opts && s->keeps_rows)
		w->opts->output = (struct output){ .kind = OUT_NDJSON, .cells = true };
	return !w->opts || opts_place_output(w->opts, &s->error);
}

bool options_want_help(const struct command *c, const struct strs *words)
{
	struct str name, value;
	bool has_value, is_value = false; /* true: the word is the value of the previous option */

	for (size_t i = 0; i < words->n && !str_eq(words->v[i], S("--")); i++) {
		if (str_eq(words->v[i], S("--help")) || str_eq(words->v[i], S("-h")))
			return true;
		bool option = cmd_option_word(words->v[i], &name, &value, &has_value);
		if (c->starts && !option && !is_value)
			return false;
		const struct option *x = option && !has_value ? option_of(c, name) : NULL;
		is_value = x && option_argument(x) && !(x->flags & OPTION_ALONE);
	}
	return false;
}

/* ---- options of the views ---- */

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
	return c->view_options && strcmp(c->view_options, "*") != 0;
}

bool cmd_has_option(const struct command *c, const struct option *row)
{
	bool of_view = row->type == OPT_STATS || str_eq(str_of(row->name), S("by"));

	struct str name = str_of(row->name);

	if (str_eq(name, S("o")))
		name = S("output");
	if (str_eq(name, S("full_names")))
		name = S("wide");
	if (cmd_takes_some(c))
		return has_word(str_of(c->view_options), name);
	if (str_eq(str_of(row->name), S("top"))) /* other options have a row of their own, or
	                                            none */
		return c->view || c->run == run_set || c->run == run_advise;
	return c->view || c->run == run_set || !of_view;
}

bool cmd_lists_option(const struct command *c, const struct option *row)
{
	static const char *const of_tables[] = { "output", "o", "quiet", "wide", "full_names" };

	if (c->view || c->view_options)
		return cmd_has_option(c, row);
	for (size_t i = 0; c->table && i < sizeof of_tables / sizeof *of_tables; i++)
		if (strcmp(row->name, of_tables[i]) == 0)
			return true;
	return false;
}

bool cmd_check_option(struct session *s, const struct command *c, const struct option *row)
{
	return cmd_has_option(c, row) || session_fail(s, ERR_INVALID_ARGUMENT,
	                                         "-%s does not apply to %s", row->name, c->name);
}
