/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands as typed methods of the Python package, and the page that lists the methods.
 */
#include <stdlib.h>

#include "gen_docs.h"

#define COLUMNS      96 /* columns of a line of a docstring */
#define NUMBER       "int"
#define INDENT_NAMES 12 /* blanks before the lines after the first one of an argument */

static FILE *file;

/* ---- texts ---- */

/* Writes text in lines, each after `blanks` blanks; lines after the first one after `below`. */
static void put_wrapped(struct str text, unsigned blanks, unsigned below)
{
	unsigned used = 0;

	while (text.n) {
		size_t n = str_find_char(text, ' ');
		struct str word = str_sub(text, 0, n);
		text = n == SIZE_MAX ? STR_NONE : str_sub(text, n + 1, SIZE_MAX);
		if (used && used + 1 + word.n > COLUMNS) {
			fputc('\n', file);
			used = 0;
			blanks = below;
		}
		if (used)
			fputc(' ', file);
		else
			fprintf(file, "%*s", (int)(used = blanks), "");
		for (size_t i = 0; i < word.n; i++)
			fprintf(file, word.p[i] == '\\' ? "\\\\" : "%c", word.p[i]);
		used += (unsigned)word.n + 1;
	}
	fputc('\n', file);
}

/* Writes a name of Python: the table's name with underscores; a keyword gets one at its end. */
static struct str python_name(const char *name)
{
	static const char *const keywords[] = { "as", "from", "import", "in", "is", "lambda" };
	struct str s = str_replace_char(&docs_session->query_arena, str_of(name), '-', '_');

	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (str_eq(s, str_of(keywords[i])))
			return str_fmt(&docs_session->query_arena, "%s_", keywords[i]);
	return s;
}

static void put_literal(const char *name, const struct strs *words)
{
	fprintf(file, "%s = Literal[", name);
	for (size_t i = 0; i < words->n; i++)
		fprintf(file, "%s'%.*s'", i ? ", " : "", STR(words->v[i]));
	fputs("]\n", file);
}

static void put_metrics(const char *name, unsigned use)
{
	struct sb b = sb_in(&docs_session->query_arena);

	metric_names(&b, use, "|");
	struct strs words = str_split(&docs_session->query_arena, sb_str(&b), '|');
	put_literal(name, &words);
}

static void put_statistics(void)
{
	struct strs words = { 0 };

	for (enum stat_id i = 0; i < STATS_N; i++)
		strs_add(&docs_session->query_arena, &words, str_of(stat_rows[i].name));
	put_literal("Statistic", &words);
}

/* ---- options ---- */

/* Returns the type of the argument; a type without a row is text. */
static const char *python_type(const struct option *row)
{
	static const char *const types[] = { [OPT_SWITCH] = "bool",
		[OPT_BOOL] = "bool",
		[OPT_COUNT] = NUMBER,
		[OPT_ROWS] = NUMBER,
		[OPT_SIZE] = "Size",
		[OPT_LIMIT] = "Size",
		[OPT_SECONDS] = "Time",
		[OPT_MILLISECONDS] = "Time",
		[OPT_SHARE] = "Share",
		[OPT_TEXT] = "str",
		[OPT_TEXTS] = "Words",
		[OPT_LIST] = "Words",
		[OPT_FILE] = "Path",
		[OPT_FILES] = "Words",
		[OPT_I32] = NUMBER,
		[OPT_I64] = NUMBER,
		[OPT_ORDER] = "Order",
		[OPT_PATTERNS] = "Words",
		[OPT_SELECT] = "Metrics",
		[OPT_OUTPUT] = "str",
		[OPT_STRING] = "str",
		[OPT_STEPS] = "Steps",
		[OPT_STATS] = "Statistics" };

	if (row->value && strcmp(row->value, "METRIC") == 0 && row->type == OPT_TEXT)
		return "Metric";
	if (str_starts(str_of(row->name), S("min_")))
		return "Size";
	return (size_t)row->type < sizeof types / sizeof *types && types[row->type]
	               ? types[row->type]
	               : "str";
}

static void put_type(const struct option *row)
{
	if (row->type != OPT_CHOICE) {
		fputs(python_type(row), file);
		return;
	}
	struct strs words = str_split(&docs_session->query_arena, str_of(row->choices), '|');
	fputs("Literal[", file);
	for (size_t i = 0; i < words.n; i++)
		fprintf(file, "%s'%.*s'", i ? ", " : "", STR(words.v[i]));
	fputs("]", file);
}

