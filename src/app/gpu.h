/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof gpu: what the GPUs of a recording did, and what they and their hosts waited for.
 */
#ifndef TFPROF_APP_GPU_H
#define TFPROF_APP_GPU_H

#include "app/program.h"

struct gpu_words {
	int64_t top;
	int output; /* place in the list of word.def */
	bool recover, wide;
};

bool gpu_run(struct program *p);

#endif
