/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the collector: whole zeroed mappings, never malloc, and of little use in a forked
 * child.
 */
#ifndef TFPROF_COLLECT_MEMORY_H
#define TFPROF_COLLECT_MEMORY_H

#include <stddef.h>

enum memory_fork {
	MEMORY_GONE_BY_FORK,  /* a child has no such memory: no copy of its pages is made */
	MEMORY_WIPED_BY_FORK, /* a child finds zeros */
	MEMORY_KEPT_BY_FORK,  /* a child finds a copy */
};

/* At least n zeroed bytes, or NULL; errno stays as it was. */
void *memory_map(size_t n, enum memory_fork);

#endif
