/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines typed at a terminal: editing, history, completion. Without the editing library, or on a
 * terminal that cannot move its cursor, plain lines behind the same prompt.
 */
#ifndef TFPROF_CLI_PROMPT_H
#define TFPROF_CLI_PROMPT_H

#include "lib/session.h"

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

#endif
