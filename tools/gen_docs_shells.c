/* SPDX-License-Identifier: Apache-2.0
 *
 * The completions of zsh and fish.
 */
#include "gen_docs.h"

/* Text inside single quotes of zsh and fish, without characters that are special in their lists. */
static void put_plain(FILE *f, const char *s)
{
	for (; *s; s++)
		if (!strchr("'[]:\\", *s))
			fputc(*s, f);
		else if (*s == ':')
			fputc(';', f);
}

/* The options of the views, for whom takes them. */
static void zsh_option(FILE *f, const struct option *row)
{
	enum option_type t = row->type;

	fprintf(f, "\t'*-%s[", row->name);
	put_plain(f, row->help);
	fputs(t == OPT_BOOL ? "]" : "]:value:", f);
	if (t == OPT_SELECT || t == OPT_ORDER) {
		fputs(t == OPT_SELECT ? "_values -s , metric " : "(", f);
		docs_put_names(f, t == OPT_SELECT ? USE_SELECT : USE_ORDER, " ");
		fputs(t == OPT_ORDER ? ")" : "", f);
	} else if (t == OPT_STATS) {
		fputs("_values -s , statistic ", f);
		docs_put_stats(f);
	} else if (t == OPT_OUTPUT) {
		fputs("_tfprof_output", f);
	} else if (t == OPT_STRING) {
		fputs("_files", f);
	} else if (row->choices) {
		fputs("(", f);
		docs_put_choices(f, row);
		fputs(")", f);
	} else if (t != OPT_BOOL) {
		fputs(" ", f);
	}
	fputs("'", f);
}

/* The function that completes the value of -output: its name, or the file after outfile=. */
static void zsh_output(FILE *f)
{
	fputs("_tfprof_output() {\n\tif compset -P '*outfile='; "
	      "then\n\t\t_files\n\t\treturn\n\tfi\n"
	      "\tlocal -a whole=(",
	        f);
	for (enum output_kind i = 0; i < OUT_N; i++)
		if (!output_rows[i].required)
			fprintf(f, "%s ", output_rows[i].name);
	fputs(") open=(", f);
	for (enum output_kind i = 0; i < OUT_N; i++)
		if (output_rows[i].required)
			fprintf(f, "%s:outfile= ", output_rows[i].name);
	fputs(")\n\tcompadd -a whole\n\tcompadd -S '' -a open\n}\n", f);
}

static void zsh_options(FILE *f)
{
	fputs("local -a views=(\n", f);
	for (const struct option *row = view_options; row; row = option_next(row)) {
		zsh_option(f, row);
		fputs("\n", f);
	}
	fputs(")\n", f);
}

/* Writes the view options, except options that the command defines itself. */
static void zsh_views(FILE *f, const struct command *c)
{
	bool any = false;

	for (const struct option *w = options_of(c->name); w; w = option_next(w))
		for (const struct option *row = view_options; row && !any; row = option_next(row))
			any = strcmp(row->name, w->name) == 0;
	if (!any) {
		fputs("$views ", f);
		return;
	}
	fputs("${views:#", f);
	for (const struct option *w = options_of(c->name); w; w = option_next(w))
		fprintf(f, "%s'*-%s['*", w == options_of(c->name) ? "(" : "|", w->name);
	fputs(")} ", f);
}

/* The program of record, after --, is completed as a command line of its own. */
static void zsh_record(FILE *f)
{
	fputs("if [[ $words[2] == record ]] && (( ${words[(i)--]} < CURRENT )); then\n"
	      "\tlocal at=${words[(i)--]}\n"
	      "\tshift at words\n"
	      "\t(( CURRENT -= at ))\n"
	      "\t_normal\n"
	      "\treturn\n"
	      "fi\n",
	        f);
}

