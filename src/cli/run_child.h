/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program as if nobody stood in between: same process group, terminal, streams and signal
 * dispositions. What we are sent it is sent, when it stops we stop. Knows nothing of recording.
 */
#ifndef TFPROF_CLI_RUN_CHILD_H
#define TFPROF_CLI_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOLLOW_CANNOT_RUN 126 /* statuses as a shell gives them */
#define FOLLOW_NOT_FOUND  127
#define FOLLOW_SIGNAL     128 /* and the number of the signal */

struct follow {
	pid_t pid;
	int status;    /* of the program, as a shell has it */
	int error;     /* errno if it could not be started, else 0 */
	sigset_t kept; /* the mask from before; signals stay blocked until follow_end */
};

/* Runs argv (searched in PATH, no shell) to its end. False if it could not be started. */
bool follow_run(struct follow *f, char **argv);

/* Between the two: waits so long, or until somebody wants us to end: then false. */
bool follow_wait(int64_t milliseconds);

void follow_end(const struct follow *f);

#endif
