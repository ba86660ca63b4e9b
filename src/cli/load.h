/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries that the program asks for their version.
 */
#ifndef TFPROF_CLI_LOAD_H
#define TFPROF_CLI_LOAD_H

#include <stdbool.h>

/* False in a static program: the C library of the system may not be the one that it is linked with.
 */
extern const bool load_possible;

/* Loads a library; NULL: it cannot be loaded, dlerror() says why. */
void *load_library(const char *name);

#endif
