/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands, and help made from it. Rows are in command.def; the program adds those of
 * cli/program.def.
 */
#ifndef TFPROF_LIB_COMMAND_H
#define TFPROF_LIB_COMMAND_H

#include "lib/session.h"
#include "trace/pass/replay.h"

/* Purposes of commands, by which the short help groups them. */
enum purpose {
	PURPOSE_STEP,
	PURPOSE_VIEWS,
	PURPOSE_DEVICES,
	PURPOSE_SCREENS,
	PURPOSE_COMPARE,
	PURPOSE_FILES,
	PURPOSE_RECORD,
	PURPOSE_SESSION,
	PURPOSE_N
};

struct request;
struct command {
	const char *name, *help;
	const char *also; /* alias; may be NULL */
	enum purpose purpose;
	const char *about;           /* a paragraph */
	const char *examples;        /* command lines, one per line */
	const struct view_ops *view; /* for commands of views: the view */
	bool needs_profile;
	bool keeps_attrs; /* the output contains node attributes */
	bool (*run)(struct session *s, const struct request *r, struct sink *out);
	bool (*check)(struct session *s,
	        const struct request *r);    /* validates the arguments; may be NULL */
	bool (*takes_word)(struct str word); /* returns true for words that are stored in
	                                        request.topics; may be NULL */
	bool takes_name;                     /* true: the first word is stored in request.topics */
	bool own_words;                      /* true: the command parses its arguments itself and
	                                        stores them in request.topics */
	bool program;   /* exists only in the program (program.h), not in the library */
	bool at_prompt; /* with program: can be typed at the prompt, too */
	bool starts;    /* true: the first argument that is not an option begins another command
	                   line */
	const char *synopsis;    /* additional text after the synopsis in the manual */
	const char *subcommands; /* choices of argument subcommand_at, separated by blanks; NULL: no
	                            such argument */
	unsigned subcommand_at;  /* number of this argument, counted from 1 */
	const char *view_options; /* if own_words is set: accepted view options, separated by
	                             blanks; "*": all options that apply */
	bool ends;                /* ends the session */
	bool table;               /* true: prints a table, limited by --top */
	int rows;                 /* default of --top; 0: TABLE_TOP */
	bool reads_recording;     /* true: reads a recording itself, without creating nodes */
	bool newest; /* without an input, reads the newest recording in the current folder */
	bool ours;   /* does not print the original's progress messages while loading */
};

/* A parsed command line. */
struct request {
	const struct command *command; /* NULL: no command was given */
	struct opts opts;     /* options of the session, overridden by the options of this line */
	struct strs topics;   /* arguments of help and of commands with own_words, takes_word or
	                         takes_name */
	unsigned checkers;    /* for advise: CHECK_BIT bits */
	struct sink *message; /* sink for the result as a message; NULL: none */
	struct strs before;   /* on the command line: flags for inputs */
	struct strs files;    /* on the command line: words that are existing files */
	bool takes_files;
	bool no_file;            /* true on failure if a file argument is not an existing file */
	bool prompt;             /* typed by a person at the prompt */
	bool help;               /* the line contains --help */
	bool show_all;           /* true: set -all */
	int64_t top;             /* --top: maximum number of rows */
	int section;             /* choice of --table; 0: none */
	struct str cause;        /* --cause of why; empty: not given */
	struct strs fail_on;     /* --fail-on of why and collectives */
	bool allow_inconclusive; /* --allow-inconclusive of why */
	struct str explain;      /* --explain of flops; empty: not given */
	bool partial;            /* --partial of flops */
	int64_t peak_flops, peak_bandwidth; /* --peak-flops, --peak-bandwidth; 0: not given */
	bool diff;                          /* --diff of memory */
	struct strs shown; /* options that were given to set without a value, so that they are
	                      printed */
	struct strs given; /* names of the given options */
};

/* True if sessions can run the command. The other commands of the program start programs or read
 * their own files. */
static inline bool cmd_in_session(const struct command *c)
{
	return !c->program || c->needs_profile;
}

/* True if a person can type the command at the prompt. */
static inline bool cmd_at_prompt(const struct command *c)
{
	return cmd_in_session(c) || c->at_prompt;
}

/* Returns the command after c (NULL: the first command), or NULL at the end. Iterates over the
 * commands of the library, then of the program (session.more_commands). */
const struct command *cmd_next(const struct session *s, const struct command *c);
const struct command *cmd_find(const struct session *s, struct str name);

/* The functions that the rows name. */
#define COMMAND(name, function, ...)                                                               \
	bool function(struct session *s, const struct request *r, struct sink *out);
/* clang-format off */
#include "lib/command.def"
/* clang-format on */
#undef COMMAND

/* True if a word has the form of a change for what-if. */
bool what_if_is_change(struct str word);

bool check_convert(struct session *s, const struct request *r);
bool check_what_if(struct session *s, const struct request *r);
bool check_collectives(struct session *s, const struct request *r);
bool check_peek(struct session *s, const struct request *r);
bool check_why(struct session *s, const struct request *r);

/* ---- help ----
 *
 * Help texts, generated from the tables.
 */

/* Writes the help for each topic: a section, a command, an option with or without dashes, or a
 * value of an option. Without topics, writes the short help. Fails with the session's error if a
 * topic is unknown. */
bool help_write(struct session *s, const struct strs *topics, struct sink *out);

/* Writes help about a command that fits a screen: one line for each option, and two examples. */
void help_write_short(struct session *s, const struct command *c, struct sink *out);

/* A topic that lists other topics. */
struct help_section {
	const char *name;
	void (*put)(struct session *s, struct sink *out);
};
extern const struct help_section help_sections[];
extern const size_t n_help_sections;

#endif
