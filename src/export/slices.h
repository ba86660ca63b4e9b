/* SPDX-License-Identifier: Apache-2.0
 *
 * The slices of a trace as a document for timelines (docs/schema/slices.json), reduced to a number
 * of rows: adjacent slices shorter than the document's resolution become one row.
 */
#ifndef TFPROF_EXPORT_SLICES_H
#define TFPROF_EXPORT_SLICES_H

#include "export/out.h"
#include "trace/trace.h"

#define SLICES_ROWS_MAX 200000

struct slices_ask {
	int64_t from_ns, to_ns; /* only slices that overlap this time; to_ns <= from_ns: all */
	size_t rows;            /* maximum number, from 1 to SLICES_ROWS_MAX */
};

void slices_write(
        const struct trace *t, const struct slices_ask *ask, struct emit *to, struct sink *s);

#endif
