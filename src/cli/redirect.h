/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a line that says where its text goes: "| less", "> file", ">> file". Only a word that
 * is exactly |, > or >> counts: patterns hold bars.
 */
#ifndef TFPROF_CLI_REDIRECT_H
#define TFPROF_CLI_REDIRECT_H

#include "cli/spawn.h"
#include "io/sink.h"

enum line_to { LINE_SCREEN, LINE_PROGRAM, LINE_FILE, LINE_APPEND };

struct line {
	struct str command; /* what is left of the line */
	enum line_to to;
	struct strs words; /* the program and its words, or the file */
	/* While it is open. */
	struct sink *sink;
	struct child child;
	int fd;
	struct guard guard;
};

/* Reads the end of text. The words live in e->a. */
bool line_split(struct line *l, struct str text, struct err *e);

/* Opens where the text goes, unless that is the screen. Closes itself if the work ends early. */
bool line_open(struct line *l, struct err *e);

/* Writes what is left and closes; ok: the command succeeded. */
bool line_close(struct line *l, bool ok, struct err *e);

#endif
