/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof gpu: what the GPUs of a recording did, and what they and their hosts waited for.
 */
#ifndef TFPROF_CLI_GPU_H
#define TFPROF_CLI_GPU_H

#include "cli/program.h"

bool gpu_run(struct program *p);

#endif