static void zsh_own_words(FILE *f)
{
	zsh_record(f);
	fputs("(( CURRENT > 2 )) && case $words[2] in\n", f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		const struct option *w = options_of(c->name);
		bool files = !c->own_words; /* with the flags and options of the views, too */
		if (!(w || c->subcommands))
			continue;
		fprintf(f,
		        "%s%s%s)\n\t_arguments '1:command: ' \\\n"
		        "\t'--help[about this command]' \\\n",
		        c->name, c->also ? "|" : "", c->also ? c->also : "");
		if (c->subcommands)
			fprintf(f, "\t'%u:order:(%s)' \\\n", c->subcommand_at + 1, c->subcommands);
		for (; w; w = option_next(w)) {
			fprintf(f, "\t'%s%s%s%s[", w->type == OPT_TEXTS ? "*" : "",
			        files ? "-" : option_dashes(w), w->name,
			        !option_argument(w) || docs_is_alone(w) || files ? ""
			        : w->name[1]                                     ? "="
			                                                         : "+");
			put_plain(f, w->help);
			fputs(!option_argument(w) || docs_is_alone(w) ? "]" : "]:value:", f);
			if (docs_put_values(NULL, w)) {
				fputs("(", f);
				docs_put_values(f, w);
				fputs(")", f);
			} else if (option_argument(w) && !docs_is_alone(w)) {
				fputs(w->name[1] ? " " : "_files", f);
			}
			fputs("' \\\n", f);
		}
		for (w = cmd_takes_some(c) ? view_options : NULL; w; w = option_next(w))
			if (cmd_has_option(c, w)) {
				zsh_option(f, w);
				fputs(" \\\n", f);
			}
		if (files)
			fputs("\t$flags ", f);
		else
			fputc('\t', f);
		if (docs_takes_all(c) || files)
			zsh_views(f, c);
		fputs("'*:file:_files'\n\treturn ;;\n", f);
	}
	fputs("help)\n\t_values topic ", f);
	docs_put_topics(f);
	fputs("\n\treturn ;;\nesac\n", f);
}

void docs_zsh(void)
{
	FILE *f = docs_begin("completion", "_tfprof");

	fputs("#compdef tfprof\n# Made by tools/gen_docs.c; do not edit.\n_tfprof_first() "
	      "{\n\tlocal -a "
	      "commands\n\tcommands=(\n",
	        f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		fprintf(f, "\t\t'%s:", c->name);
		put_plain(f, c->help);
		fputs("'\n", f);
	}
	fputs("\t)\n\t_describe -t commands command commands\n\t_files\n}\n", f);
	zsh_output(f);
	zsh_options(f);
	fputs("local -a flags=(\n", f);
	for (const struct option *x = flag_options; x; x = option_next(x)) {
		fprintf(f, "\t'--%s%s[", x->name, option_argument(x) ? "=" : "");
		put_plain(f, x->help);
		if (x->choices) {
			fputs("]:value:(", f);
			docs_put_choices(f, x);
			fputs(")'\n", f);
			continue;
		}
		fprintf(f, "]%s'\n",
		        !option_argument(x) ? ""
		        : docs_is_file(x)   ? ":file:_files"
		                            : ":value: ");
	}
	fputs(")\n", f);
	zsh_own_words(f);
	fputs("_arguments $flags $views '*:command or file:_tfprof_first'\n", f);
	docs_end(f);
}

static void fish_choices(FILE *f, const struct option *row)
{
	if (!row->choices)
		return;
	fputs(" -a '", f);
	docs_put_choices(f, row);
	fputs("'", f);
}

/* Functions for the value of -output and for the program of record, after --. */
static void fish_functions(FILE *f)
{
	fputs("function __tfprof_output\n"
	      "    set -l word (commandline -ct)\n"
	      "    if string match -q '*outfile=*' -- $word\n"
	      "        set -l before (string replace -r 'outfile=.*' 'outfile=' -- $word)\n"
	      "        for file in (__fish_complete_path (string replace -r '.*outfile=' '' -- "
	      "$word))\n"
	      "            echo $before$file\n"
	      "        end\n"
	      "    else\n"
	      "        printf '%s\\n'",
	        f);
	for (enum output_kind i = 0; i < OUT_N; i++)
		fprintf(f, " %s%s", output_rows[i].name,
		        output_rows[i].required ? ":outfile=" : "");
	fputs("\n    end\nend\n"
	      "function __tfprof_program\n"
	      "    set -l words (commandline -opc)\n"
	      "    contains -- -- $words[2..-1]\n"
	      "end\n"
	      "function __tfprof_complete_program\n"
	      "    set -l words (commandline -opc)\n"
	      "    set -l at (contains -i -- -- $words)\n"
	      "    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) "
	      "(commandline -ct))\n"
	      "end\n"
	      "complete -c tfprof -n '__fish_seen_subcommand_from record; and __tfprof_program' -f "
	      "-a '(__tfprof_complete_program)'\n",
	        f);
}

