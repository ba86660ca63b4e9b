/* SPDX-License-Identifier: Apache-2.0
 *
 * The process command line: which files to load, and the words that are left for the command.
 */
#ifndef TFPROF_APP_FLAGS_H
#define TFPROF_APP_FLAGS_H

#include "app/session.h"

struct flags {
	struct str profile, graph, run_meta, op_log, checkpoint; /* as given; run_meta is a list */
	bool help, version;
	struct strs words; /* command and view options */
	struct strs names; /* of the flags above, for "did you mean" */
};

/* Inside a session_guard; strings stay in argv. */
bool flags_parse(struct session *s, int argc, char **argv, struct flags *f);

/* Is there anything to load? */
bool flags_inputs(const struct flags *f);

/* Does one of the inputs come from standard input? */
bool flags_use_stdin(struct session *s, const struct flags *f);

/* Loads them all, with the original's progress sentences on out. */
bool flags_load(struct session *s, const struct flags *f, struct sink *out);

#endif
