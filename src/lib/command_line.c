/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses command lines into requests.
 */
#include "lib/options.h"

#include <errno.h>
#include <unistd.h>

#include "io/paths.h"

/* Returns the names of the commands. program: true to include the commands of the program. */
static struct strs command_names(struct session *s, bool program)
{
	struct strs names = { 0 };

	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;)
		if (program || cmd_in_session(c))
			strs_add(&s->query_arena, &names, str_of(c->name));
	return names;
}

/* Returns the only command of a session that begins with a word, or NULL. */
static const struct command *find_prefix(struct session *s, struct str word)
{
	const struct command *found = NULL;

	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;) {
		if (!cmd_at_prompt(c) || !word.n || !str_starts(str_of(c->name), word))
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}

/* True if the word can only be a file. */
static bool looks_like_path(struct str word)
{
	return str_find_char(word, '/') != SIZE_MAX || str_find_char(word, '.') != SIZE_MAX;
}

static bool no_file(struct session *s, struct str word, struct request *r)
{
	r->no_file = true;
	return session_fail(s, ERR_NOT_FOUND, "file '%.*s' does not exist", STR(word));
}

static bool unknown_command(struct session *s, struct str word, struct request *r)
{
	struct strs names = command_names(s, r->takes_files);
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
	        r->takes_files ? "'%.*s' is neither a command nor a file; the commands are %.*s"
	                       : "unknown command '%.*s'; the commands are %.*s",
	        STR(word), STR(all));
}

/* Returns tfprof's name for an option of another program, or NULL. */
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

/* Adds the names of a command's options (NULL: of the options of all views). */
static void add_options(struct session *s, const struct command *c, struct strs *names)
{
	const struct option *row = c ? options_of(c->name) : NULL;

	for (; row; row = option_next(row))
		strs_add(&s->query_arena, names, str_of(row->name));
	for (row = view_options; row; row = option_next(row))
		if (!c || cmd_has_option(c, row))
			strs_add(&s->query_arena, names, str_of(row->name));
}

bool cmd_unknown_option(struct session *s, const struct command *c, struct str word,
        struct str name, const struct strs *more)
{
	struct arena *a = &s->query_arena;
	struct strs names = { 0 };

	add_options(s, c, &names);
	for (size_t i = 0; more && i < more->n; i++)
		strs_add(a, &names, more->v[i]);
	struct str near = other_name(name);
	if (!near.n)
		near = nearest_word(name, names.v, names.n);
	const struct option *own = c && near.n ? option_of(c, near) : NULL;
	if (near.n)
		near = str_fmt(a, "%s%.*s",
		        own               ? option_dashes(own)
		        : flag_find(near) ? "--"
		                          : "-",
		        STR(near));
	if (!c)
		return unknown_option(&s->error, STR_NONE, word, near, S("'help' lists them"));
	if (str_eq(name, S("gate")) || str_eq(name, S("fail-on")) || str_eq(name, S("fail_on")))
		return unknown_option(&s->error, str_of(c->name), word, STR_NONE,
		        S("'diff FILE --gate=RULE' checks limits"));
	return unknown_option(&s->error, str_of(c->name), word, near,
	        str_fmt(a, "'help %s' lists its options", c->name));
}

/* Takes an option outside of the views' options. --help applies to the command of the line or,
 * without a command, to the program. */
static bool take_flag(struct session *s, struct str word, struct str name, struct request *r)
{
	const struct option *flag = flag_find(name);

	if (!flag)
		return cmd_unknown_option(s, r->command, word, name, NULL);
	if (!str_eq(str_of(flag->name), S("help")))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "--%s is a command-line flag and cannot be used here: tfprof --%s%s",
		        flag->name, flag->name, option_argument(flag) ? "=..." : "");
	r->help = true;
	return true;
}

/* Takes an option of set that no view has. */
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

/* True for an option of top, or an option that all tables share. */
static bool is_table_option(const struct request *r, struct str name)
{
	const struct command *c = r->command;

	return c && (c->table || c->run == run_top) && option_of(c, name);
}

