/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the collector: whole zeroed mappings, never malloc, mostly unusable in a forked child.
 */
#ifndef TFPROF_COLLECT_MEMORY_H
#define TFPROF_COLLECT_MEMORY_H

#include <stddef.h>

enum memory_fork {
	MEMORY_GONE_BY_FORK,  /* absent in a child: its pages are not copied */
	MEMORY_WIPED_BY_FORK, /* zeros in a child */
	MEMORY_KEPT_BY_FORK,  /* copied to a child */
};

/* Returns at least n zeroed bytes, or NULL; preserves errno. */
void *memory_map(size_t n, enum memory_fork);

#endif
