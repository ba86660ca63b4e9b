/* SPDX-License-Identifier: Apache-2.0
 *
 * The manual pages: one of the program, one of each command.
 */
#include "gen_docs.h"

/* Text as roff reads it. */
static void put(FILE *f, const char *s)
{
	for (bool first = true; *s; first = *s++ == '\n') {
		if (first && (*s == '.' || *s == '\''))
			fputs("\\&", f);
		if (*s == '-')
			fputs("\\-", f);
		else if (*s == '\\')
			fputs("\\e", f);
		else if (*s == '\'')
			fputs("\\(aq", f);
		else
			fputc(*s, f);
	}
}

static void put_head(FILE *f, const char *name, const char *what)
{
	fprintf(f,
	        ".\\\" Made by tools/gen_docs.c; do not edit.\n.TH %s 1 \"\" \"tfprof %s\" \"User "
	        "Commands\"\n.SH NAME\n",
	        name, TFPROF_VERSION);
	put(f, name);
	fputs(" \\- ", f);
	put(f, what);
	fputs("\n", f);
}

static void put_section(FILE *f, const char *name)
{
	fprintf(f, ".SH %s\n", name);
}

static void put_item(FILE *f, const char *before, const char *name, const char *value)
{
	fputs(".TP\n.B ", f);
	put(f, before);
	put(f, name);
	if (value) {
		fputs(*before && before[1] ? "\\fR=\\fI" : " \\fI", f);
		put(f, value);
		fputs("\\fR", f);
	}
	fputs("\n", f);
}

/* An item and its sentence. */
static void put_row(
        FILE *f, const char *before, const char *name, const char *value, const char *help)
{
	put_item(f, before, name, value);
	put(f, help);
	fputs(".\n", f);
}

/* Those that mean something to the command; of no command: all. */
static void put_options(FILE *f, const struct command *c)
{
	for (const struct option *row = view_options; row; row = option_next(row)) {
		if (c && !cmd_has_option(c, row))
			continue;
		put_item(f, "-", row->name, option_argument(row));
		put(f, row->help);
		if (row->preset[0]) {
			fputs(" (default ", f);
			put(f, row->preset);
			fputs(")", f);
		}
		fputs(".\n", f);
	}
}

static void put_flags(FILE *f)
{
	for (const struct option *row = options_of(SCOPE_FLAGS); row; row = option_next(row))
		put_row(f, "--", row->name, option_argument(row), row->help);
}

static void put_metrics(FILE *f, enum vk only)
{
	for (enum metric_id m = 0; m < M_N; m++) {
		if (!(metrics[m].uses & USE_SELECT) ||
		        (only != VK_N && !metrics[m].in[only].rank && m != M_NUM_HIDDEN_OPS))
			continue;
		put_item(f, "", metrics[m].name, NULL);
		put(f, metrics[m].doc[0]);
		fputs("\n", f);
	}
}

static void put_examples(FILE *f, const char *lines)
{
	if (!*lines)
		return;
	put_section(f, "EXAMPLES");
	fputs(".nf\n", f);
	put(f, lines);
	fputs(".fi\n", f);
}

static void put_own_options(FILE *f, const struct option *row)
{
	for (; row; row = option_next(row)) {
		const char *value = option_argument(row);
		bool letter = row->name[1] == '\0', alone = row->flags & OPTION_ALONE;
		fputs(".TP\n.B ", f);
		put(f, option_dashes(row));
		put(f, row->name);
		if (value) {
			fputs(letter ? " \\fI" : alone ? "\\fR[=\\fI" : "\\fR=\\fI", f);
			put(f, value);
			fputs(alone ? "\\fR]" : "\\fR", f);
		}
		fputs("\n", f);
		put(f, row->help);
		fputs(".\n", f);
	}
}

void docs_page_of(const struct command *c)
{
	char name[64], file[80];

	snprintf(name, sizeof name, "tfprof-%s", c->name);
	snprintf(file, sizeof file, "%s.1", name);
	FILE *f = docs_begin("man", file);
	put_head(f, name, c->help);
	put_section(f, "SYNOPSIS");
	fputs(".B tfprof ", f);
	put(f, c->name);
	if (c->synopsis) {
		fputs(" \\fI", f);
		put(f, c->synopsis);
		fputs("\\fR", f);
	}
	fputs(c->synopsis      ? "\n"
	        : c->own_words ? " \\fIWORDS\\fR\n"
	        : c->view      ? " \\fIFILE\\fR... [\\fIOPTIONS\\fR]\n"
	                       : "\n",
	        f);
	put_section(f, "DESCRIPTION");
	put(f, c->about);
	fputs("\n", f);
	if (options_of(c->name)) {
		put_section(f, c->view_options ? "OPTIONS OF ITS OWN" : "OPTIONS");
		put_own_options(f, options_of(c->name));
	}
	if (c->view || c->view_options) {
		put_section(f, "OPTIONS");
		put_options(f, c);
	}
	if (c->view) {
		put_section(f, "COLUMNS (-select)");
		put_metrics(f, c->view->kind);
	}
	put_examples(f, c->examples);
	put_section(f, "SEE ALSO");
	fputs(".BR tfprof (1)\n", f);
	docs_end(f);
}

