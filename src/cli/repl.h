/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of commands from standard input: the prompt if it is a terminal, otherwise a script.
 */
#ifndef TFPROF_CLI_REPL_H
#define TFPROF_CLI_REPL_H

#include "lib/jobs.h"
#include "cli/screen.h"

/* Runs every line; a failure is reported and the next line runs. True if none failed. *lines: their
 * number. */
bool repl_run(struct jobs *jobs, struct screen *screen, size_t *lines);

/* Prints the notes of loading and of the last call on standard error, and its error sentence. line:
 * number in a script, from 1; 0: not in a script. */
void repl_say(struct session *s, bool ok, size_t line);

#endif
