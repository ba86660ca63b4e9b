/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of libcupti that can crash the process that uses them, even in the function that returns
 * the version. They are therefore recognised by the functions they export.
 */
#ifndef TFPROF_COLLECT_CUPTI_BAD_H
#define TFPROF_COLLECT_CUPTI_BAD_H

#include <dlfcn.h>
#include <stddef.h>

struct cupti_bad {
	const char *has, *lacks; /* functions exported by these versions alone */
	const char *versions;
	const char *reason;
	int driver; /* minimum CUDA version of the driver for using it */
};

/* Used only if the driver is new enough and its device can be opened: then it can initialise. */
static const struct cupti_bad cupti_bad[] = {
	{ "cuptiActivityGetStructSize", "cuptiActivityGetNextRecord_v2",
	        "CUDA 13.2 (13.2.23, 13.2.75, 13.2.86)",
	        "calls itself without end where it cannot start", 13020 },
};

/* Returns the row of an opened libcupti; NULL if it is not known to be bad. */
static inline const struct cupti_bad *cupti_bad_of(void *library)
{
	for (size_t i = 0; i < sizeof cupti_bad / sizeof *cupti_bad; i++)
		if (dlsym(library, cupti_bad[i].has) && !dlsym(library, cupti_bad[i].lacks))
			return &cupti_bad[i];
	return NULL;
}

#endif
