/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads lines typed at a terminal, with editing, history and completion. Without the editing
 * library, or on a terminal that cannot move its cursor, reads plain lines with the same prompt.
 */
#ifndef TFPROF_CLI_PROMPT_H
#define TFPROF_CLI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/screen.h"
#include "lib/jobs.h"

struct prompt;

/* Opens a prompt. Returns NULL if memory is exhausted. */
struct prompt *prompt_open(struct session *s);
void prompt_close(struct prompt *p);

/* Shows "> " before the next line, which continues the previous line; valid until prompt_use. */
void prompt_continue(struct prompt *p);

/* Reads the next line without its newline, valid until the next call. Sets *discarded if Ctrl-C
 * discarded it. Returns false at the end (Ctrl-D). */
bool prompt_read(struct prompt *p, struct str *line, bool *discarded);

/* Sets the session for the following lines. The prompt shows its name unless it is empty. */
void prompt_use(struct prompt *p, struct session *s, struct str name);

/* Makes Ctrl-C cancel the session's call, until prompt_catch is called with NULL. */
void prompt_catch(struct session *s);

/* ---- history ---- */

/* The lines typed at the prompt, in a file: .tfprof_history.txt of the current folder if it exists,
 * otherwise a file in the user's state folder. Readable only by the user. Several sessions may
 * write to it at once: each appends whole lines under a lock. */

#define HISTORY_MAX 1000 /* maximum number of stored lines */

/* Returns the file's path and creates its folder. The path is empty if no folder was found. */
struct str history_path(struct arena *a);

/* Returns the lines of the file, oldest first. A file with more than twice HISTORY_MAX lines is
 * shortened. */
struct strs history_read(struct arena *a, struct str path);

/* Appends one line. Failures are ignored: history is optional. */
void history_add(struct arena *a, struct str path, struct str line);

/* ---- keys ---- */

/* A layer between the terminal and libedit. libedit handles signals in the middle of its work, and
 * writes beyond its buffers when a line outgrows the screen or a search outgrows its line. This
 * layer delays signals until the next key is read, and keeps terminals and lines that libedit
 * cannot handle away from it. */

#define KEYS_LINE_MAX    4096 /* characters */
#define KEYS_SEARCH_MAX  480  /* keys of one search, and characters of the search text */
#define KEYS_ROWS_MIN    3
#define KEYS_COLUMNS_MIN 20
#define KEYS_SIDE_MAX    1024

struct editline;

/* True if libedit can handle the size of the terminal. */
bool keys_fit(void);

/* Makes libedit read keys through this layer, with room for the longest line. Must be called before
 * el_source. */
void keys_open(struct editline *e);

/* Unbinds keys that can crash libedit, however the user's key file has changed them. */
void keys_forbid(struct editline *e);

/* Calls el_gets after a prompt of the given width. Sets *too_long if the line or the search text
 * was too long; the line has been read to its end. */
const char *keys_line(struct editline *e, size_t prompt, int *n, bool *too_long);

/* Stops the process, as Ctrl-Z does, until the shell continues it. */
void keys_stop(struct editline *e);

/* ---- complete ----
 *
 * Completes the word before the cursor: commands, options, their values, node names, types,
 * devices, steps, files. Names are found by bisection.
 */

#define COMPLETE_MAX 500 /* largest number of listed candidates */

struct complete {
	struct str stem;   /* the text to replace: the end of the line */
	struct strs items; /* possible replacements, in order; live in the query arena */
	struct str shared; /* their common prefix */
	bool more;         /* true: there are more than COMPLETE_MAX items */
	bool open;         /* true: the word may continue, so no blank follows it */
};

/* Completes a line. text: the line up to the cursor. Must be called inside a session_guard. */
bool complete_line(struct session *s, struct str text, struct complete *c);

/* ---- repl ----
 *
 * Lines of commands from standard input: the prompt if it is a terminal, otherwise a script.
 */

/* Runs every line. Reports a failure, and continues with the next line. Returns true if no line
 * failed. Sets *lines to their number. */
bool repl_run(struct jobs *jobs, struct screen *screen, size_t *lines);

/* Prints the notes of loading and of the last call on standard error, and the error sentence. line:
 * number in a script, counted from 1; 0: not in a script. */
void repl_say(struct session *s, bool ok, size_t line);

#endif