static bool take_why_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct why_options why = { .top = r->top,
		.as = r->section,
		.cause = r->cause,
		.fail_on = r->fail_on,
		.allow_inconclusive = r->allow_inconclusive };
	struct option_words w = { .command = r->command, .into = &why };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = why.top;
	r->section = why.as;
	r->cause = why.cause;
	r->fail_on = why.fail_on;
	r->allow_inconclusive = why.allow_inconclusive;
	return true;
}

static bool take_flops_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct flops_options flops = { .top = r->top,
		.explain = r->explain,
		.partial = r->partial,
		.peak_flops = r->peak_flops };
	struct option_words w = { .command = r->command, .into = &flops };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = flops.top;
	r->explain = flops.explain;
	r->partial = flops.partial;
	r->peak_flops = flops.peak_flops;
	return true;
}

static bool take_roofline_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct roofline_options roofline = { .top = r->top,
		.by = r->section,
		.peak_flops = r->peak_flops,
		.peak_bandwidth = r->peak_bandwidth };
	struct option_words w = { .command = r->command, .into = &roofline };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = roofline.top;
	r->section = roofline.by;
	r->peak_flops = roofline.peak_flops;
	r->peak_bandwidth = roofline.peak_bandwidth;
	return true;
}

static bool take_memory_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct memory_options memory = { .top = r->top, .by = r->section, .diff = r->diff };
	struct option_words w = { .command = r->command, .into = &memory };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = memory.top;
	r->section = memory.by;
	r->diff = memory.diff;
	return true;
}

static bool take_collectives_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	struct collectives_options collectives = { .top = r->top, .fail_on = r->fail_on };
	struct option_words w = { .command = r->command, .into = &collectives };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = collectives.top;
	r->fail_on = collectives.fail_on;
	return true;
}

static bool take_table_option(
        struct session *s, const struct strs *words, size_t *i, struct request *r)
{
	if (r->command->run == run_why)
		return take_why_option(s, words, i, r);
	if (r->command->run == run_flops)
		return take_flops_option(s, words, i, r);
	if (r->command->run == run_roofline)
		return take_roofline_option(s, words, i, r);
	if (r->command->run == run_memory)
		return take_memory_option(s, words, i, r);
	if (r->command->run == run_collectives)
		return take_collectives_option(s, words, i, r);
	struct devices_options table = { .top = r->top, .table = r->section };
	struct top_options top = { .n = r->top };
	bool is_top = r->command->run == run_top;
	struct option_words w = { .command = r->command, .into = is_top ? (void *)&top : &table };

	if (!options_take(s, words, i, &w))
		return false;
	r->top = is_top ? top.n : table.top;
	r->section = table.table;
	return true;
}

/* Returns the view option with a name. -by METRIC of top orders like -order_by. */
static const struct option *find_view_option(const struct request *r, struct str name,
        const struct strs *words, size_t i, bool has_value, struct str value)
{
	const struct option *row = view_option(name);

	if (!r->command || r->command->run != run_top || !str_eq(name, S("by")))
		return row;
	if (!has_value && i + 1 < words->n)
		value = words->v[i + 1];
	return metric_find(value, USE_ORDER) == M_NONE ? row : view_option(S("order_by"));
}

/* Reads the option at words[*i] and, if it takes one, its value. */
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
	const struct option *row = find_view_option(r, name, words, *i, has_value, value);
	if (!row)
		return more ? cmd_unknown_option(s, r->command, word, name, more)
		            : take_flag(s, word, name, r);
	if (!has_value && row->type != OPT_BOOL && *i + 1 == words->n && set) {
		strs_add(&s->query_arena, &r->shown, name);
		return true;
	}
	strs_add(&s->query_arena, &r->given, name);
	return cmd_set_option(s, row, words, i, has_value, value, &r->opts);
}

/* True if such a file exists, or if the system does not permit the check. */
static bool is_file(const char *path)
{
	return access(path, F_OK) == 0 || errno == EACCES || errno == EIO;
}

/* True if a word of the command line names an input. A checkpoint is named without the suffix of
 * its files. */
