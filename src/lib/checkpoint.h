/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "checkpoint": what is in a checkpoint, whether it is whole, how two differ.
 */
#ifndef TFPROF_LIB_CHECKPOINT_H
#define TFPROF_LIB_CHECKPOINT_H

#include "lib/cmd.h"

struct checkpoint_options {
	struct strs show;
	int output; /* index of the choice */
	bool verify;
};

bool checkpoint_run(struct session *s, const struct request *r, struct sink *out);

#endif
