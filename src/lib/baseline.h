/* SPDX-License-Identifier: Apache-2.0
 *
 * Named baselines: the numbers of a profile, in text files that can be committed. The command
 * baseline, and the functions diff needs to use one as a side.
 */
#ifndef TFPROF_LIB_BASELINE_H
#define TFPROF_LIB_BASELINE_H

#include "lib/command.h"

#define BASELINE_PREFIX "baseline:"

bool baseline_command(struct session *s, const struct request *r, struct sink *out);

/* Returns the path of a baseline's file. Fails if the name is invalid, or the baseline does
 * not exist. */
bool baseline_path(struct str *name, struct arena *a, struct err *e);

#endif
