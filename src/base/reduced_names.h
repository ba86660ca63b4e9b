/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduced names of C++ functions for lists, in which different names stay different.
 */
#ifndef TFPROF_BASE_REDUCED_NAMES_H
#define TFPROF_BASE_REDUCED_NAMES_H

#include "base/demangle.h"

/* Reduces the names of a list with demangle_reduce, in a. Names whose reduced forms are equal show
 * as many template arguments as they need to differ, or the whole name. */
void reduce_names(struct arena *a, const struct str *full, struct str *reduced, size_t n);

#endif
