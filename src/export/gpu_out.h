/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of recorded GPUs, as text and as data.
 */
#ifndef TFPROF_EXPORT_GPU_OUT_H
#define TFPROF_EXPORT_GPU_OUT_H

#include "export/sheet.h"
#include "view/gpu_use.h"

/* columns: width of the terminal, longer names lose their middle; 0: names stay whole. top: number
 * of kernels. Both also for the functions below. */
void gpu_text(const struct gpu_use *u, size_t top, unsigned columns, struct sink *to);
void gpu_json(const struct gpu_use *u, size_t top, struct sink *to);

/* One table: kind,gpu,name,count,total_ns,average_ns,median_ns,p99_ns,min_ns,max_ns,deviation_ns,
 * bytes. form: SHEET_CSV or SHEET_SPREADSHEET. */
void gpu_csv(const struct gpu_use *u, size_t top, enum sheet_form form, struct sink *to);

/* "GPU-1b4f28ba-2fa1-11d2-883f-0016d3cca427"; empty where it is not known. */
struct str gpu_uuid(struct arena *a, const struct gpu_device *d);

#endif
