/* SPDX-License-Identifier: Apache-2.0
 *
 * The manual pages: one of the program, one of each command.
 */
#include "gen_docs.h"

/* Writes text with the escapes of roff. */
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
	        ".\\\" Made by tools/gen_docs.c; do not edit.\n.TH %s 1 2026-11-22 \"tfprof %s\" "
	        "\"User "
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

static void put_subsection(FILE *f, const char *name)
{
	fprintf(f, ".SS %s\n", name);
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

/* Writes an item and its sentence. */
static void put_row(
        FILE *f, const char *before, const char *name, const char *value, const char *help)
{
	put_item(f, before, name, value);
	put(f, help);
	fputs(".\n", f);
}

/* Writes the options that apply to the command; NULL: all. */
static void put_options(FILE *f, const struct command *c)
{
	for (const struct option *row = view_options; row; row = option_next(row)) {
		if (c && !cmd_lists_option(c, row))
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
	for (const struct option *row = flag_options; row; row = option_next(row))
		put_row(f, "--", row->name, option_argument(row), row->help);
}

static void put_metrics(FILE *f)
{
	for (enum metric_id m = 0; m < M_N; m++) {
		if (!(metrics[m].uses & USE_SELECT))
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

/* Lists the pages of all commands. */
static void put_see_also(FILE *f)
{
	put_section(f, "SEE ALSO");
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		fputs(".BR tfprof\\-", f);
		put(f, c->name);
		fprintf(f, " (1)%s\n", cmd_next(docs_session, c) ? " ," : "");
	}
}

/* Writes the page of an alias, which includes the page of the command. */
static void put_alias(const struct command *c)
{
	char file[80];

	snprintf(file, sizeof file, "tfprof-%s.1", c->also);
	FILE *f = docs_begin("man", file);
	fprintf(f, ".so man1/tfprof-%s.1\n", c->name);
	docs_end(f);
}

void docs_page_of(const struct command *c)
{
	char name[64], file[80];

	snprintf(name, sizeof name, "tfprof-%s", c->name);
	snprintf(file, sizeof file, "%s.1", name);
	if (c->also)
		put_alias(c);
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
	if (options_of(c->name) || c->view || c->view_options)
		put_section(f, "OPTIONS");
	if (options_of(c->name))
		put_own_options(f, options_of(c->name));
	if (options_of(c->name) && c->view_options && !cmd_takes_some(c))
		put_subsection(f, "Options of the views");
	if (c->view || c->view_options || c->table)
		put_options(f, c);
	if (c->view) {
		put_subsection(f, "Metrics (-select)");
		put_metrics(f);
	}
	put_examples(f, c->examples);
	put_section(f, "SEE ALSO");
	fputs(".BR tfprof (1)\n", f);
	docs_end(f);
}

static const char MAIN_ABOUT[] =
        "Shows where a model's time, memory, parameters and float operations go, from the profiles "
        "that TensorFlow writes and from GPU recordings of any program. The format of a FILE is "
        "recognised by its content; the flags state it. Several run metadata files are steps 0, 1, "
        "2 in their order. Files may be binary or text and may be compressed with gzip. Options "
        "are -name value, --name value or --name=value, before or after the command. Without a "
        "command a prompt opens; if standard input is not a terminal, commands are read from it, "
        "one per line.";
static const char MAIN_PROMPT[] =
        "Tab completes commands, options, values and node names; the arrow keys recall earlier "
        "lines. Ctrl-C interrupts a command, Ctrl-D ends the session. An empty line shows the "
        "options. A line may end in | PROGRAM, > FILE or >> FILE; no shell is involved.";
static const char MAIN_FILES[] =
        ".TP\n.I .tfprof_history.txt\nhistory of the prompt, if it exists in the current folder; "
        "otherwise\n.I ~/.local/state/tfprof/history.txt\n(XDG_STATE_HOME is respected).\n";
static const char MAIN_ENV[] =
        ".TP\n.B PAGER\nprogram for long answers on a terminal; default less.\n.TP\n.B NO_COLOR, "
        "CLICOLOR_FORCE\nno colours; colours even if standard output is not a terminal.\n.TP\n.B "
        "TFPROF_THREADS\nnumber of threads that read step files; default the number of "
        "CPUs.\n.TP\n.B TFPROF_CUPTI_PATH\nlibcupti for recorded programs that do not bring "
        "their own.\n.TP\n.B TFPROF_JOB\nname of the job of recorded processes.\n";
static const char MAIN_STATUS[] =
        "0 success; 1 the command failed; 2 usage error; 3 an input cannot be read or parsed. "
        "record exits with the status of the recorded program. If the reader of a pipe closes it, "
        "tfprof ends by SIGPIPE.";

void docs_main_page(void)
{
	FILE *f = docs_begin("man", "tfprof.1");

	put_head(f, "tfprof", "show where a model's time, memory and float operations go");
	put_section(f, "SYNOPSIS");
	fputs(".B tfprof\n[\\fICOMMAND\\fR] [\\fIFLAGS\\fR] [\\fIFILE\\fR...] [\\fIOPTIONS\\fR]\n",
	        f);
	put_section(f, "DESCRIPTION");
	put(f, MAIN_ABOUT);
	fputs("\n", f);
	put_subsection(f, "Commands");
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		put_row(f, "", c->name, NULL, c->help);
	put_subsection(f, "Prompt");
	put(f, MAIN_PROMPT);
	fputs("\n", f);
	put_section(f, "OPTIONS");
	put_subsection(f, "Flags");
	put_flags(f);
	put_subsection(f, "Inputs");
	for (size_t i = 0; i < n_inputs; i++)
		put_row(f, "", inputs[i].name, NULL, inputs[i].help);
	put_subsection(f, "Options of the views");
	put_options(f, NULL);
	put_subsection(f, "Metrics (-select)");
	put_metrics(f);
	put_subsection(f, "Statistics (-stats)");
	for (enum stat_id i = 0; i < STATS_N; i++)
		put_row(f, "", stat_rows[i].name, NULL, stat_rows[i].help);
	put_subsection(f, "Outputs (-output)");
	for (enum output_kind i = 0; i < OUT_N; i++)
		put_row(f, "", output_rows[i].name, NULL, output_rows[i].help);
	put_section(f, "EXIT STATUS");
	put(f, MAIN_STATUS);
	fputs("\n", f);
	put_section(f, "ENVIRONMENT");
	fputs(MAIN_ENV, f);
	put_section(f, "FILES");
	fputs(MAIN_FILES, f);
	put_examples(f, "tfprof scope graph.pbtxt run_meta tfprof_log -select micros,bytes\n"
	                "tfprof op --profile_path=profile_100 -order_by micros\n"
	                "tfprof help scope\n");
	put_see_also(f);
	docs_end(f);
}
