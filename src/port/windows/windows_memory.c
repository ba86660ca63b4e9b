/* SPDX-License-Identifier: Apache-2.0
 *
 * Anonymous memory, from the system's own pages.
 */
#include "port/windows/windows_internal.h"

void *mmap(void *at, size_t n, int access, int flags, int fd, int64_t offset)
{
	void *p = VirtualAlloc(NULL, n, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

	(void)at;
	(void)access;
	(void)flags;
	(void)fd;
	(void)offset;
	if (!p)
		errno = ENOMEM;
	return p ? p : MAP_FAILED;
}

int munmap(void *p, size_t n)
{
	(void)n;
	return VirtualFree(p, 0, MEM_RELEASE) ? 0 : port_fail();
}

int madvise(void *p, size_t n, int what)
{
	(void)p;
	(void)n;
	(void)what;
	return 0;
}
