/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a trace, as text and as data: devices, kernels, steps, roofline, slices and memory.
 */
#ifndef TFPROF_EXPORT_TRACE_TABLES_H
#define TFPROF_EXPORT_TRACE_TABLES_H

#include "export/data/document.h"
#include "export/out.h"
#include "model/model.h"
#include "device/device_use.h"
#include "device/memory_use.h"
#include "trace/pass/roofline.h"
#include "view/facts.h"

#define TABLE_TOP 20 /* default number of rows */

enum trace_table { TABLE_DEVICES, TABLE_KERNELS, TABLE_STEPS, TABLE_ROOFLINE, TABLE_PHASES };

/* Returns the arguments (ARG_BIT) of device work that a table reads from a recording. Not used for
 * TABLE_DEVICES: device_use_read selects its arguments itself. */
uint64_t trace_table_wants(enum trace_table which);

/* Traces of several workers. */
struct worker_traces {
	const struct model_trace *v;
	size_t n;
	const struct strs *names;        /* names of the workers; rows have them if there are
	                                    several workers */
	struct device_use *recorded;     /* TABLE_DEVICES: the recording of v[0], or NULL */
	const struct trace_links *links; /* of v[0], or NULL: not made yet */
};

/* Selects the table and limits its output. */
struct trace_table_request {
	enum trace_table which;
	size_t top;       /* maximum number of rows; 0: all */
	bool by_phase;    /* true: TABLE_KERNELS has a row for each kernel and phase */
	int section;      /* index of the choice of --table; 0: not given */
	unsigned columns; /* terminal width, to which names are truncated; 0: no limit */
	struct roofline_request roofline;
};

/* Writes the table for all traces in the selected output. */
bool trace_table_write(const struct worker_traces *all, const struct trace_table_request *request,
        const struct opts *o, struct emit *to, struct err *e);

/* Writes the steps of run metadata, which has no trace, in the selected output. names: of the
 * workers. Times that only traces have are null. */
bool model_steps_write(const struct facts *f, const struct strs *names,
        const struct trace_table_request *request, const struct opts *o, struct emit *to,
        struct err *e);

/* ---- slices ----
 *
 * The slices of a trace as a document for timelines (docs/schema/slices.json), reduced to a number
 * of rows: adjacent slices shorter than the document's resolution become one row.
 */

#define SLICES_ROWS_MAX 200000

struct slices_request {
	int64_t from_ns, to_ns; /* only slices that overlap this interval; to_ns <= from_ns: all
	                           slices */
	size_t rows;            /* maximum number, from 1 to SLICES_ROWS_MAX */
};

void slices_write(const struct trace *t, const struct slices_request *request, struct emit *to,
        struct sink *s);

/* ---- memory ----
 *
 * Memory use as text and as data.
 */

/* Writes one row per allocator, and at most `top` owners (0: all) of the memory allocated at the
 * peak, in the selected output. columns: as in struct trace_table_request. */
bool memory_write(const struct memory_use *use, size_t top, const struct opts *o, unsigned columns,
        struct emit *to, struct err *e);

#endif
