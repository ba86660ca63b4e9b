/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts. Names, defaults and explanations come only from the tables.
 */
#include "lib/command.h"
#include "lib/options.h"
#include "trace/pass/communication.h"
#include "why/why.h"

#define INTRO "tfprof shows where a model's time, memory, parameters and float operations go."
static const char *const USAGE = "\n"
                                 "Usage: tfprof [COMMAND] [FILE...] [OPTIONS]\n"
                                 "       tfprof FILE...           open a prompt\n"
                                 "\n";
static const char *const PURPOSES[PURPOSE_N] = {
	[PURPOSE_STEP] = "Why a step takes its time",
	[PURPOSE_VIEWS] = "Where time, memory, parameters and float operations go",
	[PURPOSE_DEVICES] = "Devices and memory",
	[PURPOSE_SCREENS] = "Pages, full screen, agents",
	[PURPOSE_COMPARE] = "Compare runs",
	[PURPOSE_FILES] = "Files",
	[PURPOSE_RECORD] = "Record GPU work",
	[PURPOSE_SESSION] = "Prompt and scripts",
};
static const char *const EXAMPLES = "\n"
                                    "Examples\n"
                                    "  tfprof why rank0.pt.trace.json\n"
                                    "  tfprof op trace.xplane.pb -n 10\n"
                                    "  tfprof diff profile_100 profile_200\n"
                                    "\n";
static const char *const MORE[] = {
	"tfprof help WORD explains a command, an option, a metric or an output.",
	"tfprof help all lists everything; so does man tfprof.",
};
static const char *const RULES[] = {
	"The format of a FILE is recognised by its content; a flag below can state it instead.",
	"Files may be compressed with gzip; --profile_path=- is standard input.",
	"Options are -name value, --name value or --name=value, before or after the command.",
	"Without a command, commands are read from standard input, one per line.",
};

#define ROOM_MIN      30 /* columns for an explanation; with fewer, it is on the next line */
#define BELOW         6  /* indent of an explanation below its word */
#define COMMAND_WORDS 15
#define OUTPUT_WORDS  13 /* columns of names of outputs and statistics */
#define INPUT_WORDS   27
#define METRIC_WORDS  22
#define FLAG_WORDS    26
#define OPTION_WORDS  30

static void put_hanging(const struct session *s, struct str text, size_t blanks, struct sink *out)
{
	sink_wrap(out, text, s->columns, blanks);
}

/* Writes a word and, from column `at` on, its explanation. On a narrow terminal, the explanation is
 * on the next line. */
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

/* Writes the first line about a word. */
static void put_head(
        struct session *s, const char *dashes, const char *word, const char *text, struct sink *out)
{
	put_hanging(s, str_fmt(&s->query_arena, "%s%s: %s", dashes, word, text), 2, out);
}

static bool is_view_option(const struct option *row)
{
	return strcmp(row->scope, SCOPE_VIEWS) == 0;
}

/* Writes one option: name, argument, explanation; for a view option also the default. */
static void put_option(struct session *s, const struct option *row, size_t at, struct sink *out)
{
	struct sb name = sb_in(&s->query_arena);
	const char *preset = is_view_option(row) ? row->preset : "";

	if (is_view_option(row))
		sb_fmt(&name, "-%s", row->name);
	else
		option_usage(&name, row);
	struct str text = str_fmt(&s->query_arena, "%s%s%s%s", row->help, preset[0] ? " [" : "",
	        preset, preset[0] ? "]" : "");
	put_item(s, sb_str(&name), at, text, out);
}

static void put_flags(struct session *s, struct sink *out)
{
	sink_put(out, S("Flags\n"));
	for (const struct option *f = flag_options; f; f = option_next(f))
		put_option(s, f, FLAG_WORDS, out);
}

static void put_commands(struct session *s, struct sink *out)
{
	sink_put(out, S("Commands\n"));
	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;)
		put_item(s, str_of(c->name), COMMAND_WORDS, str_of(c->help), out);
}

static void put_metrics(struct session *s, struct sink *out)
{
	sink_put(out, S("Metrics (-select NAME,..., -order_by NAME)\n"));
	for (enum metric_id i = 0; i < M_N; i++)
		put_item(s, str_of(metrics[i].name), METRIC_WORDS,
		        str_of(metrics[i].doc[0] ? metrics[i].doc[0] : "for -order_by alone"), out);
}

