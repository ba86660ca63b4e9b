/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcupti and its functions at run time.
 */
#ifndef TFPROF_COLLECT_CUPTI_OPEN_H
#define TFPROF_COLLECT_CUPTI_OPEN_H

#include <stdbool.h>

#include "collect/cupti_abi.h"

/* NULL: this version of CUPTI lacks the function. */
struct cupti {
/* NOLINTBEGIN(bugprone-macro-parentheses): args are the parentheses of a prototype */
#define CUPTI_MEMBER(name, optional, args) uint32_t(*name) args;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	/* NOLINTEND(bugprone-macro-parentheses) */
	uint32_t version; /* of CUPTI; 0: unknown */
	int driver;       /* 12040 for CUDA 12.4; 0: unknown */
};

/* Opens the copy that the program has loaded, otherwise one that fits the driver. On failure *why
 * names the missing part. */
bool cupti_open(struct cupti *, char *why, size_t n);

/* Paths of the driver and of libcupti, for the recording; "" if unknown. */
const char *cupti_path(void);

#endif
