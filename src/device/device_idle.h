/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the work of each device and the calls of its processes.
 */
#ifndef TFPROF_DEVICE_DEVICE_IDLE_H
#define TFPROF_DEVICE_DEVICE_IDLE_H

#include "device/device_use.h"

/* Computes usage and devices after all processes have been read, and sorts the lists. */
void device_sum(struct device_use *u);

#endif
