/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress line on standard error while files are read, if standard error is a terminal and
 * reading takes longer than half a second.
 */
#ifndef TFPROF_LIB_PROGRESS_H
#define TFPROF_LIB_PROGRESS_H

#include "model/input.h"

struct progress {
	bool on, shown;
	double begun, last;    /* seconds */
	uint64_t before, done; /* bytes of finished inputs; of the current one */
};

/* Fills *w, unless standard error is not a terminal. */
void progress_begin(struct progress *p, struct input_watch *w);

/* Erases the line. */
void progress_end(struct progress *p);

#endif
