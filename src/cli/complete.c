/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes words at the prompt and in the shell.
 */
#include "cli/prompt.h"

#include "base/sort.h"
#include "io/paths.h"

static void offer(struct session *s, struct complete *c, struct str word)
{
	if (!str_starts(word, c->stem))
		return;
	if (c->items.n >= COMPLETE_MAX)
		c->more = true;
	else
		strs_add(&s->query_arena, &c->items, word);
}

/* ---- names ---- */

/* Returns the first index in by_name, from lo on, of a name that is not before prefix. past: of a
 * name that is after all names with that prefix. */
static size_t bisect(const struct model *m, size_t lo, struct str prefix, bool past)
{
	const uint32_t *v = m->by_name.v;
	size_t i;

	if (past)
		BISECT(i, lo, m->by_name.n,
		        str_cmp(str_sub(node_name(m, v[i]), 0, prefix.n), prefix) <= 0);
	else
		BISECT(i, lo, m->by_name.n, str_cmp(node_name(m, v[i]), prefix) < 0);
	return i;
}

/* Offers node names that begin with stem, one level of '/' at a time. */
static void offer_nodes(struct session *s, struct str stem, struct complete *c)
{
	const struct model *m = &s->model;
	size_t i = bisect(m, 0, stem, false);

	while (i < m->by_name.n) {
		struct str name = node_name(m, m->by_name.v[i]);
		if (!str_starts(name, stem))
			break;
		size_t slash = str_find_char(str_sub(name, stem.n, SIZE_MAX), '/');
		struct str level = slash == SIZE_MAX ? name : str_sub(name, 0, stem.n + slash + 1);
		offer(s, c, level);
		if (c->more)
			break;
		c->open |= slash != SIZE_MAX;
		i = slash == SIZE_MAX ? i + 1 : bisect(m, i, level, true);
	}
}

/* ---- other words of the model ---- */

/* Offers each string id of v once, in byte order. */
static void offer_ids(struct session *s, struct complete *c, uint32_t *v, size_t n)
{
	sort_strings(&s->query_arena, v, n, s->model.strings.strings);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[i - 1])
			offer(s, c, model_str(&s->model, v[i]));
}

static void offer_types(struct session *s, struct complete *c)
{
	uint32_t *v = ARENA_ARRAY(&s->query_arena, s->model.types.n, uint32_t);

	memcpy(v, s->model.types.v, s->model.types.n * sizeof *v);
	offer_ids(s, c, v, s->model.types.n);
}

static void offer_devices(struct session *s, struct complete *c)
{
	uint32_t *v = ARENA_ARRAY(&s->query_arena, s->model.devices.n, uint32_t);

	for (size_t i = 0; i < s->model.devices.n; i++)
		v[i] = s->model.devices.v[i].name;
	offer_ids(s, c, v, s->model.devices.n);
}

/* Offers the file names of call stacks, in the form that patterns of code match. */
static void offer_sources(struct session *s, struct complete *c)
{
	const struct model *m = &s->model;
	uint32_t *v = ARENA_ARRAY(&s->query_arena, m->frames.n, uint32_t);
	size_t n = 0;

	for (uint32_t i = 0; i < m->frames.n; i++) {
		uint32_t file = model_frame(m, i).file;
		if (file != ID_NONE)
			v[n++] = file;
	}
	c->open = true;
	offer_ids(s, c, v, n);
}

static void offer_steps(struct session *s, struct complete *c)
{
	const struct model *m = &s->model;

	offer(s, c, S("-1"));
	for (size_t i = 0; i < m->step_ids.n; i++)
		offer(s, c, str_fmt(&s->query_arena, "%lld", (long long)m->step_ids.v[i]));
}

static void offer_files(struct session *s, struct complete *c)
{
	struct arena *a = &s->query_arena;
	size_t slash = str_rfind_char(c->stem, '/');
	struct str folder = slash == SIZE_MAX ? STR_NONE : str_sub(c->stem, 0, slash + 1);
	struct strs names = { 0 };
	struct err e = { .a = a };

	path_list(a, folder.n ? folder : S("."), &names,
	        &e); /* an unreadable folder offers nothing */
	sort_list(a, &names);
	for (size_t i = 0; i < names.n; i++) {
		if (names.v[i].p[0] == '.' && c->stem.n == folder.n)
			continue;
		struct str path = str_fmt(a, "%.*s%.*s", STR(folder), STR(names.v[i]));
		offer(s, c, path_is_folder(a, path) ? str_fmt(a, "%.*s/", STR(path)) : path);
	}
	c->open = c->items.n == 1 && str_ends(c->items.v[0], S("/"));
}

/* ---- words of the command language ---- */

/* Offers the commands. all: including commands that a session does not run. */
static void offer_commands(struct session *s, struct complete *c, bool all)
{
	for (const struct command *x = NULL; (x = cmd_next(s, x)) != NULL;)
		if (all || cmd_at_prompt(x))
			offer(s, c, str_of(x->name));
}

