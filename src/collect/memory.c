/* SPDX-License-Identifier: Apache-2.0
 *
 * Anonymous mappings with the madvise flags needed for forks.
 */
#include "collect/system.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

void *memory_map(size_t n, enum memory_fork fork)
{
	int saved = errno;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	        -1, 0);

	if (p == MAP_FAILED) {
		errno = saved;
		return NULL;
	}
	/* Old kernels lack MADV_WIPEONFORK: there the handler of pthread_atfork does the work. */
	if (fork != MEMORY_KEPT_BY_FORK)
		madvise(p, n, fork == MEMORY_GONE_BY_FORK ? MADV_DONTFORK : MADV_WIPEONFORK);
	errno = saved;
	return p;
}