static bool is_input(struct session *s, struct str word)
{
	struct arena *a = &s->query_arena;

	return str_eq(word, S("-")) || is_file(str_z(a, word)) ||
	       is_file(str_z(a, str_fmt(a, "%.*s.index", STR(word))));
}

/* Takes the first word as the name, unless it is a file and the second word is not. */
static bool take_name(struct session *s, struct str word, struct request *r)
{
	if (r->topics.n && r->takes_files) {
		if (r->topics.n > 1 || is_input(s, word) || !is_input(s, r->topics.v[0]))
			return false;
		strs_add(&s->query_arena, &r->files, r->topics.v[0]);
		r->topics.n = 0;
	}
	strs_add(&s->query_arena, &r->topics, word);
	return true;
}

/* True if words are arguments of the command instead of files. */
static bool is_topic(const struct command *c, struct str word)
{
	return c->run == run_help || c->own_words || (c->takes_word && c->takes_word(word));
}

/* Fails for a word that is not a file, with a hint if it may be the name of a node or kernel. */
static bool not_a_file(struct session *s, struct str word, const struct command *c)
{
	if (c->view)
		return session_fail(s, ERR_NOT_FOUND,
		        "'%.*s' after '%s' is not a file, and options look like -name value\n"
		        "hint: \"-start_name_regexes '.*%.*s.*'\" begins at the nodes with this "
		        "name",
		        STR(word), c->name, STR(word));
	if (c->run == run_what_if)
		return session_fail(s, ERR_NOT_FOUND,
		        "'%.*s' after '%s' is not a file, and options look like -name value\n"
		        "hint: a change has a factor, such as 'communication*0' or "
		        "'kernel:gemm*0.5'",
		        STR(word), c->name);
	return session_fail(s, ERR_NOT_FOUND,
	        "'%.*s' after '%s' is not a file, and options look like -name value", STR(word),
	        c->name);
}

static bool take_word(struct session *s, struct str word, struct request *r)
{
	if (r->command && r->command->takes_name && take_name(s, word, r))
		return true;
	if (r->command && is_topic(r->command, word)) {
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
		return not_a_file(s, word, r->command);
	}
	if (r->command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "unexpected '%.*s' after '%s'; options look like -name value", STR(word),
		        r->command->name);
	return unknown_command(s, word, r);
}

/* True if the given options, which may precede the command, apply to it. */
static bool check_options(struct session *s, const struct request *r)
{
	for (size_t i = 0; r->command && i < r->given.n; i++)
		if (!cmd_check_option(s, r->command, view_option(r->given.v[i])))
			return false;
	return true;
}

/* Fails for a leftover word, with a hint: the rest of a list typed with blanks, or an option with a
 * long dash copied from a document. */
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
		        "unexpected space in the list '%.*s %.*s'; write '%.*s%.*s'",
		        STR(words->v[i - 1]), STR(word), STR(words->v[i - 1]), STR(word));
	return true;
}

/* Returns an option with a name, of the views or of any command. */
static const struct option *any_option(struct session *s, struct str name)
{
	const struct option *row = view_option(name);

	for (const struct command *c = NULL; !row && (c = cmd_next(s, c)) != NULL;)
		row = option_of(c, name);
	return row;
}

/* Returns the words with the command moved before the options that precede it, because the command
 * determines which options exist. */
static const struct strs *command_first(struct session *s, const struct strs *words)
{
	struct str name, value;
	bool has_value, truth;
	size_t i = 0;

	for (; i < words->n && cmd_option_word(words->v[i], &name, &value, &has_value); i++) {
		const struct option *row = has_value ? NULL : any_option(s, name);
		if (!row || row->type == OPT_SWITCH || i + 1 == words->n)
			continue;
		i += row->type != OPT_BOOL || option_truth(words->v[i + 1], &truth);
	}
	if (!i || i >= words->n || !cmd_find(s, words->v[i]))
		return words;
	struct strs *to = ARENA_NEW(&s->query_arena, struct strs);
	strs_add(&s->query_arena, to, words->v[i]);
	for (size_t k = 0; k < words->n; k++)
		if (k != i)
			strs_add(&s->query_arena, to, words->v[k]);
	return to;
}

bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r)
{
	struct str name, value;
	bool has_value;

	memset(r, 0, sizeof *r);
	r->takes_files = more != NULL;
	r->checkers = CHECK_ALL;
	r->top = -1;
	r->opts = opts_copy(&s->sticky, &s->query_arena);
	r->opts.file_later = true;
	if (r->takes_files)
		words = command_first(s, words);
	for (size_t i = 0; i < words->n; i++) {
		bool topic = r->command && (r->command->run == run_help || r->command->own_words);
		if (!topic && cmd_option_word(words->v[i], &name, &value, &has_value)) {
			if (!take_option(s, words, &i, more, r))
				return false;
		} else if ((!topic && !check_word(s, words, i)) || !take_word(s, words->v[i], r)) {
			return false;
		}
	}
	if (r->top < 0)
		r->top = r->command && r->command->rows ? r->command->rows : TABLE_TOP;
	if (!check_options(s, r) || !opts_place_output(&r->opts, &s->error))
		return false;
	s->notes_wanted = !r->command         ? NOTES_ALL
	                  : r->command->notes ? r->command->notes
	                                      : NOTES_OF_OPS;
	return !r->command || !r->command->check || r->command->check(s, r);
}

bool cmd_parse_line(struct session *s, struct str line, struct request *r)
{
	struct strs words = str_split(&s->query_arena, line, ' ');

	return cmd_parse_words(s, &words, r);
}

bool cmd_parse_words(struct session *s, struct strs *words, struct request *r)
{
	const struct command *begun =
	        words->n && !cmd_find(s, words->v[0]) ? find_prefix(s, words->v[0]) : NULL;

	if (begun)
		words->v[0] = str_of(begun->name);
	if (!cmd_parse(s, words, NULL, r))
		return false;
	const struct command *c = r->command;
	bool topics = c && (c->own_words || c->run == run_help);
	if (r->help || (topics && options_want_help(c, &r->topics))) {
		r->topics = (struct strs){ 0 };
		r->help = true;
		if (c)
			strs_add(&s->query_arena, &r->topics, str_of(c->name));
		r->command = cmd_find(s, S("help"));
	}
	if (words->n && !r->command)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a line must begin with a command, not with '%.*s'", STR(words->v[0]));
	return true;
}

/* Fails if the command needs nodes and there cannot be any: nothing is loaded at the prompt, or
 * only an op log or a checkpoint. The inputs of the original give the original's answer, an empty
 * root. */
static bool has_nodes(struct session *s, const struct command *c)
{
	bool alone = !s->model.nodes.n && !s->n_later && !s->n_older;

	if (!c->needs_profile || c->run == run_summary || !alone || !s->jobs)
		return true;
	if (!s->loaded && s->ckpt)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "a checkpoint has no nodes: load its graph as well: load GRAPH %.*s; or "
		        "'checkpoint %.*s' lists its tensors",
		        STR(ckpt_path(s->ckpt)), STR(ckpt_path(s->ckpt)));
	if (!s->loaded)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "nothing is loaded: 'load FILE' loads a profile, a trace or a recording");
	if (!s->bare_files || !session_has_source(s, ROLE_OPLOG) ||
	        session_has_source(s, ROLE_GRAPH))
		return true;
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "an op log has no nodes: load its graph as well: load GRAPH %.*s",
	        STR(s->sources.v[0].path));
}

bool request_run(struct session *s, const struct request *r, struct sink *out)
{
	struct request ranked = *r;

	if (r->opts.rank == STEP_RANK_NONE || r->command->own_words)
		return r->command->run(s, r, out);
	return session_rank_step(s, &ranked.opts) && r->command->run(s, &ranked, out);
}

bool cmd_run(struct session *s, const struct request *r, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);

	if (r->command && !cmd_in_session(r->command) && !(r->prompt && r->command->at_prompt))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "%s cannot be used in a session: type tfprof %s in the shell",
		        r->command->name, r->command->name);
	if (r->command)
		return has_nodes(s, r->command) && request_run(s, r, out);
	opts_dump(&b, &s->sticky);
	sink_put(out, sb_str(&b));
	return true;
}
