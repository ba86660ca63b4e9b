/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof doctor: can this machine, or this process, be recorded? Row by row, then one verdict.
 */
#ifndef TFPROF_CLI_DOCTOR_H
#define TFPROF_CLI_DOCTOR_H

#include "cli/program.h"

bool doctor_run(struct program *p);

#endif
