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

/* Moves always: pages cannot be moved without copying. */
void *mremap(void *p, size_t had, size_t n, int flags)
{
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)flags;
	if (to == MAP_FAILED)
		return to;
	memcpy(to, p, had < n ? had : n);
	munmap(p, had);
	return to;
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
