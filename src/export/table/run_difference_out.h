/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference of two runs as text and as data (docs/schema/why-runs.json).
 */
#ifndef TFPROF_EXPORT_RUN_DIFFERENCE_OUT_H
#define TFPROF_EXPORT_RUN_DIFFERENCE_OUT_H

#include "export/out.h"
#include "why/run_difference.h"

struct run_difference_page {
	const struct run_difference *x;
	struct str of[RUNS_N]; /* "the mean of 8 steps" */
	bool device[RUNS_N];   /* true: the windows of these steps end with device work */
	bool assumed; /* true: tfprof assumed that the files are two runs, because the user did not
	                 state it */
};

/* Writes the difference. top: maximum number of parts in text; 0: all. columns: width of the
 * terminal; 0: none. */
bool run_difference_write(const struct run_difference_page *page, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e);

#endif