/* True for --top: Python returns all rows unless the caller limits them. */
static bool is_limit(const struct option *row)
{
	return row->type == OPT_ROWS && strcmp(row->name, "top") == 0;
}

static bool is_depth(const struct option *row)
{
	return strcmp(row->name, "max_depth") == 0;
}

/* How a command becomes a method. */
struct method {
	const char *command;
	const char *first;   /* argument before the options */
	const char *further; /* keyword arguments, or NULL */
	const char *call;    /* the function that runs the command, with its first arguments */
	const char *result;  /* type of the answer */
	const char *what;    /* sentences about these arguments */
};

static const struct method special[] = {
	{ "report", "path: Path", NULL, "self._page(path", "None", "path: the file to write." },
	{ "diff", "other: Optional[Other] = None",
	        "steps: Optional[Sequence[Union[int, str]]] = None", "self._compare(other, steps",
	        "Result",
	        "other: the other profile, or a path. Differences are the other profile minus this "
	        "one, so increases are positive. steps: a step of each side, such as (3, "
	        "'slowest'); "
	        "without other, two steps of this profile are compared. A gate that fails or is "
	        "inconclusive raises no error; 'gates' of the document contains it." },
};

static const struct method *special_of(const struct command *c)
{
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (strcmp(special[i].command, c->name) == 0)
			return &special[i];
	return NULL;
}

/* The options of a command that are arguments in Python: first its own options, then those of the
 * views that change its answer. at NULL: the first one. NULL: no more. */
static const struct option *next_argument(const struct command *c, const struct option *at)
{
	const struct option *own = options_of(c->name);
	bool of_view = at && strcmp(at->scope, SCOPE_VIEWS) == 0;

	for (at = at ? option_next(at) : own; !of_view && at; at = option_next(at))
		if (!(at->flags & OPTION_PRINTED))
			return at;
	if (!of_view)
		at = c->view || c->view_options ? view_options : NULL;
	for (; at; at = option_next(at))
		if (!(at->flags & (OPTION_PRINTED | OPTION_HIDDEN)) && cmd_has_option(c, at) &&
		        !option_in(own, str_of(at->name)))
			return at;
	return NULL;
}

static void put_argument(const struct option *row)
{
	fprintf(file, ",\n            %.*s: Optional[", STR(python_name(row->name)));
	put_type(row);
	fputs("] = None", file);
}

static void put_argument_text(const struct option *row)
{
	struct arena *a = &docs_session->query_arena;
	const char *preset = is_limit(row) ? "0" : is_depth(row) ? "all levels" : row->preset;
	struct sb b = sb_in(a);

	sb_fmt(&b, "%.*s: %s", STR(python_name(row->name)), row->help);
	if (preset && *preset)
		sb_fmt(&b, ". Default: %s", preset);
	sb_char(&b, '.');
	put_wrapped(sb_str(&b), 8, INDENT_NAMES);
}

/* ---- methods ---- */

/* Commands with the name of an attribute of Profile: the attribute is a list that can be called. */
static const struct callable_list {
	const char *command, *name, *item, *what;
} callable_lists[] = {
	{ "devices", "DeviceNames", "str", "The names of the devices." },
	{ "steps", "StepNumbers", "int", "The numbers of the steps." },
};

static const struct callable_list *callable_list_of(const struct command *c)
{
	for (size_t i = 0; i < sizeof callable_lists / sizeof *callable_lists; i++)
		if (strcmp(callable_lists[i].command, c->name) == 0)
			return &callable_lists[i];
	return NULL;
}

/* True if the command becomes a method. Profile.advise returns TensorFlow's reports by checker and
 * is not made here. */
static bool is_method(const struct command *c)
{
	return special_of(c) ||
	       (c->needs_profile && !c->program && !c->keeps_attrs && c->run != run_advise);
}

static bool takes_words(const struct command *c)
{
	return !special_of(c) && (c->takes_word || c->own_words);
}

/* Returns the command's arguments that are not options, as a tuple in Python. */
static const char *words_tuple(const struct command *c)
{
	return c->takes_name ? "(name,)" : takes_words(c) ? "words" : "()";
}

