/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of standard output: terminal or not, size, colours, encoding. Determined for each
 * command, because terminals are resized.
 */
#ifndef TFPROF_LIB_TERM_H
#define TFPROF_LIB_TERM_H

#include <stdbool.h>

#include "model/input.h"

enum term_color { TERM_AUTO, TERM_ALWAYS, TERM_NEVER };

struct term {
	bool tty;   /* true: standard output is a terminal */
	bool smart; /* true: it also supports cursor movement (TERM is set and not dumb) */
	bool color;
	bool utf8;
	unsigned rows, columns; /* 0: unknown */
};

/* Returns the properties. color is the value of --color; auto depends on NO_COLOR and
 * CLICOLOR_FORCE. */
struct term term_look(enum term_color color);

/* True if the locale uses UTF-8. Does not set the locale, so numbers are unaffected. */
bool term_is_utf8(void);

/* Sets rows and columns to the size of the terminal fd; 0 if it is not a terminal. */
void term_size(int fd, unsigned *rows, unsigned *columns);

/* ---- progress ----
 *
 * A progress line on standard error while files are read, if standard error is a terminal and
 * reading takes longer than half a second.
 */

struct progress {
	bool on, shown;
	double begun, last;    /* seconds */
	uint64_t before, done; /* bytes of finished inputs, and of the current input */
};

/* Fills *w, unless standard error is not a terminal. */
void progress_begin(struct progress *p, struct input_watch *w);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
