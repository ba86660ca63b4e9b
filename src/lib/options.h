/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of single commands, and flags: parsing by the rows of metric/option.def.
 */
#ifndef TFPROF_LIB_OPTIONS_H
#define TFPROF_LIB_OPTIONS_H

#include "lib/command.h"

/* struct <command>_options of each command that has some: choices are indexes, -1 where none is
 * given and none is the preset; times are nanoseconds; numbers without preset are 0 if not given.
 */
#define OPTIONS_BEGIN(command)                struct command##_options {
#define OF_COMMAND(command, type, field, ...) OPTION_C_##type field;
#define OPTIONS_END                                                                                \
	}                                                                                          \
	;
/* clang-format off */
#include "metric/option.def"
/* clang-format on */

/* The first row of a scope (a command, SCOPE_VIEWS), for option_next and option_in; NULL: the scope
 * has none. */
const struct option *options_of(const char *scope);

/* Stores the presets of a scope in its struct, which is all zero. */
void options_preset(const char *scope, void *in);

/* Stores a value, or the presence of a switch. Fails with a sentence. Strings stay where they are,
 * lists grow in a. */
bool option_set(
        struct session *s, struct arena *a, const struct option *row, struct str value, void *in);

/* State while the options of a command are read. */
struct option_words {
	const struct command *command; /* whose scope it is */
	void *into;                    /* its struct; holds what stays if an option is not given */
	struct opts *opts;             /* of a command with view_options: where these go */
	struct strs rest;              /* words that are no options, or stand after "--" */
	struct strs given;             /* the names of the view's options among the words */
};
bool options_read(struct session *s, const struct strs *words, struct option_words *w);

/* True if --help or -h is one of the words that are the command's own. */
bool options_want_help(const struct command *c, const struct strs *words);

/* Takes the option at words->v[*i] and, where it has one, its value after it. */
bool options_take(struct session *s, const struct strs *words, size_t *i, struct option_words *w);

/* "-" for an option of the views or of one letter, else "--". */
const char *option_dashes(const struct option *row);

/* The name of the option's argument, or its choices; NULL: it has none. */
const char *option_argument(const struct option *row);

/* Appends "--name=value", or "-n value" where the name is one letter. */
void option_usage(struct sb *b, const struct option *row);

/* ---- options of the views ---- */

/* True if the command has words of its own and names the options of the views that it takes. */
bool cmd_takes_some(const struct command *c);

/* Does the option of the views mean something to the command? */
bool cmd_has_option(const struct command *c, const struct option *row);

/* Fails if the option of the views means nothing to the command. */
bool cmd_check_option(struct session *s, const struct command *c, const struct option *row);

/* Sets an option from its value, or where it has none behind '=', from the word behind words[*i].
 */
bool cmd_set_option(struct session *s, const struct option *row, const struct strs *words,
        size_t *i, bool has_value, struct str value, struct opts *o);

/* The option that a word such as --step=3 begins, and what is behind '='. False: it is no option.
 */
bool cmd_option_word(struct str word, struct str *name, struct str *value, bool *has_value);

#endif
