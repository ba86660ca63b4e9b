/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts, made from the tables.
 */
#ifndef TFPROF_LIB_HELP_H
#define TFPROF_LIB_HELP_H

#include "lib/session.h"

/* Writes the page for each topic: a section, a command, an option with or without dashes, a value
 * of an option. Without topics: the short help. Fails with the session's error if a topic is
 * unknown. */
bool help_write(struct session *s, const struct strs *topics, struct sink *out);

/* A topic that lists others. */
struct help_section {
	const char *name;
	void (*put)(struct session *s, struct sink *out);
};
extern const struct help_section help_sections[];
extern const size_t n_help_sections;

/* Writes the short help: usage, commands by purpose, examples. */
void help_usage(struct session *s, struct sink *out);

/* Writes text in lines of at most `columns` columns (0: no terminal; 20 to 100 are used), broken at
 * blanks; each line after the first is indented by `blanks` columns. */
void help_put_hanging(unsigned columns, struct str text, size_t blanks, struct sink *out);

#endif
