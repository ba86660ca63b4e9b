/* SPDX-License-Identifier: Apache-2.0
 *
 * mremap for systems that lack it. Include it after the declarations of mmap.
 */
#ifndef TFPROF_PORT_MREMAP_H
#define TFPROF_PORT_MREMAP_H

#include <string.h>

#define MREMAP_MAYMOVE 1

/* Moves memory to a place of another size; always copies. */
static inline void *mremap(void *p, size_t had, size_t n, int flags)
{
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)flags;
	if (to == MAP_FAILED)
		return to;
	memcpy(to, p, had < n ? had : n);
	munmap(p, had);
	return to;
}

#endif
