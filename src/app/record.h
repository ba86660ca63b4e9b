/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof record: runs a program so that the collector is loaded into it and all that it starts.
 */
#ifndef TFPROF_APP_RECORD_H
#define TFPROF_APP_RECORD_H

#include "app/program.h"

struct record_words {
	int level, graphs, start, env; /* places in the lists of word.def; -1: not given */
	bool mem, sync, no_nvtx, chain, step_signal, self_limit, detach, force, verbose;
	int64_t delay, duration, wait; /* milliseconds; -1: not given */
	int64_t step_every, max_size;  /* -1: not given */
	struct str step_nvtx, folder;
};

bool record_run(struct program *p);

#endif
