/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts a program that reads our output: a pager, or the command after '|'. No shell is involved.
 */
#ifndef TFPROF_CLI_SPAWN_H
#define TFPROF_CLI_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/sink.h"

/* From now on, a write to a closed pipe or beyond the file size limit fails instead of ending the
 * process. */
void spawn_ignore_signals(void);

/* Restores these signals; called in a child before exec. */
void spawn_restore_signals(void);

/* Returns the exit status of a shell for an error of exec. A folder of PATH that may not be
 * searched counts as "not found". */
int spawn_error(const char *name, int error);

struct child {
	pid_t pid;
	int fd; /* pipe to the standard input of the child */
	struct str name;
};

/* Starts words->v[0] from PATH with the words as its arguments. env: an additional NAME=value, or
 * NULL. The child's name lives as long as words. */
bool spawn_start(struct child *c, const struct strs *words, const char *env, struct err *e);

/* Closes the pipe, and waits. Returns false if the program failed. */
bool spawn_wait(struct child *c, struct err *e);

/* Waits for the child and ignores its status. */
void spawn_leave(struct child *c);

/* ---- run child ----
 *
 * Runs a program transparently: same process group, terminal, streams and signal dispositions.
 * Forwards received signals to the program, and stops when the program stops. Independent of
 * recording.
 */

#define FOLLOW_CANNOT_RUN 126 /* exit statuses as in a shell */
#define FOLLOW_NOT_FOUND  127
#define FOLLOW_SIGNAL     128 /* added to the number of the signal */

struct follow {
	pid_t pid;
	int status;    /* exit status of the program, as in a shell */
	int signal;    /* signal that ended the program, or 0 */
	int ended;     /* status of the program as waitpid returned it */
	int error;     /* errno if it could not be started, otherwise 0 */
	sigset_t kept; /* the original mask; signals stay blocked until follow_end */
};

/* Runs argv (searched in PATH, without a shell) until it ends. Returns false if it could not be
 * started. */
bool follow_run(struct follow *f, char **argv);

/* Waits for the given time; called between begin and end. Returns false if a terminating signal is
 * received. */
bool follow_wait(int64_t milliseconds);

void follow_end(const struct follow *f);

/* ---- redirect ----
 *
 * The redirection at the end of a line: "| less", "> file", ">> file". Only the separate words |, >
 * and >> count, because patterns contain bars.
 */

enum redirect_to { REDIRECT_NONE, REDIRECT_PROGRAM, REDIRECT_FILE, REDIRECT_APPEND };

struct redirect {
	struct str command; /* the line without the redirection */
	enum redirect_to to;
	struct strs words; /* the program and its arguments, or the file */
	/* Valid while the redirection is open. */
	struct sink *sink;
	struct child child;
	int fd;
	struct guard guard;
};

/* Parses the end of a text. The words live in e->a. */
bool redirect_split(struct redirect *l, struct str text, struct err *e);

/* Opens the destination, unless it is the terminal. The destination is closed automatically if the
 * work ends early. */
bool redirect_open(struct redirect *l, struct err *e);

/* Flushes and closes the destination. ok: true if the command succeeded. */
bool redirect_close(struct redirect *l, bool ok, struct err *e);

#endif
