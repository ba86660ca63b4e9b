/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of Linux that macOS lacks.
 */
#include <string.h>

void *memrchr(const void *p, int c, size_t n)
{
	const unsigned char *from = p;

	while (n)
		if (from[--n] == (unsigned char)c)
			return (void *)(size_t)(from + n);
	return NULL;
}
