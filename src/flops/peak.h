/* SPDX-License-Identifier: Apache-2.0
 *
 * Peak rates of devices by their names, without sparsity. peak.def lists them with their sources.
 */
#ifndef TFPROF_FLOPS_PEAK_H
#define TFPROF_FLOPS_PEAK_H

#include "flops/flops.h"

struct peak {
	const char *words, *name, *source; /* source: NULL if the file or the user gave the peaks */
	double tflops[NUMBER_TYPES]; /* 10^12 float operations per second; 0: none, or unknown */
	double gbytes;               /* 10^9 bytes of memory per second */
};

/* Finds the peaks of a device such as "NVIDIA A100-SXM4-80GB"; NULL: unknown. */
const struct peak *peak_find(struct str model);

/* Returns the operations per second for products of a type; 0: unknown. float32 has the rate of
 * TF32 on devices that have one. */
double peak_flops(const struct peak *p, enum number_type type);

/* Returns the rate of a class in operations per second; 0: unknown. Operations that are not
 * products have the vector rate of float32 or float64. */
double peak_rate(const struct peak *p, enum flops_class class, enum number_type type);

/* Minimum number of seconds that a device needs for the operations, and for the bytes. 0: unknown,
 * or none. */
struct roof {
	double compute, memory;
};

/* Returns the roof of a call, or of several calls of one kind: f has their sums. */
struct roof peak_roof(const struct peak *p, enum flops_class class, const struct flops *f);

/* Returns peaks with the same rate for all types. */
struct peak peak_given(const char *name, double flops, double bytes);

#endif