static void put_inputs(struct session *s, struct sink *out)
{
	sink_put(out, S("Inputs (FILE...)\n"));
	for (size_t i = 0; i < n_inputs; i++)
		put_item(s, str_of(inputs[i].name), INPUT_WORDS, str_of(inputs[i].help), out);
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

static void put_communication(struct session *s, struct sink *out)
{
	static const char *const by[] = { [COMMUNICATION_PREFIX] = "beginning of the kernel's name",
		[COMMUNICATION_NAME] = "part of the kernel's name",
		[COMMUNICATION_OP] = "beginning of the name of the op or range that launched it",
		[COMMUNICATION_ARGUMENT] = "argument of the slice" };

	sink_put(out, S("Device work that counts as communication\n"));
	for (size_t i = 0; i < communication_n; i++) {
		const struct communication_row *row = &communication_rows[i];
		struct str text = str_fmt(&s->query_arena, "%s: %s", row->library, by[row->by]);
		put_item(s, str_of(row->text), INPUT_WORDS, text, out);
	}
}

static void put_idle(struct session *s, struct sink *out)
{
	sink_put(out, S("Causes of idle time of devices\n"));
	for (enum idle_cause i = 0; i < IDLE_CAUSES; i++)
		put_item(s, str_of(idle_names[i]), INPUT_WORDS, str_of(idle_meanings[i]), out);
}

/* A word of an answer, and its meaning. */
struct help_row {
	const char *word, *meaning;
};

static void put_rows(struct session *s, const char *title, const struct help_row *rows, size_t n,
        struct sink *out)
{
	sink_fmt(out, "%s\n", title);
	for (size_t i = 0; i < n; i++)
		put_item(s, str_of(rows[i].word), INPUT_WORDS, str_of(rows[i].meaning), out);
}

static void put_share(struct session *s, struct sink *out)
{
	static const struct help_row rows[] = {
		{ "op", "the first percentage is the share of this type plus all types below it in "
		        "the list; the second is the share of this type alone" },
		{ "top", "share is the node's own share of the total; sum adds the shares of the "
		         "lines above; host share is the part of the host time, if the table is "
		         "ordered by device time" },
		{ "summary", "share is the part of the total time of all operations, on the device "
		             "or on the host" },
		{ "kernels",
		        "share is the part of the time of all kernels, copies and memory sets" },
		{ "flops",
		        "the first share is of the float operations; the second is of the device "
		        "time" },
		{ "peek", "shares are of the time of NAME" },
	};

	put_rows(s, "Shares in tables", rows, sizeof rows / sizeof *rows, out);
}

static void put_columns(struct session *s, struct sink *out)
{
	static const struct help_row rows[] = {
		{ "a/b", "scope, graph and code: a is the number of the node itself, b the sum "
		         "with all nodes below it" },
		{ "(a%, b%)",
		        "op: a is the share of this type plus all types below it in the list, b "
		        "the share of this type" },
		{ "run|defined", "number of executions in a step, and of nodes" },
		{ "device, host", "time of the device work that an op launched; time of the op "
		                  "itself on its thread, without the ops inside" },
		{ "own, sum", "number of the node itself; sum of the shares of the lines above" },
		{ "calls, mean", "number of executions, and the mean time of one" },
		{ "window", "time that the answer is about: a step, or the whole trace" },
		{ "step time", "wall time of a step: its end minus its start" },
		{ "busy", "time in which the device did any work" },
		{ "compute", "time in which kernels ran that are not communication" },
		{ "exposed comm.", "time of communication during which no kernel computed" },
		{ "exposed copy", "time of copies without a kernel or communication" },
		{ "idle", "rest of the time; compute, exposed communication, exposed copy and "
		          "idle add up to it (help idle)" },
		{ "peak, live",
		        "largest number of bytes in use; bytes in use at the chosen moment" },
		{ "reserved", "bytes that the allocator held, including free blocks" },
		{ "capacity", "memory of the device" },
		{ "roof", "share of the rate that the device allows the op" },
		{ "saved", "time that a step would be shorter" },
		{ "~", "the number after it is an upper bound; after ≥, it is a lower bound" },
	};

	put_rows(s, "Columns of tables (docs/TIME.md; shares: help share)", rows,
	        sizeof rows / sizeof *rows, out);
}

static void put_exit_status(struct session *s, struct sink *out)
{
	static const struct help_row rows[] = {
		{ "0", "success" },
		{ "1", "the command failed; a gate of diff fails or is inconclusive; --fail-on "
		       "found a problem, or why has no verdict for it" },
		{ "2", "usage error" },
		{ "3", "an input cannot be read or parsed" },
	};

	put_rows(s, "Exit status (record: that of the recorded program)", rows,
	        sizeof rows / sizeof *rows, out);
}

static void put_parquet(struct session *s, struct sink *out)
{
	static const struct help_row rows[] = {
		{ "csv, json",
		        "tfprof kernels FILE -n 0 -o kernels.csv; pandas and DuckDB read it" },
		{ "Parquet", "Python: import tfprof, pyarrow.parquet as pq; "
		             "pq.write_table(tfprof.open(FILE).kernels().to_arrow(), "
		             "'kernels.parquet')" },
		{ "Arrow", "to_arrow() of the Python package, for all tables (docs/TABLES.md)" },
		{ "many files", "tfprof.fleet writes Parquet data sets (docs/FLEET.md)" },
	};

	put_rows(s, "Tables for other programs", rows, sizeof rows / sizeof *rows, out);
}

/* Writes the options of the command. If c is NULL, writes all view options. */
static void put_options(struct session *s, const struct command *c, struct sink *out)
{
	struct arena *a = &s->query_arena;

	sink_put(out, S("Options\n"));
	for (const struct option *row = view_options; row; row = option_next(row))
		if (!c || cmd_has_option(c, row))
			put_option(s, row, OPTION_WORDS, out);
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

static void put_all(struct session *s, struct sink *out)
{
	put_hanging(s, S(INTRO), 0, out);
	sink_put(out, str_of(USAGE));
	for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
		put_line(s, str_of(RULES[i]), out);
	for (size_t i = 0; i < n_help_sections; i++) {
		if (help_sections[i].put == put_all ||
		        (i && help_sections[i].put == help_sections[i - 1].put))
			continue; /* a section may have two names */
		sink_char(out, '\n');
		help_sections[i].put(s, out);
	}
}

const struct help_section help_sections[] = {
	{ "all", put_all },
	{ "commands", put_commands },
	{ "flags", put_flags },
	{ "inputs", put_inputs },
	{ "options", put_all_options },
	{ "metrics", put_metrics },
	{ "outputs", put_outputs },
	{ "statistics", put_stats },
	{ "communication", put_communication },
	{ "idle", put_idle },
	{ "share", put_share },
	{ "columns", put_columns },
	{ "exit-status", put_exit_status },
	{ "parquet", put_parquet },
	{ "arrow", put_parquet },
};
const size_t n_help_sections = sizeof help_sections / sizeof *help_sections;

/* Writes the commands of one purpose, each with its explanation; commands of the prompt only by
 * name. */
static void put_purpose(struct session *s, enum purpose p, struct sink *out)
{
	struct strs names = { 0 };

	sink_fmt(out, "%s\n", PURPOSES[p]);
	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;) {
		if (c->purpose != p)
			continue;
		if (p == PURPOSE_SESSION)
			strs_add(&s->query_arena, &names, str_of(c->name));
		else
			put_item(s, str_of(c->name), COMMAND_WORDS, str_of(c->help), out);
	}
	if (names.n)
		put_line(s, strs_join(&s->query_arena, &names, S(" ")), out);
}

/* Writes the short help: usage, commands by purpose, examples. */
static void put_usage(struct session *s, struct sink *out)
{
	put_hanging(s, S(INTRO), 0, out);
	sink_put(out, str_of(USAGE));
	for (enum purpose p = 0; p < PURPOSE_N; p++)
		put_purpose(s, p, out);
	sink_put(out, str_of(EXAMPLES));
	for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++)
		put_line(s, str_of(MORE[i]), out);
}

