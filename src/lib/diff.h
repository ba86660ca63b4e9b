/* SPDX-License-Identifier: Apache-2.0
 *
 * The command diff: loads the sides, compares them, writes what differs, judges by gates.
 */
#ifndef TFPROF_LIB_DIFF_H
#define TFPROF_LIB_DIFF_H

#include "lib/cmd.h"

bool diff_command(struct session *s, const struct request *r, struct sink *out);

#endif
