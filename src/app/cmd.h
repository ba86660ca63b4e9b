/* SPDX-License-Identifier: Apache-2.0
 *
 * The command language: one table of commands, one parser for the command line, the prompt, scripts
 * and the library. Words are split by the caller or by cmd_line.
 */
#ifndef TFPROF_APP_CMD_H
#define TFPROF_APP_CMD_H

#include "app/session.h"

struct request;
struct command {
	const char *name, *help;
	const struct view_ops *view; /* of the view commands */
	bool needs_profile;
	bool (*run)(struct session *s, const struct request *r, struct sink *out);
};
extern const struct command commands[];
extern const size_t n_commands;

/* What a command line asks for. */
struct request {
	const struct command *command; /* NULL: no command was named */
	struct opts opts;              /* the sticky ones and what was set */
	struct strs topics;            /* words behind help */
};

/* Reads words: a command and options, in any order, as -name value, --name value or --name=value.
 * more: names of options (without dashes) that the caller took out already, for "did you mean".
 * Inside a session_guard; strings of the request live in the query arena. */
bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r);

/* Splits, parses and runs one line. A blank line shows the sticky options. */
bool cmd_line(struct session *s, struct str line, struct sink *out);

const struct command *cmd_find(struct str name);

/* The option that a word such as --step=3 begins, and what is behind '='. False: it is no option.
 */
bool cmd_option_word(struct str word, struct str *name, struct str *value, bool *has_value);

#endif
