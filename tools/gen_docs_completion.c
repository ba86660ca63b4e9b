/* SPDX-License-Identifier: Apache-2.0
 *
 * The completions of bash, zsh and fish.
 */
#include "gen_docs.h"

static bool takes_all(const struct command *c)
{
	return c->view_options && !cmd_takes_some(c);
}

static bool is_alone(const struct option *row)
{
	return row->flags & OPTION_ALONE;
}

static bool is_file(const struct option *row)
{
	return row->type == OPT_FILE || row->type == OPT_FILES;
}

static void put_names(FILE *f, unsigned use, const char *between)
{
	bool any = false;

	for (enum metric_id m = 0; m < M_N; m++) {
		if (!(metrics[m].uses & use))
			continue;
		fprintf(f, "%s%s", any ? between : "", metrics[m].name);
		any = true;
	}
}

static void put_stats(FILE *f)
{
	for (enum stat_id i = 0; i < STATS_N; i++)
		fprintf(f, "%s%s", i ? " " : "", stat_rows[i].name);
}

static void put_commands(FILE *f)
{
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		fprintf(f, "%s%s", c == cmd_next(docs_session, NULL) ? "" : " ", c->name);
}

/* Topics of help other than options. */
static void put_topics(FILE *f)
{
	put_commands(f);
	fputc(' ', f);
	put_names(f, USE_SELECT, " ");
	for (enum output_kind i = 0; i < OUT_N; i++)
		fprintf(f, " %s", output_rows[i].name);
	fputc(' ', f);
	put_stats(f);
}

/* The values of an option, if the table lists them, separated by blanks. */
static void put_choices(FILE *f, const struct option *w)
{
	for (const char *p = w->choices; *p; p++)
		fputc(*p == '|' ? ' ' : *p, f);
}

/* True if the value is a number of rows. */
static bool is_rows(const struct option *w)
{
	return w->type == OPT_ROWS && w->preset && strcmp(w->preset, "20") == 0;
}

/* Writes the values of an option of a command, separated by blanks; false if there is no list. */
static bool put_values(FILE *f, const struct option *w)
{
	bool metric = w->value && strcmp(w->value, "METRIC") == 0;

	if (!metric && !is_rows(w) && (!w->choices || is_alone(w)))
		return false;
	if (!f)
		return true;
	if (metric)
		put_names(f, USE_MIN, " ");
	else if (is_rows(w))
		fputs("10 20 50 100 0", f);
	else
		put_choices(f, w);
	return true;
}

/* The values of a command's options, where its rows list them. */
static void bash_choices(FILE *f, const struct command *c)
{
	for (const struct option *w = options_of(c->name); w; w = option_next(w)) {
		if (!put_values(NULL, w))
			continue;
		fprintf(f, "\t%s) case $prev in -%s|--%s) COMPREPLY=($(compgen -W '", c->name,
		        w->name, w->name);
		put_values(f, w);
		fputs("' -- \"$cur\")); return ;; esac ;;&\n", f);
	}
}

/* The options that only one command has; other words are files there. Those of the views come
 * below. */
static void bash_own_words(FILE *f)
{
	fputs("\t[ \"$at\" -gt 1 ] && case ${words[1]} in\n"
	      "\trecord) case \" ${words[*]:0:at} \" in *' -- '*)\n"
	      "\t\tcase \" ${words[*]:0:at}\" in *' --') COMPREPLY=($(compgen -c -- \"$cur\")) ;;\n"
	      "\t\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;; esac; return ;; esac ;;&\n",
	        f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		const struct option *w = options_of(c->name);
		if (c->subcommands)
			fprintf(f,
			        "\t%s) [ \"$at\" -eq %u ] && { COMPREPLY=($(compgen -W "
			        "'%s' -- \"$cur\")); return; } ;;%s\n",
			        c->name, c->subcommand_at + 1, c->subcommands, "&");
		bash_choices(f, c);
		if ((!w && !c->subcommands) || !c->own_words)
			continue;
		fprintf(f, "\t%s)%s COMPREPLY=($(compgen -W '", c->name,
		        takes_all(c) ? " case $cur in --*)" : "");
		for (; w; w = option_next(w))
			fprintf(f, "%s%s%s ", option_dashes(w), w->name,
			        option_argument(w) && w->name[1] && !is_alone(w) ? "=" : "");
		for (w = cmd_takes_some(c) ? view_options : NULL; w; w = option_next(w))
			if (cmd_has_option(c, w))
				fprintf(f, "-%s ", w->name);
		fprintf(f,
		        "--help' -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
		        "\t\tcase $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; "
		        "return ;;%s\n",
		        takes_all(c) ? " esac ;;" : "");
	}
	fputs("\thelp) case $cur in -*) ;; *) COMPREPLY=($(compgen -W '", f);
	put_topics(f);
	fputs("' -- \"$cur\")); return ;; esac ;;\n\tesac\n", f);
}

