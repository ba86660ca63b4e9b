/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of commands. Rows are in command.def; the program adds those of cli/program.def.
 */
#ifndef TFPROF_LIB_COMMAND_H
#define TFPROF_LIB_COMMAND_H

#include "lib/session.h"

/* What commands are for: the short help lists them so. */
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
	enum purpose purpose;
	const char *about;           /* a paragraph */
	const char *examples;        /* command lines, one a line */
	const struct view_ops *view; /* of the view commands */
	bool needs_profile;
	bool keeps_attrs; /* what it writes has node attributes in it */
	bool (*run)(struct session *s, const struct request *r, struct sink *out);
	bool (*check)(struct session *s, const struct request *r); /* of the words; may be NULL */
	bool own_words;           /* what stands behind it is for it alone: request.topics */
	bool program;             /* and only the program has it: program.h */
	bool starts;              /* its first word that is no option begins another command line */
	const char *synopsis;     /* what stands behind it besides, in the manual */
	const char *subcommands;  /* what its word subcommand_at may be, with blanks between; NULL:
	                             no such word */
	unsigned subcommand_at;   /* from 1 */
	const char *view_options; /* with own words: the options of the views that it takes too,
	                             with blanks between; "*": all that it has a use for */
	bool ends;                /* nothing is read behind it */
	bool ours;                /* prints no progress sentences of the original while loading */
};

/* What a command line asks for. */
struct request {
	const struct command *command; /* NULL: no command was named */
	struct opts opts;              /* the sticky ones and what was set */
	struct strs topics;   /* words behind help, and behind commands with words of their own */
	unsigned checkers;    /* of advise: CHECK_BIT bits */
	struct sink *message; /* where the result goes as a message; NULL: nowhere */
	struct strs files;    /* of the command line: words that are no command but exist */
	bool takes_files;
	bool no_file;      /* where it fails: a word that should be a file is none */
	bool prompt;       /* a person typed it at the prompt */
	bool help;         /* --help stands in the line */
	bool show_all;     /* set -all */
	int64_t top;       /* rows of devices, kernels, steps and top */
	struct str by;     /* of top: the metric; empty: not given */
	struct strs shown; /* options without a value behind set: to be shown */
	struct strs given; /* the names of the options that were given */
};

/* The next command of the session after this one (NULL: the first), or NULL: those of the library,
 * then those that the program has brought (session.more_commands). */
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

#endif
