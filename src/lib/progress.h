/* SPDX-License-Identifier: Apache-2.0
 *
 * A line on standard error while files are read, where that is a terminal and it takes longer than
 * half a second.
 */
#ifndef TFPROF_LIB_PROGRESS_H
#define TFPROF_LIB_PROGRESS_H

#include "model/input.h"

struct progress {
	bool on, shown;
	double begun, last;    /* seconds */
	uint64_t before, done; /* bytes of the inputs that are through; of this one */
};

/* Fills *w, unless standard error is no terminal. */
void progress_begin(struct progress *p, struct input_watch *w);

/* Wipes the line. */
void progress_end(struct progress *p);

#endif