/* Offers an option with as many dashes as were typed. */
static void offer_option(
        struct session *s, struct complete *c, const char *dashes, const char *name)
{
	if (c->stem.n > 1 && c->stem.p[0] == '-')
		dashes = c->stem.p[1] == '-' ? "--" : "-";
	offer(s, c, str_fmt(&s->query_arena, "%s%s", dashes, name));
}

/* Offers the view options of the command. If cmd is NULL, offers all view options. */
static void offer_options(struct session *s, struct complete *c, const struct command *cmd)
{
	for (const struct option *row = view_options; row; row = option_next(row))
		if (!cmd || (cmd_has_option(cmd, row) &&
		                    !option_in(options_of(cmd->name), str_of(row->name))))
			offer_option(s, c, "-", row->name);
}

/* Offers the command's options and, if it reads its own arguments, files. */
static void offer_own(struct session *s, struct complete *c, const struct command *cmd)
{
	bool option = str_starts(c->stem, S("-"));

	if (cmd->own_words && !option)
		offer_files(s, c);
	const struct option *row = option || !cmd->own_words ? options_of(cmd->name) : NULL;
	for (; row; row = option_next(row))
		offer_option(s, c, option_dashes(row), row->name);
	if (!cmd->own_words || (cmd->view_options && option))
		offer_options(s, c, cmd);
}

static void offer_metrics(struct session *s, struct complete *c, unsigned use)
{
	for (enum metric_id m = 0; m < M_N; m++)
		if (metrics[m].uses & use)
			offer(s, c, str_of(metrics[m].name));
}

static void offer_outputs(struct session *s, struct complete *c)
{
	size_t file = str_find(c->stem, S("outfile="));

	if (file != SIZE_MAX) {
		c->stem = str_sub(c->stem, file + 8, SIZE_MAX);
		offer_files(s, c);
		return;
	}
	bool keys = str_find_char(c->stem, ':') != SIZE_MAX;
	for (enum output_kind i = 0; i < OUT_N; i++) {
		bool needs = output_rows[i].required & KEY_OUTFILE ||
		             (keys && output_rows[i].keys & KEY_OUTFILE);
		size_t before = c->items.n;
		offer(s, c,
		        str_fmt(&s->query_arena, "%s%s", output_rows[i].name,
		                needs ? ":outfile=" : ""));
		c->open |= needs && c->items.n > before;
		if (output_rows[i].keys & KEY_SPREADSHEET && keys)
			offer(s, c,
			        str_fmt(&s->query_arena, "%s:spreadsheet=1", output_rows[i].name));
	}
}

static void offer_patterns(
        struct session *s, struct complete *c, const struct option *row, const struct command *cmd)
{
	struct str name = str_of(row->name);

	if (str_starts(name, S("worker")))
		for (size_t i = 0; i < s->model.workers.n; i++)
			offer(s, c, s->model.workers.v[i]);
	else if (str_starts(name, S("account_type")))
		offer_types(s, c);
	else if (str_starts(name, S("device")))
		offer_devices(s, c);
	else if (cmd && cmd->view && view_is(cmd->view->kind, VIEW_LIST))
		offer_types(s, c);
	else if (cmd && cmd->view && view_is(cmd->view->kind, VIEW_TRACES))
		offer_sources(s, c);
	else
		offer_nodes(s, c->stem, c);
}

/* Sets the text to complete: the text after the last of the given characters. */
static void cut_stem(struct complete *c, const char *at)
{
	for (; *at; at++) {
		size_t i = str_rfind_char(c->stem, *at);
		if (i != SIZE_MAX)
			c->stem = str_sub(c->stem, i + 1, SIZE_MAX);
	}
}

/* Offers the values of the option, if the tables list them. */
static void offer_choices(struct session *s, struct complete *c, const struct option *row)
{
	struct str word;

	if (row->value && strcmp(row->value, "METRIC") == 0)
		offer_metrics(s, c, USE_MIN);

	for (int i = 0; (word = option_choice_at(row->choices, i)).n; i++)
		offer(s, c, word);
}

static void offer_values(
        struct session *s, struct complete *c, const struct option *row, const struct command *cmd)
{
	switch (row->type) {
	case OPT_STEPS:
		cut_stem(c, ",");
		offer_steps(s, c);
		break;
	case OPT_STATS:
		cut_stem(c, ",'\"");
		for (enum stat_id i = 0; i < STATS_N; i++)
			offer(s, c, str_of(stat_rows[i].name));
		break;
	case OPT_BOOL:
		offer(s, c, S("true"));
		offer(s, c, S("false"));
		break;
	case OPT_MOMENT:
	case OPT_CHOICE: offer_choices(s, c, row); break;
	case OPT_ORDER: offer_metrics(s, c, USE_ORDER); break;
	case OPT_SELECT:
		cut_stem(c, ",'\"");
		offer_metrics(s, c, USE_SELECT);
		break;
	case OPT_PATTERNS:
		cut_stem(c, ",'\"");
		offer_patterns(s, c, row, cmd);
		break;
	case OPT_OUTPUT: offer_outputs(s, c); break;
	case OPT_STRING: offer_files(s, c); break;
	default: break;
	}
}

