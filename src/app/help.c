/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts. Names, presets and explanations come from the tables alone.
 */
#include "app/help.h"
#include "app/cmd.h"
#include "app/flags.h"
#include "app/words.h"

static const char *const INTRO =
        "tfprof answers where a TensorFlow model's time, memory, parameters and float operations "
        "go.\n"
        "\n"
        "Examples\n"
        "  tfprof scope graph.pbtxt run_meta tfprof_log -select micros,bytes\n"
        "  tfprof op --profile_path=profile_100 -order_by micros -select micros,occurrence\n"
        "  tfprof code --profile_path=profile_100 -max_depth 20 -show_name_regexes '.*train.*'\n"
        "  printf 'scope -max_depth 3\\nset -select bytes\\nscope\\n' | tfprof "
        "--profile_path=profile_100\n"
        "\n"
        "Usage: tfprof [COMMAND] [FLAGS] [FILE...] [OPTIONS]\n"
        "  FILEs are sorted out by their content; the flags say what is what, and --profile_path=- "
        "is\n"
        "  standard input. gzip is undone.\n"
        "  Options are -name value, --name value or --name=value, before or after the command.\n"
        "  Without a command, lines of commands are read from standard input.\n";

static void put_flags(struct session *s, struct sink *out)
{
	sink_put(out, S("\nFlags\n"));
	for (size_t i = 0; i < n_flag_rows; i++) {
		const struct flag *f = &flag_rows[i];
		struct str name = str_fmt(&s->query_arena, "--%s%s%s", f->name, f->value ? "=" : "",
		        f->value ? f->value : "");
		sink_fmt(out, "  %-22.*s %s\n", STR(name), f->help);
	}
}

static void put_outputs(struct sink *out)
{
	sink_put(out, S("\nOutputs (-output TYPE or TYPE:outfile=FILE)\n"));
	for (enum output_kind i = 0; i < OUT_N; i++)
		sink_fmt(out, "  %-10s %s\n", output_rows[i].name, output_rows[i].help);
}

static void put_stats(struct sink *out)
{
	sink_put(out, S("\nStatistics over the steps (-stats NAME,...)\n"));
	for (enum stat_id i = 0; i < STATS_N; i++)
		sink_fmt(out, "  %-10s %s\n", stat_rows[i].name, stat_rows[i].help);
}

/* Those that mean something to the command; of no command: all. */
static void put_options(struct session *s, const struct command *c, struct sink *out)
{
	struct option rows[OPTIONS_MAX];
	size_t n = option_rows(rows);

	sink_put(out, S("\nOptions\n"));
	for (size_t i = 0; i < n; i++)
		if (!c || cmd_has_option(c, &rows[i]))
			sink_fmt(out, "  -%-26s %s%s%s%s\n", rows[i].name, rows[i].help,
			        rows[i].preset[0] ? " [" : "", rows[i].preset,
			        rows[i].preset[0] ? "]" : "");
	struct sb b = sb_in(&s->query_arena);
	sb_put(&b, S("  -select: "));
	metric_names(&b, USE_SELECT, ", ");
	sb_put(&b, S("\n  -order_by: "));
	metric_names(&b, USE_ORDER, ", ");
	sb_put(&b, S("\n  Lists are separated by commas; patterns are regular expressions that "
	             "match the whole name.\n"));
	sink_put(out, sb_str(&b));
}

