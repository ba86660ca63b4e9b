/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts, made from the tables.
 */
#ifndef TFPROF_APP_HELP_H
#define TFPROF_APP_HELP_H

#include "app/session.h"

/* The page for a topic (a command, an option with or without dashes), or for all. */
bool help_write(struct session *s, const struct strs *topics, struct sink *out);

/* Examples, commands, options. */
void help_usage(struct session *s, struct sink *out);

/* Text in lines of so many columns (0: of no terminal), of 100 at most and 20 at least: broken at
 * blanks, with so many, which are fewer, before each line but the first. */
void help_put_hanging(unsigned columns, struct str text, size_t blanks, struct sink *out);

#endif
