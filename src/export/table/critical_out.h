/* SPDX-License-Identifier: Apache-2.0
 *
 * A critical path as text and as data (docs/schema/critical.json).
 */
#ifndef TFPROF_EXPORT_CRITICAL_OUT_H
#define TFPROF_EXPORT_CRITICAL_OUT_H

#include "export/out.h"
#include "trace/pass/critical.h"

/* A path, and the data about steps for its heading. step_ns: the step time, which is the length of
 * the step's mark or of the whole trace. */
struct critical_page {
	const struct critical *x;
	struct str step; /* "step 3 (ProfilerStep#3)"; p is NULL for the whole trace */
	int64_t step_ns;
	size_t steps; /* number of steps of the trace with device work; number of all steps if none
	                 has device work */
	size_t empty; /* number of the remaining steps */
	bool as_long; /* true: these steps have the same length */
	bool chosen;  /* true: the user chose the step; false: it is the step with the median
	                 length */
};

/* Returns a title such as "Critical path of step 3", in a. */
struct str critical_title(const struct critical_page *p, struct arena *a);

/* Appends the position of a window without a step in the trace, unless its length is printed like
 * the length of the whole trace, whole_ns: "from 42.5ms until the device work and the waits for it
 * end; the trace lasts 62.6ms". before: text that precedes it. */
void critical_put_extent(struct sb *b, const char *before, const struct trace *t,
        const struct critical_window *w, int64_t whole_ns);

/* Writes the path. top: maximum number of places in text; 0: all. columns: width of the terminal;
 * 0: names stay whole. */
bool critical_write(const struct critical_page *page, size_t top, const struct opts *o,
        unsigned columns, struct emit *to, struct err *e);

#endif
