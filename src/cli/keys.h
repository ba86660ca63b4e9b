/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the terminal and libedit, which takes signals in the midst of its work and writes behind
 * what it allocated where a line outgrows the screen, or a search its line. Here signals wait
 * until the next key is asked for, and neither terminals nor lines get to it that it cannot hold.
 */
#ifndef TFPROF_CLI_KEYS_H
#define TFPROF_CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#define KEYS_LINE_MAX    4096 /* letters */
#define KEYS_SEARCH_MAX  480  /* keys of one search, and letters of what is looked for */
#define KEYS_ROWS_MIN    3
#define KEYS_COLUMNS_MIN 20
#define KEYS_SIDE_MAX    1024

struct editline;

/* Is the terminal neither too small nor too large? */
bool keys_fit(void);

/* libedit reads keys through here, and has room for the longest line. Call it before el_source. */
void keys_open(struct editline *e);

/* Takes away keys that may crash it, in whatever way the user's file of keys has changed them. */
void keys_forbid(struct editline *e);

/* el_gets behind a prompt of so many columns. *too_long: the line, or what was looked for, was; it
 * has been read to its end. */
const char *keys_line(struct editline *e, size_t prompt, int *n, bool *too_long);

/* The shell's turn, until it lets us go on. */
void keys_stop(struct editline *e);

#endif
