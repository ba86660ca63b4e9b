/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a library by its name.
 */
#include "cli/program.h"

#include <dlfcn.h>
#include <stddef.h>

#ifdef TFPROF_STATIC
const bool load_possible = false;

void *load_library(const char *name)
{
	(void)name;
	return NULL;
}
#else
const bool load_possible = true;

void *load_library(const char *name)
{
	return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}
#endif