/* The first option of the command itself may be given without its name: kernels(5). */
static void put_signature(const struct command *c)
{
	const struct method *m = special_of(c);
	const struct option *own = options_of(c->name), *row = NULL;
	struct str name = callable_list_of(c) ? S("__call__") : python_name(c->name);

	fprintf(file, "\n    def %.*s(\n            self", STR(name));
	if (m)
		fprintf(file, ",\n            %s", m->first);
	if (c->takes_name)
		fputs(",\n            name: str", file);
	if (takes_words(c))
		fputs(",\n            *words: str", file);
	else if (own && (row = next_argument(c, NULL)) != NULL)
		put_argument(row);
	if (!takes_words(c) && (m || next_argument(c, row)))
		fputs(",\n            *", file);
	if (m && m->further)
		fprintf(file, ",\n            %s", m->further);
	while ((row = next_argument(c, row)) != NULL)
		put_argument(row);
	fprintf(file, ") -> %s:\n", m ? m->result : c->view ? "Tree" : "Result");
}

static const char *units_of(const struct command *c)
{
	if (c->run == report_run)
		return "The page is one HTML file. It makes no connections.";
	return c->view ? "Units: times are microseconds, sizes bytes, everything else counts."
	               : "Units: the end of a column's name: _ns nanoseconds, _micros "
	                 "microseconds, _bytes bytes; share is percent. columns has the unit of "
	                 "each column.";
}

static const char *errors_of(const struct command *c)
{
	if (c->run == report_run)
		return "Raises: InvalidArgumentError for an unknown value, FileNotFoundError, "
		       "PermissionError or Error if the file cannot be written.";
	return c->table ? "Raises: InvalidArgumentError for an unknown value, NotFoundError for a "
	                  "step that is not loaded, Error if the loaded files do not contain what "
	                  "the command needs."
	                : "Raises: InvalidArgumentError for an unknown value, NotFoundError for a "
	                  "step that is not loaded or data that the files do not contain.";
}

static void put_docstring(const struct command *c)
{
	struct arena *a = &docs_session->query_arena;
	const struct method *m = special_of(c);

	fputs("        \"\"\"", file);
	put_wrapped(str_fmt(a, "Runs the command %s: %s.", c->name, c->help), 0, 8);
	fputc('\n', file);
	put_wrapped(str_of(c->about), 8, 8);
	fputc('\n', file);
	if (m)
		put_wrapped(str_of(m->what), 8, 8);
	if (takes_words(c))
		put_wrapped(str_fmt(a, "words: %s.",
		                    c->synopsis ? c->synopsis : "arguments of the command"),
		        8, INDENT_NAMES);
	for (const struct option *row = NULL; (row = next_argument(c, row)) != NULL;)
		put_argument_text(row);
	fputc('\n', file);
	put_wrapped(str_of(units_of(c)), 8, 8);
	put_wrapped(str_of(errors_of(c)), 8, 8);
	fputs("        \"\"\"\n", file);
}

static void put_call(const struct command *c)
{
	const struct method *m = special_of(c);

	if (m)
		fprintf(file, "        return %s, {", m->call);
	else
		fprintf(file, "        return self._%s('%s'%s%s, {", c->view ? "tree" : "result",
		        c->name, c->view ? "" : ", ", c->view ? "" : words_tuple(c));
	for (const struct option *row = NULL; (row = next_argument(c, row)) != NULL;)
		fprintf(file, "\n            '%s': %.*s,", row->name, STR(python_name(row->name)));
	fputs("\n        })\n", file);
}

/* Writes the names of the options that only the command has. */
static void put_own_names(const struct command *c)
{
	fprintf(file, "    '%s': (", c->name);
	for (const struct option *row = options_of(c->name); row; row = option_next(row))
		fprintf(file, "'%s', ", row->name);
	fputs("),\n", file);
}

static void put_method(const struct command *c)
{
	put_signature(c);
	put_docstring(c);
	put_call(c);
}

static void put_callable_list(const struct command *c, const struct callable_list *x)
{
	fprintf(file,
	        "\n\nclass %s(List[%s]):\n"
	        "    \"\"\"%s A call runs the command %s.\"\"\"\n\n"
	        "    def __init__(self, items: Iterable[%s], run: Run) -> None:\n"
	        "        super().__init__(items)\n"
	        "        self._result = run\n\n"
	        "    def __reduce__(self) -> Tuple[Any, ...]:\n"
	        "        return list, (list(self),)\n",
	        x->name, x->item, x->what, c->name, x->item);
	put_method(c);
}

