/* SPDX-License-Identifier: Apache-2.0
 *
 * Anonymous mappings with the advice that forks need.
 */
#include "collect/memory.h"

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
	/* Old kernels know no wiping: there the handler of pthread_atfork is what is left. */
	if (fork != MEMORY_KEPT_BY_FORK)
		madvise(p, n, fork == MEMORY_GONE_BY_FORK ? MADV_DONTFORK : MADV_WIPEONFORK);
	errno = saved;
	return p;
}
