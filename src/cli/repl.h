/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of commands from standard input: the prompt where it is a terminal, else a script.
 */
#ifndef TFPROF_CLI_REPL_H
#define TFPROF_CLI_REPL_H

#include "lib/jobs.h"
#include "cli/screen.h"

/* Runs every line; one that fails is said and the rest goes on. True if none failed. *lines: how
 * many there were. */
bool repl_run(struct jobs *jobs, struct screen *screen, size_t *lines);

/* Prints the notes of loading and of the last call on standard error, and its sentence if it
 * failed. line: of a script, from 1; 0: not in a script. */
void repl_say(struct session *s, bool ok, size_t line);

#endif
