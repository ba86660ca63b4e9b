/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties derived from a device's name, computed once per name (B§5.3).
 */
#ifndef TFPROF_MODEL_DEVICE_H
#define TFPROF_MODEL_DEVICE_H

#include "base/str.h"

enum {
	DEVICE_ACCELERATOR = 1, /* ".../stream:all": its times are accelerator times */
	DEVICE_CANONICAL = 2,   /* ".../gpu:0", ".../device:cpu:1": its times are cpu times */
	DEVICE_GPU = 4,         /* the name contains "gpu" */
	DEVICE_CPU = 8          /* the name contains "cpu" */
};

/* name must be in lower case. */
unsigned device_kind(struct str name);

/* Returns the name with every "gpu:<digits>" replaced by "cpu:0". */
struct str device_host(struct arena *a, struct str name);

#endif
