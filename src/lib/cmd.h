/* SPDX-License-Identifier: Apache-2.0
 *
 * The command language: one parser for the command line, the prompt, scripts and the library. Words
 * are split by the caller or by cmd_parse_line.
 */
#ifndef TFPROF_LIB_CMD_H
#define TFPROF_LIB_CMD_H

#include "lib/options.h"

/* Reads words: a command and options, in any order, as -name value, --name value or --name=value.
 * more: names of options (without dashes) that the caller has read already, for "did you mean".
 * Inside a session_guard; strings of the request live in the query arena. */
bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r);

/* Fails: the option, given as typed, does not exist. */
bool cmd_unknown_option(
        struct session *s, struct str word, struct str name, const struct strs *more);

/* Splits and parses one line. A blank line has no command, and shows the sticky options. */
bool cmd_parse_line(struct session *s, struct str line, struct request *r);
bool cmd_run(struct session *s, const struct request *r, struct sink *out);

#endif
