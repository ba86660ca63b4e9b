/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes the word before the cursor: commands, options, their values, node names, types,
 * devices, steps, files. Names are found by bisection, so a million of them cost no more than ten.
 */
#ifndef TFPROF_CLI_COMPLETE_H
#define TFPROF_CLI_COMPLETE_H

#include "lib/session.h"

#define COMPLETE_MAX 500 /* candidates that are listed */

struct complete {
	struct str stem;   /* what is to be replaced: the end of the text */
	struct strs items; /* what may stand in its place, in order; in the query arena */
	struct str shared; /* the beginning that all have in common */
	bool more;         /* there are more than COMPLETE_MAX */
	bool open;         /* more may follow at once: no blank behind it */
};

/* text: the line up to the cursor. Inside a session_guard. */
bool complete_line(struct session *s, struct str text, struct complete *c);

#endif