/* Writes the options of this command only. */
static void put_own_options(struct session *s, const struct command *c, struct sink *out)
{
	const struct option *row = options_of(c->name);

	if (c->synopsis)
		sink_fmt(out, "\nUsage: tfprof %s %s\n", c->name, c->synopsis);
	if (row || cmd_takes_some(c))
		sink_put(out, c->view_options && !cmd_takes_some(c)
		                      ? S("\nOptions of this command\n")
		                      : S("\nOptions\n"));
	for (; row; row = option_next(row))
		put_option(s, row, OPTION_WORDS, out);
	bool lists = cmd_takes_some(c) || !c->view_options;
	for (row = lists && !c->view ? view_options : NULL; row; row = option_next(row))
		if (cmd_lists_option(c, row))
			put_option(s, row, OPTION_WORDS, out);
}

static void put_command(struct session *s, const struct command *c, struct sink *out)
{
	struct strs lines = str_split(&s->query_arena, str_of(c->examples), '\n');

	put_head(s, "", c->name, c->help, out);
	sink_char(out, '\n');
	put_line(s, str_of(c->about), out);
	put_own_options(s, c, out);
	if (lines.n)
		sink_put(out, S("\nExamples\n"));
	for (size_t i = 0; i < lines.n; i++)
		sink_fmt(out, "  %.*s\n", STR(lines.v[i]));
	if (c->view || (c->view_options && !cmd_takes_some(c))) {
		sink_char(out, '\n');
		put_options(s, c, out);
	}
}

