/* SPDX-License-Identifier: Apache-2.0
 *
 * Named baselines: what a profile had, in text files that can be committed. The command baseline,
 * and what diff needs to take one as a side.
 */
#ifndef TFPROF_LIB_BASELINE_H
#define TFPROF_LIB_BASELINE_H

#include "lib/command.h"

#define BASELINE_PREFIX "baseline:"

bool baseline_command(struct session *s, const struct request *r, struct sink *out);

/* Makes a name the path of its file. False if it is no name, or there is no such baseline. */
bool baseline_path(struct str *name, struct arena *a, struct err *e);

#endif
