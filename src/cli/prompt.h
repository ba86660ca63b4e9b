/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines typed at a terminal: editing, history, completion. Without the editing library, or on a
 * terminal that cannot move its cursor, plain lines behind the same prompt.
 */
#ifndef TFPROF_CLI_PROMPT_H
#define TFPROF_CLI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/session.h"
#include "base/str.h"

struct prompt;

/* NULL: no memory. */
struct prompt *prompt_open(struct session *s);
void prompt_close(struct prompt *p);

/* The next line without its newline, valid until the next call; false at the end (Ctrl-D). A line
 * that was given up with Ctrl-C is left out. */
bool prompt_read(struct prompt *p, struct str *line);

/* Lines are for the session given from now on; the name stands before the cursor, unless it is
 * empty. */
void prompt_use(struct prompt *p, struct session *s, struct str name);

/* Until it is called again with NULL, Ctrl-C cancels what the session does. */
void prompt_catch(struct session *s);

/* ---- history ---- */

/* The lines typed at the prompt, in a file: .tfprof_history.txt of the current folder if there is
 * one, else in the user's state folder. Readable by the user alone. Several sessions may write to
 * it at once: each appends whole lines under a lock. */

#define HISTORY_MAX 1000 /* lines that are kept */

/* The file's path; empty if there is no place for one. Its folder is made. */
struct str history_path(struct arena *a);

/* The lines of the file, oldest first. Where it holds more than twice HISTORY_MAX, it is cut. */
struct strs history_read(struct arena *a, struct str path);

/* Appends one line. Failure is silent: history is a comfort. */
void history_add(struct arena *a, struct str path, struct str line);

/* ---- keys ---- */

/* Between the terminal and libedit, which takes signals in the midst of its work and writes behind
 * what it allocated where a line outgrows the screen, or a search its line. Here signals wait
 * until the next key is asked for, and neither terminals nor lines get to it that it cannot hold.
 */

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
