/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of GPU activity: one description each, from which text, CSV, Markdown and JSON are made.
 */
#ifndef TFPROF_EXPORT_GPU_TABLES_H
#define TFPROF_EXPORT_GPU_TABLES_H

#include "export/sheet.h"
#include "export/table.h"
#include "view/gpu_use.h"

/* How a number is shown in text; in data it is an integer of that unit. */
enum gpu_unit { GPU_TEXT, GPU_COUNT, GPU_NS, GPU_BYTES, GPU_RATE, GPU_PERMILLE, GPU_THOUSANDTHS };

struct gpu_column {
	const char *name;  /* in data: "total_ns" */
	const char *title; /* in text: "total" */
	enum gpu_unit unit;
};

#define GPU_COLUMNS_MAX 12
struct gpu_table {
	const char *name;  /* in data, and of --table */
	const char *title; /* in text, above the table */
	bool apart;        /* text and JSON have these rows in a form of their own */
	bool traces;       /* traces fill it too: part of the answer of devices */
	struct gpu_column
	        columns[GPU_COLUMNS_MAX]; /* the last one has no name, or there are that many */
	void (*rows)(const struct gpu_use *u, struct table *to);
};

extern const struct gpu_table gpu_tables[];
extern const size_t gpu_tables_n;

/* The GPUs of a worker. */
struct gpu_worker {
	struct str name; /* in its rows; p NULL: they name none, and there is one worker */
	const struct gpu_use *u;
};
struct gpu_workers {
	const struct gpu_worker *v;
	size_t n; /* at least 1 */
};

/* Writes the tables that are not empty, aligned. traces: only those of traces. top: number of rows
 * each. columns: width of the terminal; a name at the end of a longer line loses its middle; 0:
 * never. */
void gpu_tables_text(
        const struct gpu_workers *all, bool traces, size_t top, unsigned columns, struct sink *to);
/* Says how many rows were left out, if any. */
void gpu_put_rest(size_t rows, size_t top, struct sink *to);
/* A member of the document for each table. traces: only those of traces. */
void gpu_tables_json(const struct gpu_workers *all, bool traces, size_t top, struct document *d);
/* One table, or (Markdown only) all that are not empty if table is NULL. */
void gpu_tables_sheet(const struct gpu_use *u, const struct gpu_table *table, size_t top,
        enum sheet_form form, struct sink *to);

/* ---- gpu out ----
 *
 * The work of recorded GPUs, as text and as data.
 */

/* Members of the document that the caller adds before the others. */
struct gpu_members {
	void (*put)(struct document *d, const void *user);
	const void *user;
};

/* columns: width of the terminal, longer names lose their middle; 0: names stay whole. top: number
 * of kernels. more: NULL for none. All also for the functions below. */
void gpu_text(const struct gpu_use *u, size_t top, unsigned columns, struct sink *to);
void gpu_json(const struct gpu_use *u, size_t top, const struct gpu_members *more, struct sink *to);

/* One table: kind,gpu,name,count,total_ns,average_ns,median_ns,p99_ns,min_ns,max_ns,deviation_ns,
 * bytes. form: SHEET_CSV or SHEET_SPREADSHEET. */
void gpu_csv(const struct gpu_use *u, size_t top, enum sheet_form form, struct sink *to);

/* "GPU-1b4f28ba-2fa1-11d2-883f-0016d3cca427"; empty where it is not known. */
struct str gpu_uuid(struct arena *a, const struct gpu_device *d);

#endif
