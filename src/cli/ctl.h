/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof ctl: speaks with the collectors of a recording, through a file that they read.
 */
#ifndef TFPROF_CLI_CTL_H
#define TFPROF_CLI_CTL_H

#include "cli/program.h"

#define CTL_LABEL_MAX 200 /* bytes of a step's label */

bool ctl_run(struct program *p);

#endif
