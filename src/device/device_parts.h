/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of device_use.h: lists, parts and clocks.
 */
#ifndef TFPROF_DEVICE_PARTS_H
#define TFPROF_DEVICE_PARTS_H

#include "device/device_use.h"

/* Initialises u for a trace that is not a recording. */
void device_use_init(struct device_use *u, const struct trace *t, struct arena *a);

/* Finds or adds the item with a name. name.p is NULL if the name is lost. */
uint32_t gpu_list_index(struct device_use *u, struct gpu_list *list, struct str name);

/* Finds or adds the part for the work of a process on a GPU. gpu: NULL if it is unknown. */
uint32_t device_part(
        struct device_use *u, uint32_t process, uint32_t local, const struct recorded_gpu *gpu);

/* Counts the launch configuration of a kernel. */
void device_add_shape(struct device_use *u, struct gpu_times *kernel, uint32_t part,
        const struct spool_kernel *k);

/* Adds copies to others. */
void gpu_copies_add(struct gpu_copies *c, const struct gpu_copies *more);

/* Converts a tick of the trace to the clock of u, ns. */
uint64_t device_time(const struct device_use *u, int64_t tick);

/* Returns the index of the process of a track. */
uint32_t device_process(const struct device_use *u, uint32_t track);

#endif