/* ---- help within one screen ---- */

#define SHORT_ABOUT    300 /* maximum size, bytes; cut after a sentence */
#define SHORT_OPTIONS  14  /* number of options that get a line; the others are only named */
#define SHORT_EXAMPLES 2

/* Returns the first sentences of a text. */
static struct str first_sentences(struct str text, size_t most)
{
	struct str rest = text;
	size_t end = 0, n;

	while ((n = str_find(rest, S(". "))) != SIZE_MAX && (!end || end + n + 1 <= most)) {
		end += n + 1;
		rest = str_sub(text, end, SIZE_MAX);
	}
	return end && text.n > most ? str_sub(text, 0, end) : text;
}

/* Writes one line about an option, cut to the width. */
static void put_option_line(struct session *s, const struct option *row, struct sink *out)
{
	struct sb line = sb_in(&s->query_arena), name = sb_in(&s->query_arena);
	size_t width = s->columns ? s->columns : 100;

	if (is_view_option(row))
		sb_fmt(&name, "-%s", row->name);
	else if (option_argument(row) && row->choices)
		sb_fmt(&name, "%s%s=...", option_dashes(row), row->name);
	else
		option_usage(&name, row);
	sb_fmt(&line, "  %.*s ", STR(sb_str(&name)));
	while (line.n < 24)
		sb_char(&line, ' ');
	sb_put(&line, str_of(row->help));
	struct str text = sb_str(&line);
	if (text.n > width) {
		size_t end = width - 3;
		while (end > 24 && text.p[end] != ' ')
			end--;
		text = str_fmt(&s->query_arena, "%.*s...", STR(str_sub(text, 0, end)));
	}
	sink_fmt(out, "%.*s\n", STR(text));
}

