/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a line that says where its text goes: "| less", "> file", ">> file". Only a word that
 * is exactly |, > or >> counts: patterns hold bars.
 */
#ifndef TFPROF_CLI_REDIRECT_H
#define TFPROF_CLI_REDIRECT_H

#include "cli/spawn.h"
#include "io/sink.h"

enum redirect_to { REDIRECT_NONE, REDIRECT_PROGRAM, REDIRECT_FILE, REDIRECT_APPEND };

struct redirect {
	struct str command; /* what is left of the line */
	enum redirect_to to;
	struct strs words; /* the program and its words, or the file */
	/* While it is open. */
	struct sink *sink;
	struct child child;
	int fd;
	struct guard guard;
};

/* Reads the end of text. The words live in e->a. */
bool redirect_split(struct redirect *l, struct str text, struct err *e);

/* Opens where the text goes, unless that is the screen. Closes itself if the work ends early. */
bool redirect_open(struct redirect *l, struct err *e);

/* Writes what is left and closes; ok: the command succeeded. */
bool redirect_close(struct redirect *l, bool ok, struct err *e);

#endif
