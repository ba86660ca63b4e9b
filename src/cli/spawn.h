/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts a program that reads our output: a pager, or the command after '|'. No shell is involved.
 */
#ifndef TFPROF_CLI_SPAWN_H
#define TFPROF_CLI_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

/* From here on, a write to a closed pipe or beyond the file size limit fails instead of ending the
 * process. */
void spawn_ignore_signals(void);

/* In a child, before exec: restores these signals. */
void spawn_restore_signals(void);

/* Exit status as in a shell for an error of exec: a folder of PATH that may not be searched counts
 * as "not found". */
int spawn_error(const char *name, int error);

struct child {
	pid_t pid;
	int fd; /* pipe to its standard input */
	struct str name;
};

/* Starts words->v[0] from PATH with the words as its arguments. env: an additional NAME=value, or
 * NULL. The child's name lives as long as words. */
bool spawn_start(struct child *c, const struct strs *words, const char *env, struct err *e);

/* Closes the pipe and waits. False if the program failed. */
bool spawn_wait(struct child *c, struct err *e);

/* Waits for the child and ignores its status. */
void spawn_leave(struct child *c);

#endif
