/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcupti at run time, and its functions.
 */
#ifndef TFPROF_COLLECT_CUPTI_OPEN_H
#define TFPROF_COLLECT_CUPTI_OPEN_H

#include <stdbool.h>

#include "collect/cupti_abi.h"

/* NULL: that version of CUPTI has no such function. */
struct cupti {
/* NOLINTBEGIN(bugprone-macro-parentheses): args are the parentheses of a prototype */
#define CUPTI_MEMBER(name, optional, args) uint32_t(*name) args;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	/* NOLINTEND(bugprone-macro-parentheses) */
	uint32_t version; /* of CUPTI; 0: unknown */
	int driver;       /* 12040 for CUDA 12.4; 0: unknown */
};

/* Opens the copy that the program has loaded, else one that fits the driver. False: *why says what
 * is missing. */
bool cupti_open(struct cupti *, char *why, size_t n);

/* Where the driver and libcupti are, for the spool; "" if unknown. */
const char *cupti_path(void);

#endif
