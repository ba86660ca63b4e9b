/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the command devices below that of the devices: what traces with launches and
 * recordings tell about GPUs, calls and kernels.
 */
#ifndef TFPROF_EXPORT_DEVICE_TABLES_H
#define TFPROF_EXPORT_DEVICE_TABLES_H

#include "export/table.h"
#include "view/device_use.h"

/* The devices of a worker. */
struct device_worker {
	struct str name; /* in its rows; p NULL: they name none, and there is one worker */
	const struct device_use *u;
};
struct device_workers {
	struct device_worker *v;
	size_t n; /* at least 1 */
};

/* Returns the tables with all their rows, *n of them, in the order of the choices of --table after
 * "devices". Of several workers, rows by time stay in that order. */
const struct table *device_sections(const struct device_workers *all, size_t *n, struct arena *a);

/* Adds the member "lost" of a recording: what is missing in it. For table.members; use: a struct
 * device_use. */
void device_put_lost(struct document *d, const void *use);

/* ---- device rows ---- */

/* Returns the bytes per second of copies; 0 if they took no time. */
int64_t copies_rate(const struct gpu_copies *c);

/* Append the rows of a table. */
void rows_launches(const struct device_use *u, struct table *to);
void rows_ranges(const struct device_use *u, struct table *to);
void rows_steps(const struct device_use *u, struct table *to);
void rows_copies(const struct device_use *u, struct table *to);
void rows_graphs(const struct device_use *u, struct table *to);
void rows_memory(const struct device_use *u, struct table *to);
void rows_overhead(const struct device_use *u, struct table *to);

#endif
