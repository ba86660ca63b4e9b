/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands, and help made from it. Rows are in command.def; the program adds those of
 * cli/program.def.
 */
#ifndef TFPROF_LIB_COMMAND_H
#define TFPROF_LIB_COMMAND_H

#include "lib/session.h"

/* Purposes of commands; the short help groups them by purpose. */
enum purpose {
	PURPOSE_VIEWS,
	PURPOSE_COMPARE,
	PURPOSE_FILES,
	PURPOSE_RECORD,
	PURPOSE_SESSION,
	PURPOSE_N
};

struct request;
struct command {
	const char *name, *help;
	const char *also; /* its other name, or NULL */
	enum purpose purpose;
	const char *about;           /* a paragraph */
	const char *examples;        /* command lines, one per line */
	const struct view_ops *view; /* of the view commands */
	bool needs_profile;
	bool keeps_attrs; /* its output contains node attributes */
	bool (*run)(struct session *s, const struct request *r, struct sink *out);
	bool (*check)(struct session *s,
	        const struct request *r); /* description of its arguments; may be NULL */
	bool own_words;                   /* reads its own arguments: request.topics */
	bool program;                     /* and only the program has it: program.h */
	bool starts; /* its first argument that is not an option begins another command line */
	const char *synopsis;    /* further text after the synopsis in the manual */
	const char *subcommands; /* choices of argument subcommand_at, separated by blanks; NULL: no
	                            such argument */
	unsigned subcommand_at;  /* from 1 */
	const char *view_options; /* with own arguments: the view options it accepts too, separated
	                             by blanks; "*": all that apply */
	bool ends;                /* no further line is read after it */
	bool table;               /* prints a table, of which --top shows some rows */
	bool reads_recording;     /* reads a recording itself, without its nodes */
	bool newest; /* without input: reads the newest recording in the current folder */
	bool ours;   /* prints no progress sentences of the original while loading */
};

/* A parsed command line. */
struct request {
	const struct command *command; /* NULL: no command was given */
	struct opts opts;              /* the sticky options with those of this line */
	struct strs topics;            /* arguments of help, and of commands that read their own */
	unsigned checkers;             /* for advise: CHECK_BIT bits */
	struct sink *message;          /* sink for the result message; NULL: none */
	struct strs before;            /* on the command line: words before the command */
	struct strs files;             /* on the command line: words that are existing files */
	bool takes_files;
	bool no_file;      /* on failure: a word that should be a file and is not */
	bool prompt;       /* typed by a person at the prompt */
	bool help;         /* the line contains --help */
	bool show_all;     /* set -all */
	int64_t top;       /* rows of tables and of top */
	int section;       /* choice of --table; 0: none */
	struct str by;     /* of top: the metric; empty: not given */
	struct strs shown; /* options without a value after set: print their values */
	struct strs given; /* names of the given options */
};

/* Returns the command after this one (NULL: the first), or NULL at the end: first the library's
 * commands, then the program's (session.more_commands). */
const struct command *cmd_next(const struct session *s, const struct command *c);
const struct command *cmd_find(const struct session *s, struct str name);

/* The functions of the rows. */
#define COMMAND(name, function, ...)                                                               \
	bool function(struct session *s, const struct request *r, struct sink *out);
/* clang-format off */
#include "lib/command.def"
/* clang-format on */
#undef COMMAND

bool check_convert(struct session *s, const struct request *r);

/* ---- help ----
 *
 * Help texts, made from the tables.
 */

/* Writes the page for each topic: a section, a command, an option with or without dashes, a value
 * of an option. Without topics: the short help. Fails with the session's error if a topic is
 * unknown. */
bool help_write(struct session *s, const struct strs *topics, struct sink *out);

/* A topic that lists others. */
struct help_section {
	const char *name;
	void (*put)(struct session *s, struct sink *out);
};
extern const struct help_section help_sections[];
extern const size_t n_help_sections;

/* Writes text in lines of at most `columns` columns (0: no terminal; 20 to 100 are used), broken at
 * blanks; each line after the first is indented by `blanks` columns. */
void help_put_hanging(unsigned columns, struct str text, size_t blanks, struct sink *out);

#endif
