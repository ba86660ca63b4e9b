/* SPDX-License-Identifier: Apache-2.0
 *
 * The completion of bash, and the lists of words that all shells have.
 */
#include "gen_docs.h"

bool docs_takes_all(const struct command *c)
{
	return c->view_options && !cmd_takes_some(c);
}

bool docs_is_alone(const struct option *row)
{
	return row->flags & OPTION_ALONE;
}

bool docs_is_file(const struct option *row)
{
	return row->type == OPT_FILE || row->type == OPT_FILES;
}

void docs_put_names(FILE *f, unsigned use, const char *between)
{
	bool any = false;

	for (enum metric_id m = 0; m < M_N; m++) {
		if (!(metrics[m].uses & use))
			continue;
		fprintf(f, "%s%s", any ? between : "", metrics[m].name);
		any = true;
	}
}

void docs_put_stats(FILE *f)
{
	for (enum stat_id i = 0; i < STATS_N; i++)
		fprintf(f, "%s%s", i ? " " : "", stat_rows[i].name);
}

static void put_commands(FILE *f)
{
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		fprintf(f, "%s%s%s%s", c == cmd_next(docs_session, NULL) ? "" : " ", c->name,
		        c->also ? " " : "", c->also ? c->also : "");
}

/* Topics of help other than options. */
void docs_put_topics(FILE *f)
{
	put_commands(f);
	fputc(' ', f);
	docs_put_names(f, USE_SELECT, " ");
	for (enum output_kind i = 0; i < OUT_N; i++)
		fprintf(f, " %s", output_rows[i].name);
	fputc(' ', f);
	docs_put_stats(f);
}

/* The values of an option, if the table lists them, separated by blanks. */
void docs_put_choices(FILE *f, const struct option *w)
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
bool docs_put_values(FILE *f, const struct option *w)
{
	bool metric = w->value && strcmp(w->value, "METRIC") == 0;

	if (!metric && !is_rows(w) && (!w->choices || docs_is_alone(w)))
		return false;
	if (!f)
		return true;
	if (metric)
		docs_put_names(f, USE_MIN, " ");
	else if (is_rows(w))
		fputs("10 20 50 100 0", f);
	else
		docs_put_choices(f, w);
	return true;
}

/* The values of a command's options, where its rows list them. */
static void bash_choices(FILE *f, const struct command *c)
{
	for (const struct option *w = options_of(c->name); w; w = option_next(w)) {
		if (!docs_put_values(NULL, w))
			continue;
		fprintf(f, "\t%s) case $prev in -%s|--%s) COMPREPLY=($(compgen -W '", c->name,
		        w->name, w->name);
		docs_put_values(f, w);
		fputs("' -- \"$cur\")); return ;; esac ;;&\n", f);
	}
}

/* The options of a command that takes those of the views, too: own with two dashes, single with
 * one. */
static void bash_options(FILE *f, const struct command *c)
{
	fprintf(f, "\t%s) own='", c->name);
	for (const struct option *w = options_of(c->name); w; w = option_next(w))
		fprintf(f, "%s%s%s ", option_dashes(w), w->name,
		        option_argument(w) && w->name[1] ? "=" : "");
	fputs("' single='", f);
	for (const struct option *w = options_of(c->name); w; w = option_next(w))
		fprintf(f, "-%s ", w->name);
	fputs("' ;;\n", f);
}

/* The options that only one command has; other words are files there. Those of the views come
 * below. */
static void bash_own_words(FILE *f)
{
	fputs("\twhile [ \"$at\" -gt 2 ] && [ -e \"${words[1]}\" ] && "
	      "[[ ${words[1]} == *[./]* ]]; do\n"
	      "\t\twords=(\"${words[0]}\" \"${words[@]:2}\") at=$((at - 1)); done\n",
	        f);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		if (c->also)
			fprintf(f, "\t[ \"${words[1]}\" = %s ] && words[1]=%s\n", c->also, c->name);
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
		if (w && !c->own_words)
			bash_options(f, c);
		if ((!w && !c->subcommands) || !c->own_words)
			continue;
		fprintf(f, "\t%s)%s COMPREPLY=($(compgen -W '", c->name,
		        docs_takes_all(c) ? " case $cur in --*)" : "");
		for (; w; w = option_next(w))
			fprintf(f, "%s%s%s ", option_dashes(w), w->name,
			        option_argument(w) && w->name[1] && !docs_is_alone(w) ? "=" : "");
		for (w = cmd_takes_some(c) ? view_options : NULL; w; w = option_next(w))
			if (cmd_has_option(c, w))
				fprintf(f, "-%s ", w->name);
		fprintf(f,
		        "--help' -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
		        "\t\tcase $COMPREPLY in *=) compopt -o nospace +o filenames ;; esac; "
		        "return ;;%s\n",
		        docs_takes_all(c) ? " esac ;;" : "");
	}
	fputs("\thelp) case $cur in -*) ;; *) COMPREPLY=($(compgen -W '", f);
	docs_put_topics(f);
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
		docs_put_choices(f, row);
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

	fputs("# Made by tools/gen_docs.c; do not edit.\n_tfprof_words()\n{\n\tlocal own= "
	      "single=\n",
	        f);
	bash_own_words(f);
	fputs("\tlocal pre=\n\tcase $cur in *,*) pre=${cur%,*}, ;; esac\n"
	      "\tcase ${prev#-} in\n\tselect|-select)\n\t\tCOMPREPLY=($(compgen -P \"$pre\" -W '",
	        f);
	docs_put_names(f, USE_SELECT, " ");
	fputs("' -- \"${cur##*,}\")); return ;;\n\torder_by|-order_by)\n\t\tCOMPREPLY=($(compgen "
	      "-W '",
	        f);
	docs_put_names(f, USE_ORDER, " ");
	fputs("' -- \"$cur\")); return ;;\n\tstats|-stats)\n\t\tCOMPREPLY=($(compgen -P \"$pre\" "
	      "-W '",
	        f);
	docs_put_stats(f);
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
	fputs("\tesac\n\tcase $cur in\n\t--*) COMPREPLY=($(compgen -W \"$own\"'", f);
	for (const struct option *row = flag_options, *x = row; x; x = option_next(x))
		fprintf(f, "%s--%s%s", x == row ? "" : " ", x->name, option_argument(x) ? "=" : "");
	fputs("' -- \"$cur\"))\n\t\tcase $COMPREPLY in *=) compopt -o nospace +o filenames ;; "
	      "esac; return ;;\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$single\"'",
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