static const char MAIN_ABOUT[] =
        "Answers where a TensorFlow model's time, memory, parameters and float operations go, from "
        "the files that TensorFlow leaves behind. FILEs are sorted out by content; the flags say "
        "what is what. Several run metadata files are steps 0, 1, 2 in their order. Files may be "
        "binary or text and may be compressed with gzip. Options are -name value, --name value or "
        "--name=value and may stand before or after the command. Without a command the prompt "
        "opens; where standard input is no terminal, commands are read from it, one a line.";
static const char MAIN_PROMPT[] =
        "Tab completes commands, options, values and names of nodes; the arrow keys bring back "
        "what "
        "was typed before. Ctrl-C ends what is running, Ctrl-D the session. An empty line shows "
        "the "
        "options. A line may end in | PROGRAM, > FILE or >> FILE; no shell is involved.";
static const char MAIN_FILES[] =
        ".TP\n.I .tfprof_history.txt\nlines typed at the prompt, if it is in the current folder; "
        "else\n.I ~/.local/state/tfprof/history.txt\n(XDG_STATE_HOME is respected).\n";
static const char MAIN_ENV[] =
        ".TP\n.B PAGER\nprogram for long answers on a terminal; less if it is not set.\n.TP\n.B "
        "NO_COLOR, CLICOLOR_FORCE\nno colours; colours even where no terminal is.\n.TP\n.B "
        "TFPROF_THREADS\nhow many threads read step files; the number of CPUs if it is not "
        "set.\n.TP\n.B "
        "TFPROF_CUPTI_PATH\nthe libcupti that recorded programs without one of their own "
        "load.\n.TP\n.B TFPROF_JOB\nthe name of the job to which recorded processes belong.\n";
static const char MAIN_STATUS[] = "0 done; 1 the command failed; 2 wrong words; 3 an input that "
                                  "cannot be read or parsed. That "
                                  "of record is the status of the program it ran. Where "
                                  "nobody reads standard output any more SIGPIPE ends it.";

void docs_main_page(void)
{
	FILE *f = docs_begin("man", "tfprof.1");

	put_head(f, "tfprof", "profiler for TensorFlow models");
	put_section(f, "SYNOPSIS");
	fputs(".B tfprof\n[\\fICOMMAND\\fR] [\\fIFLAGS\\fR] [\\fIFILE\\fR...] [\\fIOPTIONS\\fR]\n",
	        f);
	put_section(f, "DESCRIPTION");
	put(f, MAIN_ABOUT);
	fputs("\n", f);
	put_examples(f, "tfprof scope graph.pbtxt run_meta tfprof_log -select micros,bytes\n"
	                "tfprof op --profile_path=profile_100 -order_by micros\n"
	                "tfprof help scope\n");
	put_section(f, "COMMANDS");
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		put_row(f, "", c->name, NULL, c->help);
	put_section(f, "FLAGS");
	put_flags(f);
	put_section(f, "OPTIONS");
	put_options(f, NULL);
	put_section(f, "COLUMNS (-select)");
	put_metrics(f, VK_N);
	put_section(f, "STATISTICS (-stats)");
	for (enum stat_id i = 0; i < STATS_N; i++)
		put_row(f, "", stat_rows[i].name, NULL, stat_rows[i].help);
	put_section(f, "OUTPUTS");
	for (enum output_kind i = 0; i < OUT_N; i++)
		put_row(f, "", output_rows[i].name, NULL, output_rows[i].help);
	put_section(f, "PROMPT");
	put(f, MAIN_PROMPT);
	fputs("\n", f);
	put_section(f, "EXIT STATUS");
	put(f, MAIN_STATUS);
	fputs("\n", f);
	put_section(f, "ENVIRONMENT");
	fputs(MAIN_ENV, f);
	put_section(f, "FILES");
	fputs(MAIN_FILES, f);
	docs_end(f);
}
