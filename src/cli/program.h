/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that only the program has, not the library. Sessions of the program know them by
 * session.more_commands. Their words are request.topics, the columns of the terminal
 * session.columns; session.exit_status is theirs to set.
 */
#ifndef TFPROF_CLI_PROGRAM_H
#define TFPROF_CLI_PROGRAM_H

#include "lib/options.h"
#include "lib/session.h"

extern const struct command program_commands[]; /* closed by a row without a name */

/* The functions of the rows. */
#define COMMAND(name, function, ...)                                                               \
	bool function(struct session *s, const struct request *r, struct sink *out);
/* clang-format off */
#include "cli/program.def"
/* clang-format on */
#undef COMMAND

/* ---- version ---- */

/* --version: the version of tfprof and the libraries that it uses. */

/* Writes text, or with the words "-output json" a document. Inside a session_guard. */
bool version_write(struct session *s, const struct strs *words, struct sink *out);

#endif
