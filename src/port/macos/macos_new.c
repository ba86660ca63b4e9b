/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for the C++ code in the libraries. The functions of a static libc++ would be exported, and
 * could replace those of other libraries in a process, because the linker of zig takes no list of
 * exported symbols. These functions are hidden.
 */
#include <stdlib.h>

void *new_object(size_t n) __asm__("__Znwm");
void *new_array(size_t n) __asm__("__Znam");
void delete_object(void *p) __asm__("__ZdlPv");
void delete_array(void *p) __asm__("__ZdaPv");
void delete_object_sized(void *p, size_t n) __asm__("__ZdlPvm");
void delete_array_sized(void *p, size_t n) __asm__("__ZdaPvm");

/* Ends the program when memory is exhausted: the libraries are built without exceptions. */
void *new_object(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		abort();
	return p;
}

void *new_array(size_t n)
{
	return new_object(n);
}

void delete_object(void *p)
{
	free(p);
}

void delete_array(void *p)
{
	free(p);
}

void delete_object_sized(void *p, size_t n)
{
	(void)n;
	free(p);
}

void delete_array_sized(void *p, size_t n)
{
	(void)n;
	free(p);
}
