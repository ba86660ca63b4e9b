/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that generate the documentation.
 */
#ifndef TOOLS_GEN_DOCS_H
#define TOOLS_GEN_DOCS_H

#include <stdio.h>

#include "lib/flags.h"
#include "lib/options.h"

/* Knows the commands of the library and of the program. */
extern struct session *docs_session;

/* Opens a file in a sub-folder for writing; a failure ends the program. */
FILE *docs_begin(const char *sub, const char *name);
void docs_end(FILE *f);

/* Manual pages (gen_docs_man.c). */
void docs_main_page(void);
void docs_page_of(const struct command *c);

/* Completions (gen_docs_completion.c). */
void docs_bash(void);
void docs_zsh(void);
void docs_fish(void);

#endif
