/* SPDX-License-Identifier: Apache-2.0
 *
 * The additional tables of the command devices, for recordings and for traces with launches: GPUs,
 * causes of idle time, calls, kernels and so on.
 */
#ifndef TFPROF_EXPORT_DEVICE_TABLES_H
#define TFPROF_EXPORT_DEVICE_TABLES_H

#include "export/table/table.h"
#include "device/device_use.h"

/* The device data of a worker. */
struct device_worker {
	struct str name; /* name in the rows; p is NULL for a single worker, which the rows do not
	                    name */
	const struct device_use *u;
};
struct device_workers {
	struct device_worker *v;
	size_t n; /* number of workers, at least 1 */
};

/* Returns *n tables with all their rows, in the order of the choices of --table after "devices".
 * Tables that are sorted by time stay sorted if there are several workers. */
const struct table *device_sections(const struct device_workers *all, size_t *n, struct arena *a);

/* Writes the member "lost" of a recording: the number of missing records. For table.members; use: a
 * struct device_use. */
void device_put_lost(struct document *d, const void *use);

#endif