static void share(struct complete *c)
{
	if (!c->items.n)
		return;
	struct str first = c->items.v[0];
	size_t n = first.n;
	for (size_t i = 1; i < c->items.n; i++) {
		size_t k = 0;
		while (k < n && k < c->items.v[i].n && c->items.v[i].p[k] == first.p[k])
			k++;
		n = k;
	}
	while (n < first.n && n > 0 && ((unsigned char)first.p[n] & 0xc0) == 0x80)
		n--; /* drop an incomplete character */
	c->shared = str_sub(first, 0, n);
	c->open |= c->items.n > 1;
}

static void offer_jobs(struct session *s, struct complete *c)
{
	for (size_t i = 0; s->jobs && i < s->jobs->list.n; i++)
		offer(s, c, s->jobs->list.v[i].name);
}

static bool is_redirect(struct str word)
{
	return str_eq(word, S(">")) || str_eq(word, S(">>"));
}

static void offer_topics(struct session *s, struct complete *c)
{
	offer_commands(s, c, true);
	for (size_t i = 0; i < n_help_sections; i++)
		offer(s, c, str_of(help_sections[i].name));
	offer_options(s, c, NULL);
	offer_metrics(s, c, USE_SELECT);
	for (enum output_kind i = 0; i < OUT_N; i++)
		offer(s, c, str_of(output_rows[i].name));
	for (enum stat_id i = 0; i < STATS_N; i++)
		offer(s, c, str_of(stat_rows[i].name));
}

static void offer_subcommands(struct session *s, struct complete *c, const struct command *cmd)
{
	struct strs orders = str_split(&s->query_arena, str_of(cmd->subcommands), ' ');

	for (size_t i = 0; i < orders.n; i++)
		offer(s, c, orders.v[i]);
}

/* Offers the numbers that gates accept, with an example of a limit. */
static void offer_gates(struct session *s, struct complete *c)
{
	static const char *const numbers[] = { "step_time", "idle", "exposed_communication",
		"kernels" };

	for (enum metric_id m = 0; m < M_N; m++)
		if (metrics[m].uses & USE_MIN)
			offer(s, c, str_fmt(&s->query_arena, "total.%s<+5%%", metrics[m].name));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		offer(s, c, str_fmt(&s->query_arena, "%s<+5%%", numbers[i]));
	for (int i = 0; i < WHY_IDS; i++)
		offer(s, c, str_fmt(&s->query_arena, "%s<+5%%", why_rows[i].id));
}

/* True if the word being typed is -NAME=VALUE. Then the word becomes VALUE, and *name is -NAME. */
static bool split_value(struct complete *c, struct str *name)
{
	size_t equals = str_find_char(c->stem, '=');

	if (!str_starts(c->stem, S("-")) || equals == SIZE_MAX)
		return false;
	*name = str_sub(c->stem, 0, equals);
	c->stem = str_sub(c->stem, equals + 1, SIZE_MAX);
	return true;
}

/* Offers the words that may follow; the first word is a command. */
static void offer_behind(struct session *s, struct complete *c, const struct strs *words)
{
	struct str last = words->v[words->n - 1], name = STR_NONE, value;
	const struct command *cmd = cmd_find(s, words->v[0]);
	bool has_value, valued = split_value(c, &last);
	bool option = cmd_option_word(last, &name, &value, &has_value) && !has_value;
	const struct option *own = cmd && option ? option_in(options_of(cmd->name), name) : NULL;
	const struct option *row = option && !own ? view_option(name) : NULL;

	if (is_redirect(last)) {
		offer_files(s, c);
	} else if (cmd && cmd->run == jobs_use) {
		offer_jobs(s, c);
	} else if (cmd && cmd->run == jobs_load) {
		cut_stem(c, "=");
		offer_files(s, c);
	} else if (cmd && (cmd->run == jobs_list || !cmd_at_prompt(cmd))) {
		return;
	} else if (cmd && cmd->subcommands && words->n == cmd->subcommand_at) {
		offer_subcommands(s, c, cmd);
	} else if (cmd && str_eq(words->v[0], S("help"))) {
		offer_topics(s, c);
	} else if (own && str_eq(name, S("gate"))) {
		offer_gates(s, c);
	} else if (own && option_argument(own)) {
		offer_choices(s, c, own);
	} else if (row && (!cmd || !cmd->own_words || cmd->view_options) &&
	           !(row->type == OPT_BOOL && str_starts(c->stem, S("-")))) {
		offer_values(s, c, row, cmd);
	} else if (cmd && !valued) {
		offer_own(s, c, cmd);
	} else if (!valued) {
		offer_options(s, c, NULL);
	}
}

bool complete_line(struct session *s, struct str text, struct complete *c)
{
	struct strs words = str_split(&s->query_arena, text, ' ');
	bool begun = text.n && text.p[text.n - 1] != ' ';

	*c = (struct complete){ 0 };
	if (!session_seal(s))
		return false;
	if (begun && words.n)
		c->stem = words.v[--words.n];
	if (words.n == 0) {
		offer_commands(s, c, false);
		share(c);
		return true;
	}
	offer_behind(s, c, &words);
	share(c);
	return true;
}
