/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts, made from the tables.
 */
#ifndef TFPROF_LIB_HELP_H
#define TFPROF_LIB_HELP_H

#include "lib/session.h"

/* The page for a topic (a section, a command, an option with or without dashes, a word that one
 * takes), or for all. */
bool help_write(struct session *s, const struct strs *topics, struct sink *out);

/* A topic that lists others. */
struct help_section {
	const char *name;
	void (*put)(struct session *s, struct sink *out);
	bool in_usage;
};
extern const struct help_section help_sections[];
extern const size_t n_help_sections;

/* Examples, commands, options. */
void help_usage(struct session *s, struct sink *out);

/* Text in lines of so many columns (0: of no terminal), of 100 at most and 20 at least: broken at
 * blanks, with so many, which are fewer, before each line but the first. */
void help_put_hanging(unsigned columns, struct str text, size_t blanks, struct sink *out);

#endif
