/* SPDX-License-Identifier: Apache-2.0
 *
 * The redirection at the end of a line: "| less", "> file", ">> file". Only the separate words |, >
 * and >> count, because patterns contain bars.
 */
#ifndef TFPROF_CLI_REDIRECT_H
#define TFPROF_CLI_REDIRECT_H

#include "cli/spawn.h"
#include "io/sink.h"

enum redirect_to { REDIRECT_NONE, REDIRECT_PROGRAM, REDIRECT_FILE, REDIRECT_APPEND };

struct redirect {
	struct str command; /* the line without the redirection */
	enum redirect_to to;
	struct strs words; /* the program and its arguments, or the file */
	/* While it is open. */
	struct sink *sink;
	struct child child;
	int fd;
	struct guard guard;
};

/* Parses the end of text. The words live in e->a. */
bool redirect_split(struct redirect *l, struct str text, struct err *e);

/* Opens the destination, unless it is the terminal. It is closed automatically if the work ends
 * early. */
bool redirect_open(struct redirect *l, struct err *e);

/* Flushes and closes; ok: the command succeeded. */
bool redirect_close(struct redirect *l, bool ok, struct err *e);

#endif