static void put_types(void)
{
	put_metrics("Metric", USE_SELECT);
	put_metrics("Order", USE_ORDER);
	put_statistics();
	fputs("Metrics = Union[Metric, str, Sequence[Union[Metric, str]]]\n"
	      "Statistics = Union[Statistic, str, Sequence[Union[Statistic, str]]]\n"
	      "Words = Union[str, Sequence[str]]\n"
	      "Steps = Union[int, str, Sequence[int]]\n"
	      "Size = Union[int, str]  # a number, or a text such as '10MB', '20ms' or '3k'\n"
	      "Time = Union[int, float, str]\n"
	      "Share = Union[float, str]\n"
	      "Path = Union[str, 'os.PathLike[str]']\n"
	      "Other = Any  # a Profile, or what Profile accepts\n"
	      "Run = Callable[[str, Sequence[str], Mapping[str, Any]], Result]\n\n"
	      "# The options that only one command has.\n"
	      "OWN: Dict[str, Tuple[str, ...]] = {\n",
	        file);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		if (is_method(c) && c->run != report_run)
			put_own_names(c);
	fputs("}\nVIEWS = (", file);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		if (c->view)
			fprintf(file, "'%s', ", c->name);
	fputs(")\n", file);
}

static void put_base(void)
{
	fputs("\n\nclass Commands:\n"
	      "    \"\"\"The base class of Profile, which runs the commands.\"\"\"\n\n"
	      "    def _tree(self, view: str, options: Mapping[str, Any]) -> Tree:\n"
	      "        raise NotImplementedError\n\n"
	      "    def _result(self, command: str, words: Sequence[str], options: Mapping[str, "
	      "Any]) "
	      "-> Result:\n"
	      "        raise NotImplementedError\n\n"
	      "    def _compare(self, other: Optional[Other], steps: Optional[Sequence[Union[int, "
	      "str]]],\n"
	      "                 options: Mapping[str, Any]) -> Result:\n"
	      "        raise NotImplementedError\n\n"
	      "    def _page(self, path: Path, options: Mapping[str, Any]) -> None:\n"
	      "        raise NotImplementedError\n",
	        file);
}

void docs_python(const char *path)
{
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	fputs("# SPDX-License-Identifier: Apache-2.0\n"
	      "# Made by tools/gen_docs.c; do not edit.\n"
	      "\"\"\"The commands of the program as methods with typed arguments. None is the "
	      "default of an argument.\"\"\"\n"
	      "import os\n"
	      "from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, "
	      "Sequence, Tuple, Union\n\n"
	      "from .result import Result\n"
	      "from .rows import Tree\n\n",
	        file);
	put_types();
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;)
		if (callable_list_of(c))
			put_callable_list(c, callable_list_of(c));
	put_base();
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		if (!is_method(c) || callable_list_of(c))
			continue;
		put_method(c);
	}
	docs_end(file);
}

void docs_python_page(void)
{
	struct arena *a = &docs_session->query_arena;

	file = docs_begin(".", "PYTHON.md");
	fputs("# Methods of tfprof.Profile\n\n"
	      "<!-- Made by tools/gen_docs.c; do not edit. -->\n\n"
	      "Each command of the program that reads a profile is a method with typed keyword "
	      "arguments;\n`help(tfprof.Profile.kernels)` explains them. The views return a tree "
	      "of rows,\n`report` writes a file, and all other methods return a table. "
	      "python/README.md has examples.\n\n"
	      "| method | answer | arguments |\n|---|---|---|\n",
	        file);
	for (const struct command *c = NULL; (c = cmd_next(docs_session, c)) != NULL;) {
		struct strs names = { 0 };
		if (!is_method(c))
			continue;
		for (const struct option *row = options_of(c->name); row; row = option_next(row))
			if (!(row->flags & OPTION_PRINTED))
				strs_add(a, &names,
				        str_fmt(a, "`%.*s`", STR(python_name(row->name))));
		fprintf(file, "| `%.*s` | %s | %.*s |\n", STR(python_name(c->name)), c->help,
		        STR(strs_join(a, &names, S(", "))));
	}
	fputs("\nFurther arguments, where the program has the option:\n\n"
	      "| argument | meaning |\n|---|---|\n",
	        file);
	for (const struct option *row = view_options; row; row = option_next(row))
		if (!(row->flags & (OPTION_PRINTED | OPTION_HIDDEN)))
			fprintf(file, "| `%s` | %s |\n", row->name, row->help);
	docs_end(file);
}