/* The values of options of the table that have a list of them. */
static void bash_values(FILE *f, const struct option *row, const char *dashes)
{
	for (; row; row = option_next(row)) {
		if (!row->choices)
			continue;
		fprintf(f, "\t%s%s|%s%s)\n\t\tCOMPREPLY=($(compgen -W '", dashes + 1, row->name,
		        dashes, row->name);
		put_choices(f, row);
		fputs("' -- \"$cur\")); return ;;\n", f);
	}
}

/* The function that bash calls. Bash ends words at ':' and '=' too, and replaces only what follows
 * the last of them: the words are split again at blanks, and what bash keeps is taken off. */
static void bash_frame(FILE *f)
{
	fputs("_tfprof()\n{\n"
	      "\tlocal line=${COMP_LINE:0:COMP_POINT} at cur prev typed kept\n"
	      "\tlocal -a words\n"
	      "\tread -ra words <<<\"$line\"\n"
	      "\tcase $line in *[[:blank:]]) words+=('') ;; esac\n"
	      "\tat=$((${#words[@]} - 1)) cur=${words[-1]} prev=${words[-2]}\n"
	      "\tcase $cur in --*=*) prev=${cur%%=*} cur=${cur#*=} ;; esac\n"
	      "\ttyped=$cur\n"
	      "\t_tfprof_words\n"
	      "\tcase $typed in *[:=]*) kept=${typed%\"${typed##*[:=]}\"}; "
	      "COMPREPLY=(\"${COMPREPLY[@]#\"$kept\"}\") ;; esac\n"
	      "\tcase $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac\n"
	      "}\ncomplete -o filenames -F _tfprof tfprof\n",
	        f);
}

