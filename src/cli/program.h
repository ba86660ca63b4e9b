/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that only the program has, not the library: they start other programs, look at the
 * machine, or speak with running collectors.
 */
#ifndef TFPROF_CLI_PROGRAM_H
#define TFPROF_CLI_PROGRAM_H

#include "lib/cmd.h"
#include "lib/options.h"

struct program {
	struct session *s;
	const struct command *command;
	const struct strs *words; /* those behind it */
	struct sink *out;
	unsigned columns; /* of the terminal behind out; 0: it is none */
	int status;       /* the exit status where the command did what it was asked */
};

/* Runs the command. False with the session's error. */
bool program_run(struct program *p);

#endif
