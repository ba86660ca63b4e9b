/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes the word before the cursor: commands, options, their values, node names, types,
 * devices, steps, files. Names are found by bisection, so a million of them cost no more than ten.
 */
#ifndef TFPROF_CLI_COMPLETE_H
#define TFPROF_CLI_COMPLETE_H

#include "lib/session.h"

#define COMPLETE_MAX 500 /* largest number of listed candidates */

struct complete {
	struct str stem;   /* the text to replace: the end of the line */
	struct strs items; /* possible replacements, in order; in the query arena */
	struct str shared; /* their common prefix */
	bool more;         /* there are more than COMPLETE_MAX */
	bool open;         /* the word may continue: no blank after it */
};

/* text: the line up to the cursor. Inside a session_guard. */
bool complete_line(struct session *s, struct str text, struct complete *c);

#endif
