/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of libcupti that may end the process in which they are used. Each function of theirs
 * may, the one that tells the version too; so they are known by the functions that they have.
 */
#ifndef TFPROF_COLLECT_CUPTI_BAD_H
#define TFPROF_COLLECT_CUPTI_BAD_H

#include <dlfcn.h>
#include <stddef.h>

struct cupti_bad {
	const char *has, *lacks; /* functions: of these versions alone */
	const char *versions;
	const char *reason;
	int driver; /* the CUDA that the driver must have, so that it is used */
};

/* Used only where the driver is new enough and the device of the driver can be opened: there it
 * can start. */
static const struct cupti_bad cupti_bad[] = {
	{ "cuptiActivityGetStructSize", "cuptiActivityGetNextRecord_v2",
	        "CUDA 13.2 (13.2.23, 13.2.75, 13.2.86)",
	        "calls itself without end where it cannot start", 13020 },
};

/* Returns the row of an opened libcupti; NULL: it is not known to be bad. */
static inline const struct cupti_bad *cupti_bad_of(void *library)
{
	for (size_t i = 0; i < sizeof cupti_bad / sizeof *cupti_bad; i++)
		if (dlsym(library, cupti_bad[i].has) && !dlsym(library, cupti_bad[i].lacks))
			return &cupti_bad[i];
	return NULL;
}

#endif
