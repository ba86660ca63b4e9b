/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts. Names, presets and explanations come from the tables alone.
 */
#include "lib/help.h"
#include "lib/cmd.h"
#include "lib/flags.h"
#include "lib/words.h"

#define INTRO                                                                                      \
	"tfprof answers where a TensorFlow model's time, memory, parameters and float operations " \
	"go."
static const char *const EXAMPLES =
        "\n"
        "Examples\n"
        "  tfprof scope graph.pbtxt run_meta tfprof_log -select micros,bytes\n"
        "  tfprof op --profile_path=profile_100 -order_by micros -select micros,occurrence\n"
        "  tfprof code --profile_path=profile_100 -max_depth 20 -show_name_regexes '.*train.*'\n"
        "  printf 'scope -max_depth 3\\nset -select bytes\\nscope\\n' | tfprof "
        "--profile_path=profile_100\n"
        "\n"
        "Usage: tfprof [COMMAND] [FLAGS] [FILE...] [OPTIONS]\n";
static const char *const USAGE[] = {
	"FILEs are sorted out by their content; the flags say what is what, and --profile_path=- "
	"is "
	"standard input. gzip is undone.",
	"Options are -name value, --name value or --name=value, before or after the command.",
	"Without a command, lines of commands are read from standard input.",
};

#define COLUMNS      100 /* of a line, unless the terminal has fewer */
#define COLUMNS_MIN  20
#define ROOM_MIN     30 /* columns for an explanation beside its word; with less it stands below */
#define BELOW        6  /* blanks before it there */
#define OUTPUT_WORDS 13 /* columns of words: of outputs, commands and statistics */
#define METRIC_WORDS 22
#define FLAG_WORDS   26
#define OPTION_WORDS 30

void help_put_hanging(unsigned columns, struct str text, size_t blanks, struct sink *out)
{
	size_t all = columns && columns < COLUMNS ? columns : COLUMNS;
	const size_t room = (all < COLUMNS_MIN ? COLUMNS_MIN : all) - blanks;

	for (bool first = true; text.n; first = false) {
		size_t n = text.n;
		if (n > room) {
			size_t blank = str_rfind_char(str_sub(text, 0, room + 1), ' ');
			n = blank == SIZE_MAX || !blank ? room : blank;
		}
		for (size_t i = 0; i < blanks && !first; i++)
			sink_char(out, ' ');
		sink_put(out, str_sub(text, 0, n));
		sink_char(out, '\n');
		text = str_sub(text, text.n > n && text.p[n] == ' ' ? n + 1 : n, SIZE_MAX);
	}
}

static void put_hanging(const struct session *s, struct str text, size_t blanks, struct sink *out)
{
	help_put_hanging(s->columns, text, blanks, out);
}

/* A word, and from column `at` on what it means; on a narrow terminal that stands below. */
static void put_item(
        const struct session *s, struct str word, size_t at, struct str text, struct sink *out)
{
	size_t from = s->columns && s->columns < at + ROOM_MIN ? BELOW : at, here = word.n + 2;

	sink_fmt(out, "  %.*s", STR(word));
	if (from < at || here >= at) {
		sink_char(out, '\n');
		here = 0;
	}
	for (; here < from; here++)
		sink_char(out, ' ');
	put_hanging(s, text, from, out);
}

static void put_line(const struct session *s, struct str text, struct sink *out)
{
	sink_put(out, text.n ? S("  ") : STR_NONE);
	put_hanging(s, text, 2, out);
}

/* The first line about a word. */
static void put_head(
        struct session *s, const char *dashes, const char *word, const char *text, struct sink *out)
{
	put_hanging(s, str_fmt(&s->query_arena, "%s%s: %s", dashes, word, text), 2, out);
}

static void put_flags(struct session *s, struct sink *out)
{
	sink_put(out, S("Flags\n"));
	for (size_t i = 0; i < n_flag_rows; i++) {
		const struct flag *f = &flag_rows[i];
		struct str name = str_fmt(&s->query_arena, "--%s%s%s", f->name, f->value ? "=" : "",
		        f->value ? f->value : "");
		put_item(s, name, FLAG_WORDS, str_of(f->help), out);
	}
}

static void put_commands(struct session *s, struct sink *out)
{
	sink_put(out, S("Commands\n"));
	for (size_t i = 0; i < n_commands; i++)
		put_item(s, str_of(commands[i].name), OUTPUT_WORDS, str_of(commands[i].help), out);
}

static void put_metrics(struct session *s, struct sink *out)
{
	sink_put(out, S("Metrics (-select NAME,..., -order_by NAME)\n"));
	for (enum metric_id i = 0; i < M_N; i++)
		put_item(s, str_of(metrics[i].name), METRIC_WORDS,
		        str_of(metrics[i].doc[0] ? metrics[i].doc[0] : "for -order_by alone"), out);
}

static void put_outputs(struct session *s, struct sink *out)
{
	sink_put(out, S("Outputs (-output TYPE or TYPE:outfile=FILE)\n"));
	for (enum output_kind i = 0; i < OUT_N; i++)
		put_item(s, str_of(output_rows[i].name), OUTPUT_WORDS, str_of(output_rows[i].help),
		        out);
}

static void put_stats(struct session *s, struct sink *out)
{
	sink_put(out, S("Statistics over the steps (-stats NAME,...)\n"));
	for (enum stat_id i = 0; i < STATS_N; i++)
		put_item(
		        s, str_of(stat_rows[i].name), OUTPUT_WORDS, str_of(stat_rows[i].help), out);
}

