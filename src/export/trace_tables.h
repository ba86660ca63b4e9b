/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a trace about time as such, as text and as data: its devices, its kernels, its steps,
 * its slices, and the use of memory.
 */
#ifndef TFPROF_EXPORT_TRACE_TABLES_H
#define TFPROF_EXPORT_TRACE_TABLES_H

#include "export/document.h"
#include "export/out.h"
#include "model/model.h"
#include "view/device_use.h"
#include "view/memory_use.h"

#define TABLE_TOP 20 /* default number of rows */

enum trace_table { TABLE_DEVICES, TABLE_KERNELS, TABLE_STEPS, TABLE_ROOFLINE };

/* Returns the arguments (ARG_BIT) that a table needs of the work of a recording. The table of
 * devices does not use them: device_use_read chooses its own. */
uint64_t trace_table_wants(enum trace_table which);

/* Traces of several workers. */
struct worker_traces {
	const struct model_trace *v;
	size_t n;
	const struct strs *names;    /* of the workers; the rows name them if there are several */
	struct device_use *recorded; /* of TABLE_DEVICES: the only trace is of this recording */
};

/* The table to write, and its limits. */
struct trace_table_ask {
	enum trace_table which;
	size_t top;       /* rows; 0: all */
	int section;      /* choice of --table; 0: none */
	unsigned columns; /* width of the terminal, longer names lose their end; 0: names stay whole
	                   */
};

/* Writes the table of all traces in the options' output. */
bool trace_table_write(const struct worker_traces *all, const struct trace_table_ask *ask,
        const struct opts *o, struct emit *to, struct err *e);

/* ---- slices ----
 *
 * The slices of a trace as a document for timelines (docs/schema/slices.json), reduced to a number
 * of rows: adjacent slices shorter than the document's resolution become one row.
 */

#define SLICES_ROWS_MAX 200000

struct slices_ask {
	int64_t from_ns, to_ns; /* only slices that overlap this time; to_ns <= from_ns: all */
	size_t rows;            /* maximum number, from 1 to SLICES_ROWS_MAX */
};

void slices_write(
        const struct trace *t, const struct slices_ask *ask, struct emit *to, struct sink *s);

/* ---- memory ----
 *
 * The use of memory as text and as data.
 */

/* Writes a row for each allocator, and at most top owners (0: all) of what is allocated at the
 * peak, in the options' output. columns: as of trace_table_write. */
bool memory_write(const struct memory_use *use, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