/* True for the view options that most questions need, in the order of the table. */
static bool is_common(const struct option *row)
{
	static const char *const names[] = { "max_depth", "min_micros", "step", "order_by",
		"show_name_regexes", "select", "output", "o", "top", "by" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return false;
}

/* Writes the options of a command: a line for each of the first ones, and the names of the
 * others. */
static void put_short_options(struct session *s, const struct command *c, struct sink *out)
{
	struct sb more = sb_in(&s->query_arena);
	size_t lines = 0;

	for (const struct option *row = options_of(c->name); row; row = option_next(row)) {
		if (!lines)
			sink_put(out, S("\nOptions\n"));
		if (lines++ < SHORT_OPTIONS)
			put_option_line(s, row, out);
		else
			sb_fmt(&more, "%s%s%s", more.n ? ", " : "", option_dashes(row), row->name);
	}
	for (const struct option *row = view_options; row; row = option_next(row)) {
		if (!cmd_lists_option(c, row) || option_of(c, str_of(row->name)))
			continue;
		if (!lines)
			sink_put(out, S("\nOptions\n"));
		if (is_common(row) && lines < SHORT_OPTIONS) {
			put_option_line(s, row, out);
			lines++;
		} else {
			sb_fmt(&more, "%s-%s", more.n ? ", " : "", row->name);
		}
	}
	if (more.n)
		put_line(s, str_fmt(&s->query_arena, "also %.*s", STR(sb_str(&more))), out);
}

void help_write_short(struct session *s, const struct command *c, struct sink *out)
{
	struct strs lines = str_split(&s->query_arena, str_of(c->examples), '\n');

	put_head(s, "", c->name, c->help, out);
	if (c->synopsis)
		sink_fmt(out, "\nUsage: tfprof %s %s\n", c->name, c->synopsis);
	sink_char(out, '\n');
	put_line(s, first_sentences(str_of(c->about), SHORT_ABOUT), out);
	put_short_options(s, c, out);
	if (lines.n)
		sink_put(out, S("\nExamples\n"));
	for (size_t i = 0; i < lines.n && i < SHORT_EXAMPLES; i++)
		sink_fmt(out, "  %.*s\n", STR(lines.v[i]));
	sink_fmt(out, "\n'help %s' explains all options; so does man tfprof-%s.\n", c->name,
	        c->name);
}

static void put_choices(struct session *s, const struct option *row, struct sb *b)
{
	struct strs choices = str_split(&s->query_arena, str_of(row->choices), '|');

	sb_put(b, strs_join(&s->query_arena, &choices, S(", ")));
}

/* Writes the values that an option accepts, if the tables list them. */
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
	else if (row->choices)
		put_choices(s, row, &b);
	else if (row->type == OPT_PATTERNS)
		sb_put(&b, S("regular expressions that match whole names, separated by commas"));
	if (!b.n)
		return;
	sink_char(out, '\n');
	put_line(s, sb_str(&b), out);
}

static bool unknown_topic(struct session *s, struct str topic)
{
	struct strs names = { 0 };

	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;)
		strs_add(&s->query_arena, &names, str_of(c->name));
	for (const struct option *row = view_options; row; row = option_next(row))
		strs_add(&s->query_arena, &names, str_of(row->name));
	for (enum metric_id i = 0; i < M_N; i++)
		strs_add(&s->query_arena, &names, str_of(metrics[i].name));
	for (enum output_kind i = 0; i < OUT_N; i++)
		strs_add(&s->query_arena, &names, str_of(output_rows[i].name));
	for (size_t i = 0; i < n_help_sections; i++)
		strs_add(&s->query_arena, &names, str_of(help_sections[i].name));
	for (int i = 0; i < WHY_IDS; i++)
		strs_add(&s->query_arena, &names, str_of(why_rows[i].id));
	struct str near = nearest_word(topic, names.v, names.n);
	if (near.n)
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "no help topic '%.*s'; did you mean '%.*s'?", STR(topic), STR(near));
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "no help topic '%.*s'; the topics are all, commands, flags, inputs, options, "
	        "metrics, outputs, statistics, communication, idle, share, columns, parquet and "
	        "exit-status",
	        STR(topic));
}

/* Writes the meaning of a metric, and the options that accept it. */
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
	if (m->unit == UNIT_TENSOR)
		put_line(s,
		        S("The line above is the text of TensorFlow's profiler. With "
		          "--checkpoint_path, tfprof shows the values of variables."),
		        out);
}

static void put_output(struct session *s, const struct output_row *o, struct sink *out)
{
	const char *keys = o->required & KEY_OUTFILE   ? ":outfile=FILE"
	                   : o->keys & KEY_SPREADSHEET ? "[:[outfile=FILE,][spreadsheet=1]]"
	                   : o->keys & KEY_OUTFILE     ? "[:outfile=FILE]"
	                                               : "";

	put_head(s, "", o->name, o->help, out);
	sink_fmt(out, "\n  -output %s%s\n", o->name, keys);
	if (o->keys & KEY_SPREADSHEET)
		put_line(s,
		        S("spreadsheet=1: a leading apostrophe is added to text that begins with = "
		          "+ - @, a tab or a line break, so that spreadsheets do not run it as a "
		          "formula."),
		        out);
}

