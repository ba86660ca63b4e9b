/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of an answer as a person reads them on a terminal: what does not count is dim, the largest
 * shares stand out, long names lose their middle, sentences break at words, control bytes cannot
 * steer the terminal. Works on the finished text alone, so that the text of a pipe is never
 * touched.
 */
#ifndef TFPROF_CLI_PRETTY_H
#define TFPROF_CLI_PRETTY_H

#include "lib/term.h"
#include "base/str.h"

struct pretty {
	struct term term;
	bool wide;     /* names are not shortened */
	bool bars;     /* a bar of its share before each line */
	struct str by; /* legend of the column that shares are of, if it is shown; else the first */
	/* Filled on the way. */
	bool doc;            /* between "Doc:" and the legend: broken at blanks where too long */
	bool profile;        /* past "Profile:" */
	bool rows;           /* past the legend */
	size_t lines;        /* behind the legend */
	unsigned by_column;  /* where that column stands in the legend; from 0 */
	double root;         /* total of the column that shares are of */
	unsigned root_field; /* which column that is; from 0 */
	bool has_root;
};

/* Appends the line (without its newline) and a newline; explanations as several lines. */
void pretty_line(struct pretty *p, struct str line, struct sb *to);

/* Appends text with what could steer a terminal written as \xNN. */
void pretty_escape(struct sb *to, struct str text, bool utf8);

/* Columns that text takes, all letters counted as one. */
size_t pretty_width(struct str text, bool utf8);

#endif