/* Those that mean something to the command; of no command: all. */
static void put_options(struct session *s, const struct command *c, struct sink *out)
{
	struct option rows[OPTIONS_MAX];
	struct arena *a = &s->query_arena;
	size_t n = option_rows(rows);

	sink_put(out, S("Options\n"));
	for (size_t i = 0; i < n; i++)
		if (!c || cmd_has_option(c, &rows[i])) {
			const char *preset = rows[i].preset;
			put_item(s, str_fmt(a, "-%s", rows[i].name), OPTION_WORDS,
			        str_fmt(a, "%s%s%s%s", rows[i].help, preset[0] ? " [" : "", preset,
			                preset[0] ? "]" : ""),
			        out);
		}
	struct sb select = sb_in(a), order = sb_in(a);
	metric_names(&select, USE_SELECT, ", ");
	metric_names(&order, USE_ORDER, ", ");
	put_line(s, str_fmt(a, "-select: %.*s", STR(sb_str(&select))), out);
	put_line(s, str_fmt(a, "-order_by: %.*s", STR(sb_str(&order))), out);
	put_line(s,
	        S("Lists are separated by commas; patterns are regular expressions that match "
	          "the whole name."),
	        out);
}

static void put_all_options(struct session *s, struct sink *out)
{
	put_options(s, NULL, out);
}

const struct help_section help_sections[] = {
	{ "commands", put_commands, true },
	{ "flags", put_flags, true },
	{ "options", put_all_options, true },
	{ "metrics", put_metrics, false },
	{ "outputs", put_outputs, true },
	{ "statistics", put_stats, false },
};
const size_t n_help_sections = sizeof help_sections / sizeof *help_sections;

void help_usage(struct session *s, struct sink *out)
{
	put_hanging(s, S(INTRO), 0, out);
	sink_put(out, str_of(EXAMPLES));
	for (size_t i = 0; i < sizeof USAGE / sizeof *USAGE; i++)
		put_line(s, str_of(USAGE[i]), out);
	for (size_t i = 0; i < n_help_sections; i++)
		if (help_sections[i].in_usage) {
			sink_char(out, '\n');
			help_sections[i].put(s, out);
		}
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
		put_item(s, sb_str(&name), OPTION_WORDS, str_of(w->help), out);
	}
}

static void put_command(struct session *s, const struct command *c, struct sink *out)
{
	struct strs lines = str_split(&s->query_arena, str_of(c->examples), '\n');

	put_head(s, "", c->name, c->help, out);
	sink_char(out, '\n');
	put_line(s, str_of(c->about), out);
	put_own_words(s, c, out);
	if (lines.n)
		sink_put(out, S("\nExamples\n"));
	for (size_t i = 0; i < lines.n; i++)
		sink_fmt(out, "  %.*s\n", STR(lines.v[i]));
	if (c->view || c->view_options) {
		sink_char(out, '\n');
		put_options(s, c, out);
	}
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

	if (row->type == OPT_OUTPUT || row->type == OPT_STATS) {
		sink_char(out, '\n');
		(row->type == OPT_OUTPUT ? put_outputs : put_stats)(s, out);
		return;
	}
	if (row->type == OPT_ORDER)
		metric_names(&b, USE_ORDER, ", ");
	else if (row->type == OPT_SELECT)
		metric_names(&b, USE_SELECT, ", ");
	else if (option_words(row))
		put_choice(&b, option_words(row));
	else if (row->type == OPT_PATTERNS)
		sb_put(&b, S("regular expressions that match the whole name, separated by commas"));
	if (!b.n)
		return;
	sink_char(out, '\n');
	put_line(s, sb_str(&b), out);
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
	for (size_t i = 0; i < n_help_sections; i++)
		strs_add(&s->query_arena, &names, str_of(help_sections[i].name));
	struct str near = nearest_word(topic, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "there is no help on '%.*s'; did you mean '%.*s'?", STR(topic), STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "there is no help on '%.*s'; topics are commands, flags, options, metrics, "
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
	put_head(s, "", m->name, str_z(a, all), out);
	if (m->doc[0])
		sink_char(out, '\n');
	for (size_t i = 0; i < sizeof m->doc / sizeof *m->doc && m->doc[i]; i++)
		put_line(s, str_of(m->doc[i]), out);
}

static void put_output(struct session *s, const struct output_row *o, struct sink *out)
{
	const char *file = o->required & KEY_OUTFILE ? ":outfile=FILE"
	                   : o->keys & KEY_OUTFILE   ? "[:outfile=FILE]"
	                                             : "";

	put_head(s, "", o->name, o->help, out);
	sink_fmt(out, "\n  -output %s%s\n", o->name, file);
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
			put_output(s, &output_rows[i], out);
			return true;
		}
	for (enum stat_id i = 0; i < STATS_N; i++)
		if (str_eq(topic, str_of(stat_rows[i].name))) {
			put_head(s, "", stat_rows[i].name, stat_rows[i].help, out);
			sink_fmt(out, "\n  -stats %s\n", stat_rows[i].name);
			return true;
		}
	for (size_t i = 0; i < n_help_sections; i++)
		if (str_eq(topic, str_of(help_sections[i].name))) {
			help_sections[i].put(s, out);
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
		put_head(s, "--", flag->name, flag->help, out);
		return true;
	}
	if (!option_find(name, &row))
		return put_value(s, topic, out);
	struct str about = str_fmt(
	        &s->query_arena, "%s%s%s", row.help, row.preset[0] ? "; default " : "", row.preset);
	put_head(s, "-", row.name, str_z(&s->query_arena, about), out);
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