static void put_about_option(struct session *s, const struct option *row, struct sink *out)
{
	bool preset = row->preset && row->preset[0];
	struct str about = str_fmt(&s->query_arena, "%s%s%s", row->help, preset ? "; default " : "",
	        preset ? row->preset : "");

	put_head(s, option_dashes(row), row->name, str_z(&s->query_arena, about), out);
	put_words(s, row, out);
}

/* Writes the options of a list that accept the topic as a value. Returns true if there is one. */
static bool put_choice_of(struct session *s, const struct option *row, const char *command,
        struct str topic, struct sink *out)
{
	bool any = false;

	for (; row; row = option_next(row)) {
		struct strs choices =
		        str_split(&s->query_arena, str_of(row->choices ? row->choices : ""), '|');
		for (size_t i = 0; i < choices.n; i++) {
			if (!str_eq(choices.v[i], topic))
				continue;
			sink_fmt(out, "tfprof %s%s", command, command[0] ? " " : "");
			put_about_option(s, row, out);
			any = true;
		}
	}
	return any;
}

/* Writes help about a value of a choice option. Returns false if no option has the value. */
static bool put_choice(struct session *s, struct str topic, struct sink *out)
{
	bool any = put_choice_of(s, options_of(SCOPE_FLAGS), "", topic, out);

	any |= put_choice_of(s, view_options, "", topic, out);
	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;)
		any |= put_choice_of(s, options_of(c->name), c->name, topic, out);
	return any;
}

/* Writes the help for a cause of why. Returns false if the topic is not a cause. */
static bool put_cause(struct session *s, struct str topic, struct sink *out)
{
	enum why_id id = why_find_row(topic);

	if (id == WHY_IDS)
		return false;
	const struct why_row *row = &why_rows[id];
	put_head(s, "", row->id, "a cause that why examines", out);
	sink_char(out, '\n');
	put_line(s,
	        str_fmt(&s->query_arena, "%s: %s lengthens the step.", row->label, row->subject),
	        out);
	if (row->note)
		put_line(s, str_of(row->note), out);
	put_line(s, str_of(row->advice), out);
	if (row->pytorch)
		put_line(s, str_fmt(&s->query_arena, "PyTorch: %s", row->pytorch), out);
	if (row->tensorflow)
		put_line(s, str_fmt(&s->query_arena, "TensorFlow: %s", row->tensorflow), out);
	sink_fmt(out, "\n  why --cause=%s\n  what-if cause:%s\n", row->id, row->id);
	return true;
}

/* Writes the help for a value of an option: a metric, an output, a statistic or a choice. */
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
	return put_cause(s, topic, out) || put_choice(s, topic, out) || unknown_topic(s, topic);
}

/* Writes the options of single commands with a given name. Returns false if there are none. */
static bool put_own(struct session *s, struct str name, struct sink *out)
{
	bool any = false;

	for (const struct command *c = NULL; (c = cmd_next(s, c)) != NULL;) {
		const struct option *row = option_in(options_of(c->name), name);
		if (!row)
			continue;
		if (any)
			sink_char(out, '\n');
		any = true;
		sink_fmt(out, "tfprof %s ", c->name);
		put_about_option(s, row, out);
	}
	return any;
}

static bool put_topic(struct session *s, struct str topic, struct sink *out)
{
	const struct command *c = cmd_find(s, topic);
	size_t dashes = 0;

	while (dashes < topic.n && topic.p[dashes] == '-')
		dashes++;
	struct str name = str_sub(topic, dashes, SIZE_MAX);
	if (c) {
		put_command(s, c, out);
		return true;
	}
	for (size_t i = 0; i < n_help_sections; i++)
		if (str_eq(topic, str_of(help_sections[i].name))) {
			help_sections[i].put(s, out);
			return true;
		}
	const struct option *row = flag_find(name);
	if (!row)
		row = view_option(name);
	if (row) {
		put_about_option(s, row, out);
		return true;
	}
	return put_own(s, name, out) || put_value(s, topic, out);
}

bool help_write(struct session *s, const struct strs *topics, struct sink *out)
{
	if (topics->n == 0)
		put_usage(s, out);
	for (size_t i = 0; i < topics->n; i++) {
		if (i)
			sink_char(out, '\n');
		if (!put_topic(s, topics->v[i], out))
			return false;
	}
	return true;
}
