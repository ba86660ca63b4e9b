/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a program without a CUPTI of its own would get one from, and of which CUDA it is. Nothing
 * is started: CUPTI says its version without a driver.
 */
#ifndef TFPROF_CLI_CUPTI_FIND_H
#define TFPROF_CLI_CUPTI_FIND_H

#include <stdbool.h>

#include "base/str.h"

struct cupti_found {
	struct str path;
	int cuda;   /* as the driver counts: 13000 is CUDA 13.0; 0: it does not say without a driver
	             */
	bool exact; /* else a later update of that release may be meant */
	/* A version that ends the process where it cannot start; else NULL. */
	const char *bad, *reason;
	int needs; /* the CUDA that the driver must have for it */
};

/* driver: the CUDA that the driver can, 0: not known; newer ones are passed over. False: there is
 * none. */
bool cupti_find(struct arena *a, int driver, struct cupti_found *f);

/* The CUDA that a version of CUPTI belongs to; 0: before CUDA 11. */
int cupti_cuda(uint32_t version, bool *exact);

/* ---- load ---- */

/* Shared libraries that the program asks for their version. */

/* False in a static program: the C library of the system may not be the one that it is linked with.
 */
extern const bool load_possible;

/* Loads a library; NULL: it cannot be loaded, dlerror() says why. */
void *load_library(const char *name);

#endif
