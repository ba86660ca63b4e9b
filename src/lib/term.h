/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of standard output: terminal or not, size, colours, encoding. Determined for each
 * command, because terminals are resized.
 */
#ifndef TFPROF_LIB_TERM_H
#define TFPROF_LIB_TERM_H

#include <stdbool.h>

enum term_color { TERM_AUTO, TERM_ALWAYS, TERM_NEVER };

struct term {
	bool tty;   /* standard output is a terminal */
	bool smart; /* and understands cursor movement: TERM is set and not dumb */
	bool color;
	bool utf8;
	unsigned rows, columns; /* 0: not known */
};

/* color as --color says; NO_COLOR and CLICOLOR_FORCE count where it says auto. */
struct term term_look(enum term_color color);

/* Rows and columns of the terminal behind fd; 0 where there is none. */
void term_size(int fd, unsigned *rows, unsigned *columns);

#endif
