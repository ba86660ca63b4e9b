/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof record: runs a program so that the collector is loaded into it and all that it starts.
 */
#ifndef TFPROF_CLI_RECORD_H
#define TFPROF_CLI_RECORD_H

#include "cli/program.h"

bool record_run(struct program *p);

#endif
