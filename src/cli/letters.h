/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters of a text as a terminal shows them: their width, and escapes for bytes that could
 * control the terminal. Every character counts as one column.
 */
#ifndef TFPROF_CLI_LETTERS_H
#define TFPROF_CLI_LETTERS_H

#include "base/str.h"

/* Appends text; bytes that could control a terminal are written as \xNN. */
void letters_escape(struct sb *to, struct str text, bool utf8);

/* Returns the columns that the escaped text takes. */
size_t letters_width(struct str text, bool utf8);

/* Appends the escaped text; if it takes more columns than room, its middle is left out. */
void letters_shorten(struct sb *to, struct str text, size_t room, bool utf8);

/* Returns the longest prefix of text that ends at a blank and takes at most room columns; the first
 * word if that is longer. */
struct str letters_break(struct str text, size_t room, bool utf8);

#endif