/* Writes a condition if a command has an option of that name itself. */
static void fish_unless_own(FILE *f, const char *name)
{
	bool any = false;

	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		for (const struct option *w = options_of(c->name); w; w = option_next(w))
			if (strcmp(w->name, name) == 0) {
				fprintf(f, "%s %s",
				        any ? "" : " -n 'not __fish_seen_subcommand_from", c->name);
				any = true;
			}
	fputs(any ? "'" : "", f);
}

static void fish_own_words(FILE *f)
{
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		if (c->subcommands)
			fprintf(f,
			        "complete -c tfprof -n '__fish_seen_subcommand_from %s' -a '%s'\n",
			        c->name, c->subcommands);
		for (const struct option *w = options_of(c->name); w; w = option_next(w)) {
			fprintf(f,
			        "complete -c tfprof -n '__fish_seen_subcommand_from %s%s%s' -%c %s",
			        c->name, c->also ? " " : "", c->also ? c->also : "",
			        w->name[1] ? 'l' : 's', w->name);
			if (w->name[1] && !c->own_words)
				fprintf(f, " -o %s", w->name);
			if (docs_put_values(NULL, w)) {
				fputs(" -x -a '", f);
				docs_put_values(f, w);
				fputs("'", f);
			} else if (option_argument(w) && !docs_is_alone(w)) {
				fputs(w->name[1] ? " -x" : " -r", f);
			}
			fputs(" -d '", f);
			put_plain(f, w->help);
			fputs("'\n", f);
		}
	}
}

void docs_fish(void)
{
	FILE *f = docs_begin("completion", "tfprof.fish");

	fputs("# Made by tools/gen_docs.c; do not edit.\n"
	      "complete -c tfprof -n '__fish_seen_subcommand_from help' -f -a '",
	        f);
	docs_put_topics(f);
	fputs("'\n", f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		fprintf(f, "complete -c tfprof -n __fish_use_subcommand -a %s -d '", c->name);
		put_plain(f, c->help);
		fputs("'\n", f);
	}
	for (const struct option *x = flag_options; x; x = option_next(x)) {
		fprintf(f, "complete -c tfprof -l %s%s", x->name,
		        !option_argument(x) ? ""
		        : docs_is_file(x)   ? " -r"
		                            : " -x");
		fish_choices(f, x);
		fputs(" -d '", f);
		put_plain(f, x->help);
		fputs("'\n", f);
	}
	for (const struct option *row = view_options; row; row = option_next(row)) {
		enum option_type t = row->type;
		fputs("complete -c tfprof", f);
		fish_unless_own(f, row->name);
		fprintf(f, " -o %s", row->name);
		if (t == OPT_SELECT || t == OPT_ORDER) {
			fputs(" -x -a '", f);
			docs_put_names(f, t == OPT_SELECT ? USE_SELECT : USE_ORDER, " ");
			fputs("'", f);
		} else if (t == OPT_STATS) {
			fputs(" -x -a '", f);
			docs_put_stats(f);
			fputs("'", f);
		} else if (t == OPT_OUTPUT) {
			fputs(" -x -a '(__tfprof_output)'", f);
		} else if (t != OPT_BOOL) {
			fputs(t == OPT_STRING ? " -r" : " -x", f);
		}
		fish_choices(f, row);
		fputs(" -d '", f);
		put_plain(f, row->help);
		fputs("'\n", f);
	}
	fish_own_words(f);
	fish_functions(f);
	docs_end(f);
}