void docs_bash(void)
{
	FILE *f = docs_begin("completion", "tfprof.bash");

	fputs("# Made by tools/gen_docs.c; do not edit.\n_tfprof_words()\n{\n", f);
	bash_own_words(f);
	fputs("\tlocal pre=\n\tcase $cur in *,*) pre=${cur%,*}, ;; esac\n"
	      "\tcase ${prev#-} in\n\tselect|-select)\n\t\tCOMPREPLY=($(compgen -P \"$pre\" -W '",
	        f);
	put_names(f, USE_SELECT, " ");
	fputs("' -- \"${cur##*,}\")); return ;;\n\torder_by|-order_by)\n\t\tCOMPREPLY=($(compgen "
	      "-W '",
	        f);
	put_names(f, USE_ORDER, " ");
	fputs("' -- \"$cur\")); return ;;\n\tstats|-stats)\n\t\tCOMPREPLY=($(compgen -P \"$pre\" "
	      "-W '",
	        f);
	put_stats(f);
	fputs("' -- \"${cur##*,}\")); return ;;\n\toutput|-output)\n\t\tcase $cur in *outfile=*)\n"
	      "\t\t\tCOMPREPLY=($(compgen -f -- \"${cur##*outfile=}\")); typed=${cur##*outfile=}; "
	      "return ;; esac\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	        f);
	for (enum output_kind i = 0; i < OUT_N; i++)
		fprintf(f, "%s%s%s", i ? " " : "", output_rows[i].name,
		        output_rows[i].required ? ":outfile=" : "");
	fputs("' -- \"$cur\")); return ;;\n", f);
	bash_values(f, flag_options, "--");
	bash_values(f, view_options, "-");
	fputs("\tesac\n\tcase $cur in\n\t--*) COMPREPLY=($(compgen -W '", f);
	for (const struct option *row = flag_options, *x = row; x; x = option_next(x))
		fprintf(f, "%s--%s%s", x == row ? "" : " ", x->name, option_argument(x) ? "=" : "");
	fputs("' -- \"$cur\"))\n\t\tcase $COMPREPLY in *=) compopt -o nospace +o filenames ;; "
	      "esac; return ;;\n"
	      "\t-*) COMPREPLY=($(compgen -W '",
	        f);
	for (const struct option *x = view_options; x; x = option_next(x))
		fprintf(f, "%s-%s", x == view_options ? "" : " ", x->name);
	fputs("' -- \"$cur\")); return ;;\n\tesac\n\tCOMPREPLY=($(compgen -W '", f);
	put_commands(f);
	fputs("' -- \"$cur\"))\n"
	      "\twhile read -r pre; do\n"
	      "\t\tcase $pre in *.py|*.c|*.h|*.md|*.sh|*.o|*.so|*.csv|*.svg|*.png|*.html) ;; "
	      "*) COMPREPLY+=(\"$pre\") ;; esac\n"
	      "\tdone < <(compgen -f -- \"$cur\")\n}\n",
	        f);
	bash_frame(f);
	docs_end(f);
}

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
		put_names(f, t == OPT_SELECT ? USE_SELECT : USE_ORDER, " ");
		fputs(t == OPT_ORDER ? ")" : "", f);
	} else if (t == OPT_STATS) {
		fputs("_values -s , statistic ", f);
		put_stats(f);
	} else if (t == OPT_OUTPUT) {
		fputs("_tfprof_output", f);
	} else if (t == OPT_STRING) {
		fputs("_files", f);
	} else if (row->choices) {
		fputs("(", f);
		put_choices(f, row);
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

/* The options of the views, without those that the command has itself. */
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
		        "%s)\n\t_arguments '1:command: ' \\\n\t'--help[about this command]' \\\n",
		        c->name);
		if (c->subcommands)
			fprintf(f, "\t'%u:order:(%s)' \\\n", c->subcommand_at + 1, c->subcommands);
		for (; w; w = option_next(w)) {
			fprintf(f, "\t'%s%s%s%s[", w->type == OPT_TEXTS ? "*" : "",
			        files ? "-" : option_dashes(w), w->name,
			        !option_argument(w) || is_alone(w) || files ? ""
			        : w->name[1]                                ? "="
			                                                    : "+");
			put_plain(f, w->help);
			fputs(!option_argument(w) || is_alone(w) ? "]" : "]:value:", f);
			if (put_values(NULL, w)) {
				fputs("(", f);
				put_values(f, w);
				fputs(")", f);
			} else if (option_argument(w) && !is_alone(w)) {
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
		if (takes_all(c) || files)
			zsh_views(f, c);
		fputs("'*:file:_files'\n\treturn ;;\n", f);
	}
	fputs("help)\n\t_values topic ", f);
	put_topics(f);
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
			put_choices(f, x);
			fputs(")'\n", f);
			continue;
		}
		fprintf(f, "]%s'\n",
		        !option_argument(x) ? ""
		        : is_file(x)        ? ":file:_files"
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
	put_choices(f, row);
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
			fprintf(f, "complete -c tfprof -n '__fish_seen_subcommand_from %s' -%c %s",
			        c->name, w->name[1] ? 'l' : 's', w->name);
			if (w->name[1] && !c->own_words)
				fprintf(f, " -o %s", w->name);
			if (put_values(NULL, w)) {
				fputs(" -x -a '", f);
				put_values(f, w);
				fputs("'", f);
			} else if (option_argument(w) && !is_alone(w)) {
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
	put_topics(f);
	fputs("'\n", f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		fprintf(f, "complete -c tfprof -n __fish_use_subcommand -a %s -d '", c->name);
		put_plain(f, c->help);
		fputs("'\n", f);
	}
	for (const struct option *x = flag_options; x; x = option_next(x)) {
		fprintf(f, "complete -c tfprof -l %s%s", x->name,
		        !option_argument(x) ? ""
		        : is_file(x)        ? " -r"
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
			put_names(f, t == OPT_SELECT ? USE_SELECT : USE_ORDER, " ");
			fputs("'", f);
		} else if (t == OPT_STATS) {
			fputs(" -x -a '", f);
			put_stats(f);
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
