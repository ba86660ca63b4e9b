/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the libcupti that a program without its own CUPTI would get, and its CUDA version. Starts
 * nothing: CUPTI returns its version without a driver.
 */
#ifndef TFPROF_CLI_CUPTI_FIND_H
#define TFPROF_CLI_CUPTI_FIND_H

#include <stdbool.h>

#include "base/str.h"

struct cupti_found {
	struct str path;
	int cuda;   /* in the driver's form: 13000 is CUDA 13.0; 0: unknown without a driver */
	bool exact; /* false: a later update of that release is possible */
	/* A version that crashes the process if it cannot initialise; otherwise NULL. */
	const char *bad, *reason;
	int needs; /* CUDA version the driver must have for it */
};

/* driver: CUDA version of the driver, 0: unknown; newer libraries are skipped. False: none found.
 */
bool cupti_find(struct arena *a, int driver, struct cupti_found *f);

/* Returns the CUDA version of a CUPTI version; 0: before CUDA 11. */
int cupti_cuda(uint32_t version, bool *exact);

/* ---- load ---- */

/* Shared libraries whose version the program reads. */

/* False in a static program, whose C library may differ from the system's. */
extern const bool load_possible;

/* Loads a library; NULL on failure, with the reason in dlerror(). */
void *load_library(const char *name);

#endif
