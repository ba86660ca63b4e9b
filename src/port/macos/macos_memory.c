/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of Linux that macOS lacks.
 */
#include <string.h>

void *mremap(void *p, size_t had, size_t n, int flags)
{
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	(void)flags;
	if (to == MAP_FAILED)
		return to;
	memcpy(to, p, had < n ? had : n);
	munmap(p, had);
	return to;
}

void *memrchr(const void *p, int c, size_t n)
{
	const unsigned char *from = p;

	while (n)
		if (from[--n] == (unsigned char)c)
			return (void *)(size_t)(from + n);
	return NULL;
}
