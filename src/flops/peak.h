/* SPDX-License-Identifier: Apache-2.0
 *
 * Peak rates of devices by their names, without sparsity. peak.def lists them with their sources.
 */
#ifndef TFPROF_FLOPS_PEAK_H
#define TFPROF_FLOPS_PEAK_H

#include "flops/flops.h"

struct peak {
	const char *words, *name, *source;
	double tflops[NUMBER_TYPES]; /* 10^12 float operations per second; 0: none, or unknown */
	double gbytes;               /* 10^9 bytes of memory per second */
};

/* Finds the peaks of a device, "NVIDIA A100-SXM4-80GB"; NULL: unknown. */
const struct peak *peak_find(struct str model);

/* Returns operations per second for products of a type, 0: unknown. float32 has the rate of TF32
 * where the device has one. */
double peak_flops(const struct peak *p, enum number_type type);

#endif
