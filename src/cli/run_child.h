/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program transparently: same process group, terminal, streams and signal dispositions.
 * Signals that we receive are passed on, and when the program stops, this process stops too. Knows
 * nothing of recording.
 */
#ifndef TFPROF_CLI_RUN_CHILD_H
#define TFPROF_CLI_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOLLOW_CANNOT_RUN 126 /* exit statuses as in a shell */
#define FOLLOW_NOT_FOUND  127
#define FOLLOW_SIGNAL     128 /* plus the number of the signal */

struct follow {
	pid_t pid;
	int status;    /* exit status of the program, as in a shell */
	int error;     /* errno if it could not be started, otherwise 0 */
	sigset_t kept; /* the original mask; signals stay blocked until follow_end */
};

/* Runs argv (searched in PATH, no shell) to its end. False if it could not be started. */
bool follow_run(struct follow *f, char **argv);

/* Between the two calls: waits that long, or until a signal asks us to end: then returns false. */
bool follow_wait(int64_t milliseconds);

void follow_end(const struct follow *f);

#endif
