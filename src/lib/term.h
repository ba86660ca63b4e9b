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
	bool tty;   /* standard output is a terminal */
	bool smart; /* and supports cursor movement: TERM is set and not dumb */
	bool color;
	bool utf8;
	unsigned rows, columns; /* 0: unknown */
};

/* color is the value of --color; for auto, NO_COLOR and CLICOLOR_FORCE count. */
struct term term_look(enum term_color color);

/* Sets rows and columns of the terminal of fd; 0 if it is not one. */
void term_size(int fd, unsigned *rows, unsigned *columns);

/* ---- progress ----
 *
 * A progress line on standard error while files are read, if standard error is a terminal and
 * reading takes longer than half a second.
 */

struct progress {
	bool on, shown;
	double begun, last;    /* seconds */
	uint64_t before, done; /* bytes of finished inputs; of the current one */
};

/* Fills *w, unless standard error is not a terminal. */
void progress_begin(struct progress *p, struct input_watch *w);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
