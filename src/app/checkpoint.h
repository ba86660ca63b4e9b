/* SPDX-License-Identifier: Apache-2.0
 *
 * The command "checkpoint": what is in a checkpoint, whether it is whole, how two differ.
 */
#ifndef TFPROF_APP_CHECKPOINT_H
#define TFPROF_APP_CHECKPOINT_H

#include "app/cmd.h"

bool checkpoint_run(struct session *s, const struct request *r, struct sink *out);

#endif