void help_usage(struct session *s, struct sink *out)
{
	sink_put(out, str_of(INTRO));
	sink_put(out, S("\nCommands\n"));
	for (size_t i = 0; i < n_commands; i++)
		sink_fmt(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	put_flags(s, out);
	put_options(s, NULL, out);
	put_outputs(out);
}

/* Text in lines of at most 100 letters, so many blanks before each but the first. */
static void put_hanging(struct str text, size_t blanks, struct sink *out)
{
	const size_t room = 100 - blanks;

	for (bool first = true; text.n; first = false) {
		size_t n = text.n;
		if (n > room) {
			size_t blank = str_rfind_char(str_sub(text, 0, room), ' ');
			n = blank == SIZE_MAX ? room : blank;
		}
		for (size_t i = 0; i < blanks && !first; i++)
			sink_char(out, ' ');
		sink_put(out, str_sub(text, 0, n));
		sink_char(out, '\n');
		text = str_sub(text, n + 1, SIZE_MAX);
	}
}

static void put_wrapped(struct str text, struct sink *out)
{
	sink_put(out, text.n ? S("  ") : STR_NONE);
	put_hanging(text, 2, out);
}

/* The options that only this command has. */
static void put_own_words(struct session *s, const struct command *c, struct sink *out)
{
	if (c->synopsis)
		sink_fmt(out, "\nUsage: tfprof %s %s\n", c->name, c->synopsis);
	if (c->words && c->words->name)
		sink_put(out, c->view_options ? S("\nOptions of its own\n") : S("\nOptions\n"));
	for (const struct word *w = c->words; w && w->name; w++) {
		struct sb name = sb_in(&s->query_arena);
		word_usage(&name, w);
		sink_fmt(out, "  %-27.*s", STR(sb_str(&name)));
		if (name.n > 26)
			sink_fmt(out, "\n%29s", "");
		put_hanging(str_of(w->help), 29, out);
	}
}

static void put_command(struct session *s, const struct command *c, struct sink *out)
{
	struct strs lines = str_split(&s->query_arena, str_of(c->examples), '\n');

	sink_fmt(out, "%s: %s\n\n", c->name, c->help);
	put_wrapped(str_of(c->about), out);
	put_own_words(s, c, out);
	if (lines.n)
		sink_put(out, S("\nExamples\n"));
	for (size_t i = 0; i < lines.n; i++)
		sink_fmt(out, "  %.*s\n", STR(lines.v[i]));
	if (c->view || c->view_options)
		put_options(s, c, out);
}

static void put_choice(struct sb *b, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		sb_fmt(b, "%s%s", i ? ", " : "", words[i]);
}

/* The words that an option takes, where the tables know them. */
static void put_words(struct session *s, const struct option *row, struct sink *out)
{
	struct sb b = sb_in(&s->query_arena);

	if (row->type == OPT_ORDER)
		metric_names(&b, USE_ORDER, ", ");
	else if (row->type == OPT_SELECT)
		metric_names(&b, USE_SELECT, ", ");
	else if (row->type == OPT_OUTPUT)
		put_outputs(out);
	else if (row->type == OPT_STATS)
		put_stats(out);
	else if (option_words(row))
		put_choice(&b, option_words(row));
	else if (row->type == OPT_PATTERNS)
		sb_put(&b, S("regular expressions that match the whole name, separated by commas"));
	if (!b.n)
		return;
	sink_char(out, '\n');
	put_wrapped(sb_str(&b), out);
}

static bool unknown_topic(struct session *s, struct str topic)
{
	struct option rows[OPTIONS_MAX];
	struct strs names = { 0 };
	size_t n = option_rows(rows);

	for (size_t i = 0; i < n_commands; i++)
		strs_add(&s->query_arena, &names, str_of(commands[i].name));
	for (size_t i = 0; i < n; i++)
		strs_add(&s->query_arena, &names, str_of(rows[i].name));
	for (enum metric_id i = 0; i < M_N; i++)
		strs_add(&s->query_arena, &names, str_of(metrics[i].name));
	for (enum output_kind i = 0; i < OUT_N; i++)
		strs_add(&s->query_arena, &names, str_of(output_rows[i].name));
	struct str near = nearest_word(topic, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "there is no help on '%.*s'; did you mean '%.*s'?", STR(topic), STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "there is no help on '%.*s'; topics are commands, options, metrics, "
	        "outputs and statistics",
	        STR(topic));
}

/* What is counted, and the options that take it. */
static void put_metric(struct session *s, const struct metric *m, struct sink *out)
{
	struct arena *a = &s->query_arena;
	struct strs ways = { 0 };

	if (m->uses & USE_SELECT)
		strs_add(a, &ways, str_fmt(a, "-select %s", m->name));
	if (m->uses & USE_ORDER)
		strs_add(a, &ways, str_fmt(a, "-order_by %s", m->name));
	if (m->uses & USE_MIN)
		strs_add(a, &ways, str_fmt(a, "-min_%s N", m->name));
	struct str all = strs_join(a, &ways, S(", "));
	sink_fmt(out, "%s: %.*s\n", m->name, STR(all));
	if (m->doc[0])
		sink_char(out, '\n');
	for (size_t i = 0; i < sizeof m->doc / sizeof *m->doc && m->doc[i]; i++)
		put_wrapped(str_of(m->doc[i]), out);
}

static void put_output(const struct output_row *o, struct sink *out)
{
	const char *file = o->required & KEY_OUTFILE ? ":outfile=FILE"
	                   : o->keys & KEY_OUTFILE   ? "[:outfile=FILE]"
	                                             : "";

	sink_fmt(out, "%s: %s\n\n  -output %s%s\n", o->name, o->help, o->name, file);
}

/* A word that options take: a metric, an output, a statistic. */
static bool put_value(struct session *s, struct str topic, struct sink *out)
{
	for (enum metric_id i = 0; i < M_N; i++)
		if (str_eq(topic, str_of(metrics[i].name))) {
			put_metric(s, &metrics[i], out);
			return true;
		}
	for (enum output_kind i = 0; i < OUT_N; i++)
		if (str_eq(topic, str_of(output_rows[i].name))) {
			put_output(&output_rows[i], out);
			return true;
		}
	for (enum stat_id i = 0; i < STATS_N; i++)
		if (str_eq(topic, str_of(stat_rows[i].name))) {
			sink_fmt(out, "%s: %s\n\n  -stats %s\n", stat_rows[i].name,
			        stat_rows[i].help, stat_rows[i].name);
			return true;
		}
	return unknown_topic(s, topic);
}

static bool put_topic(struct session *s, struct str topic, struct sink *out)
{
	const struct command *c = cmd_find(topic);
	const struct flag *flag;
	size_t dashes = 0;
	struct option row;

	while (dashes < topic.n && topic.p[dashes] == '-')
		dashes++;
	struct str name = str_sub(topic, dashes, SIZE_MAX);
	if (c) {
		put_command(s, c, out);
		return true;
	}
	flag = flag_find(name);
	if (flag) {
		sink_fmt(out, "--%s: %s\n", flag->name, flag->help);
		return true;
	}
	if (!option_find(name, &row))
		return put_value(s, topic, out);
	sink_fmt(out, "-%s: %s%s%s\n", row.name, row.help, row.preset[0] ? "; default " : "",
	        row.preset);
	put_words(s, &row, out);
	return true;
}

bool help_write(struct session *s, const struct strs *topics, struct sink *out)
{
	if (topics->n == 0)
		help_usage(s, out);
	for (size_t i = 0; i < topics->n; i++) {
		if (i)
			sink_char(out, '\n');
		if (!put_topic(s, topics->v[i], out))
			return false;
	}
	return true;
}
