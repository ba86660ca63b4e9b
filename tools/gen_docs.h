/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that generate the documentation.
 */
#ifndef TOOLS_GEN_DOCS_H
#define TOOLS_GEN_DOCS_H

#include <stdio.h>

#include "lib/options.h"

/* Knows the commands of the library and of the program. */
extern struct session *docs_session;

/* Opens a file in a sub-folder for writing; a failure ends the program. */
FILE *docs_begin(const char *sub, const char *name);
void docs_end(FILE *f);

/* Manual pages (gen_docs_man.c). */
void docs_main_page(void);
void docs_page_of(const struct command *c);

/* Completions (gen_docs_completion.c, gen_docs_shells.c). */
void docs_bash(void);
void docs_zsh(void);
void docs_fish(void);

/* The commands as methods of the Python package, and the page that lists the methods
 * (gen_docs_python.c). */
void docs_python(const char *path);
void docs_python_page(void);

/* Lists of words, separated by blanks. */
void docs_put_names(FILE *f, unsigned use, const char *between); /* metrics with that use */
void docs_put_stats(FILE *f);
void docs_put_topics(FILE *f);                          /* of help, without options */
void docs_put_choices(FILE *f, const struct option *w); /* values that the table lists */
bool docs_put_values(FILE *f, const struct option *w);  /* also metrics and numbers of rows; false
                                                           if there is no list; f may be NULL */

/* True for a command that accepts all view options; for an option whose value is optional; and for
 * an option whose value is a file. */
bool docs_takes_all(const struct command *c);
bool docs_is_alone(const struct option *row);
bool docs_is_file(const struct option *row);

#endif
